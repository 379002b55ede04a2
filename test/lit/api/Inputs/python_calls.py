"""Calls after the first, which are checked more quickly: they do and say what a first call does and says.

    python_calls.py FOLDER SOURCE [torch]

With `torch`, tensors are those of the stand-in for PyTorch.
"""

import os
import runpy
import sys

from python_util import fresh, np, refused

import ccn

folder, source, kind = (sys.argv[1:] + ["numpy"])[:3]
fresh(folder)
if kind == "torch":
    import torch

TEXT = """
mesh m (r = 1)
param N = 3

program every(a: f32, k: i8, u: u64, x: f32[N, 2], inout y: f32[N, 2], h: f16) {
  y <- a * x + y
  let z = 2 * x + cast(h, f32)
  let n = cast(k, i64) + cast(u, i64)
  return z, n
}
"""


def tensor(shape=(3, 2), dtype="float32", value=1):
    array = np.full(shape, value, dtype)
    return array if kind == "numpy" else torch.Tensor(array, getattr(torch, dtype))


def values_of(made):
    return made if kind == "numpy" else made.array


program = ccn.compile(TEXT)
executor = program.executor()


def check(a=2, k=-3, u=2**63, **named):
    x, y = tensor(value=3), tensor()
    z, n = executor(a, k, u, x, y, 0.5, **named) if not named else executor(a, k, u=u, x=x, y=y, **named)
    assert values_of(y).tolist() == [[3 * a + 1] * 2] * 3, y
    assert values_of(z).tolist() == [[6.5] * 2] * 3 and values_of(n).tolist() == k + u, (z, n)
    assert type(z) is type(x) and (kind == "numpy" or y.version == 1)


check()
assert executor._quick is not None


def count_quick(executor):
    """A list that gets whether each call to come is one of the quick ones."""
    quick, ran = executor._quick.run, []

    def counted(*values):
        made = quick(*values)
        ran.append(made is not ccn._quick.UNUSUAL)
        return made

    executor._quick.run = counted
    return ran


ran = count_quick(executor)
check()
check(a=2.5)
check(h=0.5)
assert ran == [True] * 3, ran
# Results are new ones each time, and `out` takes the other way.
first, second = (executor(1, 1, 2**63, tensor(), tensor(), 0.5)[0] for _ in range(2))
assert first is not second and ran[3:] == [True] * 2
z, n = tensor(), tensor((), "int64")
assert executor(2, -3, 2**63, tensor(value=3), tensor(), 0.5, out=[z, n])[0] is z and values_of(z).max() == 6.5

# What is unusual or wrong is what it is for a first call.
other = "torch" if kind == "numpy" else "numpy"
good = {"a": 2, "k": -3, "u": 2**63, "x": tensor(), "y": tensor(), "h": 0.5}
wrong = [("a", "2"), ("a", True), ("a", 1e300), ("a", None), ("a", np.float32(2)), ("k", 128), ("k", 1.0), ("k", -129),
         ("u", -1), ("u", 2**64), ("u", False), ("h", 1e6), ("x", 1.0), ("x", None), ("x", tensor((3, 3))), ("x", tensor((6,))),
         ("x", tensor(dtype="float64")), ("y", tensor(dtype="float16")), ("x", tensor((2, 3)))]
if kind == "numpy":
    read_only, swapped = tensor(), tensor().astype(">f4")
    read_only.flags.writeable = False
    wrong += [("x", read_only), ("y", read_only), ("x", swapped), ("x", tensor((2, 3)).T), ("x", tensor((6, 2))[::2]),
              ("x", np.ma.masked_array(tensor())), ("x", tensor().tolist())]
else:
    transposed = tensor()
    transposed.array = np.asfortranarray(transposed.array)

    class Elsewhere(torch.Tensor):
        def data_ptr(self):
            raise RuntimeError("it has no storage")

    sparse, negated = tensor(), tensor()
    sparse.layout, negated.is_neg = "torch.sparse", lambda: True
    wrong += [("x", transposed), ("x", Elsewhere(np.ones((3, 2)))), ("x", sparse), ("y", negated)]


def outcome(name, value, by_name):
    """What a call does with one argument in place of the good one, as text."""
    values = {**good, name: value, "y": tensor() if name != "y" else value}
    try:
        made = executor(**values) if by_name else executor(*values.values())
        return [values_of(part).tolist() if hasattr(part, "shape") else part for part in made], None
    except (TypeError, ValueError, ccn.Error) as error:
        return type(error), str(error)


for name, value in wrong:
    for by_name in (False, True):
        kept, executor._quick = executor._quick, None
        wanted = outcome(name, value, by_name)
        executor._quick = kept
        assert outcome(name, value, by_name) == wanted, (name, value, wanted, outcome(name, value, by_name))
for arguments, named in (((2,), {}), ((2,) * 7, {}), (tuple(good.values()), {"a": 2}), ((2, 3), {"a": 2, "u": 1, "x": 1, "y": 1}),
                         ((), {**good, "b": 1})):
    with refused(TypeError, "program 'every'"):
        executor(*arguments, **named)

# Lists of tensors.
LISTS = """
mesh m (r = 1)

program step(g: f32[7] scattered, inout p: f32[7] scattered, lr: f32) {
  p <- p - lr * g
}
"""
step = ccn.compile(LISTS).executor()


def lists():
    return [tensor((2, 2)), tensor((3,))], [tensor((3,), value=4), tensor(()), tensor((3, 1))]


def check_lists(p):
    g, kept = lists()[0], [values_of(one).copy() for one in p]
    step(g, p, 0.5)
    for found, before in zip(p, kept):
        assert np.array_equal(values_of(found), before - 0.5)
        assert kind == "numpy" or found.version == 1


check_lists(lists()[1])
ran = count_quick(step)
check_lists(lists()[1])
check_lists(tuple(lists()[1]))
assert ran == [True] * 2, ran
# An empty tensor has no address, and goes the other way.
check_lists([tensor((2, 2)), tensor((0,)), tensor((3,))])
assert ran == [True] * 2 + [False], ran
strided = np.ones(6, "float32")[::2]
strided = strided if kind == "numpy" else torch.Tensor(strided)
for name, value in ((0, tensor((7,))), (0, 1.0), (0, [tensor((6,))]), (0, [tensor((7,)), tensor((1,))]), (0, []), (1, [1.0]),
                    (1, [tensor((4,)), tensor((3,), "float64")]), (0, [tensor((4,)), tensor((3,), "float16")]),
                    (0, [tensor((4,)), strided])):
    said = []
    for is_quick in (True, False):
        given, kept = [*lists(), 0.5], step._quick
        given[name] = value
        step._quick = kept if is_quick else None
        try:
            step(*given)
            said.append([values_of(one).tolist() for one in given[1]])
        except (TypeError, ValueError) as error:
            said.append((type(error), str(error)))
        step._quick = kept
    assert said[0] == said[1], said

# A program's calls follow the team: after it is closed there is another.
assert program(2, -3, 2**63, tensor(value=3), tensor(), 0.5)[0].shape == (3, 2)
executor.team.close()
assert values_of(program(2, -3, 2**63, tensor(value=3), tensor(), 0.5)[0]).max() == 6.5
with refused(ccn.ArgumentError, "the team is closed"):
    executor(2, -3, 2**63, tensor(value=3), tensor(), 0.5)

# The script that times calls.
if kind == "numpy":
    sys.argv = ["calls.py", "cpu", "--calls", "2"]
    runpy.run_path(os.path.join(source, "test", "bench", "calls.py"), run_name="__main__")
print("calls")
