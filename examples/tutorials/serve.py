"""A layer of a model that serves: torchrun --nproc-per-node 2 serve.py [cpu|cuda]"""

import os
import sys

import torch
import torch.distributed as dist

import ccn.torch

kind = (sys.argv[1:] or ["cpu"])[0]
dist.init_process_group("nccl" if kind == "cuda" else "gloo")
device = torch.device("cpu")
if kind == "cuda":
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)

TOKENS, HIDDEN, FFN = 4, 256, 512  # each rank has FFN columns of the first matrix, and as many rows of the second
torch.manual_seed(0)
x, stream = (torch.randn(TOKENS, HIDDEN, device=device) for _ in range(2))
torch.manual_seed(1 + dist.get_rank())
w1 = torch.randn(HIDDEN, FFN, device=device) / HIDDEN**0.5
w2 = torch.randn(FFN, HIDDEN, device=device) / FFN**0.5

norm = ccn.torch.AllReduceRMSNorm(HIDDEN, TOKENS, device=device)
ccn.torch.join(norm)


def layer(x, stream):
    part = torch.nn.functional.gelu(x @ w1) @ w2  # each rank has a summand
    return norm(part, stream)


with torch.inference_mode():
    y, next_stream = layer(x, stream)
    if kind == "cuda":
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            y, next_stream = layer(x, stream)
        graph.replay()
        torch.cuda.synchronize()

    total = torch.nn.functional.gelu(x @ w1) @ w2
    dist.all_reduce(total)
    expected = torch.nn.functional.rms_norm(stream + total, (HIDDEN,), norm.weight, norm.eps)
    is_same = torch.allclose(y, expected, rtol=1e-4, atol=1e-4) and torch.allclose(next_stream, stream + total, atol=1e-4)
if dist.get_rank() == 0:
    print("the same as PyTorch's:", is_same)
dist.destroy_process_group()
