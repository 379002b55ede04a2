"""Gradients by backward programs, DTensors, modules and the optimizers, on a stand-in for PyTorch.

    python_autograd.py FOLDER SOURCE
"""

import copy
import os
import re
import subprocess
import sys

from python_util import fresh, np, refused

import torch
from torch.distributed.tensor import DeviceMesh, DTensor, Partial, Replicate, Shard

import ccn
import ccn.torch
from ccn.torch import texts

RANKS, T, H, F = 2, 5, 3, 7
numbers = np.random.default_rng(1)


def gelu_mlp(x, w1, w2):
    from math import erf
    pre = x @ w1
    return (pre * (1 + np.vectorize(erf)(pre / np.sqrt(2))) / 2) @ w2


def rms_norm(x, residual, weight, eps):
    stream = residual + x
    return stream / np.sqrt((stream * stream).mean(1, keepdims=True) + eps) * weight, stream


def attention(q, k, v, scale, is_causal):
    """Of q[B, heads, T, D] and of k and v, which have fewer heads."""
    k, v = (np.repeat(value, q.shape[1] // k.shape[1], 1) for value in (k, v))
    scores = q @ k.transpose(0, 1, 3, 2) * scale
    if is_causal:
        scores = np.where(np.tri(q.shape[2], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(3, keepdims=True))
    return weights / weights.sum(3, keepdims=True) @ v


def slopes(function, values, weights, step=1e-6):
    """The gradients of the sum of results, each with its weights, by differences."""
    found = []
    for value in values:
        slope = np.zeros_like(value)
        for at in np.ndindex(*value.shape):
            kept, ends = value[at], []
            for sign in (1, -1):
                value[at] = kept + sign * step
                results = function(*values)
                results = results if isinstance(results, tuple) else (results,)
                ends.append(sum((result * weight).sum() for result, weight in zip(results, weights)))
            value[at], slope[at] = kept, (ends[0] - ends[1]) / (2 * step)
        found.append(slope)
    return found


def close(found, wanted, tolerance=1e-6):
    found = found.array if isinstance(found, torch.Tensor) else found
    assert found.shape == wanted.shape and np.abs(found - wanted).max(initial=0) <= tolerance, (found, wanted)


def part(program, name, rank, whole):
    offset, shape = program.argument(name).part(rank)
    return torch.Tensor(whole[tuple(slice(o, o + s) for o, s in zip(offset, shape))].copy(), torch.float64)


def check_gradients():
    """Of the programs of the modules, in f64, on ranks that are threads; against differences."""
    sizes = {"T": T, "H": H, "F": F}
    mlp, mlp_backward = (ccn.compile(texts.tensor_parallel_mlp("f64"), program=name, mesh={"tp": RANKS}, params=sizes)
                         for name in ("mlp", "mlp_backward"))
    x, w1, w2, grad_y = (numbers.standard_normal(shape) for shape in ((T, H), (H, F), (F, H), (T, H)))
    x[0] = 0
    wanted = slopes(gelu_mlp, [x, w1, w2], [grad_y])
    with ccn.Team(mlp, mlp_backward) as team:
        operators = [ccn.torch.register(mlp.on(team, rank), f"tests::mlp{rank}", backward=mlp_backward.on(team, rank))
                     for rank in range(RANKS)]

        def run(rank):
            values = [part(mlp, name, rank, whole) for name, whole in (("x", x), ("w1", w1), ("w2", w2))]
            grads = [part(mlp, "y", rank, grad_y), part(mlp, "pre", rank, np.ones((T, F)))]
            y, pre = operators[rank](*values)
            close(y, part(mlp, "y", rank, gelu_mlp(x, w1, w2)).array)
            found, constant = operators[rank].differentiate(values, grads)
            for gradient, name, whole in zip(found, ("x", "w1", "w2"), wanted):
                close(gradient, part(mlp, name, rank, whole).array)
            # Only y has a gradient.
            assert len(constant) == 1 and constant[0].shape == pre.shape

        team.run(run)
        check_dtensors(team, mlp, operators, x, w1, w2)

    norm, norm_backward = (ccn.compile(texts.all_reduce_rms_norm("f64", 1e-3), program="all_reduce_rms_norm" + end,
                                       mesh={"tp": RANKS}, params={"T": T, "H": H}) for end in ("", "_backward"))
    x, residual, weight = (numbers.standard_normal(shape) for shape in ((T, H), (T, H), H))
    weights = [numbers.standard_normal((T, H)) for _ in range(2)]
    wanted = slopes(lambda *values: rms_norm(*values, 1e-3), [x, residual, weight], weights)
    with ccn.Team(norm, norm_backward) as team:
        def run(rank):
            operator = ccn.torch.register(norm.on(team, rank), f"tests::norm{rank}",
                                          backward=norm_backward.on(team, rank))
            # Of x each rank has a summand.
            values = [torch.Tensor(value, torch.float64) for value in ((1 / 4 + rank / 2) * x, residual, weight)]
            # What is not contiguous is made so.
            grads = [torch.Tensor(np.asfortranarray(value), torch.float64) for value in weights]
            for found, want in zip(operator.differentiate(values, grads)[0], wanted):
                close(found, want)

        team.run(run)


def blocks(whole, ranks):
    """The blocks of tokens, all as long as the first; what is behind the last one is not zero, and is not to count."""
    width = -(-whole.shape[2] // ranks)
    kept = np.full((*whole.shape[:2], width * ranks, whole.shape[3]), 7.0)
    kept[:, :, :whole.shape[2]] = whole
    return [np.ascontiguousarray(block) for block in np.split(kept, ranks, 2)]


def check_ring(ranks, tokens, heads, kv_heads, is_causal, scale=0.7, batch=2, dim=3):
    """Each rank has a block of tokens; the blocks of keys go round."""
    width, text = -(-tokens // ranks), texts.ring_attention("f64", ranks, is_causal, scale)
    params = {"B": batch, "G": kv_heads, "N": heads // kv_heads, "T": width, "D": dim}
    forward, backward = (ccn.compile(text, program="ring_attention" + end, mesh={"cp": ranks}, params=params)
                         for end in ("", "_backward"))
    q, k, v = (numbers.standard_normal((batch, count, tokens, dim)) for count in (heads, kv_heads, kv_heads))
    weight = numbers.standard_normal(q.shape)
    wanted = slopes(lambda *values: attention(*values, scale, is_causal), [q, k, v], [weight])
    # Exponentials of such scores overflow, if the highest is not subtracted.
    large = q * 1e4
    with ccn.Team(forward, backward) as team:
        def run(rank):
            name = f"tests::ring_{ranks}_{tokens}_{is_causal}_{rank}"
            operator = ccn.torch.register(forward.on(team, rank), name, backward=backward.on(team, rank))
            own = [torch.Tensor(blocks(value, ranks)[rank], torch.float64) for value in (q, k, v)]
            # There the results' gradients are zero.
            grad = blocks(weight, ranks)[rank]
            grad[:, :, max(0, tokens - width * rank):] = 0
            count = max(0, min(width, tokens - width * rank))
            expected = attention(q, k, v, scale, is_causal)
            close(operator(*own, rank, tokens)[0].array[:, :, :count], blocks(expected, ranks)[rank][:, :, :count], 1e-12)
            found, constant = operator.differentiate([*own, rank, tokens], [torch.Tensor(grad, torch.float64)] * 2)
            assert len(constant) == 1 and found[3:] == (None, None)
            for gradient, want in zip(found, wanted):
                close(gradient.array[:, :, :count], blocks(want, ranks)[rank][:, :, :count])
            own[0] = torch.Tensor(blocks(large, ranks)[rank], torch.float64)
            close(operator(*own, rank, tokens)[0].array[:, :, :count],
                  blocks(attention(large, k, v, scale, is_causal), ranks)[rank][:, :, :count], 1e-9)

        team.run(run)


def check_dtensors(team, mlp, operators, x, w1, w2):
    meshes = [DeviceMesh((RANKS,), ("tp",), rank) for rank in range(RANKS)]
    assert ccn.torch.mesh(meshes[0]) == {"tp": RANKS}

    def run(rank):
        call = ccn.torch.with_dtensors(operators[rank], meshes[rank])
        values = [DTensor(part(mlp, name, rank, whole), meshes[rank], placements, whole.shape) for name, whole, placements
                  in (("x", x, [Shard(0)]), ("w1", w1, [Shard(1)]), ("w2", w2, [Shard(0)]))]
        for one in (operators[rank], call):
            y, pre = one(*values)
            assert y.placements == (Shard(0),) and y.shape == (T, H) and pre.placements == (Shard(1),), y.placements
            close(y.local, part(mlp, "y", rank, gelu_mlp(x, w1, w2)).array)
        assert all(value.grad_placements == value.placements for value in values)
        team.meet(rank)
        # What is wrong is said before anything runs, so ranks need not agree.
        if rank == 1:
            where = "program 'mlp': argument 'x': "
            with refused(TypeError, where + "expected a DTensor, found Tensor"):
                call(values[0].local, *values[1:])
            values[0].placements = (Replicate(),)
            with refused(ValueError, where + "expected placements [Shard(dim=0)], as of f64[5, 3] sliced(0, tp), found "
                         "[Replicate()]; expected redistribute() before"):
                call(*values)
            values[0].placements, values[0].whole = (Shard(0),), (T + 1, H)
            with refused(ValueError, where + "expected shape [5, 3], found [6, 3]"):
                call(*values)
            values[0].device_mesh = meshes[0]
            with refused(ValueError, where + "expected a DTensor on"):
                call(*values)
            with refused(TypeError, "program 'mlp': expected 3 arguments, found 2"):
                call(*values[1:])

    team.run(run)
    with refused(ValueError, "expected a DeviceMesh of {'tp': 2}, found {'dp': 2}"):
        ccn.torch.with_dtensors(operators[0], DeviceMesh((2,), ("dp",), 0))
    with refused(ValueError, "expected rank 0 of the team at its row-major place in the DeviceMesh, found rank 1"):
        ccn.torch.with_dtensors(operators[0], meshes[1])
    with refused(TypeError, "expected an operator that ccn.torch.register has returned"):
        ccn.torch.with_dtensors(mlp, meshes[0])
    with refused(ValueError, "expected a DeviceMesh with mesh_dim_names"):
        ccn.torch.mesh(DeviceMesh((2,), None, 0))
    layouts = ccn.compile("mesh m (dp = 2, tp = 2)\nprogram p(x: f32[4] partial(max, tp), y: f32[4, 4] sliced(1, dp) "
                          "sliced(0, tp), z: f32[8] sliced(0, dp) sliced(0, tp), u: f32[8] sliced(0, tp) sliced(0, dp),"
                          " v: f32 local(dp), w: f32[5] sliced(0, dp) sliced(0, tp), s: f32[5] sliced(0, tp)) {\n  let r = 2 * y\n  return r\n}\n")
    assert [ccn.torch.placements_of(layouts.argument(name)) for name in "xyzs"] == [
        (Replicate(), Partial("max")), (Shard(1), Shard(0)), (Shard(0), Shard(0)), (Replicate(), Shard(0))]
    with refused(ValueError, "argument 'u': expected a dimension that is cut by axes in the mesh's order"):
        ccn.torch.placements_of(layouts.argument("u"))
    with refused(ValueError, "argument 'v': f32 local(dp) is no DTensor, as ranks hold different values"):
        ccn.torch.placements_of(layouts.argument("v"))
    with refused(ValueError, "argument 'w': expected dimension 0, which several axes cut, to be a multiple of 4, found f32[5] "
                 "sliced(0, dp) sliced(0, tp)"):
        ccn.torch.placements_of(layouts.argument("w"))


# What the forward one is, the backward one, and what is said of that.
WRONG = [
    ("x: f32[4] sliced(0)", "let y = 2 * x", "y", "grad_y: f32[4] sliced(0)", "let grad_x = 2 * grad_y", "grad_x", None),
    ("x: f32[4]", "let y = 2 * x", "y", "grad_y: f32[4] sliced(0)", "let grad_x = 2 * grad_y", "grad_x",
     "'grad_y': expected the layout replicated on dp, as 'y' is f32[4], found sliced(0) on dp"),
    ("x: f32[4]", "let y = slice(x, 0, dp)", "y", "grad_y: f32[4] sliced(0)", "let grad_x = all_gather(grad_y)", "grad_x",
     None),
    ("x: f32[4]", "let y = 2 * x", "y", "grad_y: f32[4], x: f64[4]", "let grad_x = 2 * grad_y", "grad_x",
     "'x': expected the elements and shape of 'x', f32[4], found f64[4]"),
    ("x: f32[4]", "let y = 2 * x", "y", "grad_y: f32[4], z: f32[4]", "let grad_x = z * grad_y", "grad_x",
     "argument 'z': expected the name of an argument or result of 'forward', or 'grad_' and that of a result"),
    ("x: f32[4]", "let y = 2 * x", "y", "grad_y: f32[4]", "let slope = 2 * grad_y", "slope",
     "result 'slope': expected 'grad_' and the name of an argument of 'forward'"),
    ("x: i32[4]", "let y = cast(x, f32)", "y", "grad_y: f32[4]", "let grad_x = grad_y * 2", "grad_x",
     "result 'grad_x': 'x' is i32[4], which has no gradient"),
    ("x: f32[4]", "let y = 2 * x", "y", "x: f32[4]", "let grad_x = 2 * x", "grad_x",
     "expected an argument 'grad_y', or 'y' if that is only saved, found neither"),
    ("inout x: f32[4]", "x <- 2 * x", "", "x: f32[4]", "let grad_x = 2 * x", "grad_x",
     "argument 'x' of 'forward' is written; expected programs without such arguments"),
    ("x: f32[4] partial(sum)", "let y = all_reduce(sum, x)", "y", "grad_y: f32[4]", "let grad_x = 2 * grad_y", "grad_x", None),
    ("x: f32[4] partial(max)", "let y = all_reduce(max, x)", "y", "grad_y: f32[4]", "let grad_x = 2 * grad_y", "grad_x",
     "'x' is f32[4] partial(max, dp), which has no gradient"),
    ("x: f32[4]", "let y = sum(x, 0)", "y", "x: f32[4], grad_y: f32", "let grad_x = 0 * x + grad_y", "grad_x",
     "argument 'grad_y': expected f32[1], as autograd passes a tensor, found f32; so result 'y' of 'forward' is to be f32[1]"),
    ("x: f32[4]", "let y = sum(x, 0)", "y", "x: f32[4], y: f32", "let grad_x = x * y", "grad_x",
     "argument 'y': expected f32[1], as autograd passes a tensor, found f32"),
    ("x: f32[4]", "let y = reshape(sum(x, 0), [1])", "y", "x: f32[4], grad_y: f32[1]", "let grad_x = 0 * x + grad_y", "grad_x",
     None),
    # Summands of the gradient of a replicated argument.
    ("x: f32[4], w: f32[2, 4] sliced(0)", "let y = x * sum(all_gather(w), 0)", "y",
     "grad_y: f32[4], w: f32[2, 4] sliced(0)", "let grad_x = sum(grad_y * w, 0)", "grad_x", None),
]


def check_refusals():
    def program(name, arguments, line, returned):
        end = f"  return {returned}\n" if returned else ""
        return ccn.compile(f"mesh m (dp = 2)\nprogram {name}({arguments}) {{\n  {line}\n{end}}}\n")

    for number, (arguments, line, result, taken, back, returned, text) in enumerate(WRONG):
        forward, backward = program("forward", arguments, line, result), program("backward", taken, back, returned)
        with ccn.Team(forward, backward) as team:
            def register():
                return ccn.torch.register(forward.on(team, 0), f"tests::wrong{number}", backward=backward.on(team, 0))

            if text is None:
                register()
                continue
            with refused(ValueError, "program 'backward', as the backward of 'forward'", text):
                register()
            # Nothing was registered.
            assert not hasattr(torch.ops.tests, f"wrong{number}") and not hasattr(torch.ops.tests, f"wrong{number}_backward")
    with refused(TypeError, "expected a ccn.Program or a ccn.Executor, found str"):
        ccn.torch.register("program", "tests::text")
    one = ccn.compile("mesh m (dp = 1)\nprogram backward(grad_y: f32[4]) {\n  let grad_x = 2 * grad_y\n  return grad_x\n}\n")
    two = program("forward", "x: f32[4]", "let y = 2 * x", "y")
    with ccn.Team(two) as team:
        with refused(ValueError, "expected mesh {'dp': 2}, found {'dp': 1}"):
            ccn.torch.register(two.on(team, 0), "tests::meshes", backward=one)


def adam(parameters, gradients, steps, lr, betas, eps, decay, max_norm, is_lamb):
    """torch.optim.AdamW, in f64, after torch.nn.utils.clip_grad_norm_; or LAMB, of all parameters as one layer."""
    first, second, norms = [0] * len(parameters), [0] * len(parameters), []
    for step in range(1, steps + 1):
        norm = np.sqrt(sum((gradient * gradient).sum() for gradient in gradients))
        norms.append(norm)
        scale = 1 if max_norm is None else min(max_norm / (norm + 1e-6), 1)
        updates = []
        for i, gradient in enumerate(gradients):
            gradient = gradient * scale
            first[i] = betas[0] * first[i] + (1 - betas[0]) * gradient
            second[i] = betas[1] * second[i] + (1 - betas[1]) * gradient * gradient
            root = np.sqrt(second[i] / (1 - betas[1] ** step)) + eps
            updates.append(first[i] / (1 - betas[0] ** step) / root + decay * parameters[i])
        lengths = [np.sqrt(sum((value * value).sum() for value in values)) for values in (parameters, updates)]
        ratio = lengths[0] / lengths[1] if is_lamb else 1
        parameters = [value - lr * ratio * update for value, update in zip(parameters, updates)]
    return parameters, norms


def check_choice(mlp, rank, size):
    """Where there is no program for all ranks' tokens, no rank runs one, although its own number has one."""
    chosen = []
    mlp._compute = lambda x, counts: chosen.append(counts)
    for tokens in (T - 1, T + 1, 2 * T - 1):
        width = -(-tokens // size)
        counts = [min(width, max(0, tokens - width * other)) for other in range(size)]
        x = torch.zeros(counts[rank], H, dtype=torch.float64)
        mlp(x)
        mlp(x, tokens=tokens)
        assert chosen[-2:] == [counts] * 2, (chosen, counts)
    if size > 1:
        # As many as there is a program for, but cut otherwise.
        counts = [T - size + 1] + [1] * (size - 1)
        mlp(torch.zeros(counts[rank], H, dtype=torch.float64))
        assert counts == mlp._parts(T) or chosen[-1] == counts, (chosen, counts)
    own = mlp._parts(T)[rank]
    with refused(ValueError, f"expected x to have {own} tokens on rank {rank} of {size}, of {T} together, found {own + 1}"):
        mlp(torch.zeros(own + 1, H, dtype=torch.float64), tokens=T)
    del mlp._compute


def check_states(optimizer, parameters, other):
    """An optimizer takes up the state of another that is like it, where its own moments are; and goes on like it."""
    of_other = other.param_groups[0]
    for parameter, twin in zip(parameters, of_other["params"]):
        parameter.array[...], parameter.grad = twin.array, torch.Tensor(twin.grad.array.copy())
    moments = [optimizer.param_groups[0][name] for name in ("exp_avg", "exp_avg_sq")]
    state = copy.deepcopy(other.state_dict())
    del state["param_groups"][0]["exp_avg"]
    with refused(ValueError, "expected a state of FusedAdamW, found no exp_avg in group 0"):
        optimizer.load_state_dict(state)
    state["param_groups"][0]["exp_avg"] = torch.Tensor(np.zeros(50))
    with refused(ValueError, "expected exp_avg of shape ("):
        optimizer.load_state_dict(state)
    assert optimizer.param_groups[0]["step"] == 0
    optimizer.load_state_dict(other.state_dict())
    group = optimizer.param_groups[0]
    assert group["step"] == of_other["step"] and group["lr"] == of_other["lr"]
    assert group["exp_avg"] is moments[0] and group["exp_avg_sq"] is moments[1]
    before = [parameter.array.copy() for parameter in parameters]
    for which in (other, optimizer):
        which.step()
    for parameter, twin, value in zip(parameters, of_other["params"], before):
        assert not np.array_equal(parameter.array, value)
        close(parameter, twin.array, 1e-6)


def check_ring_module(ring, rank, size, rng):
    """Blocks that are shorter than the first one are filled up."""
    chosen = []
    ring._compute = lambda q, k, v, counts: chosen.append(counts)
    for tokens in (7, 8, 3):
        q, k, v = (rng.standard_normal((2, heads, tokens, 3)) for heads in (4, 2, 2))
        begin, count = sum(ring._parts(tokens)[:rank]), ring._parts(tokens)[rank]
        own = [torch.Tensor(value[:, :, begin:begin + count], torch.float64) for value in (q, k, v)]
        for named in ({}, {"tokens": tokens}):
            y = ring(*own, **named)
            if tokens != 3:
                close(y, attention(q, k, v, 3 ** -0.5, True)[:, :, begin:begin + count], 1e-12)
    assert chosen == [ring._parts(3)] * 2, chosen
    assert ring(*(torch.Tensor(value.array[:1], torch.float64) for value in own), tokens=3) is None
    with refused(ValueError, f"expected q to have {ring._parts(9)[rank]} tokens on rank {rank} of {size}, of 9 together, found "
                 f"{count}"):
        ring(*own, tokens=9)
    with refused(ValueError, "expected k of the shape [batch, 2, own tokens, 3], the same tokens for q, k and v, found "):
        ring(own[0], own[0], own[2])
    with refused(ValueError, "expected heads to be a multiple of kv_heads, found 4 and 3"):
        ccn.torch.RingAttention(4, 8, 8, kv_heads=3)


def check_ranks():
    """A process of a group: join, modules and the optimizer."""
    rank, size = int(os.environ["FAKE_RANK"]), int(os.environ["FAKE_SIZE"])
    before = dict(os.environ)
    rng = np.random.default_rng(2)
    shapes = [(3, 2), (), (7,)]
    starts = [rng.standard_normal(shape) for shape in shapes]
    slopes_of = [[rng.standard_normal(shape) for shape in shapes] for _ in range(size)]
    parameters = [torch.nn.Parameter(torch.Tensor(start.copy())) for start in starts]
    optimizers = [kind([{"params": parameters}], lr=0.1, weight_decay=0.3, betas=(0.8, 0.95), eps=1e-8, max_norm=max_norm)
                  for kind in (ccn.torch.FusedAdamW, ccn.torch.FusedLAMB) for max_norm in (None, 1.5)]
    plain = optimizers[0]
    mlp, twin = (ccn.torch.TensorParallelMLP(H, F, [T, 2 * T], dtype=torch.float64) for _ in range(2))
    norm = ccn.torch.AllReduceRMSNorm(H, T, eps=1e-3, dtype=torch.float64)
    # Modules that are alike share programs.
    assert len(mlp.programs) == 4 and all(a is b for a, b in zip(mlp.programs, twin.programs))
    ring = ccn.torch.RingAttention(4, 3, [7, 8], batch=2, kv_heads=2, is_causal=True, dtype=torch.float64)
    wrong = ccn.compile("mesh m (dp = 4)\nprogram p(x: f32[4]) {\n  let y = 2 * x\n  return y\n}\n")
    with refused(ccn.ArgumentError, f"program 'p' has 4 ranks; expected {size}, as the process group has"):
        ccn.torch.join(mlp, wrong)
    with refused(TypeError, "expected a ccn.Program, or what has `programs`, found int"):
        ccn.torch.join(1)
    # Two that are alike, of which one is bound.
    others = [torch.nn.Parameter(torch.Tensor(start.copy())) for start in starts]
    alike = ccn.torch.FusedAdamW(others, lr=0.1, weight_decay=0.3, betas=(0.8, 0.95), eps=1e-8)
    assert alike.programs[0] is not plain.programs[0]
    team = ccn.torch.join(mlp, twin, norm, ring, *optimizers, alike, time_limit=60)
    assert (team.rank, team.size) == (rank, size) and dict(os.environ) == before

    x, w1, w2 = (rng.standard_normal(shape) for shape in ((T, H), (H, F), (F, H)))
    for module in (mlp, twin):
        module.load_whole(*(torch.Tensor(value, torch.float64) for value in (w1, w2)))
    for tokens, module in ((T, mlp), (2 * T, mlp), (T, twin)):
        whole = np.resize(x, (tokens, H))
        forward = module.programs[0 if tokens == T else 2]
        for named in ({}, {"tokens": tokens}):
            y = module(part(forward, "x", rank, whole), **named)
            close(y, part(forward, "y", rank, gelu_mlp(whole, w1, w2)).array)
    check_choice(mlp, rank, size)
    residual = rng.standard_normal((T, H))
    for found, want in zip(norm(torch.Tensor(x / size, torch.float64), torch.Tensor(residual, torch.float64)),
                           rms_norm(x, residual, np.ones(H), 1e-3)):
        close(found, want)

    check_ring_module(ring, rank, size, rng)

    mean = [sum(of_rank[i] for of_rank in slopes_of) / size for i in range(len(shapes))]
    for number, optimizer in enumerate(optimizers):
        max_norm = 1.5 if number % 2 else None
        for parameter, start, slope in zip(parameters, starts, slopes_of[rank]):
            parameter.array[...], parameter.grad = start, torch.Tensor(slope)
        want, norms = adam(list(starts), mean, 3, 0.1, (0.8, 0.95), 1e-8, 0.3, max_norm, number > 1)
        optimizer.bind()
        assert optimizer.step(lambda: "loss") == "loss"
        optimizer.step()
        assert optimizer.step() is None
        for parameter, value in zip(parameters, want):
            close(parameter, value, 1e-5)
        assert optimizer.param_groups[0]["step"] == 3
        if max_norm is None:
            assert optimizer.grad_norms == []
        else:
            close(optimizer.grad_norms[0], np.array(norms[-1]), 1e-5)
    check_states(alike, others, plain)
    kept, parameters[1].grad = parameters[1].grad, None
    with refused(ValueError, "expected a gradient of every parameter, found none of parameter 1 of a group of 3"):
        plain.step()
    parameters[1].grad = torch.Tensor(np.zeros(()), torch.float64)
    with refused(TypeError, "argument 'g': expected elements of f32, found f64"):
        plain.step()
    assert plain.param_groups[0]["step"] == 4
    for options, text in (({"lr": -1}, "expected lr, eps and weight_decay from 0"),
                          ({"max_norm": 0}, "expected max_norm above 0")):
        with refused(ValueError, text):
            ccn.torch.FusedAdamW(parameters, **options)
    with refused(ValueError, "expected parameters of one dtype on one device in each group, found torch.float32 on cpu, "
                 "torch.float64 on cpu"):
        ccn.torch.FusedAdamW([parameters[0], torch.Tensor([1], torch.float64)])
    with refused(ValueError, "expected a dtype that is f32, f16, bf16 in ccn, found torch.float64"):
        ccn.torch.FusedAdamW([torch.Tensor([1], torch.float64)])
    with refused(ValueError, "expected parameters in each group, found a group without any"):
        plain.add_param_group({"params": []})
    # What is refused is no group.
    assert len(plain.param_groups) == len(plain.programs) == 1
    team.close()
    print(f"rank {rank} is right")


def check_texts(source):
    """What the guide and the tutorial show, of one rank."""
    with open(os.path.join(source, "runtime", "python", "README.md")) as file:
        guide = re.search(r"```\n(program square\(.*?)```", file.read(), re.S)[1]
    with open(os.path.join(source, "examples", "tutorials", "train.py")) as file:
        tutorial = re.search(r'SQUARED_RELU = """(.*?)"""', file.read(), re.S)[1]
    x, weight = numbers.standard_normal((4, 3)), numbers.standard_normal((4, 3))
    for name, text, params, function in (
            ("square", "mesh m (r = 1)\nparam N = 1\n" + guide, {"N": 12}, np.square),
            ("squared_relu", tutorial, {"T": 4, "F": 3}, lambda value: np.maximum(value, 0) ** 2)):
        forward, backward = (ccn.compile(text, program=name + end, params=params) for end in ("", "_backward"))
        operator = ccn.torch.register(forward, f"tests::{name}", backward=backward)
        value, weights = (one.reshape(forward.argument("x").shape) for one in (x, weight))
        close(operator(torch.Tensor(value)), function(value), 1e-5)
        found, _ = operator.differentiate([torch.Tensor(value)], [torch.Tensor(weights)])
        close(found[0], slopes(function, [value], [weights])[0], 1e-4)


def main():
    folder, source = sys.argv[1:]
    if "FAKE_RANK" in os.environ:
        check_ranks()
        return
    fresh(folder)
    check_refusals()
    check_gradients()
    for ranks, tokens, heads, kv_heads in ((1, 4, 2, 1), (2, 5, 2, 2), (3, 7, 4, 2), (4, 9, 2, 1), (4, 2, 1, 1)):
        for is_causal in (False, True):
            check_ring(ranks, tokens, heads, kv_heads, is_causal)
    check_texts(source)
    for size in (1, 2, 3):
        os.makedirs(f"group{size}")
        ranks = [subprocess.Popen([sys.executable, os.path.abspath(__file__), folder, source], stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True,
                                  env={**os.environ, "FAKE_GROUP": os.path.abspath(f"group{size}"), "FAKE_RANK": str(rank),
                                       "FAKE_SIZE": str(size)}) for rank in range(size)]
        for rank, process in enumerate(ranks):
            said = process.communicate(timeout=200)[0]
            assert process.returncode == 0 and said == f"rank {rank} is right\n", said
    print("right")


main()
