"""What callers of the Python package can do wrong, each with the error that says so; nothing crashes or waits for ever.

    python_misuse.py FOLDER BUILD CCCOMPILE...
"""

import os
import shutil
import sys
import threading
import time

from python_util import call, fresh, np, package, refused

import ccn
from dlpack_tensors import Speaker, speaker

folder, build, *cccompile = sys.argv[1:]
fresh(folder)
F32 = np.float32

one = package(cccompile, """mesh m (r = 1)
program one(g: f16[5], inout p: f32[2, 3], lr: f32, n: i8, on: bool, inout s: f32) {
  let y = p * lr
  let z = g
  p <- p + lr
  s <- s + lr
  return y, z
}
""", "one")


def arguments(**changed):
    given = dict(g=np.ones(5, np.float16), p=np.ones((2, 3), F32), lr=0.5, n=3, on=True, s=np.zeros((), F32))
    given.update(changed)
    return {name: value for name, value in given.items() if value is not None}


one(**arguments())
where = "program 'one': argument "

# Which packages: paths are bytes to the system, and end at the first NUL.
with refused(ccn.PackageError, "no-such-\\xff.ccnpkg"):
    ccn.load(os.fsdecode(b"no-such-\xff.ccnpkg"))
with refused(ccn.PackageError, "no-such-\\xff.ccnpkg"):
    ccn.load(b"no-such-\xff.ccnpkg".decode(errors="surrogateescape"))
for path in ("one.ccnpkg\0", "one.ccnpkg\0x", "\0"):
    with refused(ValueError, f"expected a path without NUL characters, found {path!r}"):
        ccn.load(path)
with ccn.Team(one) as team:
    team.fail("at \udcff, \0 and after", 0)
    with refused(ccn.TeamError, "at \\udcff, \\0 and after"):
        team.check()

# Which arguments.
with refused(TypeError, where + "'lr' is missing; expected f32"):
    one(**arguments(lr=None))
with refused(TypeError, "program 'one' has no argument 'q'"):
    one(**arguments(q=1))
with refused(TypeError, "program 'one' has no argument, but a result, 'y'"):
    one(**arguments(y=1))
with refused(TypeError, "program 'one': expected 6 arguments, found 7"):
    one(*arguments().values(), 1)
with refused(TypeError, where + "'g' is given by position and by name"):
    one(np.ones(5, np.float16), **arguments())
with refused(TypeError, where + "'g': expected a tensor, found list"):
    one(**arguments(g=[1.0] * 5))
with refused(TypeError, where + "'s': expected a tensor without dimensions, which is written, found float"):
    one(**arguments(s=0.0))

# Their shapes, elements and strides.
for shape in ((4,), (6,), (5, 1), (1, 5), ()):
    with refused(ValueError, where + "'g': expected shape [5], which is the part of rank 0 of f16[5], found " +
                 str(list(shape))):
        one(**arguments(g=np.ones(shape, np.float16)))
for dtype, found in ((np.float32, "f32"), (np.float64, "f64"), (np.uint16, "u16"), (np.dtype(">f2"), "dtype >f2"),
                     (np.dtype("V2"), "bf16"), (np.dtype("V1"), "dtype |V1"), (np.complex64, "dtype complex64"),
                     (np.dtype("U1"), "dtype <U1"),
                     (np.dtype([("a", "f2")]), "dtype [('a', '<f2')]"), (object, "dtype object")):
    with refused(TypeError, where + "'g': expected elements of f16, found " + found):
        one(**arguments(g=np.zeros(5, dtype)))
with refused(ValueError, where + "'g': expected row-major order without gaps"):
    one(**arguments(g=np.ones(10, np.float16)[::2]))
with refused(ValueError, where + "'p': expected row-major order without gaps"):
    one(**arguments(p=np.ones((3, 2), F32).T))
with refused(TypeError, where + "'g': expected an array without a mask"):
    one(**arguments(g=np.ma.ones(5, np.float16)))
p = np.ones((2, 3), F32)
p.setflags(write=False)
with refused(ValueError, where + "'p': it is read-only, and the program writes it"):
    one(**arguments(p=p))
with refused(ccn.ArgumentError, "argument 'p' is not aligned to 4 bytes"):
    one(**arguments(p=np.frombuffer(bytearray(25), np.uint8)[1:].view(F32).reshape(2, 3)))
both = np.zeros((2, 3), F32)
with refused(ccn.ArgumentError, "argument 'p' and argument 's' overlap, and one of them is written"):
    one(**arguments(p=both, s=both[1, 2:].reshape(())))

# Numbers.
for value, found in ((True, "bool"), ("1", "str"), (None, None), (1j, "complex"), (np.ones(1, F32), "ndarray"),
                     (np.bool_(True), "bool")):
    with refused(TypeError, where + "'lr'" + (f": expected a number that is f32, found {found}" if found else
                                              " is missing")):
        one(**arguments(lr=value))
for value in (1e39, -1e300, 10**400):
    with refused(ValueError, where + "'lr': ", "is out of the range of f32"):
        one(**arguments(lr=value))
for value in (128, -129, 10**30):
    with refused(ValueError, where + f"'n': {value} is out of the range of i8"):
        one(**arguments(n=value))
for value in (1.0, True, np.float64(2), np.array(1.0)):
    with refused(TypeError, where + "'n': expected a number that is i8"):
        one(**arguments(n=value))
for value in (1, 0.0, np.int8(1)):
    with refused(TypeError, where + "'on': expected a number that is bool"):
        one(**arguments(on=value))
one(**arguments(n=np.int64(-128), on=np.bool_(False), lr=np.array(1, np.int16)))

# Results.
y, z = np.zeros((2, 3), F32), np.zeros(5, np.float16)
assert one(**arguments(), out=(y, z))[0] is y
with refused(TypeError, "program 'one': expected 2 results in 'out', found 1"):
    one(**arguments(), out=y)
with refused(TypeError, "program 'one' has no result 'p'"):
    one(**arguments(), out={"p": y})
with refused(ValueError, "program 'one': result 'z': expected shape [5]"):
    one(**arguments(), out=(y, y[0].astype(np.float16)))
with refused(TypeError, "program 'one': result 'y': expected a tensor, found str"):
    one(**arguments(), out=("y", z))
z.setflags(write=False)
with refused(ValueError, "program 'one': result 'z': it is read-only"):
    one(**arguments(), out=[None, z])
with refused(ccn.ArgumentError, "overlap, and one of them is written"):
    one(**arguments(p=y), out=[y, None])

# Streams and devices.
with refused(ccn.ArgumentError, "expected no stream for a program on the CPU"):
    one(**arguments(), stream=7)
with refused(TypeError, "expected a stream of CUDA, found str"):
    one(**arguments(), stream="x")
one.synchronize()

# Lists of tensors.
lists = package(cccompile, """mesh m (r = 1)
program lists(g: f16[7] scattered, inout p: f32[7] scattered) {
  p <- p + cast(g, f32)
}
""", "lists").executor()
g7, p7 = np.ones(7, np.float16), np.ones(7, F32)
in_lists = "program 'lists': argument "
with refused(ValueError, in_lists + "'p': expected tensors of 7 elements together, as the part of rank 0 of f32[7] "
                         "has, found 6"):
    lists(g7, [p7[:2], p7[3:]])
with refused(TypeError, in_lists + "'p': expected elements of f32, found f16"):
    lists(g7, [p7[:2], g7[2:]])
with refused(TypeError, in_lists + "'p': expected a tensor or a list of tensors, found int"):
    lists(g7, [p7, 3])
with refused(ValueError, in_lists + "'g': expected row-major order without gaps"):
    lists([np.ones(14, np.float16)[::2]], p7)
with refused(ccn.ArgumentError, "buffer 0 of argument 'p' and buffer 1 of argument 'p' overlap"):
    lists(g7, [p7[:4], p7[3:6]])
assert (p7 == 1).all()
lists((g7[:3], g7[3:]), (p7[:5], p7[5:]))
assert (p7 == 2).all()

# DLPack.
g, p = np.ones(5, np.float16), np.ones((2, 3), F32)
for flags in (None, 0):
    one(**arguments(g=speaker(g, 2, flags=flags), p=speaker(p, 2, flags=flags), s=speaker(np.zeros((), F32), 2)),
        out=(y, np.zeros(5, np.float16)))
    with refused(TypeError, where + "'p': expected elements of f32, found i32"):
        one(**arguments(p=speaker(p, 0, flags=flags)), out=(y, None))
    with refused(TypeError, where + "'g': expected elements of f16, found bf16"):
        one(**arguments(g=speaker(g, 4, flags=flags)))
    with refused(TypeError, where + "'g': expected elements of f16, found DLPack's type of code 2, 16 bits, 2 lanes"):
        one(**arguments(g=speaker(g, 2, flags=flags, lanes=2)))
    with refused(ValueError, where + "'p': expected row-major order without gaps"):
        one(**arguments(p=speaker(p.T.copy().T, 2, flags=flags)))
    with refused(ValueError, where + "'g': expected shape [5]", "found [4]"):
        one(**arguments(g=speaker(g[:4], 2, flags=flags)))
    for device, name in (((2, 1), "cuda:1"), ((13, 0), "a device of DLPack's type 13"), ((8, 0), "Metal"),
                         ((99, 0), "a device of DLPack's type 99")):
        with refused(ValueError, where + "'g': expected a tensor on the CPU, found one on " + name):
            one(**arguments(g=speaker(g, 2, flags=flags, device=device)))
for flags in (1, 2, 3):
    with refused(ValueError, where + "'p': it is read-only"):
        one(**arguments(p=speaker(p, 2, flags=flags)))
    assert one(**arguments(g=speaker(np.full(5, 7, np.float16), 2, flags=flags)),
               out=(y, np.zeros(5, np.float16)))[1].tolist() == [7] * 5
with refused(TypeError, where + "'g': expected a tensor of DLPack 1, found one of DLPack 2.0"):
    one(**arguments(g=speaker(g, 2, flags=0, major=2)))
with refused(TypeError, where + "'g': expected a capsule of DLPack, found <capsule object \"used_dltensor\""):
    one(**arguments(g=speaker(g, 2, name=b"used_dltensor")))
with refused(TypeError, "program 'one': expected 'y' in 'out', since results like tensors of type Speaker"):
    one(**arguments(g=speaker(g, 2)))
# Without strides it is row-major; there may be an offset in bytes.
nine = np.arange(9, dtype=np.float16)
assert one(**arguments(g=Speaker(nine.ctypes.data, (5,), 2, 16, offset=4)),
           out=(y, np.zeros(5, np.float16)))[1].tolist() == [2, 3, 4, 5, 6]


class Broken:
    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **_):
        raise BufferError("it is lent")


with refused(ValueError, where + "'g': it is lent"):
    one(**arguments(g=Broken()))

# Packages.
with refused(ccn.PackageError, "missing.ccnpkg"):
    ccn.load("missing.ccnpkg")
with open("one.ccnpkg", "rb") as file:
    data = file.read()
for damaged in (b"", data[:100], data[:-1], data[:200] + b"?" + data[201:]):
    with refused(ccn.PackageError):
        ccn.load(damaged)
with refused(ValueError, "expected target 'cpu', 'gpu' or None, found 'tpu'"):
    ccn.load("one.ccnpkg", "tpu")
with refused(ccn.ArgumentError, "program 'one': the package holds no kernels for GPUs"):
    ccn.load("one.ccnpkg", "gpu")
with refused(TypeError):
    ccn.load(7)
with refused(ccn.ArgumentError, "expected a rank from 0 to 0, found 1"):
    one.argument("p").part(1)
with refused(KeyError, "program 'one' has no argument 'q'"):
    one.argument("q")

# Teams.
four = package(cccompile, """mesh m (r = 4)
program four(x: f32[6] sliced(0)) {
  let y = all_gather(x)
  return y
}
""", "four")
x = np.arange(6, dtype=F32)
with refused(ccn.ArgumentError, "program 'four' has 4 ranks; expected program.on(team, rank)"):
    four(x)
with refused(ccn.ArgumentError, "expected the programs that the team will run, found none"):
    ccn.Team()
with refused(ccn.ArgumentError, "program 'four' has 4 ranks, 'one' has 1"):
    ccn.Team(one, four)
with refused(ccn.ArgumentError, "expected a time limit"):
    ccn.Team(four, time_limit=-1)
with refused(ccn.ArgumentError, "torchrun"):
    ccn.join(four)
team = ccn.Team(four, time_limit=30)
for rank in (-1, 4, None):
    with refused(ccn.ArgumentError, f"expected a rank from 0 to 3, found {rank}"):
        four.on(team, rank)
with refused(ccn.ArgumentError, "the team does not list program 'one'"):
    one.on(team, 0)
with refused(ccn.ArgumentError, "expected a rank, since all are threads of this process"):
    team.meet()
for wrong in ("four.ccnpkg", team):
    with refused(TypeError, f"expected a ccn.Program, found {type(wrong).__name__}"):
        ccn.Team(wrong)
for action in (lambda: four.on(team, 2**32), lambda: four.argument("x").part(2**32), lambda: team.meet(2**32),
               lambda: team.fail("x", -(2**32))):
    with refused(ccn.ArgumentError, "expected a number of 32 bits, found "):
        action()
with refused(TypeError, "float"):
    four.on(team, 1.0)
assert four.on(team, np.int64(1)) is four.on(team, 1)
# The last rank has no elements, the third no whole part.
assert [four.argument("x").part(rank).shape for rank in range(4)] == [(2,), (2,), (2,), (0,)]
with refused(ValueError, "argument 'x': expected shape [0], which is the part of rank 3 of f32[6] sliced(0, r)"):
    four.on(team, 3)(x)


def of_rank(rank, bad=None):
    if rank == bad:
        return four.on(team, rank)(x)
    offset, shape = four.argument("x").part(rank)
    return four.on(team, rank)(x[offset[0]:offset[0] + shape[0]])


# A wrong call has changed nothing.
assert all((y == x).all() for y in team.run(of_rank))
# Two calls for a rank, and closing, while one is in progress.
waiting = threading.Thread(target=lambda: refusals.append(run_alone()))
refusals = []


def run_alone():
    while True:
        try:
            return of_rank(1)
        except ccn.TeamError as error:
            return error
        except ccn.ArgumentError:
            # While the call below is in progress.
            time.sleep(0.005)


waiting.start()
deadline = time.monotonic() + 25
while True:
    try:
        four.on(team, 1).synchronize()
        assert time.monotonic() < deadline, "the run is never in progress"
        time.sleep(0.01)
    except ccn.ArgumentError as error:
        assert "another call for rank 1 is in progress" in str(error), error
        break
with refused(ccn.ArgumentError, "another call for rank 1 is in progress"):
    of_rank(1)
with refused(ccn.ArgumentError, "the team cannot be closed while calls are in progress"):
    team.close()
# The team fails: who waits hears of it, and everybody later.
team.fail("no more data", 2)
waiting.join(20)
assert str(refusals[0]) == "rank 2: no more data", refusals
with refused(ccn.TeamError, "rank 2: no more data"):
    of_rank(0)
with refused(ccn.TeamError, "rank 2: no more data"):
    team.check()
with refused(ccn.TeamError, "rank 2: no more data"):
    team.meet(1)
team.close()
team.close()
for action in (lambda: of_rank(0), team.check, lambda: team.meet(0), lambda: team.fail("x", 0),
               lambda: four.on(team, 0).synchronize()):
    with refused(ccn.ArgumentError, "the team is closed"):
        action()

# One rank's exception ends the others at once, and is what is raised.
for has_run in (False, True):
    begin = time.monotonic()
    with refused(ValueError, "argument 'x': expected shape [2], which is the part of rank 2"):
        with ccn.Team(four, time_limit=60) as team:
            if has_run:
                team.run(of_rank)
            team.run(lambda rank: of_rank(rank, bad=2))
    assert team.is_closed and time.monotonic() - begin < 50
with refused(ZeroDivisionError, "division by zero"):
    with ccn.Team(four) as team:
        1 / 0
assert team.is_closed
# A rank that does not come is named in time; that nobody was told of a failure, is told at the end.
with ccn.Team(four, time_limit=0.5) as team:
    with refused(ccn.TeamError, "rank"):
        team.run(lambda rank: rank and of_rank(rank))
team = ccn.Team(four)
with team.handle as pointer:
    from ccn._library import lib
    lib.ccn_team_fail(pointer, 3, b"unheard")
with refused(ccn.TeamError, "rank 3: unheard"):
    team.close()
# Ranks that would call different programs do not compute nonsense.
other = package(cccompile, open("four.ccn").read().replace("four", "other"), "other")
with ccn.Team(four, other, time_limit=20) as team:
    with refused(ccn.TeamError, "makes an executor of 'other' (program 1 of the team), rank 0 of 'four'"):
        team.run(lambda rank: (other if rank == 2 else four).on(team, rank)(
            x[2 * rank:2 * rank + 2]))

# Closed programs.
argument = one.arguments[0]
one.close()
one.close()
for action in (lambda: one(**arguments()), lambda: argument.part(0), lambda: ccn.Team(one)):
    with refused(ccn.ArgumentError, "program 'one' is closed"):
        action()
# What is not closed is released when it is lost, or when Python ends.
for _ in range(3):
    lost = ccn.load("four.ccnpkg")
    team = ccn.Team(lost)
    team.run(lambda rank: lost.on(team, rank)(x[2 * rank:2 * rank + 2]))
assert ccn.load("four.ccnpkg").argument("x").part(0).shape == (2,)

# Where libccn is.
python = [sys.executable, "-c", "import ccn; print(ccn.load('four.ccnpkg').ranks)"]
lost = {name: value for name, value in os.environ.items()
        if name not in ("PYTHONPATH", "LD_LIBRARY_PATH", "CCN_LIBRARY")}
shutil.copytree(os.path.join(build, "lib/python/ccn"), "alone/ccn")
text = call(*python, code=1, env={**lost, "PYTHONPATH": "alone"}).stderr
assert "ImportError: libccn cannot be loaded; CCN_LIBRARY may say where it is" in text, text
library = os.path.join(build, "lib", ccn._library._SONAME)
for name, value in (("CCN_LIBRARY", library), ("LD_LIBRARY_PATH", os.path.join(build, "lib"))):
    assert call(*python, env={**lost, "PYTHONPATH": "alone", name: value}).stdout == "4\n"
for wrong in ("/missing/libccn.so", "libc.so.6"):
    assert "ImportError: libccn cannot be loaded" in call(
        *python, code=1, env={**lost, "PYTHONPATH": os.path.join(build, "lib/python"), "CCN_LIBRARY": wrong}).stderr
# It does without NumPy, and without anything of PyTorch.
call(sys.executable, "-c", "import sys, ccn; assert not {'numpy', 'torch'} & set(sys.modules)")
# Installed for a version of Python.
os.makedirs("root/lib/python3.99/dist-packages")
shutil.copytree("alone/ccn", "root/lib/python3.99/dist-packages/ccn")
os.symlink(library, os.path.join("root/lib", ccn._library._SONAME))
assert call(*python, env={**lost, "PYTHONPATH": "root/lib/python3.99/dist-packages"}).stdout == "4\n"
print("all refused")
