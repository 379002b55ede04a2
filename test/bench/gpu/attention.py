#!/usr/bin/env python3
"""Attention of one rank beside PyTorch's scaled_dot_product_attention, on one GPU of sm_90a.

    attention.py pack FOLDER [--bin BUILD/bin] [--only REGEX]     where compilers are: a package for each case, with what runs them
    attention.py run FOLDER [--only REGEX] [--check] [--json OUT.json]
                                                                  on a machine with a GPU and PyTorch

Small cases come first and are only checked: their errors are the norm of the difference from attention in f64 of the same
operands, relative to that one's norm, and may be little more than PyTorch's. Large ones are checked for some heads, a part
of the rows at a time, so that little memory is needed, and timed: in microseconds, the median of rounds in which ours and
PyTorch's take turns, each a replay of a CUDA graph of several calls. A ratio above 1 says that ours is slower. `--check`
measures nothing.
"""

import argparse
import math
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import products  # noqa: E402

ROOT = products.ROOT

# What scores are made of products s, in the program and in PyTorch.
SCORES = {
    "plain": ("s * {scale}", "s * {scale}"),
    "causal": ("select(iota(s, 3) <= iota(s, 2), s * {scale}, -1e30)", "torch.where(rows >= keys, s * {scale}, -1e30)"),
    "window": ("select(iota(s, 3) <= iota(s, 2), select(iota(s, 2) - iota(s, 3) < 512, s * {scale}, -60000), -60000)",
               "torch.where((rows >= keys) & (rows - keys < 512), s * {scale}, -60000)"),
    "bias": ("s * {scale} + broadcast_to(reshape(bias, [1, 1, T, S]), [B, H, T, S])", "s * {scale} + bias"),
}


class Attention:
    def __init__(self, element, shape, scores="plain", order="heads", width=0, group=1, is_measured=False):
        self.element, self.shape, self.scores, self.order = element, shape, scores, order
        self.group, self.is_measured = group, is_measured
        batches, heads, rows, keys, head = shape
        self.width = width or head
        # A number that bf16 has.
        fraction, exponent = math.frexp(head ** -0.5)
        self.scale = repr(math.ldexp(round(fraction * 256), exponent - 8))
        extra = [f"v{width}"] if width else []
        extra += [f"groups{group}"] if group > 1 else []
        extra += [order] if order != "heads" else []
        self.name = "-".join([element, f"{batches}x{heads}x{rows}x{keys}x{head}", scores, *extra])

    def arguments(self):
        """Name, and shape in memory."""
        batches, heads, rows, keys, head = self.shape
        if self.order == "rows":
            found = [("q", [batches, rows, heads, head]), ("k", [batches, keys, heads, head]),
                     ("v", [batches, keys, heads, self.width])]
        else:
            own = heads // self.group
            found = [("q", [batches, heads, rows, head]), ("k", [batches, own, keys, head]),
                     ("v", [batches, own, keys, self.width])]
        if self.scores == "bias":
            found.append(("bias", [rows, keys]))
        return found

    def text(self):
        batches, heads, rows, keys, head = self.shape
        declared = ", ".join(f"{name}: {self.element}{shape}" for name, shape in self.arguments())
        scores = SCORES[self.scores][0].format(scale=self.scale)
        q, k, v, result = "q", "transpose(k, [0, 1, 3, 2])", "v", "matmul(p, {v})"
        lines = []
        if self.order == "rows":
            q, k, v = "transpose(q, [0, 2, 1, 3])", "transpose(k, [0, 2, 3, 1])", "transpose(v, [0, 2, 1, 3])"
            result = "transpose(matmul(p, {v}), [0, 2, 1, 3])"
        if self.group > 1:
            own, group = heads // self.group, self.group
            lines += [f"  let kk = broadcast_to(reshape(k, [B, {own}, 1, S, {head}]), [B, {own}, {group}, S, {head}])",
                      f"  let vv = broadcast_to(reshape(v, [B, {own}, 1, S, {self.width}]), [B, {own}, {group}, S, {self.width}])"]
            q, k, v = f"reshape(q, [B, {own}, {group}, T, {head}])", "transpose(kk, [0, 1, 2, 4, 3])", "vv"
            scores = scores.replace("iota(s, 3)", "iota(s, 4)").replace("iota(s, 2)", "iota(s, 3)")
            result = f"reshape(matmul(p, {{v}}), [B, H, T, {self.width}])"
        lines += [f"  let s = matmul({q}, {k})", f"  let w = {scores}",
                  f"  let p = softmax(w, {4 if self.group > 1 else 3})", f"  let y = {result.format(v=v)}"]
        params = "".join(f"param {name} = {value}\n" for name, value in zip("BHTS", self.shape))
        return (f"mesh d (rank = 1)\n{params}program f({declared}) {{\n" + "\n".join(lines) +
                "\n  return y\n}\nschedule default for f {\n  fuse s, w, p, y\n}\n")


def cases():
    for element in ("bf16", "f16"):
        for head in (64, 128, 256):
            yield Attention(element, (2, 3, 300, 300, head))
            yield Attention(element, (2, 3, 300, 300, head), "causal" if element == "bf16" else "window")
            yield Attention(element, (2, 3, 257, 130, head), "bias")
        yield Attention(element, (2, 4, 200, 333, 128), order="rows")
        yield Attention(element, (2, 4, 200, 333, 64), group=2)
        yield Attention(element, (1, 2, 1, 1000, 128))
        yield Attention(element, (1, 2, 70, 1, 64))
        yield Attention(element, (1, 2, 129, 200, 80), width=72)
        yield Attention(element, (1, 2, 129, 200, 192), width=128)
    for rows in (2048, 4096, 8192):
        for head in (128, 64):
            for scores in ("plain", "causal"):
                yield Attention("bf16", (1, 32, rows, rows, head), scores, is_measured=True)
    yield Attention("bf16", (1, 16, 4096, 4096, 256), is_measured=True)
    yield Attention("bf16", (1, 16, 4096, 4096, 256), "causal", is_measured=True)
    yield Attention("f16", (1, 32, 4096, 4096, 128), is_measured=True)
    yield Attention("bf16", (1, 32, 4096, 4096, 128), "causal", order="rows", is_measured=True)
    yield Attention("bf16", (1, 32, 4096, 4096, 128), "causal", group=4, is_measured=True)
    yield Attention("bf16", (1, 32, 4096, 4096, 128), "bias", is_measured=True)
    yield Attention("bf16", (4, 16, 512, 512, 64), is_measured=True)


class Runner(products.Runner):
    def peer(self, case):
        torch = self.torch
        attend = torch.nn.functional.scaled_dot_product_attention
        scale = float(case.scale)

        def call(q, k, v, bias=None):
            if case.order == "rows":
                q, k, v = (x.transpose(1, 2) for x in (q, k, v))
            mask = bias
            if case.scores == "window":
                rows, keys = (torch.arange(count, device="cuda") for count in (q.shape[2], k.shape[2]))
                gap = rows[:, None] - keys
                mask = (gap >= 0) & (gap < 512)
            found = attend(q, k, v, attn_mask=mask, is_causal=case.scores == "causal", scale=scale, enable_gqa=case.group > 1)
            return found.transpose(1, 2) if case.order == "rows" else found

        return call

    def error(self, case, arguments, found):
        """Of the first and the last head, 512 rows at a time."""
        torch = self.torch
        given = dict(zip((name for name, _ in case.arguments()), arguments))
        if case.order == "rows":
            found = found.transpose(1, 2)
            given = {name: x.transpose(1, 2) if name in "qkv" else x for name, x in given.items()}
        batches, heads, rows, keys, _ = case.shape
        difference = norm = 0.0
        is_nan = False
        for batch, head in {(0, 0), (batches - 1, heads - 1)}:
            k, v = (given[name][batch, head // case.group].double() for name in "kv")
            for first in range(0, rows, 512):
                q = given["q"][batch, head, first:first + 512].double()
                scope = {"torch": torch, "s": q @ k.mT, "keys": torch.arange(keys, device="cuda"),
                         "rows": torch.arange(first, first + len(q), device="cuda")[:, None]}
                if "bias" in given:
                    scope["bias"] = given["bias"][first:first + 512].double()
                exact = torch.softmax(eval(SCORES[case.scores][1].format(scale=case.scale), scope), -1) @ v
                own = found[batch, head, first:first + 512].double()
                is_nan |= bool(own.isnan().any())
                difference += (own - exact).square().sum().item()
                norm += exact.square().sum().item()
        return float("nan") if is_nan else (difference / max(norm, 1e-60)) ** 0.5

    def row(self, case):
        torch = self.torch
        program = self.ccn.load(f"{self.options.folder}/{case.name}.ccnpkg", "gpu")
        arguments = self.draw(case)
        ours, peer = program(*arguments), self.peer(case)
        row = {"case": case.name, "error": self.error(case, arguments, ours)}
        most = {"f16": 5e-4, "bf16": 4e-3}[case.element]
        try:
            row["peer error"] = self.error(case, arguments, peer(*arguments))
            most = max(1.3 * row["peer error"], most)
        except RuntimeError as failure:
            row["failure"], peer = "PyTorch: " + str(failure).splitlines()[0][:90], None
        row["isWrong"] = not row["error"] <= most
        # The same bits each time.
        row["isWrong"] |= not torch.equal(ours, program(*arguments))
        if case.is_measured and not self.options.check:
            del ours
            functions = [lambda *tensors: program(*tensors)] + ([peer] if peer else [])
            row["us"], *others = self.time_us(functions, [arguments])
            batches, heads, rows, keys, head = case.shape
            part = 0.5 if case.scores == "causal" else 1
            row["tflops"] = 2 * part * batches * heads * rows * keys * (head + case.width) / row["us"] / 1e6
            if others:
                row["peer us"], row["ratio"] = others[0], row["us"] / others[0]
        return row


def wanted(options):
    return [case for case in cases() if re.search(options.only, case.name) and not (options.check and case.is_measured and
                                                                                   case.shape[2] > 4096)]


def pack(options):
    sys.path.insert(0, f"{ROOT}/test/gpu")
    import packing

    os.makedirs(options.folder, exist_ok=True)
    made = {case.name: case for case in wanted(options)}
    compiled = packing.compile_all([{"name": name} for name in made], lambda one: packing.compile_text(
        options.bin, made[one["name"]].text(), f"{options.folder}/{one['name']}.ccnpkg"))
    packing.carry(os.path.dirname(os.path.abspath(options.bin)), options.folder, os.path.abspath(__file__),
                  f"{HERE}/products.py")
    failed = len(made) - len(compiled)
    print(f"{len(compiled)} packages, {failed} failed")
    return 1 if failed else 0


def run(options):
    products.open_library(options.folder)
    runner, rows, wrong = Runner(options), [], 0
    runner.prepare(wanted(options))
    print(f"{runner.torch.cuda.get_device_name()}", flush=True)
    print(f"{'attention':44} {'ours':>9} {'PyTorch':>9} {'ratio':>6} {'TFLOP/s':>8} {'error':>9} {'its':>9}", flush=True)
    for case in wanted(options):
        try:
            row = runner.row(case)
        except Exception as failure:  # The others are to be seen, too.
            row = {"case": case.name, "failure": str(failure)[:300], "isWrong": True}
        runner.torch.cuda.empty_cache()
        wrong += row["isWrong"]
        show = lambda key, width, digits: f"{row[key]:{width}.{digits}}" if key in row else f"{'-':>{width}}"
        print(f"{case.name:44} {show('us', 9, '1f')} {show('peer us', 9, '1f')} {show('ratio', 6, '3f')} "
              f"{show('tflops', 8, '0f')} {show('error', 9, '2e')} {show('peer error', 9, '2e')}"
              f"{'  WRONG ' if row['isWrong'] else ''}{row.get('failure', '')}", flush=True)
        rows.append(row)
    products.write_rows(options.json, rows)
    print(f"{len(rows)} cases, {wrong} wrong")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["pack", "run"])
    parser.add_argument("folder")
    parser.add_argument("--bin", default=f"{ROOT}/build/bin", help="where cccompile is")
    parser.add_argument("--only", default="", help="a regular expression that names of cases match")
    parser.add_argument("--check", action="store_true", help="only compares results")
    parser.add_argument("--json", help="a file for what was measured")
    options = parser.parse_args()
    options.folder = os.path.abspath(options.folder)
    return pack(options) if options.command == "pack" else run(options)


if __name__ == "__main__":
    raise SystemExit(main())
