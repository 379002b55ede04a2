#!/usr/bin/env python3
"""Programs of one rank beside PyTorch: operations that are no collectives, on one GPU.

    operations.py pack FOLDER [--bin BUILD/bin] [--only REGEX]     where compilers are: a package for each
    operations.py run FOLDER [--only REGEX] [--json OUT.json]      on a machine with a GPU, PyTorch, and the package ccn on
                                                                   PYTHONPATH with its libccn

Times are in microseconds, the median of replays of CUDA graphs with ten calls each. Prints ours, that of eager PyTorch,
of torch.compile, and the ratio to the faster of the two.
"""

import argparse
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

# Name, arguments, the program's text, and the same in PyTorch.
OPERATIONS = [
    ("add-f32-64M", "x: f32[67108864], y: f32[67108864]", "x + y", "x + y"),
    ("add-bf16-4K", "x: bf16[4096], y: bf16[4096]", "x + y", "x + y"),
    ("gelu-bf16", "x: bf16[8192, 8192]", "gelu(x)", "F.gelu(x)"),
    ("bias-gelu-bf16", "x: bf16[8192, 8192], b: bf16[8192]", "gelu(x + b)", "F.gelu(x + b)"),
    ("cast-f32-bf16", "x: f32[8192, 8192]", "cast(x, bf16)", "x.bfloat16()"),
    ("cast-bf16-f8", "x: bf16[8192, 8192]", "cast(x, f8e4m3)", "x.to(torch.float8_e4m3fn)"),
    ("scale-column-bf16", "x: bf16[8192, 8192], b: bf16[8192, 1]", "x * b", "x * b"),
    ("softmax-8192-bf16", "x: bf16[8192, 8192]", "softmax(x, 1)", "F.softmax(x, 1)"),
    ("softmax-1024-bf16", "x: bf16[65536, 1024]", "softmax(x, 1)", "F.softmax(x, 1)"),
    ("softmax-64-bf16", "x: bf16[1048576, 64]", "softmax(x, 1)", "F.softmax(x, 1)"),
    ("softmax-131072-f32", "x: f32[256, 131072]", "softmax(x, 1)", "F.softmax(x, 1)"),
    ("softmax-small-f32", "x: f32[64, 1000]", "softmax(x, 1)", "F.softmax(x, 1)"),
    ("softmax-columns-bf16", "x: bf16[8192, 8192]", "softmax(x, 0)", "F.softmax(x, 0)"),
    ("layer_norm-8192-bf16", "x: bf16[8192, 8192], g: bf16[8192], b: bf16[8192]", "layer_norm(x, g, b, 1e-5)",
     "F.layer_norm(x, x.shape[1:], g, b, 1e-5)"),
    ("layer_norm-768-f16", "x: f16[65536, 768], g: f16[768], b: f16[768]", "layer_norm(x, g, b, 1e-5)",
     "F.layer_norm(x, x.shape[1:], g, b, 1e-5)"),
    ("rms_norm-4096-bf16", "x: bf16[8192, 4096], g: bf16[4096]", "rms_norm(x, g, 1e-5)",
     "F.rms_norm(x, x.shape[1:], g, 1e-5)"),
    ("sum-rows-f32", "x: f32[8192, 8192]", "sum(x, 1)", "x.sum(1)"),
    ("sum-columns-f32", "x: f32[8192, 8192]", "sum(x, 0)", "x.sum(0)"),
    ("sum-columns-bf16", "x: bf16[65536, 768]", "sum(x, 0)", "x.sum(0)"),
    ("sum-middle-f32", "x: f32[64, 1024, 1024]", "sum(x, 1)", "x.sum(1)"),
    ("sum-all-f32", "x: f32[67108864]", "sum(x, 0)", "x.sum()"),
    ("sum-all-small-f32", "x: f32[10000]", "sum(x, 0)", "x.sum()"),
    ("max-rows-bf16", "x: bf16[8192, 8192]", "max(x, [1])", "x.amax(1)"),
    ("sum-few-rows-f32", "x: f32[4, 16777216]", "sum(x, 1)", "x.sum(1)"),
    ("sum-wide-columns-f32", "x: f32[4, 16777216]", "sum(x, 0)", "x.sum(0)"),
    ("norm-f32", "x: f32[67108864]", "norm(x)", "x.norm()"),
    ("transpose-bf16", "x: bf16[8192, 8192]", "transpose(x)", "x.t().contiguous()"),
    ("transpose-f32", "x: f32[8192, 8192]", "transpose(x)", "x.t().contiguous()"),
    ("transpose-heads-bf16", "x: bf16[16, 2048, 32, 128]", "transpose(x, [0, 2, 1, 3])",
     "x.permute(0, 2, 1, 3).contiguous()"),
    ("transpose-batch-f16", "x: f16[64, 1024, 1024]", "transpose(x, [0, 2, 1])", "x.permute(0, 2, 1).contiguous()"),
    ("transpose-add-f32", "x: f32[8192, 8192]", "transpose(x) + x", "x.t() + x"),
    ("concat-rows-bf16", "x: bf16[4096, 8192], y: bf16[4096, 8192]", "concat([x, y], 0)", "torch.cat([x, y], 0)"),
    ("concat-columns-bf16", "x: bf16[8192, 4096], y: bf16[8192, 4096]", "concat([x, y], 1)", "torch.cat([x, y], 1)"),
    ("slice-columns-bf16", "x: bf16[8192, 8192]", "slice(x, 1, 1000, 5000)", "x[:, 1000:5000].contiguous()"),
    ("gather_rows-f16", "t: f16[50000, 4096], i: i32[16384]", "gather_rows(t, i)", "t[i]"),
    ("gather_rows-narrow-f32", "t: f32[50000, 64], i: i32[262144]", "gather_rows(t, i)", "t[i]"),
    ("scatter_rows-f32", "t: f32[50000, 1024], i: i32[16384], r: f32[16384, 1024]", "scatter_rows(t, i, r)",
     "t.index_add(0, i, r)"),
    ("dropout-bf16", "x: bf16[8192, 8192]", "dropout(x, 0.1, 7)", "F.dropout(x, 0.1)"),
    ("select-bf16", "x: bf16[8192, 8192], y: bf16[8192, 8192]", "select(x > y, x, 0 * y)", "torch.where(x > y, x, 0 * y)"),
    ("matmul-4096-bf16", "x: bf16[4096, 4096], y: bf16[4096, 4096]", "matmul(x, y)", "x @ y"),
    ("matmul-odd-bf16", "x: bf16[4095, 4093], y: bf16[4093, 4097]", "matmul(x, y)", "x @ y"),
    ("matmul-row-bf16", "x: bf16[1, 8192], y: bf16[8192, 8192]", "matmul(x, y)", "x @ y"),
    ("matmul-bias-gelu-bf16", "x: bf16[4096, 4096], y: bf16[4096, 4096], b: bf16[4096]", "gelu(matmul(x, y) + b)",
     "F.gelu(x @ y + b)"),
    ("matmul-batched-f16", "x: f16[256, 512, 64], y: f16[256, 64, 512]", "matmul(x, y)", "x @ y"),
    ("matmul-f32", "x: f32[2048, 2048], y: f32[2048, 2048]", "matmul(x, y)", "x @ y"),
    ("conv2d-f16", "x: f16[32, 64, 56, 56], w: f16[64, 64, 3, 3]", "conv2d(x, w, 1, 1)", "F.conv2d(x, w, None, 1, 1)"),
    ("adam-f32", "x: f32[67108864], y: f32[67108864], z: f32[67108864]",
     "x - 0.001 * (0.9 * y + 0.1 * x) / (sqrt(0.999 * z * z + 0.001 * x * x) + 1e-8)",
     "x - 0.001 * (0.9 * y + 0.1 * x) / ((0.999 * z * z + 0.001 * x * x).sqrt() + 1e-8)"),
]


def wanted(options):
    return [operation for operation in OPERATIONS if re.search(options.only, operation[0])]


def pack(options):
    sys.path.insert(0, f"{ROOT}/test/gpu")
    import packing

    def compile_one(operation):
        program = f"mesh m (d = 1)\nprogram f({operation['arguments']}) {{\n  let out = {operation['text']}\n  return out\n}}\n"
        # In one kernel, if it is more than one operation.
        for schedule in ("schedule default for f {\n  fuse out\n}\n", ""):
            done = packing.compile_text(options.bin, program + schedule, f"{options.folder}/{operation['name']}.ccnpkg")
            if "(fuse_c1)" not in done.stderr:
                break
        return done

    os.makedirs(options.folder, exist_ok=True)
    operations = [{"name": name, "arguments": arguments, "text": text} for name, arguments, text, _ in wanted(options)]
    compiled = packing.compile_all(operations, compile_one)
    packing.carry(os.path.dirname(os.path.abspath(options.bin)), options.folder, os.path.abspath(__file__))
    return len(operations) - len(compiled)


def run(options):
    import ccn
    import torch
    import torch._dynamo

    types = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "i32": torch.int32}

    def draw(argument, rows):
        element, shape = re.fullmatch(r"\w+: (\w+)\[([\d, ]+)\]", argument).groups()
        shape = [int(size) for size in shape.split(",")]
        if element == "i32":
            return torch.randint(rows, shape, device="cuda", dtype=torch.int32)
        return torch.randn(shape, device="cuda").to(types[element])

    def time_us(function, arguments):
        for _ in range(3):
            result = function(*arguments)
        torch.cuda.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(10):
                result = function(*arguments)
        graph.replay()
        times = []
        for _ in range(9):
            begin, end = torch.cuda.Event(True), torch.cuda.Event(True)
            begin.record()
            graph.replay()
            end.record()
            torch.cuda.synchronize()
            times.append(begin.elapsed_time(end) * 100)
        return sorted(times)[len(times) // 2], result

    def attempt(function, arguments):
        try:
            return time_us(function, arguments)
        except Exception as error:  # What others cannot do is no reason to stop.
            return None, str(error).splitlines()[0][:90]

    rows = []
    print(f"{'operation':24} {'ours':>9} {'eager':>9} {'compiled':>9} {'ratio':>6}", flush=True)
    for name, parameters, _, peer in wanted(options):
        torch._dynamo.reset()
        each = re.findall(r"\w+: \w+\[[\d, ]+\]", parameters)
        names = [argument.split(":")[0] for argument in each]
        arguments = [draw(argument, 50000) for argument in each]
        function = eval(f"lambda {', '.join(names)}: {peer}", {"torch": torch, "F": torch.nn.functional})
        program = ccn.load(f"{options.folder}/{name}.ccnpkg", "gpu")
        row = {"operation": name}
        row["ours"], ours = attempt(lambda *tensors: program(*tensors), arguments)
        row["eager"], eager = attempt(function, arguments)
        row["compiled"], _ = attempt(torch.compile(function, dynamic=False), arguments)
        peers = [row[peer] for peer in ("eager", "compiled") if row[peer]]
        remark = ""
        if row["ours"] and peers:
            row["ratio"] = row["ours"] / min(peers)
            if row["eager"] and "dropout" not in name:
                same = torch.allclose(ours.float(), eager.float().reshape(ours.shape), rtol=3e-2, atol=1e-1)
                remark = "" if same else "  differs from PyTorch's"
        if not row["ours"]:
            remark = f"  {ours}"
        show = lambda value: f"{value:9.1f}" if value else f"{'-':>9}"
        print(f"{name:24} {show(row['ours'])} {show(row['eager'])} {show(row['compiled'])} "
              f"{row.get('ratio', 0):6.2f}{remark}", flush=True)
        rows.append(row)
        del program, arguments, ours, eager
        torch.cuda.empty_cache()
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["pack", "run"])
    parser.add_argument("folder")
    parser.add_argument("--bin", default=f"{ROOT}/build/bin", help="where cccompile is")
    parser.add_argument("--only", default="", help="a regular expression that names of operations match")
    parser.add_argument("--json", help="a file for what was measured")
    options = parser.parse_args()
    return pack(options) if options.command == "pack" else run(options)


if __name__ == "__main__":
    raise SystemExit(main())
