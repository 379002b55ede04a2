"""What torch.func, torch.export and torch.compile make of operators, compared with PyTorch's own.

    python_transforms.py
"""

import io

from python_util import refused

import torch

import ccn
import ccn.torch

TEXT = """
mesh m (r = 1)

program forward(x: f64[3], w: f64[3], scale: f64, by: i64) {
  let y = scale * x * x * w
  let n = cast(x, i64) * by
  let z = x + w
  return y, n, z
}

program backward(x: f64[3], w: f64[3], scale: f64, grad_y: f64[3], grad_z: f64[3]) {
  let grad_x = 2 * scale * x * w * grad_y + grad_z
  let grad_w = scale * x * x * grad_y + grad_z
  return grad_x, grad_w
}

program double(x: f64[3]) {
  let y = 2 * x
  return y
}

program step(inout p: f64[3], g: f64[3], lr: f64) {
  p <- p - lr * g
}
"""
forward, backward, double, step = (ccn.compile(TEXT, program=name) for name in ("forward", "backward", "double", "step"))
operator = ccn.torch.register(forward, "tests::forward", backward=backward)
twice = ccn.torch.register(double, "tests::double")
update = ccn.torch.register(step, "tests::step")
x, w = torch.tensor([0.3, -2, 5], dtype=torch.float64), torch.tensor([1.5, 0.25, -3], dtype=torch.float64)


def ours(x, w):
    return operator(x, w, 1.5, 2)


def theirs(x, w):
    return 1.5 * x * x * w, x.long() * 2, x + w


def loss_of(function):
    def loss(x, w):
        y, _, z = function(x, w)
        return (y * z).sum()
    return loss


def same(found, wanted):
    if isinstance(wanted, (tuple, list)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            same(one, other)
        return
    assert found.dtype == wanted.dtype and found.shape == wanted.shape and torch.allclose(found, wanted), (found, wanted)


def both(transform, *values):
    """The same of ours and of PyTorch's own."""
    same(transform(ours)(*values), transform(theirs)(*values))


func = torch.func
rows, columns = torch.stack([x, w, x - w]), torch.stack([w, x, x], 1)
both(lambda function: func.grad(loss_of(function), (0, 1)), x, w)
both(lambda function: func.grad_and_value(loss_of(function)), x, w)
both(lambda function: lambda x, w: func.vjp(loss_of(function), x, w)[1](torch.ones((), dtype=torch.float64)), x, w)
both(lambda function: func.jacrev(lambda x: function(x, w)[0]), x)
both(lambda function: func.vmap(function), rows, columns.T)
both(lambda function: func.vmap(function, (0, 1)), rows, columns)
both(lambda function: func.vmap(function, (0, None), 1), rows, w)
both(lambda function: func.vmap(func.vmap(function, (0, None)), (None, 0)), rows, columns.T)
# The gradients of each row.
both(lambda function: func.vmap(func.grad(loss_of(function), (0, 1))), rows, columns.T)
both(lambda function: func.grad(lambda rows, w: func.vmap(loss_of(function), (0, None))(rows, w).sum()), rows, w)
same(func.vmap(twice)(rows), 2 * rows)
for transform, values in ((lambda: func.grad(loss_of(ours)), (x, w)), (lambda: func.vmap(ours), (rows, columns.T))):
    torch._dynamo.reset()
    same(torch.compile(lambda *values: transform()(*values), fullgraph=True, backend="aot_eager")(*values), transform()(*values))

# What is refused.
with refused(RuntimeError, "program 'forward' has no forward-mode gradient; expected grad, vjp or jacrev"):
    func.jvp(loss_of(ours), (x, w), (x, w))
with refused(RuntimeError, "program 'backward' has no gradient; expected `backward` in ccn.torch.register"):
    func.grad(lambda x: func.grad(loss_of(ours))(x, w).sum())(x)
with refused(RuntimeError, "program 'double' has no gradient; expected `backward` in ccn.torch.register"):
    func.grad(lambda x: twice(x).sum())(x)
with refused(RuntimeError, "program 'step': argument 'p' is written, or a list; torch.func takes programs without such"):
    func.vmap(lambda p: update(p, x, 0.5))(rows.clone())
with refused(ValueError, "program 'double': expected a batch of one at least in torch.vmap, found none"):
    func.vmap(twice)(rows[:0])

# The same without torch.func.
needs = x.clone().requires_grad_()
loss = (twice(needs) * w).sum()
with refused(RuntimeError, "program 'double' has no gradient; expected `backward` in ccn.torch.register"):
    loss.backward()
values = [x.clone(), needs]
with refused(ValueError, "program 'step': argument 'g': it requires a gradient, which ccn does not compute; expected "):
    update(*values, 0.5)
if torch.distributed.is_available():
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, distribute_tensor

    torch.distributed.init_process_group("gloo", store=torch.distributed.HashStore(), rank=0, world_size=1)
    mesh = init_device_mesh("cpu", (1,), mesh_dim_names=("r",))
    shared = [distribute_tensor(value.detach(), mesh, [Replicate()]) for value in values]
    update(*shared, 0.5)
    same(shared[0].to_local(), 0.5 * x)
    same(twice(shared[1]).full_tensor(), 2 * x)
    with refused(ValueError, "program 'step': argument 'g': it requires a gradient, which ccn does not compute; expected "):
        update(shared[0], shared[1].requires_grad_(), 0.5)
    with torch.no_grad():
        update(*shared, 0.5)
    with refused(TypeError, "program 'step': argument 'g': expected a DTensor, found Tensor"):
        update(shared[0], x, 0.5)
    with refused(ValueError, "program 'double': expected a DeviceMesh of {'r': 1}, found {'q': 1}"):
        twice(distribute_tensor(x, init_device_mesh("cpu", (1,), mesh_dim_names=("q",)), [Replicate()]))
    torch.distributed.destroy_process_group()
p = x.clone()
update(p, x, 0.5)
same(p, 0.5 * x)


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(w.clone())

    def forward(self, x):
        return 2 * ours(x, self.w)[0]


class Update(torch.nn.Module):
    def forward(self, p, g):
        update(p, g, 0.5)
        return p + 1


# torch.export: operators stay what they are, also in a file.
model = Model()
same(func.grad(lambda values: func.functional_call(model, values, (x,)).sum())({"w": w})["w"], 3 * x * x)
for strict in (False, True):
    program = torch.export.export(model, (x,), strict=strict)
    assert "torch.ops.tests.forward.default" in program.graph_module.code, program.graph_module.code
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    for one in (program, program.run_decompositions(), torch.export.load(file)):
        same(one.module()(x), 3 * x * x * w)
p = x.clone()
same(torch.export.export(Update(), (p.clone(), x)).module()(p, x), 0.5 * x + 1)
same(p, 0.5 * x)
print("right")
