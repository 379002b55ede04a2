"""Executes packages of collectives in every algorithm and protocol, and compares them with the interpreter.

    run_algorithms.py TOPIC FOLDER SOURCE CCRUN CCSYNTH CCCOMPILE...

The topic is `chosen` (algorithms and protocols by name), `synthesized`, `axes` (of a mesh of two), `files`
(schedules of ours and of others), `kernels` (in kernels that compute too), `packets` (in kernels, by packets) or
`topology` (chosen for a machine). SOURCE is the folder with the synthesizer's test data. The interpreter adds as the algorithms do that a schedule
names, so results are equal in all bits; where a machine chooses, floats are within the rounding of the sum.
"""

import os
import re
import shutil
import subprocess
import sys

import numpy as np

topic, folder, source, ccrun, ccsynth, *cccompile = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)

runs = compared = 0
# Half the distance from 1 to the next number, by type.
TYPES = {"f32": 2.0 ** -24, "f64": 2.0 ** -53, "f16": 2.0 ** -11, "i32": 0}


class Program:
    """Collectives on one mesh, each the value of a name, and how they should run."""

    def __init__(self, ranks, mesh=None, options=()):
        self.mesh = mesh or f"dp = {ranks}"
        self.options = options
        self.ranks = ranks
        self.arguments, self.lets, self.choices = [], [], []
        self.values = {}

    def add(self, kind, expression, element, sizes, layout, choices, exact, kernel=None):
        """`expression` is of x. The value has the name v0, v1, ... `kind` names it in messages. What it consists of
        becomes a kernel, if that is to have a name: the choices are then its."""
        index = len(self.lets)
        self.arguments.append(f"x{index}: {element}[{', '.join(map(str, sizes))}] {layout}")
        self.lets.append(f"let v{index} = {re.sub(r'%x', f'x{index}', expression)}")
        name = f"v{index}"
        if kernel:
            name = kernel.replace("%v", name)
            self.choices.append((f"let {name} = " if name != f"v{index}" else "") + f"fuse v{index}")
        self.choices += [f"{what} {name} = {choice}" for what, choice in choices]
        self.values[f"v{index}"] = (f"{kind} {element}{sizes} {layout} {choices}", element, exact)

    def run(self, name):
        global runs, compared
        lines = [f"mesh m ({self.mesh})", f"program p({', '.join(self.arguments)}) {{", *self.lets,
                 f"return {', '.join(self.values)}", "}", "schedule s for p {", *self.choices, "}"]
        with open(name + ".ccn", "w") as file:
            file.write("\n".join(lines) + "\n")
        call(*cccompile, name + ".ccn", "--schedule", "s", "--emit", "package", "--cpu", "x86-64", "-o", name,
             *self.options)
        for seed in (3, 4):
            outputs = {}
            for who, command in (("is", [ccrun, name]), ("was", [*cccompile, name + ".ccn", "--schedule", "s", "--run"])):
                arguments = [a for value in self.values for a in ("--output", f"{value}={who}-{value}.npy")]
                call(*command, "--seed", str(seed), *arguments)
                outputs[who] = {value: np.load(f"{who}-{value}.npy") for value in self.values}
            runs += 1
            for value, (what, element, exact) in self.values.items():
                found, expected = outputs["is"][value], outputs["was"][value]
                compared += 1
                assert found.shape == expected.shape and found.dtype == expected.dtype, (name, what)
                if element == "i32" or exact:
                    equal = found.tobytes() == expected.tobytes()
                else:
                    # What is drawn at random is not negative; f16 is added in f32, and rounded once.
                    found, expected = found.astype(np.float64), expected.astype(np.float64)
                    limit = 2 * self.ranks * max(TYPES[element], 2.0 ** -24) * expected
                    if element == "f16":
                        limit += 2 * (TYPES[element] * expected + 2.0 ** -25)
                    equal = np.all(np.abs(found - expected) <= limit)
                assert equal, f"{name}: {what}: found {found}, expected {expected}"


def call(*command, code=0, env=None):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, env={**os.environ, **(env or {})})
    assert done.returncode == code, (command, done.returncode, done.stdout[-2000:], done.stderr[-4000:])
    return done.stdout + done.stderr


def add_all(program, kinds, choices, elements=("f32", "i32"), exact=True, sizes=(1003, 5), widths=(19,)):
    """Each of the kinds of collectives, at sizes that divide nothing, along each dimension."""
    root = program.ranks - 1
    for element in elements:
        for kind in kinds:
            if kind in ("all_reduce", "reduce"):
                call_of = {"all_reduce": "all_reduce(%s, %%x)", "reduce": f"reduce(%s, %%x, {root}, dp)"}[kind]
                for size in sizes:
                    program.add(kind, call_of % "sum", element, [size], "local", choices, exact)
                program.add(kind, call_of % "max", element, [7, 3], "local", choices, True)
                program.add(kind, call_of % "prod", element, [11], "local", choices, exact)
            elif kind == "broadcast":
                for size in sizes:
                    program.add(kind, f"broadcast(%x, {root}, dp)", element, [size], "local", choices, True)
            elif kind == "all_to_all":
                for width in widths:
                    program.add(kind, "all_to_all(%x, 0 -> 1)", element, [width, 13], "sliced(0)", choices, True)
                    program.add(kind, "all_to_all(%x, 1 -> 0)", element, [3, 2, width], "sliced(1)", choices, True)
            else:
                for dim, shape in ((0, [101]), (0, [5, 4]), (1, [3, 17])):
                    layout = f"sliced({dim})"
                    if kind == "all_gather":
                        program.add(kind, "all_gather(%x)", element, shape, layout, choices, True)
                    elif kind == "gather":
                        program.add(kind, f"gather(%x, {root}, dp)", element, shape, layout, choices, True)
                    elif kind == "scatter":
                        program.add(kind, f"scatter(%x, {root}, {dim}, dp)", element, shape, "local", choices, True)
                    else:
                        program.add(kind, f"reduce_scatter(sum, %x, {dim})", element, shape, "local", choices, exact)


ALL = ("all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", "gather", "scatter")


def chosen():
    """Algorithms and protocols by name."""
    for ranks in (1, 2, 3, 4, 8):
        program = Program(ranks)
        sizes = (1003, 5, 1)
        add_all(program, ("all_reduce",), [("algorithm", "one_shot")], sizes=sizes)
        for protocol in ("ll", "simple", "lamport"):
            elements = ("f32", "f16") if protocol == "lamport" else ("f32", "f16", "i32")
            add_all(program, ("all_reduce",), [("algorithm", "one_shot"), ("protocol", protocol)], elements)
        add_all(program, ("all_reduce", "reduce_scatter", "all_gather"), [("algorithm", "two_shot")], sizes=sizes)
        add_all(program, ("all_reduce", "reduce_scatter"), [("protocol", "push")], sizes=sizes)
        add_all(program, ALL, [("algorithm", "nccl")])
        add_all(program, ALL[1:], [("algorithm", "direct")])
        add_all(program, ALL, [])
        add_all(program, ("all_reduce", "reduce_scatter", "all_gather"), [("algorithm", "ring")],
                ("f32", "f16", "bf16", "f8e5m2", "i32"), sizes=sizes)
        program.run(f"chosen-{ranks}")


def synthesized():
    """Schedules that the synthesizer finds."""
    topologies = (("line(2)", 2), ("ring(3)", 3), ("ring(4)", 4), ("full(4)", 4), ("hgx-h100-4", 4),
                  ("dgx1", 8))
    for topology, ranks in topologies:
        for objective in ("latency", "bandwidth"):
            program = Program(ranks)
            choices = [("algorithm", f'synth("{topology}", {objective})')]
            kinds = ALL if objective == "latency" else ALL[:4]
            add_all(program, kinds, choices)
            add_all(program, ("all_reduce",), choices, ("f64", "f16", "bf16", "f8e4m3"))
            program.run(re.sub(r"\W", "", topology) + "-" + objective)


def axes():
    """Groups along one axis, or two, of which some have more elements than others."""
    ring = 'synth("ring(4)", latency)'
    line = 'synth("line(2)", bandwidth)'
    program = Program(4, "a = 2, b = 4")
    for element in ("f32", "i32"):
        for size in (33, 1003, 3):
            for choices in ([("algorithm", ring)], [("algorithm", "one_shot"), ("protocol", "ll")], []):
                layout = "local(b) sliced(0, a)"
                program.add("all_reduce", "all_reduce(sum, %x, b)", element, [size, 2], layout, choices, True)
                program.add("all_gather", "all_gather(%x, b)", element, [3, size], "sliced(1, b) sliced(0, a)",
                            choices if not choices or "synth" in choices[0][1] else [], True)
            for choices in ([("algorithm", line)], [("algorithm", "ring")], [("algorithm", "two_shot")]):
                layout = "local(a) sliced(1, b)"
                program.add("all_reduce", "all_reduce(sum, %x, a)", element, [2, size], layout, choices, True)
                program.add("reduce_scatter", "reduce_scatter(sum, %x, 0, a)", element, [5, size], layout, choices, True)
            both = [("algorithm", 'synth("ring(8)", bandwidth)')]
            program.add("all_reduce", "all_reduce(sum, %x, a, b)", element, [size], "local(a) local(b)", both, True)
    program.run("axes")


def files():
    """Files of MSCCL, of MSCCL++ and of the synthesizer, as they are and converted."""
    found = (("msccl/ag_hier_4_LL.xml", 4, "all_gather"), ("msccl/ar_tree_12_LL.xml", 4, "all_reduce"),
             ("msccl/rccl-alltoall-8n-0-9kb.xml", 8, "all_to_all"), ("mscclpp/allreduce_packet.json", 2, "all_reduce"),
             ("mscclpp/legacy_pairs.json", 2, "all_reduce"), ("mscclpp/reduce.json", 2, "all_reduce"))
    for path, ranks, kind in found:
        name = re.sub(r"\W", "-", path)
        shutil.copy(os.path.join(source, path), name + os.path.splitext(path)[1])
        call(ccsynth, "convert", name + os.path.splitext(path)[1], "--to", "schedule", "-o", name + "-own.json")
        program = Program(ranks)
        for file in (name + os.path.splitext(path)[1], name + "-own.json"):
            add_all(program, (kind,), [("algorithm", f'"{file}"')], sizes=(1003, 24, 1))
        program.run(name)
    solved = (("broadcast", "ring(4)", 4, 2, 2, 3), ("reduce", "ring(4)", 4, 2, 2, 3), ("gather", "ring(4)", 4, 2, 2, 4),
              ("scatter", "ring(4)", 4, 2, 2, 4), ("reduce_scatter", "dgx1", 8, 2, 2, 3),
              ("all_gather", "dgx1", 8, 6, 3, 7), ("all_to_all", "dgx1", 8, 24, 2, 8))
    for kind, topology, ranks, chunks, steps, rounds in solved:
        root = ["--root", str(ranks - 1)] if kind in ("broadcast", "reduce", "gather", "scatter") else []
        call(ccsynth, "solve", "-q", "-t", topology, "-c", kind, "-C", str(chunks), "-S", str(steps), "-R", str(rounds),
             *root, "-o", kind + ".json")
        program = Program(ranks)
        add_all(program, (kind,), [("algorithm", f'"{kind}.json"')], sizes=(1003, 3))
        program.run(kind)


def kernels():
    """Schedules in kernels that also make what they take, and compute with what they give."""
    topologies = (("line(2)", 2), ("ring(3)", 3), ("ring(4)", 4), ("full(4)", 4), ("hgx-h100-4", 4))
    for topology, ranks in topologies:
        for objective in ("latency", "bandwidth"):
            program = Program(ranks)
            choices = [("algorithm", f'synth("{topology}", {objective})')]
            for element in ("f32", "i32", "f16"):
                for kernel in ("%v", "k%v"):
                    for sizes in ([1003], [7, 3], [1]):
                        def add(kind, expression, layout="local"):
                            program.add(kind, expression, element, sizes, layout, choices, True, kernel)
                        add("after", "2 * all_reduce(sum, %x) + 1")
                        add("before", "all_reduce(max, abs(3 - %x))")
                        add("both", "1 + all_reduce(sum, %x + 2) * 3")
                        add("gather", "1 + all_gather(1 + %x)", "sliced(0)")
                        add("scatter", "2 * reduce_scatter(sum, 1 + %x, 0)")
                        if len(sizes) == 2:
                            add("turn", "2 * all_to_all(1 + %x, 0 -> 1)", "sliced(0)")
            program.run("kernels-" + re.sub(r"\W", "", topology) + "-" + objective)
            for size in (1003, 3):
                updates(f"updates-{ranks}-{objective}-{size}", size, ranks, choices[0][1])
        products(f"products-{ranks}", ranks, choices[0][1])


def compare(name, text, values, options=()):
    """A program of integers: the package's results are the interpreter's, in all bits."""
    global runs, compared
    with open(name + ".ccn", "w") as file:
        file.write(text)
    call(*cccompile, name + ".ccn", "--schedule", "s", "--emit", "package", "--cpu", "x86-64", "-o", name, *options)
    for who, command in (("is", [ccrun, name]), ("was", [*cccompile, name + ".ccn", "--schedule", "s", "--run"])):
        call(*command, *(a for value in values for a in ("--output", f"{value}={who}-{value}.npy")))
    runs += 1
    for value in values:
        found, expected = np.load(f"is-{value}.npy"), np.load(f"was-{value}.npy")
        compared += 1
        assert found.tobytes() == expected.tobytes(), f"{name}: {value}: found {found}, expected {expected}"


def updates(name, size, ranks, choice):
    """reduce_scatter, what is computed on the slices, all_gather: one kernel with two schedules."""
    compare(name, f"""mesh m (dp = {ranks})
program p(g: i32[{size}] local, inout p: i32[{size}], inout s: i32[{size}] sliced(0)) {{
  let total = all_reduce(sum, 2 * g)
  s <- 3 * s + total
  p <- p - s * 5
}}
schedule s for p {{
  let (rs, ag) = split total
  let (part, agp) = reorder ag after p
  let k = fuse rs, part, agp
  algorithm k = {choice}
}}
""", ("p", "s"))


def chunks(name, size, ranks, options):
    """An all_reduce behind what makes it, and a reduce_scatter before what uses it, chunk by chunk."""
    compare(name, f"""mesh m (dp = {ranks})
program p(x: i32[{size}] local, g: i32[{size}, 5] local, inout s: i32[{size}, 5] sliced(0)) {{
  let twice = 2 * x
  let total = all_reduce(sum, twice)
  let part = reduce_scatter(sum, g, 0)
  s <- 3 * s + part
  return total
}}
schedule s for p {{
  overlap twice, total chunks 4
  let new = fuse s
  overlap part, new chunks 3
}}
""", ("total", "s"), options)
    plan = call(*cccompile, name + ".ccn", "--schedule", "s", "--emit", "plan", "--rank", "0", *options)
    assert " schedule schedule @" in plan, name


def products(name, ranks, choice):
    """Beside matrix products, and in chunks."""
    compare(name, f"""mesh m (dp = {ranks})
program p(x: i32[7, 5] sliced(0), w: i32[5, 4], y: i32[6, 7] sliced(1), z: i32[7, 4] sliced(0)) {{
  let whole = all_gather(x)
  let a = 2 * matmul(whole, w)
  let b = reduce_scatter(sum, matmul(y, z), 0) + 1
  let c = 1 + all_gather(x)
  let d = matmul(c, w)
  return a, b, d
}}
schedule s for p {{
  let ka = fuse whole, a
  algorithm ka = {choice}
  let kb = fuse b
  algorithm kb = {choice}
  let kc = fuse c
  algorithm kc = {choice}
  overlap kc, d chunks 3
}}
""", ("a", "b", "d"))


def packets():
    """All_reduces by packets in kernels, of the same bits in all ways."""
    for ranks in (1, 2, 3, 4, 8):
        program = Program(ranks)
        for protocol in ("ll", "lamport", "simple", "push"):
            for element in ("f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2", "i32"):
                if protocol == "lamport" and element in ("f8e4m3", "f8e5m2", "i32"):
                    continue
                for sizes in ([1003], [1], [7, 33], [3, 8, 5]):
                    def add(kind, expression):
                        program.add(kind, expression, element, sizes, "local", [("protocol", protocol)], True, "k%v")
                    add("after", "2 * all_reduce(sum, %x) + 1")
                    add("both", "1 + all_reduce(max, 3 - %x) * 2")
                    if len(sizes) > 1:
                        add("rows", "max(2 * all_reduce(sum, %x), [1])")
        program.run(f"packets-{ranks}")
    # Along one axis of two, where a rank may have no part.
    program = Program(4, "a = 2, b = 2")
    for protocol in ("ll", "lamport", "push"):
        for element in ("f32", "bf16"):
            for size in (1, 3, 33):
                program.add("axis", "2 * all_reduce(sum, %x, b)", element, [size, 5], "local(b) sliced(0, a)",
                            [("protocol", protocol)], True, "k%v")
    program.run("packets-axes")


def topology():
    """What is chosen for a machine, with what is chosen by name beside it."""
    topologies = (("line(2)", 2), ("ring(3)", 3), ("ring(4)", 4), ("hub(4)", 4), ("hgx-h100-4", 4))
    for name, ranks in topologies:
        program = Program(ranks, options=["--topology", name, "--search-time", "2"])
        add_all(program, ALL, [], ("f32", "i32", "f16"), exact=False)
        add_all(program, ("all_reduce",), [("protocol", "ll")])
        add_all(program, ("all_reduce",), [("algorithm", "two_shot")])
        for element in ("f32", "i32"):
            program.add("kernel", "1 + all_reduce(sum, %x + 2) * 3", element, [1003], "local", [], False, "%v")
        file = "topology-" + re.sub(r"\W", "", name)
        program.run(file)
        plan = call(*cccompile, file + ".ccn", "--schedule", "s", "--emit", "plan", "--rank", "0", *program.options)
        assert plan.count(" schedule schedule @") > 10, name
        # In chunks, of which the last is shorter.
        for size in (1003, 7):
            chunks(f"chunks-{re.sub(r'[^a-z0-9]', '', name)}-{size}", size, ranks, program.options)
    # Along one axis of two, whose groups share the machine.
    for name, mesh in (("hypercube(3)", "a = 2, b = 4"), ("dgx1", "b = 4, a = 2"), ("hgx-h100-4x2", "a = 2, b = 4")):
        program = Program(4, mesh, options=["--topology", name, "--search-time", "1"])
        for element in ("f32", "i32", "f16"):
            for size in (33, 100003):
                program.add("all_reduce", "all_reduce(sum, %x, b)", element, [size], "local(b) sliced(0, a)", [], False)
                program.add("all_gather", "all_gather(%x, a)", element, [2, size], "sliced(1, a) sliced(0, b)", [], True)
                program.add("reduce_scatter", "reduce_scatter(sum, %x, 0, b)", element, [size], "local(b)", [], False)
                program.add("turned", "all_gather(%x, b, a)", element, [size], "sliced(0, a) sliced(0, b)", [], True)
        file = "axes-" + re.sub(r"\W", "", name)
        program.run(file)
        plan = call(*cccompile, file + ".ccn", "--schedule", "s", "--emit", "plan", "--rank", "0", *program.options)
        assert plan.count(" schedule schedule @") > 5, name


globals()[topic]()
print(f"{runs} runs, {compared} outputs compared")
assert compared
