#!/usr/bin/env python3
"""Compiles what is run on a machine with GPUs, where there is no compiler.

    pack.py FOLDER [--bin BUILD/bin] [--only REGEX] [--random N] [--seed SEED]

FOLDER gets `packages.tar.xz` with a package for each case, `cases.json`, which says what they are, and what runs
them, N of random programs among them: ccrun and its libraries, `run.py`, which checks and measures everything there, the Python module in `python`, the
tests of GPUs in `tests`, and the example's application.
"""

import argparse
import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import tarfile
import tempfile

import packing

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))

LINE = lambda axis: [{axis: 1}, {axis: 2}, {axis: 3}, {axis: 4}]
PLANE = lambda a, b: [{a: 1, b: 1}, {a: 2, b: 1}, {a: 1, b: 3}, {a: 2, b: 2}]

# By example: sizes (odd ones, and ones that vectors divide), and meshes.
EXAMPLES = {
    "adam": (["N=103", "N=65536", "N=1000003"], LINE("dp")),
    "allreduce": (["N=7", "N=100003", "N=1048576"], LINE("dp")),
    "attention_tp": (["B=3 S=5 H=7", "B=2 S=64 H=256"], LINE("tp")),
    "dp_tp": (["B=7 H=9 F=11", "B=64 H=128 F=256"], PLANE("dp", "tp")),
    "lamb": (["N=103", "N=65536", "N=1000003"], LINE("dp")),
    "mlp_tp": (["T=7 H=5 F=11", "T=128 H=256 F=512"], LINE("tp")),
    "moe": (["E=7 C=5 H=3 F=9", "E=8 C=16 H=64 F=128"], LINE("ep")),
    "pipeline": (["B=7 H=5", "B=64 H=128"], PLANE("pp", "tp")),
    "rmsnorm_tp": (["T=5 H=9", "T=64 H=1024", "T=7 H=8192"], LINE("tp")),
    "sgd": (["N=101", "N=65536"], LINE("dp")),
}

# What was wrong or hung on GPUs once, with the schedules.
ONCE_WRONG = {
    "lit/gpu/Inputs/pipe": ["", "coco2"],
    "lit/gpu/Inputs/experts-of-one": ["", "s"],
    "lit/gpu/Inputs/product-of-slices": ["", "s"],
    "lit/gpu/Inputs/batched-experts": ["", "s"],
    "gpu/shared/block": ["", "ov", "mega", "tail"],
    "gpu/shared/random-195": ["", "s"],
    "gpu/shared/random-208": ["", "s"],
    "gpu/shared/random-238": ["", "s"],
}

# Products joined with collectives: rows and columns of the result, and the length of the sums, of which a rank has its part.
JOINED = [(8192, 8192, 28672), (8192, 8192, 8192), (8192, 12288, 49152), (8192, 12288, 12288), (1024, 8192, 28672),
          (4096, 4096, 14336)]

FLOATS = ["f64", "f32", "f16", "bf16", "f8e4m3", "f8e5m2"]
INTEGERS = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64"]


def collectives(element):
    """A program with every collective and every way to reduce, of one type."""
    lines, names, choices = [], [], []
    kinds = ["max", "min"] if element == "bool" else ["sum", "prod", "max", "min"]

    def add(expression, choice=()):
        name = f"v{len(names)}"
        lines.append(f"  let {name} = {expression}")
        names.append(name)
        choices.extend(f"  {what} {name} = {value}" for what, value in choice)

    for kind in kinds:
        for algorithm, protocol in [("one_shot", "ll"), ("one_shot", "lamport"), ("two_shot", None),
                                    ("two_shot", "push"), ("ring", None)]:
            if protocol == "lamport" and element not in ("f64", "f32", "f16", "bf16"):
                continue
            add(f"all_reduce({kind}, x)", [("algorithm", algorithm)] + ([("protocol", protocol)] if protocol else []))
        add(f"reduce_scatter({kind}, y, 0)")
        add(f"reduce_scatter({kind}, y, 0)", [("protocol", "push")])
    add("all_gather(s)")
    add("broadcast(x, 1)")
    add("all_to_all(s, 0 -> 1)")
    return "\n".join(["mesh m (dp = 4)", "param N = 5", "param M = 7",
                      f"program collectives(x: {element}[N] local, y: {element}[N, M] local, "
                      f"s: {element}[N, M] sliced(0)) {{", *lines, f"  return {', '.join(names)}", "}",
                      "schedule chosen for collectives {", *choices, "}", ""])


def mesh_of(file):
    """The axes of a program's mesh, with their sizes."""
    with open(file) as text:
        line = next(line for line in text if line.startswith("mesh"))
    return {axis: int(size) for axis, size in re.findall(r"(\w+) = (\d+)", line)}


def scattered(element):
    """A program whose collectives, sums and products take arguments in lists of buffers and leave them there."""
    choices = ["  algorithm v0 = one_shot", "  protocol v0 = ll", "  algorithm v1 = one_shot",
               f"  protocol v1 = {'lamport' if element in ('f64', 'f32', 'f16', 'bf16') else 'll'}",
               "  algorithm v2 = two_shot", "  algorithm v3 = ring"]
    lines = [f"  let v{i} = all_reduce({kind}, x)" for i, kind in enumerate(("max", "min", "max", "min"))]
    stores = [f"  y{i} <- v{i}" for i in range(4)]
    lists = ", ".join(f"inout y{i}: {element}[N] scattered" for i in range(4))
    return "\n".join(["mesh m (dp = 2)", "param N = 5",
                      f"program scattered(x: {element}[N] local scattered, {lists}, w: {element}[N] scattered) {{",
                      *lines, *stores, "  let v4 = matmul(reshape(w, [N, 1]), slice(reshape(w, [1, N]), 1, 0, 3))",
                      "  let v5 = broadcast(x, 1)", "  let v6 = reduce_scatter(max, x, 0)", "  let v7 = max(w, [0])",
                      "  return v4, v5, v6, v7", "}", "schedule chosen for scattered {", *choices, "}", ""])


def products(element):
    """A program with products of matrices that lie in every order, convolutions, and tables, of one type."""
    lines = ["  let c0 = matmul(a, b)", "  let c1 = matmul(transpose(at), b)", "  let c2 = matmul(a, transpose(bt))",
             "  let c3 = matmul(transpose(at), transpose(bt))", "  let c4 = matmul(x3, y3)", "  let c5 = matmul(x3, b)",
             "  let c6 = conv2d(image, filter)", "  let c7 = conv2d(image, filter, 2, 1)", "  let c8 = gather_rows(a, at_row)",
             "  let c9 = scatter_rows(a, at_row, rows)"]
    arguments = ["a: E[M, K]", "b: E[K, N]", "at: E[K, M]", "bt: E[N, K]", "x3: E[3, M, K]", "y3: E[3, K, N]",
                 "image: E[2, 3, H, H]", "filter: E[5, 3, 3, 3]", "at_row: i32[R]", "rows: E[R, K]"]
    return "\n".join(["mesh m (dp = 1)", "param M = 5", "param N = 7", "param K = 9", "param H = 6", "param R = 4",
                      f"program products({', '.join(arguments).replace('E[', element + '[')}) {{", *lines,
                      f"  return {', '.join(f'c{i}' for i in range(len(lines)))}", "}", ""])


def kernels(element):
    """A program with an all_reduce and what follows it in a kernel: rows that are normalized, each element for itself,
    and sums of all, of one type, in every way to communicate."""
    lines, names, choices = [], [], []
    ways = {"ll": "protocol = ll", "lamport": "protocol = lamport", "simple": "protocol = simple",
            "two_shot": "algorithm = two_shot", "push": "protocol = push", "ring": "algorithm = ring"}
    for way, choice in ways.items():
        if way == "lamport" and element not in ("f64", "f32", "f16", "bf16"):
            continue
        what, value = choice.split(" = ")
        lines += [f"  let total_{way} = all_reduce(sum, x)", f"  let res_{way} = r + total_{way}",
                  f"  let rows_{way} = rms_norm(res_{way}, g, 1e-5)",
                  f"  let whole_{way} = all_reduce(sum, 2 * x)", f"  let each_{way} = r - whole_{way}",
                  f"  let part_{way} = sum(sum(x * x, 1), 0)", f"  let sum_{way} = all_reduce(sum, part_{way})",
                  f"  let scaled_{way} = r / (1 + sum_{way})"]
        names += [f"{name}_{way}" for name in ("rows", "res", "each", "scaled")]
        for kernel in (["total", "res", "rows"], ["whole", "each"], ["part", "sum", "scaled"]):
            names_here = [f"{name}_{way}" for name in kernel]
            target = names_here[kernel.index("sum")] if "sum" in kernel else names_here[0]
            choices += [f"  fuse {', '.join(names_here)}", f"  {what} {target} = {value}"]
    return "\n".join(["mesh m (dp = 4)", "param T = 5", "param H = 7",
                      f"program kernels(x: {element}[T, H] local, r: {element}[T, H], g: {element}[H]) {{", *lines,
                      f"  return {', '.join(names)}", "}", "schedule chosen for kernels {", *choices, "}", ""])


def synthesized(topology, ranks):
    """A program of collectives that run as the synthesizer found for a topology."""
    values = ["all_reduce(sum, x)", "all_reduce(max, y)", "all_gather(s)", "reduce_scatter(sum, z, 0)",
              "all_to_all(s, 0 -> 1)", "broadcast(x, 1)"]
    lines = [f"  let v{i} = {value}" for i, value in enumerate(values)]
    choices = [f"  algorithm v{i} = synth({topology}, {'latency' if i % 2 else 'bandwidth'})" for i in range(len(values))]
    if topology == "dgx1":
        choices[2] = "  algorithm v2 = synth(dgx1, chunks = 6, steps = 3, rounds = 7)"
        choices[4] = "  algorithm v4 = synth(dgx1, chunks = 24, steps = 2, rounds = 8)"
    return "\n".join([f"mesh m (dp = {ranks})", "param N = 5", "param M = 7",
                      "program synthesized(x: i32[N] local, y: f32[N] local, z: i32[N, M] local, "
                      "s: f16[N, M] sliced(0)) {", *lines,
                      f"  return {', '.join(f'v{i}' for i in range(len(values)))}", "}",
                      "schedule chosen for synthesized {", *choices, "}", ""])


def of_modules(folder):
    """The programs of ccn.torch's modules and optimizers, which training.py asks for by these names."""
    spec = importlib.util.spec_from_file_location("texts", f"{ROOT}/runtime/python/ccn/torch/texts.py")
    texts = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(texts)

    def write(name, text):
        with open(f"{folder}/torch-{name}.ccn", "w") as out:
            out.write(text)
        return f"{folder}/torch-{name}.ccn"

    for element in ("f64", "f32", "bf16"):
        mlp = write(f"mlp-{element}", texts.tensor_parallel_mlp(element))
        norm = write(f"norm-{element}", texts.all_reduce_rms_norm(element, 1e-6))
        for ranks in (1, 2, 4):
            for tokens, hidden, ffn in ((5, 3, 7), (128, 64, 192)):
                for end in ("", "_backward"):
                    schedule = [] if end else ["--schedule", "oneshot"]
                    yield (f"mlp{end}-{element}-{tokens}-{ranks}", mlp, {"tp": ranks},
                           [f"-DT={tokens}", f"-DH={hidden}", f"-DF={ffn}", "--program", f"mlp{end}"])
                    yield (f"all_reduce_rms_norm{end}-{element}-{tokens}-{ranks}", norm, {"tp": ranks},
                           [f"-DT={tokens}", f"-DH={hidden}", "--program", f"all_reduce_rms_norm{end}", *schedule])
    # As RINGS of training.py has them.
    for element, heads, kv_heads, tokens, dim, batch, is_causal in (
            ("f64", 4, 2, 13, 8, 2, True), ("f32", 3, 1, 8, 5, 1, False), ("bf16", 2, 2, 100, 16, 1, True)):
        for ranks in (1, 2, 4):
            ring = write(f"ring-{element}-{ranks}", texts.ring_attention(element, ranks, is_causal, dim ** -0.5))
            block = -(-tokens // ranks)
            for end in ("", "_backward"):
                yield (f"ring_attention{end}-{element}-{block}-{ranks}", ring, {"cp": ranks},
                       [f"-DB={batch}", f"-DG={kv_heads}", f"-DN={heads // kv_heads}", f"-DT={block}", f"-DD={dim}",
                        "--program", f"ring_attention{end}"])
    for element in ("f32", "bf16"):
        for kind, step, clips in (("adamw", texts.fused_adamw, False), ("adamw-clips", texts.fused_adamw, True),
                                  ("lamb-clips", texts.fused_lamb, True)):
            file = write(f"{kind}-{element}", step(element, element, clips))
            for ranks in (1, 2, 4):
                yield (f"{kind}-{element}-2540-{ranks}", file, {"dp": ranks}, ["-DN=2540", "--schedule", "fused"])


def of_products(folder):
    """Products of one rank, and attention."""
    for element in FLOATS + ["i8", "i32", "u64"]:
        file = f"{folder}/products-{element}.ccn"
        with open(file, "w") as out:
            out.write(products(element))
        for n, size in enumerate(["M=5", "M=1 N=1 K=1 H=3 R=1", "M=129 N=65 K=257 H=9 R=33", "M=128 N=256 K=64 H=16 R=64",
                                  "M=33 N=40 K=0 H=4 R=0"]):
            yield (f"products-{element}-{n}", file, {"dp": 1},
                   [*(f"-D{value}" for value in size.split()), "--schedule", "none"])
    for n, size in enumerate(["T=1 S=1", "T=129 S=64 D=128", "T=150 S=170", "T=1000 S=1031 D=96", "T=700 S=130 D=256"]):
        yield (f"attention-{n}", f"{ROOT}/test/lit/gpu/Inputs/attention.ccn", {"rank": 1},
               [*(f"-D{value}" for value in size.split()), "--schedule", "s"])


def case(name, file, options, mesh, kind="check", **more):
    """A case: name, file, options, kind, and number of ranks."""
    options = [*options, "--mesh=" + ",".join(f"{axis}={size}" for axis, size in mesh.items())]
    return {"name": name, "file": file, "options": options, "ranks": math.prod(mesh.values()), "kind": kind, **more}


def cases(folder):
    """Every case."""
    for example, (sizes, meshes) in EXAMPLES.items():
        file = f"{ROOT}/examples/{example}.ccn"
        schedules = re.findall(r"^schedule (\w+) for", open(file).read(), re.M)
        for schedule in [None, "auto", *schedules]:
            for s, size in enumerate(sizes):
                for mesh in meshes:
                    label = "x".join(str(n) for n in mesh.values())
                    options = [f"-D{value}" for value in size.split()]
                    options += ["--schedule", schedule or "none"]
                    yield case(f"{example}-{schedule or 'plain'}-{s}-{label}", file, options, mesh)
    # ccrun gives what is scattered in many buffers.
    for schedule in [None, "fused", "halves"]:
        for n in (1, 103, 65536, 1000003):
            for ranks in (1, 2, 3, 4):
                yield case(f"scattered-adam-{schedule or 'plain'}-{n}-{ranks}", f"{HERE}/scattered.ccn",
                           [f"-DN={n}", "--schedule", schedule or "none"], {"dp": ranks})
    for element in FLOATS + INTEGERS:
        file = f"{folder}/scattered-{element}.ccn"
        with open(file, "w") as out:
            out.write(scattered(element))
        for n in (5, 10007):
            for ranks in (2, 4):
                yield case(f"scattered-{element}-{n}-{ranks}", file, [f"-DN={n}", "--schedule", "chosen"],
                           {"dp": ranks})
    for element in FLOATS + INTEGERS + ["bool"]:
        file = f"{folder}/collectives-{element}.ccn"
        with open(file, "w") as out:
            out.write(collectives(element))
        for size in ("N=5", "N=1027"):
            for ranks in (2, 3, 4):
                yield case(f"collectives-{element}-{size[2:]}-{ranks}", file, [f"-D{size}", "--schedule", "chosen"],
                           {"dp": ranks})
    for name, file, mesh, options in of_products(folder):
        yield case(name, file, options, mesh)
    for element in FLOATS:
        file = f"{folder}/kernels-{element}.ccn"
        with open(file, "w") as out:
            out.write(kernels(element))
        for n, size in enumerate(["T=1 H=8192", "T=5 H=9", "T=67 H=1100", "T=3 H=1101", "T=1100 H=6", "T=83 H=40",
                                  "T=2 H=32770"]):
            for ranks in (2, 3, 4):
                yield case(f"kernels-{element}-{n}-{ranks}", file,
                           [*(f"-D{value}" for value in size.split()), "--schedule", "chosen"], {"dp": ranks})
    for topology, ranks in [('"ring(2)"', 2), ('"ring(3)"', 3), ('"hgx-h100-4"', 4), ("dgx1", 8)]:
        file = f"{folder}/synthesized-{ranks}.ccn"
        with open(file, "w") as out:
            out.write(synthesized(topology, ranks))
        for size in ("N=5", "N=16 M=64", "N=1000 M=100"):
            yield case(f"synthesized-{ranks}-{size.split()[0][2:]}", file,
                       [*(f"-D{value}" for value in size.split()), "--schedule", "chosen"], {"dp": ranks})
    for name, schedules in ONCE_WRONG.items():
        file = f"{ROOT}/test/{name}.ccn"
        for schedule in schedules:
            yield case(f"once-{os.path.basename(name)}-{schedule or 'plain'}", file,
                       ["--schedule", schedule or "none"], mesh_of(file))
    # What is measured is tuned: every schedule, and every algorithm.
    bench = f"{ROOT}/test/bench/gpu"
    for ranks in (2, 4):
        def tuned(operation, file, option, size, axis="dp"):
            return case(f"{operation}-{size}-r{ranks}", file, [*option.split(), "--autotune"], {axis: ranks}, "bench",
                        operation=operation, size=size)
        for lg in range(10, 31, 2):
            yield tuned("all_reduce", f"{bench}/all_reduce.ccn", f"-DN={2 ** lg // 2}", 2 ** lg)
        for tokens in (1, 8, 64, 512, 2048, 8192):
            yield tuned("norm", f"{bench}/norm.ccn", f"-DT={tokens}", tokens, "tp")
        for lg in range(10, 29, 2):
            yield tuned("adam", f"{bench}/adam.ccn", f"-DN={2 ** lg}", 2 ** lg)
            yield tuned("lamb", f"{bench}/lamb.ccn", f"-DN={2 ** lg}", 2 ** lg)
        for m, n, k in JOINED:
            sizes = f"-DM={m} -DN={n} -DK={k}"
            for operation in ("product_scatter", "product_reduce"):
                yield tuned(operation, f"{bench}/{operation}.ccn", sizes, f"{m}x{n}x{k // ranks}", "tp")
            yield tuned("gather_product", f"{bench}/gather_product.ccn", sizes, f"{m}x{k // ranks}x{n}", "tp")
    # What the scripts in Python run.
    with open(f"{ROOT}/test/bench/calls.py") as script, open(f"{folder}/calls.ccn", "w") as out:
        out.write(re.search(r'TEXT = """(.*?)"""', script.read(), re.S)[1])
    yield case("calls", f"{folder}/calls.ccn", ["--schedule", "none"], {"r": 1}, "python")
    for name, file, mesh, options in of_modules(folder):
        yield case(f"torch-{name}", file, options, mesh, "python")
    yield case("bound", f"{HERE}/step.ccn", ["-DN=20000003", "--schedule", "fused"], {"dp": 2}, "python")
    for ranks in (1, 2, 4):
        yield case(f"step-{ranks}", f"{HERE}/step.ccn", ["--schedule", "none"], {"dp": ranks}, "python")
        yield case(f"replay-ll-{ranks}", f"{bench}/all_reduce.ccn", ["-DN=1001", "--schedule", "ll"], {"dp": ranks}, "python")
        yield case(f"replay-two_shot-{ranks}", f"{bench}/all_reduce.ccn", ["-DN=100003", "--schedule", "two_shot"],
                   {"dp": ranks}, "python")
        yield case(f"replay-norm-{ranks}", f"{bench}/norm.ccn", ["-DT=17", "--schedule", "oneshot"], {"tp": ranks}, "python")
        yield case(f"replay-adam-{ranks}", f"{bench}/adam.ccn", ["-DN=65537", "--schedule", "fused"], {"dp": ranks},
                   "python")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--bin", default=f"{ROOT}/build/bin", help="where cccompile and ccrun are")
    parser.add_argument("--only", default="", help="a regular expression that names of cases match")
    parser.add_argument("--random", type=int, default=0, help="how many random programs are packed too")
    parser.add_argument("--seed", type=int, default=1, help="the first one's seed")
    options = parser.parse_args()
    folder = os.path.abspath(options.folder)
    os.makedirs(folder, exist_ok=True)
    with tempfile.TemporaryDirectory() as packages:
        return pack(folder, packages, options)


def pack(folder, packages, options):
    wanted = [case for case in cases(packages) if re.search(options.only, case["name"])]
    compiled = packing.compile_all(wanted, lambda case: packing.compile_file(
        options.bin, case["file"], f"{packages}/{case['name']}.ccnpkg", case["options"]))
    failed = len(wanted) - len(compiled)
    packed = [{key: value for key, value in case.items() if key != "file"} for case in compiled]
    if options.random:
        found, wrong = write_random(packages, options)
        packed += found
        failed += wrong
    with open(f"{folder}/cases.json", "w") as out:
        json.dump(packed, out, indent=1)
    # What they have in common is most of them.
    with tarfile.open(f"{folder}/packages.tar.xz", "w:xz", preset=1) as archive:
        for case in packed:
            archive.add(f"{packages}/{case['name']}.ccnpkg", f"{case['name']}.ccnpkg")
    shutil.copy(f"{options.bin}/ccrun", folder)
    built = os.path.dirname(os.path.abspath(options.bin))
    scripts = ("run.py", "table.py", "peer_lamb.py", "bound.py", "operators.py", "training.py", "prepare.py", "replays.py", "killed.py",
               "device.py", "shared.py")
    packing.carry(built, folder, *(f"{HERE}/{script}" for script in scripts), f"{ROOT}/test/bench/calls.py")
    os.makedirs(f"{folder}/tests", exist_ok=True)
    for test in ("CcnGpuRunTests", "CcnApiGpuTests"):
        shutil.copy(f"{options.bin}/{test}", f"{folder}/tests")
    example = pack_example(built, folder)
    print(f"{len(packed)} packages, {failed} failed" + ("" if example else ", and the example's application too"))
    return 1 if failed or not example else 0


def write_random(packages, options):
    """Packages of random programs that communicate, of fresh seeds until there are as many as asked for; whether any failed."""
    cases, seed = [], options.seed
    while len(cases) < options.random:
        count = max(100, options.random - len(cases))
        done = subprocess.run([f"{options.bin}/random-programs", "--write", packages, "--seed", str(seed), "--count", str(count)],
                              capture_output=True, text=True)
        if done.returncode:
            print(done.stderr[-2000:])
            return cases, True
        for number in range(seed, seed + count):
            name = f"random-{number}"
            if os.path.exists(f"{packages}/{name}.ccnpkg") and len(cases) < options.random:
                ranks = math.prod(mesh_of(f"{packages}/{name}.ccn").values())
                cases.append({"name": name, "kind": "check", "ranks": ranks})
        seed += count
    return cases, False


def pack_example(built, folder):
    """The application in examples/cpp, built as its users do; whether that worked."""
    with tempfile.TemporaryDirectory() as build:
        for command in (["cmake", "-S", f"{ROOT}/examples/cpp", "-B", build, f"-Dccn_DIR={built}",
                         "-DADAM_RANKS=2", "-DADAM_SIZE=1000003"], ["cmake", "--build", build]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                print(done.stderr.strip()[-600:])
                return False
        shutil.copy(f"{build}/adam-example", folder)
    return True


if __name__ == "__main__":
    raise SystemExit(main())
