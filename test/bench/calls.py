#!/usr/bin/env python3
"""How long a call of a small program takes from Python, beside what the program itself takes.

    PYTHONPATH=build/lib/python python3 test/bench/calls.py [cuda|cpu] [--calls N]

Prints microseconds, the least of 50 rounds, of y <- a * x + y on 4 elements, on one rank: of the C function that
starts the run with all that it takes made before, and of what users write. What is above the first line is what Python
costs. PyTorch's rows are there where PyTorch is.
"""

import argparse
import ctypes
import importlib.util
import time

import ccn
from ccn._library import lib

TEXT = """
mesh m (r = 1)
param N = 4

program axpy(a: f32, x: f32[N], inout y: f32[N]) {
  y <- a * x + y
}
"""


def microseconds(function, calls, wait, rounds=50):
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(calls):
            function()
        times.append(time.perf_counter() - begin)
        wait()
    return min(times) / calls * 1e6


def rows_of(program, tensors, calls, compiles):
    """What is called, and what it takes."""
    x, y = tensors
    executor = program.executor()
    executor(2.0, x, y)
    number = ctypes.c_float(2)
    addresses = (ctypes.c_void_p * 3)(ctypes.addressof(number), *(
        tensor.data_ptr() if hasattr(tensor, "data_ptr") else tensor.ctypes.data for tensor in tensors))
    stream = None
    if hasattr(x, "is_cuda") and x.is_cuda:
        import torch

        stream = torch.cuda.current_stream().cuda_stream
    run, pointer = lib.ccn_executor_run_values, executor._pointer
    yield "the run alone, through ctypes", microseconds(lambda: run(pointer, addresses, 3, stream), calls, executor.synchronize)
    yield "executor(a, x, y)", microseconds(lambda: executor(2.0, x, y), calls, executor.synchronize)
    yield "executor(a, x=x, y=y)", microseconds(lambda: executor(2.0, x=x, y=y), calls, executor.synchronize)
    yield "program(a, x, y)", microseconds(lambda: program(2.0, x, y), calls, executor.synchronize)
    if compiles:
        def axpy(a, x, y):
            pass

        axpy.__doc__ = TEXT
        function = ccn.program(axpy)
        function(2.0, x, y)
        yield "a function of ccn.program(a, x, y)", microseconds(lambda: function(2.0, x, y), calls, executor.synchronize)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kind", nargs="?", choices=["cuda", "cpu"], default="cpu")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--package", help="of the program here, where there is no compiler")
    options = parser.parse_args()
    on_gpu = options.kind == "cuda"
    target = "gpu" if on_gpu else "cpu"
    if options.package:
        program = ccn.load(options.package, target)
    else:
        program = ccn.compile(TEXT, target="sm_80" if on_gpu else "cpu", run_on=target)
    if not on_gpu and importlib.util.find_spec("numpy"):
        import numpy as np

        for what, time_of in rows_of(program, [np.ones(4, np.float32) for _ in range(2)], options.calls, not options.package):
            print(f"NumPy: {what}: {time_of:.1f} us", flush=True)
    spec = importlib.util.find_spec("torch")
    if spec is not None and spec.origin:
        import torch

        from ccn.torch import register

        tensors = [torch.ones(4, device=options.kind) for _ in range(2)]
        for what, time_of in rows_of(program, tensors, options.calls, compiles=False):
            print(f"PyTorch: {what}: {time_of:.1f} us", flush=True)
        operator = register(program, "ccn_bench::axpy")
        wait = torch.cuda.synchronize if on_gpu else lambda: None
        x, y = tensors
        for what, call in (("the operator", operator), ("torch.ops' operator", torch.ops.ccn_bench.axpy),
                           ("PyTorch's own y.add_(x, alpha=a)", lambda a, x, y: y.add_(x, alpha=a))):
            print(f"PyTorch: {what}: {microseconds(lambda: call(2.0, x, y), options.calls, wait):.1f} us", flush=True)


if __name__ == "__main__":
    main()
