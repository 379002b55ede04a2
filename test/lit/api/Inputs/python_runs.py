"""Runs compiled programs from Python on ranks that are threads, and compares with the interpreter, bit for bit.

    python_runs.py FOLDER SOURCE CCCOMPILE...
"""

import glob
import os
import re
import sys
import threading

from python_util import SIZES, call, fresh, np, own_axes, package, part_of

import ccn
import elements
from dlpack_tensors import speaker

folder, source, *cccompile = sys.argv[1:]
fresh(folder)
examples = os.path.join(source, "examples")
ELEMENTS = {element.name: element for element in elements.ALL}
DLPACK_CODES = {"i": 0, "u": 1, "f": 2, "b": 6}
F32 = np.float32
rng = np.random.default_rng(7)


def drawn(name, shape):
    """An array of an element type, as it is in files."""
    element = ELEMENTS[name]
    values = rng.integers(0, 2, shape) if element.kind == "b" else 3 * rng.standard_normal(shape)
    stored = element.encode(np.abs(values) if element.kind == "u" else values)
    return np.array(stored.view(element.raw) if element.raw else stored)


def run(program, inputs, numbers, give=lambda array: array):
    """What a program leaves in its inouts and results, as arrays of all ranks; replicated parts are the same on all."""
    whole = {a.name: inputs[a.name].copy() for a in program.arguments if a.name in inputs}
    for argument in program.arguments:
        if argument.kind == "result":
            lead = [program.mesh[axis] for axis in own_axes(program, argument)]
            whole[argument.name] = np.zeros((*lead, *argument.shape), drawn(argument.type, 0).dtype)
    parts = [{} for _ in range(program.ranks)]

    def of_rank(rank):
        arguments, names = [], [a.name for a in program.arguments if a.kind != "result"]
        for name in names:
            if name in numbers:
                arguments.append(numbers[name])
                continue
            parts[rank][name] = part_of(program, program.argument(name), rank, inputs[name]).copy()
            arguments.append(give(parts[rank][name]))
        executor = program.on(team, rank)
        # The first by position, others by name.
        results = executor(*arguments[:2], **dict(zip(names[2:], arguments[2:])))
        results = () if results is None else results if isinstance(results, tuple) else (results,)
        expected = [a for a in program.arguments if a.kind == "result"]
        assert len(results) == len(expected)
        for argument, result in zip(expected, results):
            parts[rank][argument.name] = result
        executor.synchronize()

    with ccn.Team(program) as team:
        team.run(of_rank)
    for argument in program.arguments:
        if argument.kind != "input":
            holders = {}
            for rank in range(program.ranks):
                mine = part_of(program, argument, rank, whole[argument.name])
                theirs = parts[rank][argument.name]
                assert type(theirs) is np.ndarray and theirs.shape == mine.shape, (argument, rank, theirs)
                assert theirs.dtype == mine.dtype, (argument, theirs.dtype)
                # Who holds the same part holds the same values.
                holders.setdefault((argument.part(rank).offset, mine.ctypes.data), set()).add(theirs.tobytes())
                mine[...] = theirs
            assert all(len(values) == 1 for values in holders.values()), (program, argument)
    return {a.name: whole[a.name] for a in program.arguments if a.kind != "input"}


def interpreted(path, options, inputs, numbers, outputs):
    """What the interpreter leaves."""
    arguments = []
    for name, array in inputs.items():
        np.save(f"in-{name}.npy", array)
        arguments += ["--input", f"{name}=in-{name}.npy"]
    for name, value in numbers.items():
        arguments += ["--input", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    for name in outputs:
        arguments += ["--output", f"{name}=out-{name}.npy"]
    call(*cccompile, path, *options, "--run", *arguments, env={**os.environ, "CCN_VERIFY": "0"})
    return {name: np.load(f"out-{name}.npy") for name in outputs}


def compare(program, path, options, numbers, **how):
    inputs = {}
    for argument in program.arguments:
        if argument.kind != "result" and argument.name not in numbers:
            lead = [program.mesh[axis] for axis in own_axes(program, argument)]
            inputs[argument.name] = drawn(argument.type, (*lead, *argument.shape))
    if "var" in inputs:
        inputs["var"] = np.abs(inputs["var"])
    found = run(program, inputs, numbers, **how)
    expected = interpreted(path, options, inputs, numbers, found)
    assert found
    for name in found:
        same = found[name].tobytes() == expected[name].tobytes()
        assert same and found[name].shape == expected[name].shape, (program, name, found[name], expected[name])


# Every example under a schedule and without.
names = sorted(glob.glob(os.path.join(examples, "*.ccn")))
assert len(names) >= 10, names
for path in names:
    text = open(path).read()
    params = [f"-D{name}={SIZES[name]}" for name in re.findall(r"^param (\w+)", text, re.M) if name in SIZES]
    for schedule in ("fused", None):
        if schedule and f"schedule {schedule} for" not in text:
            continue
        options = params + (["--schedule", schedule] if schedule else [])
        call(*cccompile, path, *options, "--emit", "package", "-o", "example.ccnpkg",
             env={**os.environ, "CCN_VERIFY": "0"})
        with ccn.load("example.ccnpkg") as program:
            assert program.name == os.path.basename(path)[:-4] and program.schedule == (schedule or "")
            assert program.target == "cpu" and program.ranks == np.prod(list(program.mesh.values()))
            numbers = {a.name: {"f32": 0.5, "i64": 12}[a.type] for a in program.arguments if a.is_value}
            compare(program, path, options, numbers)

# What the guide to applications shows.
adam, = [path for path in names if path.endswith("adam.ccn")]
call(*cccompile, adam, "-DN=103", "--emit", "package", "-o", "adam.ccnpkg")
with open(os.path.join(source, "runtime", "api", "README.md")) as file:
    shown, = re.findall(r"```python\n(.*?)```", file.read(), re.S)
p, mom, var = (np.ones((4, 103), F32), *(np.zeros((4, 26), F32) for _ in range(2)))
arrays = {"g": np.ones((4, 103), np.float16), "p": p, "mom": [*mom[:3], mom[3, :25]], "var": [*var[:3], var[3, :25]]}
exec(shown, arrays)
assert np.allclose(p, 0.999) and np.allclose(mom[:3], 0.1) and arrays["team"].is_closed

# All element types: arrays, numbers, scalars that are written, and results; sizes that leave ranks without elements.
for element in elements.ALL:
    for size in (0, 1, 5):
        text = f"""mesh m (r = 3)
program all(x: {element}[{size}] sliced(0), inout s: {element}, inout v: {element}[2] local, a: {element}) {{
  let y = all_gather(x)
  let z = broadcast_to(a, [3])
  s <- a
  return y, z
}}
"""
        program = package(cccompile, text, "types")
        assert [a.type for a in program.arguments] == [element.name] * 6
        assert program.argument("x").part(2).offset[0] <= size
        if element.kind == "b":
            numbers = [True]
        elif element.kind == "f":
            numbers = [0.1, -0.0, 1.0625, 240.0, 1]
        else:
            least = 0 if element.kind == "u" else -(2 ** (element.bits - 1))
            numbers = [3, least, least + 2**element.bits - 1]
        for number in numbers[:1] if size != 5 else numbers:
            compare(program, "types.ccn", [], {"a": number})
        if element.kind == "f" and size == 5:
            # Halfway cases, subnormal numbers, and those that round to zero.
            special = [sign * part * 2.0**-exponent for sign in (1, -1) for part in (1, 1.0625, 1.5, 1.75, 3.25)
                       for exponent in (7, 9, 10, 14, 16, 17, 24, 133)]
            special += [float("nan")] + [float("inf"), float("-inf")] * (element.name != "f8e4m3")
            special += [np.float64(0.1), np.float16(-2), np.array(3.0)]
            x, v = drawn(element.name, 5), drawn(element.name, 2)
            with ccn.Team(program) as team:
                found = team.run(lambda rank: [program.on(team, rank)(
                    part_of(program, program.argument("x"), rank, x), drawn(element.name, ()), v.copy(), number)[1]
                    for number in special])
            for number, z in zip(special, found[0]):
                expected = np.full(3, element.encode(number), element.storage)
                assert z.tobytes() == expected.tobytes(), (element, number, z, expected)
        if size == 5:
            # The same through DLPack, of both kinds of capsules.
            code = {"bf16": 4, "f8e4m3": 10, "f8e5m2": 12}.get(element.name, DLPACK_CODES[element.kind])
            inputs = {"x": drawn(element.name, 5), "s": drawn(element.name, ()), "v": drawn(element.name, (3, 2))}
            expected = run(program, inputs, {"a": numbers[0]})
            executors = {}
            for flags in (None, 0):
                with ccn.Team(program) as team:
                    def of_rank(rank):
                        own = {name: part_of(program, program.argument(name), rank, inputs[name]).copy()
                               for name in inputs}
                        own["y"], own["z"] = drawn(element.name, 5), drawn(element.name, 3)
                        spoken = {name: speaker(array, code, flags=flags) for name, array in own.items()}
                        out = {"y": spoken.pop("y"), "z": spoken.pop("z")}
                        results = program.on(team, rank)(a=numbers[0], out=out, **spoken)
                        assert results == (out["y"], out["z"])
                        return own
                    for rank, own in enumerate(team.run(of_rank)):
                        for name in ("s", "y", "z"):
                            assert own[name].tobytes() == expected[name].tobytes(), (element, name)

# One rank needs no team. Executors are kept, and give the same again; what is written elsewhere stays.
program = package(cccompile, """mesh m (r = 1)
program axpy(a: f32, x: f32[5], inout y: f32[5]) {
  y <- a * x + y
  let s = sum(y, 0)
  return s
}
""", "axpy")
x, y = np.arange(5, dtype=np.float32), np.ones(5, np.float32)
total = program(2, x, y)
assert y.tolist() == [1, 3, 5, 7, 9] and total.shape == () and total == 25, (y, total)
assert program.executor() is program.executor()
out = np.zeros((), np.float32)
assert program(a=-2, x=x, y=y, out=out) is out and out == 5 and y.tolist() == [1] * 5
assert program(a=0, x=x, y=y, out=[None]) == 5 and program(a=0, x=x, y=y, out={"s": out}) is out
# What is only read may be read-only, and the same twice; bytes are a package as well.
x.setflags(write=False)
with open("axpy.ccnpkg", "rb") as file:
    second = ccn.load(file.read())
assert second(np.float32(1), x, y) == 15 and second.hash == program.hash
assert second(np.array(0, np.float32), x, y) == 15
second.executor().bind(x=x, y=y)
# In parts of others' memory.
wide = np.zeros((3, 5), np.float32)
second(1, x, wide[1])
assert wide.tolist() == [[0] * 5, [0, 1, 2, 3, 4], [0] * 5]
# As large as memory that malloc aligns less is.
import mmap
import tempfile
with tempfile.TemporaryFile() as file:
    file.truncate(4096)
    mapped = np.frombuffer(mmap.mmap(file.fileno(), 4096), np.float32)
    second(1, x, mapped[1:6])
    assert mapped[:7].tolist() == [0, 0, 1, 2, 3, 4, 0]

# Programs of one team, used by threads of the caller; executors are the same each time.
two = [package(cccompile, f"""mesh m (r = 2)
program p{i}(x: i32[3] local) {{
  let y = all_reduce({how}, x)
  return y
}}
""", f"two{i}") for i, how in enumerate(("sum", "max"))]
team = ccn.Team(*two, time_limit=30)
results = {}


def thread(rank):
    x = np.array([rank, 10 - rank, 5], np.int32)
    for _ in range(3):
        results[rank] = [program.on(team, rank)(x).tolist() for program in two]
    assert two[0].on(team, rank) is two[0].on(team, rank)
    team.meet(rank)


threads = [threading.Thread(target=thread, args=(rank,)) for rank in range(2)]
for one in threads:
    one.start()
for one in threads:
    one.join()
assert results == {rank: [[1, 19, 10], [1, 10, 5]] for rank in range(2)}, results
# Programs may be closed before teams that have them.
two[0].close()
team.check()
team.close()
assert team.is_closed and "2 ranks" in repr(team)
print("same bits")


# Lists of tensors, of any shapes, for what is scattered; and one, which is a list of one.
scattered = package(cccompile, """mesh m (r = 2)
program scattered(g: f16[24] local scattered, inout p: f32[24] scattered, lr: f32) {
  let sums = all_reduce(sum, g)
  p <- p - lr * cast(sums, f32)
  let y = 2 * p
  return y
}
""", "scattered")
assert [a.is_scattered for a in scattered.arguments] == [True, True, False, False]
gradients = [np.arange(24, dtype=np.float16) + rank for rank in range(2)]
expected = 1 - 0.5 * (gradients[0] + gradients[1]).astype(F32)
with ccn.Team(scattered) as team:
    def of_scattered(rank):
        g = gradients[rank]
        executor = scattered.on(team, rank)
        p = [np.ones((2, 3), F32), np.ones((0, 5), F32), np.ones(1 + rank, F32), np.ones((17 - rank, 1), F32)]
        speaking = [speaker(p[0], 2), *p[1:]]
        executor.bind([g[:7].copy(), g[7:].copy()], p)
        y = executor([g[:7].copy(), g[7:].copy()], speaking, 0.5)
        assert y.shape == (24,) and (y == 2 * expected).all(), y
        assert (np.concatenate([part.reshape(-1) for part in p]) == expected).all(), p
        whole = np.ones(24, F32)
        executor(g, p=whole, lr=0.5)
        assert (whole == expected).all(), whole
    team.run(of_scattered)
