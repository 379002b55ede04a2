"""Compares ccn.torch's gradients, DTensors, modules and optimizers with PyTorch's own, on ranks that torchrun starts.

    python3 -m torch.distributed.run --nproc-per-node N training.py FOLDER [cuda|cpu]

FOLDER has the packages torch-... that pack.py makes, for N ranks, which are 1, 2 or 4; `-` compiles them, where the compiler
is. It needs PyTorch, the package ccn on PYTHONPATH, and its libccn.
"""

import copy
import io
import os
import re
import sys

import torch
import torch.distributed as dist

import ccn
import ccn.torch

folder, kind = sys.argv[1], (sys.argv[2:] or ["cuda"])[0]
SMALL, LARGE = (5, 3, 7), (128, 64, 192)
# What is checked in each element type.
CASES = (("f64", SMALL), ("f32", SMALL), ("f32", LARGE), ("bf16", LARGE))
TYPES = {"f64": torch.float64, "f32": torch.float32, "bf16": torch.bfloat16}
# Of each element type: heads, heads of keys, tokens, a head's size, sequences, and whether tokens attend to later ones.
RINGS = {"f64": (4, 2, 13, 8, 2, True), "f32": (3, 1, 8, 5, 1, False), "bf16": (2, 2, 100, 16, 1, True)}
TOLERANCES = {"f64": 1e-10, "f32": 2e-4, "bf16": 4e-2}


def load(text, *, program, mesh, params, target, schedule):
    """What ccn.compile gives, from the folder."""
    if folder == "-":
        return ccn.compile(text, program=program, mesh=mesh, params=params, target=target, schedule=schedule)
    ranks, = mesh.values()
    element = re.search(rf"^program {program.replace('_backward', '')}\(\w+: (\w+)\[", text, re.M)[1]
    kept = program + "-clips" * ("max_norm" in text)
    size = params.get("T", params.get("N"))
    return ccn.load(f"{folder}/torch-{kept}-{element}-{size}-{ranks}.ccnpkg", "gpu" if kind == "cuda" else "cpu")


class Ranks:
    """This process, and numbers that all ranks draw alike."""

    def __init__(self):
        self.rank, self.size = dist.get_rank(), dist.get_world_size()
        self.device = torch.device("cpu")
        if kind == "cuda":
            self.device = torch.device("cuda", int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
            torch.cuda.set_device(self.device)
        self.generator = torch.Generator().manual_seed(5)

    def draw(self, *shape, dtype=torch.float32):
        return torch.randn(*shape, generator=self.generator, dtype=torch.float64).to(dtype).to(self.device)

    def own(self, whole, dim):
        """This rank's slice, as sliced(dim) has it."""
        width = -(-whole.shape[dim] // self.size)
        begin = min(width * self.rank, whole.shape[dim])
        return whole.narrow(dim, begin, min(width, whole.shape[dim] - begin)).contiguous()


def same(found, wanted, element, what):
    scale = max(1.0, wanted.abs().max().item()) if wanted.numel() else 1.0
    assert found.dtype == wanted.dtype and found.shape == wanted.shape, (what, found.dtype, found.shape, wanted.shape)
    assert not wanted.numel() or (found - wanted).abs().max().item() <= TOLERANCES[element] * scale, (what, found, wanted)


def reference_mlp(x, w1, w2):
    return torch.nn.functional.gelu(x @ w1) @ w2


def of_reference(function, values, weights):
    """What PyTorch computes of whole values in f64, and the gradients of the results' weighted sum."""
    # Tensors of their own, also of values that are f64 already.
    values = [value.detach().double().clone().requires_grad_() for value in values]
    results = function(*values)
    results = results if isinstance(results, tuple) else (results,)
    sum((result * weight.double()).sum() for result, weight in zip(results, weights)).backward()
    return [result.detach() for result in results], [value.grad for value in values]


def check_mlp(ranks, module, element, sizes, call=None):
    tokens, hidden, ffn = sizes
    dtype = TYPES[element]
    x, w1, w2, weight = (ranks.draw(*shape, dtype=dtype) for shape in
                         ((tokens, hidden), (hidden, ffn), (ffn, hidden), (tokens, hidden)))
    w1, w2 = (value / value.shape[0] ** 0.5 for value in (w1, w2))
    (want,), slopes = of_reference(reference_mlp, (x, w1, w2), (weight,))
    module.load_whole(w1, w2)
    module.zero_grad()
    own = ranks.own(x, 0).requires_grad_()
    # The whole number is given where torch.compile would not count.
    y = call(own, tokens=tokens) if call is not None else module(own)
    (y * ranks.own(weight, 0)).sum().backward()
    same(y.detach(), ranks.own(want, 0).to(dtype), element, "y")
    for found, slope, dim, what in zip((own.grad, module.w1.grad, module.w2.grad), slopes, (0, 1, 0), ("x", "w1", "w2")):
        same(found, ranks.own(slope, dim).to(dtype), element, f"the gradient of {what}")
    with torch.no_grad():
        same(module(own, tokens=tokens), ranks.own(want, 0).to(dtype), element, "y without gradients")


def check_norm(ranks, module, element, tokens, hidden):
    dtype = TYPES[element]
    summands = [ranks.draw(tokens, hidden, dtype=dtype) for _ in range(ranks.size)]
    residual, weight = ranks.draw(tokens, hidden, dtype=dtype), ranks.draw(hidden, dtype=dtype)
    weights = [ranks.draw(tokens, hidden, dtype=dtype) for _ in range(2)]

    def reference(x, residual, weight):
        stream = residual + x
        return torch.nn.functional.rms_norm(stream, (hidden,), weight, module.eps), stream

    wants, slopes = of_reference(reference, (sum(part.double() for part in summands), residual, weight), weights)
    with torch.no_grad():
        module.weight.copy_(weight)
    module.zero_grad()
    own, residual = summands[ranks.rank].clone().requires_grad_(), residual.requires_grad_()
    results = module(own, residual)
    sum((result * one).sum() for result, one in zip(results, weights)).backward()
    for found, want, what in zip(results, wants, ("y", "the stream")):
        same(found.detach(), want.to(dtype), element, what)
    for found, slope, what in zip((own.grad, residual.grad, module.weight.grad), slopes, ("x", "residual", "weight")):
        same(found, slope.to(dtype), element, f"the gradient of {what}")


def check_ring(ranks, module, element, tokens, call=None):
    """call is the module as torch.compile makes it."""
    heads, kv_heads, _, dim, batch, is_causal = RINGS[element]
    dtype = TYPES[element]
    q, k, v, weight = (ranks.draw(batch, count, tokens, dim, dtype=dtype) for count in (heads, kv_heads, kv_heads, heads))

    def reference(q, k, v):
        k, v = (value.repeat_interleave(heads // kv_heads, 1) for value in (k, v))
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

    (want,), slopes = of_reference(reference, (q, k, v), (weight,))
    own = [ranks.own(value, 2).requires_grad_() for value in (q, k, v)]
    y = call(*own, tokens=tokens) if call is not None else module(*own)
    (y * ranks.own(weight, 2)).sum().backward()
    same(y.detach(), ranks.own(want, 2).to(dtype), element, "the attention")
    for value, slope, what in zip(own, slopes, "qkv"):
        same(value.grad, ranks.own(slope, 2).to(dtype), element, f"the gradient of {what}")


def check_rings(ranks, rings):
    for element, module in rings.items():
        tokens = RINGS[element][2]
        torch._dynamo.reset()
        compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
        check_ring(ranks, module, element, tokens, compiled)
        # With others there are as many in a block, or PyTorch's own operations compute it.
        for several in (tokens, tokens - 1, tokens + 1, 1):
            check_ring(ranks, module, element, several)
        kept, module._pairs = module._pairs, {}
        check_ring(ranks, module, element, tokens)
        module._pairs = kept
        for values, text in (((4, 3), "expected heads to be a multiple of kv_heads, found 4 and 3"),):
            try:
                ccn.torch.RingAttention(values[0], 8, 8, kv_heads=values[1], compile=load)
                raise AssertionError("it is taken")
            except ValueError as error:
                assert text in str(error), error


def model_for(ranks, dtype):
    torch.manual_seed(7)
    return torch.nn.Sequential(torch.nn.Linear(33, 65), torch.nn.ReLU(), torch.nn.Linear(65, 5)).to(ranks.device, dtype)


class Lamb:
    """LAMB in f64, of all parameters as one layer."""

    def __init__(self, parameters, lr, weight_decay):
        self.parameters, self.lr, self.decay, self.steps = list(parameters), lr, weight_decay, 0
        self.first, self.second = ([torch.zeros_like(p) for p in self.parameters] for _ in range(2))

    @torch.no_grad()
    def step(self):
        self.steps += 1
        updates = []
        for p, first, second in zip(self.parameters, self.first, self.second):
            first.mul_(0.9).add_(0.1 * p.grad)
            second.mul_(0.999).add_(0.001 * p.grad ** 2)
            root = (second / (1 - 0.999 ** self.steps)).sqrt() + 1e-6
            updates.append(first / (1 - 0.9 ** self.steps) / root + self.decay * p)
        lengths = [torch.cat([value.flatten() for value in values]).norm() for values in (self.parameters, updates)]
        for p, update in zip(self.parameters, updates):
            p.sub_(self.lr * lengths[0] / lengths[1] * update)


def check_optimizer(ranks, optimizer, model, element, max_norm, bind):
    dtype = TYPES[element]
    other = model_for(ranks, torch.float64)
    reference = torch.optim.AdamW if isinstance(optimizer, ccn.torch.FusedAdamW) else Lamb
    theirs = reference(other.parameters(), lr=1e-2, weight_decay=0.1)
    for parameter, twin in zip(model.parameters(), other.parameters()):
        twin.data.copy_(parameter.data.double())
    for step in range(4):
        parts = [[ranks.draw(*p.shape, dtype=dtype) for p in model.parameters()] for _ in range(ranks.size)]
        for i, (parameter, twin) in enumerate(zip(model.parameters(), other.parameters())):
            if parameter.grad is None:
                parameter.grad = torch.empty_like(parameter)
            parameter.grad.copy_(parts[ranks.rank][i])
            twin.grad = sum(part[i].double() for part in parts) / ranks.size
        norm = torch.nn.utils.clip_grad_norm_(other.parameters(), max_norm or 1e9)
        if bind and step == 1:
            optimizer.bind()
        optimizer.step()
        theirs.step()
        if max_norm:
            same(optimizer.grad_norms[0], norm.float(), "bf16" if element == "bf16" else "f32", "the norm")
    for parameter, twin in zip(model.parameters(), other.parameters()):
        same(parameter.detach(), twin.detach().to(dtype), element, "a parameter")
    # What is kept is taken up again.
    state = optimizer.state_dict()
    assert state["param_groups"][0]["step"] >= 4
    optimizer.load_state_dict(state)
    optimizer.step()
    # From the CPU, too.
    moment = optimizer.param_groups[0]["exp_avg"]
    state = copy.deepcopy(optimizer.state_dict())
    for group in state["param_groups"]:
        group.update({name: group[name].cpu() for name in ("exp_avg", "exp_avg_sq")})
    optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["exp_avg"] is moment
    optimizer.step()


def check_dtensors(ranks, module, element):
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

    tokens, hidden, ffn = SMALL
    dtype = TYPES[element]
    device_mesh = init_device_mesh(ranks.device.type, (ranks.size,), mesh_dim_names=("tp",))
    assert ccn.torch.mesh(device_mesh) == {"tp": ranks.size}
    x, w1, w2, weight = (ranks.draw(*shape, dtype=dtype) for shape in
                         ((tokens, hidden), (hidden, ffn), (ffn, hidden), (tokens, hidden)))
    (want,), slopes = of_reference(reference_mlp, (x, w1, w2), (weight,))
    _, of_sum = of_reference(reference_mlp, (x, w1, w2), (torch.ones_like(weight),))
    values = [distribute_tensor(value, device_mesh, [Shard(dim)]).requires_grad_()
              for value, dim in ((x, 0), (w1, 1), (w2, 0))]
    operator = module._operator(tokens)
    wrapped = ccn.torch.with_dtensors(operator, device_mesh)
    torch._dynamo.reset()
    for call in (wrapped, operator, *(torch.compile(one, fullgraph=True, backend="aot_eager") for one in (wrapped, operator))):
        y, _ = call(*values)
        assert isinstance(y, DTensor) and y.placements == (Shard(0),) and y.shape == (tokens, hidden)
        same(y.full_tensor().detach(), want.to(dtype), element, "y as a DTensor")
        (y * distribute_tensor(weight, device_mesh, [Shard(0)])).sum().full_tensor().backward()
        for value, slope in zip(values, slopes):
            # (PyTorch 2.5 accumulates what with_dtensors gives in another way.)
            assert call is not operator or value.grad.placements == value.placements
            same(value.grad.full_tensor(), slope.to(dtype), element, "a gradient as a DTensor")
            value.grad = None
        # The gradient of a sum is replicated.
        call(*values)[0].sum().full_tensor().backward()
        for value, slope in zip(values, of_sum):
            same(value.grad.full_tensor(), slope.to(dtype), element, "a sum's gradient as a DTensor")
            value.grad = None
    for call in (wrapped, operator):
        try:
            call(distribute_tensor(x, device_mesh, [Replicate()]), *values[1:])
            raise AssertionError("another placement is taken")
        except ValueError as error:
            assert "argument 'x': expected placements" in str(error), error


def check_copies(ranks, modules):
    """Copies and saved modules run the same programs. Of other dtypes, PyTorch's own operations compute."""
    for module, values, named in modules:
        def call(which, values=values, named=named):
            result = which(*values, **named)
            return result[0] if isinstance(result, tuple) else result

        wanted, file = call(module).detach(), io.BytesIO()
        torch.save(module, file)
        file.seek(0)
        for made in (copy.deepcopy(module), torch.load(file, weights_only=False)):
            assert [id(program) for program in made.programs] == [id(program) for program in module.programs]
            assert torch.equal(call(made), wanted)
        changed = made.bfloat16()
        found = call(changed, [value.bfloat16() for value in values])
        assert found.dtype == torch.bfloat16
        same(found.detach().float(), wanted, "bf16", "a module of bf16")
        assert call(module).dtype == wanted.dtype


def check_alone(ranks, mlp, norm, ring):
    """What PyTorch's own tests of operators say, of one rank, in f64."""
    tokens, hidden, ffn = SMALL
    values = [ranks.draw(*shape, dtype=torch.float64).requires_grad_() for shape in
              ((tokens, hidden), (hidden, ffn), (ffn, hidden))]
    operator = mlp._operator(tokens)
    assert torch.autograd.gradcheck(lambda *given: operator(*given)[0], values)
    torch.library.opcheck(operator, values)
    values = [ranks.draw(*shape, dtype=torch.float64).requires_grad_() for shape in
              ((tokens, hidden), (tokens, hidden), (hidden,))]
    operator = norm._operator(tokens)
    assert torch.autograd.gradcheck(operator, values)
    torch.library.opcheck(operator, values)
    heads, kv_heads, tokens, dim, batch, _ = RINGS["f64"]
    values = [ranks.draw(batch, count, tokens, dim, dtype=torch.float64).requires_grad_() for count in
              (heads, kv_heads, kv_heads)]
    operator = ring._operator(tokens)
    assert torch.autograd.gradcheck(lambda *given: operator(*given, 0, tokens)[0], values, fast_mode=True)
    torch.library.opcheck(operator, (*values, 0, tokens))


def main():
    dist.init_process_group("nccl" if kind == "cuda" else "gloo")
    ranks = Ranks()
    options = {"device": ranks.device, "compile": load}
    mlps = {(element, sizes): ccn.torch.TensorParallelMLP(sizes[1], sizes[2], sizes[0], dtype=TYPES[element], **options)
            for element, sizes in CASES}
    norms = {(element, sizes): ccn.torch.AllReduceRMSNorm(sizes[1], sizes[0], dtype=TYPES[element], **options)
             for element, sizes in CASES}
    rings = {element: ccn.torch.RingAttention(heads, dim, tokens, batch, kv_heads, is_causal=is_causal, dtype=TYPES[element],
                                              **options)
             for element, (heads, kv_heads, tokens, dim, batch, is_causal) in RINGS.items()}
    adams = []
    for element in ("f32", "bf16"):
        for optimizer_of, max_norm in ((ccn.torch.FusedAdamW, None), (ccn.torch.FusedAdamW, 1.0), (ccn.torch.FusedLAMB, 1.0)):
            model = model_for(ranks, TYPES[element])
            optimizer = optimizer_of(model.parameters(), lr=1e-2, weight_decay=0.1, max_norm=max_norm, compile=load)
            adams.append((optimizer, model, element, max_norm))
    team = ccn.torch.join(*mlps.values(), *norms.values(), *rings.values(), *(adam[0] for adam in adams))
    assert (team.rank, team.size) == (ranks.rank, ranks.size)

    for (element, sizes), module in mlps.items():
        check_mlp(ranks, module, element, sizes)
        torch._dynamo.reset()
        compiled = torch.compile(module, fullgraph=True, backend="aot_eager")
        check_mlp(ranks, module, element, sizes, compiled)
        # PyTorch's own operations, for what there is no program for.
        kept, module._pairs = module._pairs, {}
        check_mlp(ranks, module, element, sizes)
        module._pairs = kept
        # On some ranks, that is as many as there is a program for.
        for tokens in (sizes[0] - 1, sizes[0] + 1):
            check_mlp(ranks, module, element, (tokens, *sizes[1:]))
    print("the MLP is right", flush=True)
    for (element, (tokens, hidden, _)), module in norms.items():
        check_norm(ranks, module, element, tokens, hidden)
        kept, module._pairs = module._pairs, {}
        check_norm(ranks, module, element, tokens, hidden)
        module._pairs = kept
    print("the norm is right", flush=True)
    check_rings(ranks, rings)
    print("the ring of attention is right", flush=True)
    for optimizer, model, element, max_norm in adams:
        check_optimizer(ranks, optimizer, model, element, max_norm, bind=kind == "cuda")
    print("AdamW and LAMB are right", flush=True)
    check_dtensors(ranks, mlps["f32", SMALL], "f32")
    print("DTensors are right", flush=True)
    if folder == "-":
        # Packages that were loaded cannot be saved.
        tokens, hidden, _ = SMALL
        x = ranks.draw(tokens, hidden)
        heads, kv_heads, length, dim, batch, _ = RINGS["f32"]
        values = [ranks.own(ranks.draw(batch, count, length, dim), 2) for count in (heads, kv_heads, kv_heads)]
        check_copies(ranks, [(mlps["f32", SMALL], [ranks.own(x, 0)], {"tokens": tokens}), (norms["f32", SMALL], [x, x], {}),
                             (rings["f32"], values, {"tokens": length})])
        print("copies are right", flush=True)
    if ranks.size == 1:
        check_alone(ranks, mlps["f64", SMALL], norms["f64", SMALL], rings["f64"])
        print("gradcheck and opcheck are right", flush=True)
    if kind == "cuda":
        torch.cuda.synchronize()
    team.check()
    dist.barrier()
    print(f"rank {ranks.rank} of {ranks.size} is right on {kind}", flush=True)
    team.close()
    dist.destroy_process_group()


main()
