"""Checks that ranks access each other's tensors where they are, in all memory of PyTorch's, on two GPUs.

    bound.py FOLDER [cuda|cpu]

Runs the program of step.ccn on ranks that are threads and on ranks that torchrun starts, on tensors of PyTorch's usual
allocator and on tensors in expandable segments, which are too large for one part of such a segment. No run may copy an
argument. FOLDER has bound.ccnpkg, which where compilers are is

    cccompile test/gpu/step.ccn --schedule fused -D N=20000003 --mesh dp=2 --target sm_80 --emit package -o FOLDER/bound.ccnpkg

It needs PyTorch, the package ccn on PYTHONPATH, and its libccn. On the CPU it does all but what is CUDA's.
"""

import contextlib
import os
import subprocess
import sys

import torch

import ccn

folder, kind, how = sys.argv[1:4] if len(sys.argv) > 3 else (*(sys.argv[1:] + ["cuda"])[:2], None)
ALLOCATORS = {"usual": "expandable_segments:False", "expandable": "expandable_segments:True"}
SETTINGS = "PYTORCH_CUDA_ALLOC_CONF"


def numbers(count, seed):
    return torch.randn(count, generator=torch.Generator().manual_seed(seed))


def of_rank(program, team, rank):
    device, own = "cpu", contextlib.nullcontext()
    if kind == "cuda":
        device = f"cuda:{rank % torch.cuda.device_count()}"
        # Ranks that share a GPU would wait for each other in one stream.
        own = torch.cuda.stream(torch.cuda.Stream(device))
    with own:
        check(program, program.on(team, rank), team, rank, device)


def check(program, executor, team, rank, device):
    count = program.argument("p").shape[0]
    (offset,), (size,) = program.argument("mom").part(rank)
    part = slice(offset, offset + size)
    for binding in range(3):
        gradients = [numbers(count, 10 * binding + other).half().to(device) for other in range(2)]
        g, p, mom = gradients[rank].clone(), numbers(count, 7).to(device), numbers(count, 8)[part].to(device)
        grad = (gradients[0].float() + gradients[1].float()).half().float()
        out = executor.bind(g, p, mom)
        assert executor.copied == [], executor.copied
        want_p, want_mom = p.clone(), numbers(count, 8).to(device)
        # Taking memory waits for devices, which must not wait for a rank.
        team.meet(rank)
        for lr in (0.1, 0.2):
            executor(g, p, mom, lr, out=out)
            executor.synchronize()
        team.meet(rank)
        for lr in (0.1, 0.2):
            want_mom = 0.5 * want_mom + grad
            want_p = want_p - lr * want_mom
        # The sum is rounded to f16.
        for found, want in ((mom, want_mom[part]), (p, want_p), (out, 2 * want_p)):
            assert torch.allclose(found, want, rtol=1e-3, atol=1e-2), (binding, found, want)
    if kind == "cuda" and os.environ[SETTINGS] == ALLOCATORS["expandable"]:
        assert any(segment["is_expandable"] for segment in torch.cuda.memory_snapshot()), "no segment is expandable"


def child():
    program = ccn.load(f"{folder}/bound.ccnpkg", "gpu" if kind == "cuda" else "cpu")
    if how == "processes":
        if kind == "cuda":
            torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
        with ccn.join(program) as team:
            of_rank(program, team, team.rank)
    else:
        # PyTorch finds out how to share segments when it takes the first one, which two threads must not do at once.
        if kind == "cuda":
            torch.empty(1 << 22, device="cuda")
        with ccn.Team(program) as team:
            team.run(lambda rank: of_rank(program, team, rank))


def parent():
    for name, settings in ALLOCATORS.items():
        torchrun = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
        for how, start in (("threads", []), ("processes", torchrun)):
            print(f"ranks are {how}, memory is {name}", flush=True)
            subprocess.run([sys.executable, *start, os.path.abspath(__file__), folder, kind, how], check=True,
                           env={**os.environ, SETTINGS: settings})
    print(f"right on {kind}")


child() if how else parent()
