"""Programs as operators of PyTorch, and tensors that only stand for others, on a stand-in for PyTorch.

    python_registers.py FOLDER CCCOMPILE...
"""

import sys

from python_util import fresh, np, package, refused

import torch

import ccn.torch

folder, *cccompile = sys.argv[1:]
fresh(folder)


def scale(factor, ranks=1):
    return package(cccompile, f"""mesh m (r = {ranks})
program scale(x: f32[3]) {{
  let y = {factor} * x
  return y
}}
""", f"scale{factor}-{ranks}")


two, three = scale(2), scale(3)
x = torch.Tensor([1, 2, 3])
assert two(x).tolist() == [2, 4, 6]

# Names.
for name in ("norm", "a::b::c", "::norm", "a::", "", "a b::c", "1a::b", "a::b.c", "a::\u00e4"):
    with refused(ValueError, f"expected a name 'namespace::name', found {name!r}"):
        ccn.torch.register(two, name)
with refused(TypeError, "expected a name 'namespace::name', found NoneType"):
    ccn.torch.register(two, None)

# A name is one package's.
operator = ccn.torch.register(two, "tests::scale")
assert operator(x).tolist() == [2, 4, 6]
with refused(ValueError, "'tests::scale' is registered for another program, or another rank; expected another name"):
    ccn.torch.register(three, "tests::scale")
assert torch.ops.tests.scale.default(x).tolist() == [2, 4, 6]
# The same one, loaded anew, which is what runs then.
again = ccn.load("scale2-1.ccnpkg")
assert ccn.torch.register(again, "tests::scale") is operator
two.close()
assert operator(x).tolist() == [2, 4, 6]
# Others' names.
torch.library.Library("others", "DEF").define("op() -> ()", tags=())
with refused(ValueError, "expected a name that is no operator's yet, found 'others::op'"):
    ccn.torch.register(three, "others::op")
# Each rank that is a thread has an operator of its own.
both = scale(5, 2)
with ccn.Team(both) as team:
    ccn.torch.register(both.on(team, 0), "tests::rank")
    with refused(ValueError, "'tests::rank' is registered for another program, or another rank"):
        ccn.torch.register(both.on(team, 1), "tests::rank")


# Tensors without memory of their own.
class DTensor(torch.Tensor):
    placements = ()

    def to_local(self):
        return torch.Tensor(self.array)

    def data_ptr(self):
        return 0


class Wrapper(torch.Tensor):
    def data_ptr(self):
        raise RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")


where = "program 'scale': argument 'x': "
with refused(TypeError, where + "expected the rank's own part as a plain tensor, found DTensor; its to_local() is that "
             "part, if its placements are the program's"):
    three(DTensor([1, 2, 3]))
assert three(DTensor([1, 2, 3]).to_local()).tolist() == [3, 6, 9]
with refused(TypeError, where + "expected a tensor with memory of its own, found Wrapper"):
    three(Wrapper([1, 2, 3]))
print("right")
