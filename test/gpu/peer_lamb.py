#!/usr/bin/env python3
"""What a user of PyTorch and NCCL would run instead of sharded LAMB, beside peers.py, whose clock it is measured with.

    python3 -m torch.distributed.run --nproc-per-node 4 peer_lamb.py --json OUT.json
"""

import argparse
import json

import torch
import torch._dynamo
import torch.distributed as dist

import peers


def step(g, p, m, v):
    """The moments, and the step before it is scaled, with the squares of the norms of parameters and step."""
    grad = g.float() / peers.WORLD
    m.mul_(0.9).add_(grad, alpha=0.1)
    v.mul_(0.999).addcmul_(grad, grad, value=0.001)
    change = (m / 0.1) / ((v / 0.001).sqrt() + 1e-6) + 0.01 * p
    return change, torch.stack([p.square().sum(), change.square().sum()])


def scale(p, change, squares):
    norms = squares.sqrt()
    ratio = torch.where((norms[0] > 0) & (norms[1] > 0), norms[0] / norms[1], 1.0)
    p.sub_(1e-3 * ratio * change)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json")
    options = parser.parse_args()
    # Each size is compiled for itself, as it is fastest, and none is left to eager mode; the limit's name has changed.
    for name in ("cache_size_limit", "recompile_limit"):
        if hasattr(torch._dynamo.config, name):
            setattr(torch._dynamo.config, name, 100)
    before, after = (torch.compile(function, dynamic=False) for function in (step, scale))
    dist.all_reduce(torch.ones(1, device=peers.DEV))
    # What there are targets for, or others measure too, comes first, if time is short.
    first = [16, 20, 24, 28]
    for lg in first + [lg for lg in range(10, 29, 2) if lg not in first]:
        n = 2 ** lg
        g = torch.randn(n, device=peers.DEV, dtype=torch.float16)
        p, m, v = torch.randn(n, device=peers.DEV), torch.zeros(n, device=peers.DEV), torch.zeros(n, device=peers.DEV)

        def whole():
            dist.all_reduce(g)
            after(p, *before(g, p, m, v))

        peers.attempt("lamb", "nccl_ar+compiled", whole, elements=n)
        s = n // peers.WORLD
        mine = slice(peers.RANK * s, (peers.RANK + 1) * s)
        gs = torch.empty(s, device=peers.DEV, dtype=torch.float16)
        ps, ms, vs = p[mine], m[mine], v[mine]

        def sharded():
            dist.reduce_scatter_tensor(gs, g)
            change, squares = before(gs, ps, ms, vs)
            dist.all_reduce(squares)
            after(ps, change, squares)
            dist.all_gather_into_tensor(p, ps)

        peers.attempt("lamb", "nccl_rs+compiled+nccl_ag", sharded, elements=n)
    if peers.RANK == 0 and options.json:
        with open(options.json, "w") as file:
            json.dump(peers.ROWS, file, indent=0)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
