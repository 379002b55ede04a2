"""Prints a model of so many layers, with one overlapped region of all of it: layers.py LAYERS."""

import sys

layers = int(sys.argv[1])
weights = ", ".join(f"a{i}: bf16[H, F] sliced(1), b{i}: bf16[F, H] sliced(0)" for i in range(layers))
print("mesh m (tp = 4)\nparam T = 16\nparam H = 32\nparam F = 64")
print(f"program net(x: bf16[T, H] sliced(0), {weights}) {{")
names, last = [], "x"
for i in range(layers):
    print(f"  let t{i} = all_gather({last})")
    print(f"  let h{i} = matmul(t{i}, a{i})")
    print(f"  let p{i} = matmul(h{i}, b{i})")
    print(f"  let y{i} = reduce_scatter(sum, p{i}, 0)")
    print(f"  let x{i} = {last} + y{i}")
    names += [f"{name}{i}" for name in "thpyx"]
    last = f"x{i}"
print(f"  return {last}\n}}\nschedule s for net {{\n  overlap {', '.join(names)}\n}}")
