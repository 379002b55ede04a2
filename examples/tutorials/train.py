"""Trains a small network: torchrun --nproc-per-node 2 train.py [cpu|cuda]"""

import os
import sys

import torch
import torch.distributed as dist

import ccn
import ccn.torch

kind = (sys.argv[1:] or ["cpu"])[0]
target = "sm_80" if kind == "cuda" else "cpu"
dist.init_process_group("nccl" if kind == "cuda" else "gloo")
device = torch.device("cpu")
if kind == "cuda":
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)

SQUARED_RELU = """
mesh m (r = 1)
param T = 1
param F = 1

program squared_relu(x: f32[T, F]) {
  let y = relu(x) * relu(x)
  return y
}

program squared_relu_backward(x: f32[T, F], grad_y: f32[T, F]) {
  let grad_x = 2 * relu(x) * grad_y
  return grad_x
}
"""
forward, backward = (ccn.compile(SQUARED_RELU, program=name, params={"T": 64, "F": 32}, target=target)
                     for name in ("squared_relu", "squared_relu_backward"))
squared_relu = ccn.torch.register(forward, "tutorial::squared_relu", backward=backward)


class Network(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = torch.nn.Linear(8, 32), torch.nn.Linear(32, 1)

    def forward(self, x):
        return self.second(squared_relu(self.first(x)))


torch.manual_seed(0)  # all ranks begin with the same parameters
model = Network().to(device)
optimizer = ccn.torch.FusedAdamW(model.parameters(), lr=1e-2, max_norm=1.0)
ccn.torch.join(optimizer)  # once, with all that communicates

torch.manual_seed(1 + dist.get_rank())  # and see data of their own
for step in range(200):
    x = torch.randn(64, 8, device=device)
    loss = ((model(x) - (x * x).sum(1, keepdim=True)) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()  # sums gradients, clips them, updates slices, gathers parameters
    if step in (0, 199) and dist.get_rank() == 0:
        print(f"step {step}: loss {loss.item():.2f}, norm of the gradients {optimizer.grad_norms[0].item():.2f}")

parameters = [torch.nn.utils.parameters_to_vector(model.parameters()).detach() for _ in range(dist.get_world_size())]
dist.all_gather(parameters, parameters[0].clone())
if dist.get_rank() == 0:
    print("the same parameters on all ranks:", all(torch.equal(parameters[0], other) for other in parameters))
dist.destroy_process_group()
