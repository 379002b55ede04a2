"""Runs the program of step.ccn on PyTorch's tensors, as calls, as an operator, compiled, and in CUDA graphs.

    operators.py FOLDER [cuda|cpu]

FOLDER has one.ccnpkg and two.ccnpkg, for one rank and for two, which where compilers are is

    cccompile test/gpu/step.ccn --schedule none --target sm_80 --emit package -o FOLDER/one.ccnpkg       (and --mesh dp=2)

It needs PyTorch, the package ccn on PYTHONPATH, and its libccn. On the CPU it does all but what is CUDA's.
"""

import contextlib
import sys

import torch

import ccn
import ccn.torch

folder, kind = sys.argv[1], (sys.argv[2:] or ["cuda"])[0]
target = "gpu" if kind == "cuda" else "cpu"
one, two = (ccn.load(f"{folder}/{name}.ccnpkg", target) for name in ("one", "two"))
N = one.argument("p").shape[0]


def arrays(device, part=slice(None), seed=0):
    generator = torch.Generator().manual_seed(seed)
    g, p, mom = torch.randn(N, generator=generator).half(), *(torch.randn(N, generator=generator) for _ in range(2))
    return g.to(device), p.to(device), mom[part].contiguous().to(device)


def expected(g, p, mom, lr):
    mom = 0.5 * mom + g.float()
    p = p - lr * mom
    return 2 * p, p, mom


def check(function, steps=(0.1, 0.2)):
    g, p, mom = arrays(kind)
    wanted = g, p.clone(), mom.clone()
    for lr in steps:
        y = function(g, p, mom, lr)
        want, *state = expected(*wanted, lr)
        wanted = g, *state
        one.synchronize()
        for found, is_right in zip((y, p, mom), (want, *state)):
            assert found.device == g.device and torch.allclose(found, is_right, rtol=1e-5, atol=1e-5), (found, is_right)


check(one)
step = ccn.torch.register(one, "ccn::step")
check(step)
check(torch.compile(lambda g, p, mom, lr: step(g, p, mom, lr) * 1, fullgraph=True, backend="aot_eager"))
try:
    other = "cpu" if kind == "cuda" else "meta"
    one(torch.zeros(N, device=other).half(), *arrays(kind)[1:], 0.1)
    raise AssertionError("a tensor elsewhere is taken")
except ValueError as error:
    assert "argument 'g': expected a tensor on " in str(error), error

# Ranks that are threads, each with tensors of its own on its device.
devices = ["cpu"] * 2
if kind == "cuda":
    devices = [f"cuda:{rank % torch.cuda.device_count()}" for rank in range(2)]
total = arrays("cpu", seed=0)[0].float() + arrays("cpu", seed=1)[0].float()
with ccn.Team(two) as team:
    def of_rank(rank, bind):
        # Ranks that share a GPU would wait for each other in one stream.
        own = torch.cuda.stream(torch.cuda.Stream(devices[rank])) if kind == "cuda" else contextlib.nullcontext()
        with own:
            return run_rank(rank, bind)

    def run_rank(rank, bind):
        (offset,), (size,) = two.argument("mom").part(rank)
        g = arrays(devices[rank], seed=rank)[0]
        _, p, mom = arrays(devices[rank], slice(offset, offset + size))
        executor = two.on(team, rank)
        out = executor.bind(g, p, mom) if bind else None
        # Taking memory waits for devices, which must not wait for a rank.
        executor.prepare(p.device.index if kind == "cuda" else None)
        team.meet(rank)
        y = executor(g, p, mom, 0.1, out=out)
        executor.synchronize()
        team.meet(rank)
        return y.cpu(), p.cpu()

    for bind in (False, True):
        for y, p in team.run(lambda rank: of_rank(rank, bind)):
            want, want_p, _ = expected(total.half(), *arrays("cpu")[1:], 0.1)
            # The sum is rounded to f16.
            assert torch.allclose(p, want_p, rtol=1e-3, atol=1e-3) and torch.allclose(y, 2 * p), (p, want_p)

if kind == "cuda":
    # The current stream: what is before a run on it is done before.
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        g, p, mom = arrays(kind)
        torch.cuda._sleep(100_000_000)
        p.fill_(1)
        y = one(g, p, mom, 0.0)
        later = y + 1
    side.synchronize()
    assert (later == 3).all(), later
    try:
        one(g, p, mom, 0.0, stream=side.cuda_stream)
        raise AssertionError("another stream than the current one is taken")
    except ValueError as error:
        assert "expected no stream besides PyTorch's current one" in str(error), error

    # In a graph a number stays what it was, and a tensor is read in each replay.
    for lr in (0.1, torch.tensor(0.1, device=kind)):
        g, p, mom = arrays(kind)
        run = one if isinstance(lr, torch.Tensor) else step
        run(g, p.clone(), mom.clone(), lr)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y = run(g, p, mom, lr)
        wanted = g, p.clone(), mom.clone()
        for number in (0.1, 0.1, 0.2):
            if run is one:
                lr.fill_(number)
            graph.replay()
            one.synchronize()
            want, *state = expected(*wanted, number if run is one else 0.1)
            wanted = g, *state
            for found, is_right in zip((y, p, mom), (want, *state)):
                assert torch.allclose(found, is_right, rtol=1e-5, atol=1e-5), (number, found, is_right)
print(f"right on {kind}")
