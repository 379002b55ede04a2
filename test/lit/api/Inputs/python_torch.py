"""Tensors of PyTorch on the CPU, and programs as PyTorch's operators.

    python_torch.py FOLDER CCCOMPILE...
"""

import sys

from python_util import fresh, package, refused

import ccn
import torch

folder, *cccompile = sys.argv[1:]
fresh(folder)

# All element types, on ranks that are threads.
NAMES = {"f64": "float64", "f32": "float32", "f16": "float16", "bf16": "bfloat16", "f8e4m3": "float8_e4m3fn",
         "f8e5m2": "float8_e5m2", "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8",
         "u16": "uint16", "u32": "uint32", "u64": "uint64", "bool": "bool"}
for name, torch_name in NAMES.items():
    dtype = getattr(torch, torch_name)
    program = package(cccompile, f"""mesh m (r = 3)
program all(x: {name}[5] sliced(0), inout s: {name}, a: {name}) {{
  let y = all_gather(x)
  s <- a
  return y
}}
""", "types")
    whole = torch.tensor([0, 1, 2, 3, 4]).to(dtype)
    with ccn.Team(program) as team:
        def of_rank(rank):
            (offset,), (size,) = program.argument("x").part(rank)
            s = torch.zeros((), dtype=dtype)
            y = program.on(team, rank)(whole[offset:offset + size], s, True if name == "bool" else 3)
            assert y.dtype == dtype and y.tolist() == whole.tolist(), (name, y)
            assert s.item() == (True if name == "bool" else 3), (name, s)
            with refused(TypeError, f"argument 's': expected elements of {name}, found torch.complex64"):
                program.on(team, rank)(whole[offset:offset + size], s.to(torch.complex64), 3)
        team.run(of_rank)

step = package(cccompile, """mesh m (r = 1)
param N = 7
program step(g: f16[N], inout p: f32[N], from: f32[N], inout n: i64[2], lr: f32, k: i64, on: bool) {
  let y = p * lr + from
  p <- p - lr * cast(g, f32)
  n <- n + k
  let z = cast(select(on, p, from), bf16)
  return y, z
}
""", "step")
plain = package(cccompile, """mesh m (r = 1)
program plain(inout p: f32[7]) {
  p <- p + 1
}
""", "plain")
double = package(cccompile, """mesh m (r = 1)
program double(x: f32[7]) {
  let y = 2 * x
  return y
}
""", "double")
torch.manual_seed(1)
g, p, other = torch.randn(7).half(), torch.randn(7), torch.randn(7)
n = torch.tensor([5, 6])


def expected(g, p, other, n, lr, k, on):
    after = p - lr * g.float()
    return (p * lr + other, (after if on else other).bfloat16()), after, n + k


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape and torch.allclose(a.float(), b.float(), rtol=1e-2 if a.dtype ==
                                                                        torch.bfloat16 else 1e-6), (a, b)


def check(function, on=True, lr=0.5, k=3):
    p1, n1 = p.clone(), n.clone()
    results = function(g, p1, other, n1, lr, k, on)
    wanted, p2, n2 = expected(g, p, other, n, lr, k, on)
    for found, want in zip((*results, p1, n1), (*wanted, p2, n2)):
        same(found, want)


check(step)
check(step, on=False, k=-1)
y = torch.empty(7)
assert double(p, out=y) is y
same(y, 2 * p)
same(double(p.numpy(), out=torch.empty(7)), 2 * p)
assert double(p.numpy()).dtype == "float32"
same(double(torch.nn.Parameter(p).detach()), 2 * p)

# What does not fit.
where = "program 'double': argument 'x': "
for wrong, kind, text in (
        (p.double(), TypeError, "expected elements of f32, found f64"),
        (p.bfloat16(), TypeError, "expected elements of f32, found bf16"),
        (torch.zeros(7, dtype=torch.complex64), TypeError, "expected elements of f32, found torch.complex64"),
        (p[:6], ValueError, "expected shape [7]"),
        (torch.zeros(14)[::2], ValueError, "expected row-major order without gaps"),
        (torch.zeros(7, device="meta"), ValueError, "expected a tensor on the CPU, found one on meta"),
        (p.to_sparse(), TypeError, "expected a dense tensor, found torch.sparse_coo"),
        (torch.zeros(7, dtype=torch.complex64).conj().imag, ValueError, "expected a tensor without pending negation"),
        (torch.nn.Parameter(p), ValueError, "it requires a gradient, which ccn does not compute")):
    with refused(kind, where + text):
        double(wrong)
with torch.no_grad():
    same(double(torch.nn.Parameter(p)), 2 * p)
with refused(ccn.ArgumentError, "expected no stream"):
    double(p, stream=1)
# A gradient cannot be computed from what a program has overwritten.
weight = torch.ones(7, requires_grad=True)
saved = torch.ones(7)
loss = (weight * saved).sum()
plain(saved)
with refused(RuntimeError, "modified by an inplace operation"):
    loss.backward()
with torch.inference_mode():
    plain(torch.ones(7))

# Operators.
assert not hasattr(ccn, "torch")
import ccn.torch

op = ccn.torch.register(step, "ccn::step")
assert str(torch.ops.ccn.step.default._schema) == (
    "ccn::step(Tensor g, Tensor(a1!) p, Tensor from_, Tensor(a3!) n, float lr, int k, bool on) -> (Tensor, Tensor)")
once = ccn.torch.register(plain, "ccn::plain")
twice = ccn.torch.register(double.executor(), "ccn::double")
for operator in (op, torch.ops.ccn.step):
    check(operator)
assert once(torch.zeros(7)) is None
same(twice(p), 2 * p)
torch.library.opcheck(op, (g, p.clone(), other, n.clone(), 0.5, 3, True))
torch.library.opcheck(once, (p.clone(),))
torch.library.opcheck(twice, (p,))


def model(g, p, other, n, lr, k, on):
    y, z = op(g * 1, p, other, n, lr, k, on)
    return twice(y) / 2, z


# (Inductor takes what aot_eager does, and a C++ compiler.)
for backend in ("eager", "aot_eager"):
    torch._dynamo.reset()
    check(torch.compile(model, fullgraph=True, backend=backend))
    # What does not fit is told while compiling, in errors of PyTorch's.
    for wrong, text in ((torch.zeros(8), "argument 'x': expected shape [7]"),
                        (torch.zeros(7).half(), "argument 'x': expected elements of f32, found f16")):
        try:
            torch.compile(lambda x: twice(x), fullgraph=True, backend=backend)(wrong)
            raise AssertionError("it is compiled")
        except Exception as error:
            assert text in str(error) and type(error).__module__.startswith("torch."), error
with refused(TypeError, "argument 'x': expected elements of f32, found f64"):
    twice(p.double())
four = package(cccompile, """mesh m (r = 4)
program four(x: f32[7] local) {
  let y = all_reduce(sum, x)
  return y
}
""", "four")
with refused(ccn.ArgumentError, "program 'four' has 4 ranks"):
    ccn.torch.register(four, "ccn::four")
with ccn.Team(four) as team:
    operators = [ccn.torch.register(four.on(team, rank), f"ccn::four{rank}") for rank in range(4)]
    for y in team.run(lambda rank: operators[rank](p)):
        same(y, 4 * p)

# Names, and tensors that only stand for others.
with refused(ValueError, "expected a name 'namespace::name', found 'norm'"):
    ccn.torch.register(double, "norm")
with refused(ValueError, "'ccn::plain' is registered for another program"):
    ccn.torch.register(double, "ccn::plain")
with refused(ValueError, "expected a name that is no operator's yet, found 'aten::add'"):
    ccn.torch.register(double, "aten::add")
assert ccn.torch.register(ccn.load("plain.ccnpkg"), "ccn::plain") is once
if torch.distributed.is_available():
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, distribute_tensor

    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    shared = distribute_tensor(p, init_device_mesh("cpu", (1,)), [Replicate()])
    with refused(TypeError, where + "expected the rank's own part as a plain tensor, found DTensor"):
        double(shared)
    same(double(shared.to_local()), 2 * p)
    torch.distributed.destroy_process_group()
print("right")
