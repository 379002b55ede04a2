#!/usr/bin/env python3
"""Products of matrices of one rank beside PyTorch's, on one GPU of sm_90a: our own kernels, and the library's.

    products.py pack FOLDER [--bin BUILD/bin] [--only REGEX]     where compilers are: a package for each product, with what runs them
    products.py run FOLDER [--only REGEX] [--products auto|kernels|cublaslt] [--json OUT.json] [--check]
                                                                 on a machine with a GPU and PyTorch

A result's error is the norm of its difference from the product in f64 of the same operands, relative to that product's
norm; it may be little more than PyTorch's. Times are in microseconds, the median of rounds in which ours and PyTorch's
take turns, each a replay of a CUDA graph of several calls, on so many sets of arguments that caches hold none of them.
A ratio above 1 says that ours is slower. `--check` measures nothing.
"""

import argparse
import concurrent.futures
import ctypes
import glob
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))

# Large ones, few rows, and what is left over at the edges.
SHAPES = [(8192, 8192, 7168), (8192, 8192, 2048), (8192, 12288, 3072), (1024, 8192, 7168), (4096, 4096, 3584),
          (8192, 8192, 8192), (64, 8192, 8192), (16, 8192, 8192), (4095, 4104, 4096), (2048, 2048, 2048), (512, 1024, 4096)]
# Only checked: sizes that no tile divides, and that are less than one.
ODD = [(1000, 520, 328), (1, 8, 8), (67, 136, 72), (300, 264, 1032), (129, 4096, 4104)]

LOOPS = {
    "": ("p", "{p}"),
    "bias-gelu": ("gelu(p + v)", "F.gelu({p} + v)"),
    "residual": ("p + r", "{p} + r"),
    "bias-relu-residual": ("relu(p + v) + r", "F.relu({p} + v) + r"),
}


class Product:
    def __init__(self, element, shape, order, loop="", batch=0, isMeasured=True):
        self.element, self.shape, self.order, self.loop = element, shape, order, loop
        self.batch, self.isMeasured = batch, isMeasured
        m, n, k = shape
        sizes = f"{batch}x{m}x{n}x{k}" if batch else f"{m}x{n}x{k}"
        self.name = "-".join(part for part in (element, sizes, order, loop) if part)

    def arguments(self):
        """Name, and shape in memory."""
        m, n, k = self.shape
        lead = [self.batch] if self.batch else []
        found = [("a", lead + ([m, k] if self.order[0] == "n" else [k, m])),
                 ("b", lead + ([k, n] if self.order[1] == "n" else [n, k]))]
        if "v" in re.findall(r"\w+", LOOPS[self.loop][0]):
            found.append(("v", [n]))
        if "r" in re.findall(r"\w+", LOOPS[self.loop][0]):
            found.append(("r", lead + [m, n]))
        return found

    def text(self):
        transposed = "transpose({}, [0, 2, 1])" if self.batch else "transpose({})"
        a, b = (name if order == "n" else transposed.format(name) for name, order in zip("ab", self.order))
        declared = ", ".join(f"{name}: {self.element}{shape}" for name, shape in self.arguments())
        body = f"  let p = matmul({a}, {b})\n"
        if self.loop:
            body += f"  let y = {LOOPS[self.loop][0]}\n  return y\n}}\nschedule default for f {{\n  fuse p, y\n"
        else:
            body += "  return p\n"
        return f"mesh d (rank = 1)\nprogram f({declared}) {{\n{body}}}\n"

    def peer(self):
        """The same in PyTorch."""
        views = {"n": "{}", "t": "{}.mT"}
        product = " @ ".join(views[order].format(name) for name, order in zip("ab", self.order))
        return LOOPS[self.loop][1].format(p=f"({product})")


def products():
    for shape in SHAPES:
        for order in ("nt", "nn"):
            yield Product("bf16", shape, order)
    for shape in SHAPES[1:5]:
        for loop in list(LOOPS)[1:]:
            yield Product("bf16", shape, "nn", loop)
    yield Product("f16", (4096, 4096, 3584), "nn")
    yield Product("f16", (4096, 4096, 3584), "tn")
    yield Product("f16", (4096, 4096, 3584), "tt")
    yield Product("f16", (512, 512, 64), "nn", batch=256)
    yield Product("bf16", (512, 512, 512), "nt", batch=48)
    for element in ("f8e4m3", "f8e5m2"):
        yield Product(element, (8192, 8192, 8192), "nt")
        yield Product(element, (4096, 4096, 3584), "nt")
    for number, shape in enumerate(ODD):
        for order in ("nn", "nt", "tn", "tt"):
            # Rows of operands must be aligned.
            m, n, k = shape
            if (order[0] == "t" and m % 8) or (order[1] == "n" and n % 8):
                continue
            for element in ("f16", "bf16"):
                yield Product(element, shape, order, isMeasured=False)
            yield Product("bf16", shape, order, list(LOOPS)[1 + number % 3], isMeasured=False)
            yield Product("f16", shape, order, batch=3, isMeasured=False)
        if shape[2] % 16 == 0:
            yield Product("f8e4m3", shape, "nt", isMeasured=False)
    yield Product("bf16", (300, 77, 1032), "nt", isMeasured=False)
    yield Product("bf16", (300, 77, 1032), "nt", "bias-relu-residual", isMeasured=False)


def wanted(options):
    return [product for product in products() if re.search(options.only, product.name)]


def pack(options):
    sys.path.insert(0, f"{ROOT}/test/gpu")
    import packing

    os.makedirs(options.folder, exist_ok=True)
    made = {product.name: product for product in wanted(options)}
    compiled = packing.compile_all([{"name": name} for name in made], lambda one: packing.compile_text(
        options.bin, made[one["name"]].text(), f"{options.folder}/{one['name']}.ccnpkg"))
    packing.carry(os.path.dirname(os.path.abspath(options.bin)), options.folder, os.path.abspath(__file__))
    failed = len(made) - len(compiled)
    print(f"{len(compiled)} packages, {failed} failed")
    return 1 if failed else 0


class Runner:
    def __init__(self, options):
        import ccn
        import torch

        self.ccn, self.torch, self.options = ccn, torch, options
        self.types = {"f16": torch.float16, "bf16": torch.bfloat16, "f8e4m3": torch.float8_e4m3fn,
                      "f8e5m2": torch.float8_e5m2}

    def draw(self, product):
        torch, type_ = self.torch, self.types[product.element]
        return [torch.randn(shape, device="cuda").to(type_) for _, shape in product.arguments()]

    def peer(self, product):
        """Of the arguments; None if PyTorch has none."""
        torch = self.torch
        names = ", ".join(name for name, _ in product.arguments())
        if product.element == "f8e4m3":
            one = torch.ones((), device="cuda")
            return lambda a, b: torch._scaled_mm(a, b.mT, one, one, out_dtype=self.types[product.element])
        if product.element == "f8e5m2":
            return None
        return eval(f"lambda {names}: {product.peer()}", {"torch": torch, "F": torch.nn.functional})

    def error(self, product, arguments, found):
        """Relative to f64, of which each operation rounds as the program does; in parts, which fit the memory."""
        torch, type_ = self.torch, self.types[product.element]
        given = dict(zip((name for name, _ in product.arguments()), arguments))
        a = given["a"].double() if product.order[0] == "n" else given["a"].double().mT
        b = given["b"].double() if product.order[1] == "n" else given["b"].double().mT
        exact = a @ b
        if product.loop:
            # The loops see the product as it is rounded.
            scope = {"torch": torch, "F": torch.nn.functional, "v": given.get("v"), "r": given.get("r")}
            scope = {key: value.double() if isinstance(value, torch.Tensor) else value for key, value in scope.items()}
            exact = eval(LOOPS[product.loop][1].format(p="exact"), {**scope, "exact": exact})
        elif product.element.startswith("f8"):
            # What is too large for the type is compared as itself.
            exact = exact.clamp(-torch.finfo(type_).max, torch.finfo(type_).max)
            found = torch.nan_to_num(found.float(), torch.finfo(type_).max)
        difference = found.double() - exact
        return (difference.norm() / exact.norm().clamp_min(1e-30)).item()

    def graph(self, function, sets):
        """A graph of several calls, and how many."""
        torch = self.torch
        for arguments in sets:
            function(*arguments)
        torch.cuda.synchronize()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        function(*sets[0])
        end.record()
        torch.cuda.synchronize()
        calls = max(1, min(200, int(6 / max(begin.elapsed_time(end), 0.005)) // len(sets))) * len(sets)
        made = torch.cuda.CUDAGraph()
        with torch.cuda.graph(made):
            for i in range(calls):
                result = function(*sets[i % len(sets)])
        del result
        return made, calls

    def time_us(self, functions, sets):
        torch = self.torch
        graphs = [self.graph(function, sets) for function in functions]
        times = [[] for _ in graphs]
        for turn in range(7):
            for i in (range(len(graphs)) if turn % 2 else reversed(range(len(graphs)))):
                made, calls = graphs[i]
                if turn == 0:
                    made.replay()
                begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
                begin.record()
                made.replay()
                end.record()
                torch.cuda.synchronize()
                times[i].append(begin.elapsed_time(end) * 1000 / calls)
        return [sorted(each)[len(each) // 2] for each in times]

    def prepare(self, products):
        """Has the kernels compiled, many at once, into the cache from which they are then taken."""
        def compile_one(product):
            try:
                self.ccn.load(f"{self.options.folder}/{product.name}.ccnpkg", "gpu")(*self.draw(product))
            except Exception:  # It is seen again.
                pass

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(compile_one, products))
        self.torch.cuda.synchronize()
        self.torch.cuda.empty_cache()

    def row(self, product):
        torch = self.torch
        program = self.ccn.load(f"{self.options.folder}/{product.name}.ccnpkg", "gpu")
        arguments = self.draw(product)
        ours, peer = program(*arguments), self.peer(product)
        row = {"product": product.name, "error": self.error(product, arguments, ours)}
        # Of one rounding, and of another one for each operation of a loop.
        most = {"f16": 1e-3, "bf16": 8e-3, "f8e4m3": 6e-2, "f8e5m2": 1e-1}[product.element]
        if peer:
            try:
                row["peer error"] = self.error(product, arguments, peer(*arguments))
                most = max(1.1 * row["peer error"], 1e-4)
            except RuntimeError as failure:
                row["peer failure"], peer = str(failure).splitlines()[0][:90], None
        row["isWrong"] = not row["error"] <= most
        if product.isMeasured and not self.options.check:
            bytes_ = sum(tensor.numel() * tensor.element_size() for tensor in arguments)
            sets = [arguments] + [self.draw(product) for _ in range(max(0, min(7, -(-200_000_000 // bytes_) - 1)))]
            functions = [lambda *tensors: program(*tensors)] + ([peer] if peer else [])
            row["us"], *others = self.time_us(functions, sets)
            m, n, k = product.shape
            row["tflops"] = 2 * max(product.batch, 1) * m * n * k / row["us"] / 1e6
            if others:
                row["peer us"] = others[0]
                row["ratio"] = row["us"] / others[0]
        del program, arguments, ours
        torch.cuda.empty_cache()
        return row


def open_library(folder):
    sys.path.insert(0, f"{folder}/python")
    os.environ["CCN_LIBRARY"] = f"{folder}/libccn.so.0.1"
    for library in glob.glob(f"{folder}/libmd*"):
        ctypes.CDLL(library, ctypes.RTLD_GLOBAL)


def write_rows(name, rows):
    if name:
        with open(name, "w") as file:
            json.dump(rows, file, indent=1)


def run(options):
    open_library(options.folder)
    if options.products:
        os.environ["CCN_PRODUCTS"] = options.products
    runner, rows, wrong = Runner(options), [], 0
    runner.prepare(wanted(options))
    print(f"{runner.torch.cuda.get_device_name()}, products by {options.products or 'auto'}", flush=True)
    print(f"{'product':44} {'ours':>9} {'PyTorch':>9} {'ratio':>6} {'TFLOP/s':>8} {'error':>9} {'its':>9}", flush=True)
    for product in wanted(options):
        try:
            row = runner.row(product)
        except Exception as failure:  # The others are to be seen, too.
            row = {"product": product.name, "failure": str(failure)[:300], "isWrong": True}
        wrong += row["isWrong"]
        show = lambda key, width, digits: f"{row[key]:{width}.{digits}}" if key in row else f"{'-':>{width}}"
        print(f"{product.name:44} {show('us', 9, '1f')} {show('peer us', 9, '1f')} {show('ratio', 6, '3f')} "
              f"{show('tflops', 8, '0f')} {show('error', 9, '2e')} {show('peer error', 9, '2e')}"
              f"{'  WRONG ' if row['isWrong'] else ''}{row.get('failure', '')}", flush=True)
        rows.append(row)
    write_rows(options.json, rows)
    print(f"{len(rows)} products, {wrong} wrong")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["pack", "run"])
    parser.add_argument("folder")
    parser.add_argument("--bin", default=f"{ROOT}/build/bin", help="where cccompile is")
    parser.add_argument("--only", default="", help="a regular expression that names of products match")
    parser.add_argument("--products", choices=["auto", "kernels", "cublaslt"], help="CCN_PRODUCTS of all that is run")
    parser.add_argument("--check", action="store_true", help="only compares results")
    parser.add_argument("--json", help="a file for what was measured")
    options = parser.parse_args()
    options.folder = os.path.abspath(options.folder)
    return pack(options) if options.command == "pack" else run(options)


if __name__ == "__main__":
    raise SystemExit(main())
