"""Python functions that are programs: compiled for the shapes with which they are called.

    python_programs.py FOLDER SOURCE
"""

import concurrent.futures
import os
import re
import sys

from python_util import fresh, np, refused

import ccn
from ccn import _compiler

folder, source = sys.argv[1:3]
fresh(folder)
os.environ["CCN_CACHE_DIR"] = os.path.join(folder, "cache")
F32 = np.float32
runs = []
original = _compiler.run


def counted(source, options):
    runs.append(options)
    return original(source, options)


_compiler.run = counted


@ccn.program
def axpy(a, x, y):
    """
    mesh m (r = 1)
    param N = 1
    param M = 3

    program axpy(a: f32, x: f32[N, M], inout y: f32[N, M]) {
      y <- a * x + y
    }
    """


for shape in ((4, 3), (4, 3), (5, 3), (4, 2), (0, 3), (4, 3)):
    x, y = np.ones(shape, F32), np.ones(shape, F32)
    axpy(2, x, y)
    assert (y == 3).all()
    axpy(-1, y=y, x=x)
    assert (y == 2).all()
# The syntax tree, and one package for each shape.
assert len(runs) == 1 + 4, runs
assert axpy.specialize(N=4, M=3) is axpy.specialize_for(x=(4, 3)) is axpy.specialize_for(0, np.zeros((4, 3)))
assert axpy.specialize(N=4).arguments[1].shape == (4, 3) and "specialize" not in axpy.specialize(N=4).text
assert axpy.__name__ == "axpy" and repr(axpy) == "<ccn.ProgramFunction 'axpy'>" and "program axpy" in axpy.__doc__
before, first = len(runs), axpy.specialize(N=4, M=3)
axpy.clear()
# From the disk.
assert axpy.specialize(N=4, M=3) is not first and axpy.specialize(N=4, M=3).hash == first.hash and len(runs) == before

# What does not fit.
x = np.ones((4, 3), F32)
with refused(ValueError, "program 'axpy': argument 'y': expected N = 4, as in 'x', found 5"):
    axpy(1, x, np.ones((5, 3), F32))
with refused(ValueError, "program 'axpy': argument 'x': expected 2 dimensions, as f32[N, M] has, found 1"):
    axpy(1, x[0], x)
with refused(TypeError, "argument 'x': expected elements of f32, found f64"):
    axpy(1, x.astype(np.float64), x)
with refused(TypeError, "program 'axpy' has no argument 'z'"):
    axpy(1, x, x.copy(), z=3)
with refused(TypeError, "argument 'y' is missing"):
    axpy(1, x)
with refused(TypeError, "mesh: expected a mapping"):
    ccn.program(mesh=3)(lambda: None)
with refused(TypeError, "expected a function, found int"):
    ccn.program(3)
with refused(TypeError, "function 'empty': expected a program's text as its docstring or result, found NoneType"):
    @ccn.program
    def empty():
        """Nothing."""
    empty()
with refused(ccn.CompileError, "<__main__.wrong>:2:", "error: expected"):
    @ccn.program
    def wrong():
        """mesh m (r = 1)
        program p(x: ) { }"""
    wrong()


# A text that depends on the types, several programs, params that are given, results, a default schedule.
@ccn.program(params={"K": 2}, program="double")
def double(x, scale=1):
    """Not a program: the result is."""
    kind = {"f": "f", "i": "i"}[x.dtype.kind] + str(8 * x.itemsize)
    return f"""
        mesh m (r = 1)
        param N = 1
        param K = 1
        program other(x: {kind}[3]) {{
          let y = x
          return y
        }}
        program double(x: {kind}[N], k: {kind}[K]) {{
          let y = {scale + 1} * x
          let z = sum(k, 0)
          return y, z
        }}
        """


for kind in (F32, np.float64, np.int32):
    for n in (1, 6):
        # The function has other parameters than the program.
        program = double.specialize_for(np.ones(n, kind))
        y, z = program(np.ones(n, kind), np.ones(2, kind))
        assert y.dtype == kind and (y == 2).all() and y.shape == (n,) and z == 2

# Several ranks: the size of what they hold whole is known; of what is cut it is not.
with open(os.path.join(source, "examples", "adam.ccn")) as file:
    text = file.read()
adam = ccn.program(lambda *_, **__: text, schedule="fused", mesh={"dp": 2})
program = adam.specialize_for((7,), (7,), (7,), (7,))
assert program is adam.specialize(N=7) and program.ranks == 2 and program.schedule == "fused"
with ccn.Team(program) as team:
    p = np.ones((2, 7), F32)
    states = [[np.zeros(4 - rank, F32) for _ in range(2)] for rank in range(2)]
    team.run(lambda rank: program.on(team, rank)(np.ones(7, np.float16), p[rank], *states[rank], lr=0.001, t=1))
assert np.allclose(p, 0.999)
with refused(ccn.ArgumentError, "program 'adam' has 2 ranks"):
    # From g and p.
    adam(np.ones(7, np.float16), np.ones(7, F32), np.ones(4, F32), np.ones(4, F32), lr=0.1, t=1)
cut = ccn.program(lambda x: "mesh m (r = 2)\nparam N = 1\nprogram cut(inout x: f32[2, N] sliced(1)) { x <- x + x }")
with refused(ValueError, "program 'cut': expected specialize(N=...), since the part of 'x' that a rank holds does not"):
    cut(np.ones((2, 4), F32))
scattered = ccn.program(lambda x=None: "mesh m (r = 1)\nparam N = 1\nprogram s(inout x: f32[N] scattered) { x <- x + x }")
parts = [np.ones((2, 3), F32), np.ones(5, F32)]
scattered(parts)
scattered((parts[1], parts[0])), scattered(parts[0])
assert (parts[0] == 8).all() and (parts[1] == 4).all() and scattered.specialize(N=11) is scattered.specialize_for((11,))

# Params that Python calls equal are not the same.
inverse = ccn.program(lambda: "mesh m (r = 1)\nparam s = 1.0\nprogram i(x: f32[1]) { let y = x / s\n return y }")
assert inverse.specialize(s=0.0)(np.ones(1, F32)) == np.inf and inverse.specialize(s=-0.0)(np.ones(1, F32)) == -np.inf

# Threads at once have the same program.
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    assert len(set(pool.map(lambda _: axpy.specialize(N=9), range(8)))) == 1

# What the guide shows.
with open(os.path.join(source, "runtime", "python", "README.md")) as file:
    shown = re.findall(r"```python\n(.*?)```", file.read(), re.S)[1]
exec(shown, {"ccn": ccn, "np": np, "__name__": "guide"})
print("programs")
