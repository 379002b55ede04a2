"""Replays CUDA graphs of several programs at once, each on a stream of its own: every replay must give the same bits.

    python3 -m torch.distributed.run --nproc-per-node N replays.py PACKAGE [PACKAGE ...] [--replays COUNT] [--seed S]

Each package is for N ranks. A graph restores what the program writes, runs it, and counts the elements of what it left
that differ in a bit from the first run's. It needs PyTorch, and the package ccn on PYTHONPATH, with its libccn.
"""

import argparse
import os
import time

import torch

import ccn

TYPES = {"f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
         "i32": torch.int32, "i64": torch.int64}


def bits(tensor):
    return tensor.view({2: torch.int16, 4: torch.int32, 8: torch.int64}[tensor.element_size()])


class Replayed:
    """A program with its tensors, its stream and its graph."""

    def __init__(self, program, team, seed):
        self.program, self.stream = program, torch.cuda.Stream()
        self.executor = program.on(team, team.rank)
        self.given, written = [], []
        for i, argument in enumerate(program.arguments):
            if argument.kind == "result":
                continue
            if argument.is_value:
                self.given.append(0.001)
                continue
            # What ranks hold in common is the same.
            own = 0 if argument.is_replicated else 1000 * (team.rank + 1)
            generator = torch.Generator().manual_seed(seed + 100 * i + own)
            tensor = torch.randn(argument.part(team.rank).shape, generator=generator).abs()
            tensor = tensor.to(TYPES[argument.type]).cuda()
            self.given.append(tensor)
            if argument.kind == "inout":
                written.append(tensor)
        out = self.executor.bind(*self.given)
        self.out = [] if out is None else list(out) if isinstance(out, tuple) else [out]
        self.executor.prepare()
        self.kept = [(tensor, tensor.clone()) for tensor in written]
        self.left = written + self.out
        self.different = torch.zeros((), dtype=torch.int64, device="cuda")
        self.replays = torch.zeros((), dtype=torch.int64, device="cuda")
        self.first = []

    def run(self):
        for tensor, kept in self.kept:
            tensor.copy_(kept)
        self.executor(*self.given, out=self.out or None)

    def begin(self):
        with torch.cuda.stream(self.stream):
            self.run()
            self.executor.synchronize()
            self.first = [bits(tensor).clone() for tensor in self.left]
            self.compare()
            self.stream.synchronize()
            self.different.zero_()
            self.replays.zero_()

    def compare(self):
        for tensor, first in zip(self.left, self.first):
            self.different.add_((bits(tensor) != first).sum())
        self.replays.add_(1)

    def capture(self):
        self.graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self.graph, stream=self.stream):
            self.run()
            self.compare()

    def replay(self):
        with torch.cuda.stream(self.stream):
            self.graph.replay()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--replays", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]) % torch.cuda.device_count())
    programs = [ccn.load(path, "gpu") for path in options.packages]
    team = ccn.join(*programs, time_limit=30, runs_at_once=len(programs))
    replayed = [Replayed(program, team, options.seed + i) for i, program in enumerate(programs)]
    # Taking memory and making graphs waits for devices, which must not wait for other ranks then.
    for each in replayed:
        team.meet()
        each.begin()
    team.meet()
    for each in replayed:
        each.capture()
    team.meet()
    begin = time.monotonic()
    for number in range(options.replays):
        for each in replayed:
            each.replay()
        if number % 1000 == 999:
            for each in replayed:
                each.executor.synchronize(each.stream)
    for each in replayed:
        each.executor.synchronize(each.stream)
        assert each.replays.item() == options.replays, each.replays
        assert each.different.item() == 0, f"{each.program.name}: {each.different.item()} elements differ"
    if team.rank == 0:
        print(f"{options.replays} replays of each of {len(replayed)} programs at once on {team.size} ranks: equal bits, "
              f"{time.monotonic() - begin:.1f} s", flush=True)


main()
