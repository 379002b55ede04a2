#!/usr/bin/env python3
"""How the gradients of a model are best sent while the rest of its backward pass is computed, by prediction.

    gradients.py [--bin BUILD/bin] [--ranks 2,4,8,16] [--tokens 4096] [--layers 24] [--search-states 8]

The program has the products of GPT-2 medium's backward pass (24 layers of width 1024, bf16, without attention itself): of
each of its 192 weights and biases the gradient, which all ranks of a data-parallel mesh sum. Compared are the program as
written, buckets of 25 MB in the order in which gradients are made, as PyTorch's DistributedDataParallel has them, and what
`--schedule auto` finds. Prints a table of predicted microseconds.
"""

import argparse
import os
import re
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WIDTH = 1024
# The weights of a layer, from the last that is used to the first: inputs, outputs.
WEIGHTS = (("out", 4 * WIDTH, WIDTH), ("up", WIDTH, 4 * WIDTH), ("proj", WIDTH, WIDTH), ("qkv", WIDTH, 3 * WIDTH))


def program(layers, ranks, tokens):
    """The text, and the gradients in the order in which they are made, with their bytes."""
    arguments, lines, gradients, below = [f"dy: bf16[{tokens}, {WIDTH}] local"], [], [], "dy"
    for layer in reversed(range(layers)):
        for weight, inputs, outputs in WEIGHTS:
            name = f"{weight}_{layer}"
            arguments += [f"x_{name}: bf16[{tokens}, {inputs}] local", f"w_{name}: bf16[{inputs}, {outputs}]"]
            if weight == "qkv":
                lines.append(f"let e_{name} = concat([{below}, {below}, {below}], 1)")
                below = f"e_{name}"
            lines += [f"let g_{name} = all_reduce(sum, matmul(transpose(x_{name}), {below}))",
                      f"let b_{name} = all_reduce(sum, sum({below}, 0))",
                      f"let d_{name} = matmul({below}, transpose(w_{name}))"]
            gradients += [(f"g_{name}", 2 * inputs * outputs), (f"b_{name}", 2 * outputs)]
            below = f"d_{name}"
    text = "\n".join([f"mesh m (dp = {ranks})", f"program backward({', '.join(arguments)}) {{",
                      *("  " + line for line in lines),
                      f"  return {', '.join(name for name, _ in gradients)}, {below}", "}", ""])
    return text, gradients


def in_buckets(gradients, limit):
    """A schedule with buckets that are closed at `limit` bytes, and sent as they are complete."""
    lines, order, bucket, size = [], [], [], 0
    for i, (name, count) in enumerate(gradients):
        bucket.append(name)
        size += count
        if size < limit and i + 1 < len(gradients):
            continue
        if len(bucket) > 1:
            lines.append(f"  let bucket{len(order)} = bucket {', '.join(bucket)} size {size}")
        order.append(f"bucket{len(order)}" if len(bucket) > 1 else bucket[0])
        bucket, size = [], 0
    return "\n".join(["schedule s for backward {", *lines, f"  order {', '.join(order)}", "}", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", default=f"{HERE}/../../build/bin")
    parser.add_argument("--ranks", default="2,4,8,16")
    parser.add_argument("--tokens", type=int, default=4096)
    parser.add_argument("--layers", type=int, default=24)
    parser.add_argument("--search-states", default="8")
    options = parser.parse_args()
    print(f"{'ranks':>5} {'as written':>12} {'25 MB buckets':>14} {'auto':>10} {'seconds':>8}  predicted microseconds")
    for ranks in (int(n) for n in options.ranks.split(",")):
        text, gradients = program(options.layers, ranks, options.tokens)
        with tempfile.TemporaryDirectory() as folder:
            for name, contents in (("p.ccn", text), ("ddp.ccn", in_buckets(gradients, 25 << 20))):
                with open(f"{folder}/{name}", "w") as file:
                    file.write(contents)

            def cccompile(*arguments):
                return subprocess.run([f"{options.bin}/cccompile", f"{folder}/p.ccn", *arguments], check=True,
                                      capture_output=True, text=True).stdout

            def predicted(schedule):
                return float(re.search(r"([\d.]+) us a run", cccompile("--predict", "--schedule", schedule))[1])

            begin = time.monotonic()
            cccompile("--schedule", "auto", "--search-states", options.search_states, "--emit", "schedule", "-o",
                      f"{folder}/auto.ccn")
            seconds = time.monotonic() - begin
            print(f"{ranks:5} {predicted('none'):12.0f} {predicted(f'{folder}/ddp.ccn'):14.0f} "
                  f"{predicted(f'{folder}/auto.ccn'):10.0f} {seconds:8.1f}", flush=True)


if __name__ == "__main__":
    main()
