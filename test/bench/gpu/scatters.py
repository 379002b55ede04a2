#!/usr/bin/env python3
"""Products whose sums ranks scatter, as one kernel, beside other ways to compute them.

    scatters.py pack FOLDER [--bin BUILD/bin] [--only REGEX]    where compilers are: packages, with what runs them
    scatters.py run FOLDER [--only REGEX] [--json OUT.json] [--check] [--replays N]
                                                                 on a machine with GPUs of sm_90a and PyTorch

Ranks share GPUs if there are fewer of them. Small cases are compared with the CPU. Of large ones, the result is compared
with f64, and times of a run, replayed in a graph, are printed in microseconds: as one kernel (`fused`); as the one that
other GPUs have (`tiles`); the product, by the library where that is, then the reduce_scatter (`apart`); and the product
alone (`alone`), behind which scattering is to be hidden. `--check` measures nothing. `--replays` repeats the large cases
so often, as processes under torch.distributed.run, and compares all bits.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))

WAYS = ("fused", "tiles", "apart", "alone")


class Scatter:
    """Sizes are those of each rank's product, of which it has a slice of rows. The operands' order is that of products.py."""

    def __init__(self, ranks, element, sizes, order="nn", loop="", isLarge=False):
        self.ranks, self.element, self.sizes, self.order, self.loop, self.isLarge = ranks, element, sizes, order, loop, isLarge
        m, n, k = sizes
        self.name = "-".join(part for part in (f"of{ranks}", element, f"{m}x{n}x{k}", order, re.sub(r"\W+", "", loop)) if part)

    def shapes(self):
        """Of the operands of all ranks, and along which dimension they are cut."""
        m, n, k = self.sizes[0], self.sizes[1], self.sizes[2] * self.ranks
        return (([m, k], 1) if self.order[0] == "n" else ([k, m], 0)), (([k, n], 0) if self.order[1] == "n" else ([n, k], 1))

    def text(self, way):
        m, n, k = self.sizes
        e, declared = self.element, []
        for name, (shape, cut) in zip("xw", self.shapes()):
            if way == "alone":
                shape[cut] = k
                declared.append(f"{name}: {e}{shape} local")
            else:
                declared.append(f"{name}: {e}{shape} sliced({cut})")
        x, w = (name if order == "n" else f"transpose({name})" for name, order in zip("xw", self.order))
        lines, names = [f"  let p = matmul({x}, {w})"], ["p"]
        if way != "alone":
            lines.append("  let s = reduce_scatter(sum, p, 0)")
            names.append("s")
            declared += [f"v: {e}[{n}]", f"r: {e}[{m}, {n}] sliced(0)"]
            if self.loop:
                lines.append(f"  let y = {self.loop}")
                names.append("y")
        fused = names if way in ("fused", "tiles") else names[2:]
        schedule = f"  fuse {', '.join(fused)}\n" if len(fused) > 1 else ""
        return (f"mesh d (ranks = {self.ranks})\nprogram f({', '.join(declared)}) {{\n" + "\n".join(lines) +
                f"\n  return {names[-1]}\n}}\nschedule s for f {{\n{schedule}}}\n")

    def packages(self):
        return {f"{self.name}-{way}": (self.text(way), way) for way in (WAYS if self.isLarge else WAYS[:1])}


def scatters():
    for ranks in (2, 3, 4, 8):
        yield Scatter(ranks, "bf16", (520, 256, 512), loop="gelu(s + v) + r")
        yield Scatter(ranks, "f16", (130, 77, 200), "tt" if ranks == 8 else "nt", "s * v")
        yield Scatter(ranks, "f16", (1032, 136, 72), "tn")
        yield Scatter(ranks, "bf16", (300, 520, 1032), "nt", "relu(s + v)")
        yield Scatter(ranks, "f8e4m3", (300, 136, 272), "nt", "cast(s, f32)")
    yield Scatter(4, "bf16", (9, 72, 64), loop="s + v")
    yield Scatter(2, "f8e5m2", (1000, 200, 4112), "nt", "cast(s, f32)")
    # A transformer's products, of 2, 4 and 8 ranks, and few tokens.
    for ranks, m, n, k in ((4, 8192, 8192, 2048), (4, 8192, 8192, 7168), (4, 4096, 4096, 3584), (8, 8192, 8192, 3584),
                           (2, 8192, 8192, 4096), (4, 256, 8192, 2048)):
        yield Scatter(ranks, "f16", (m, n, k), isLarge=True)
    yield Scatter(4, "f16", (8192, 8192, 2048), "nt", isLarge=True)
    yield Scatter(4, "f16", (8192, 8192, 7168), "nt", "gelu(s + v) + r", isLarge=True)
    yield Scatter(4, "f16", (4096, 4101, 3584), "nt", isLarge=True)


def wanted(options):
    return [scatter for scatter in scatters() if re.search(options.only, scatter.name)]


def pack(options):
    sys.path.insert(0, f"{ROOT}/test/gpu")
    import packing

    os.makedirs(options.folder, exist_ok=True)
    texts = {name: made for scatter in wanted(options) for name, made in scatter.packages().items()}

    def compile_one(item):
        text, way = texts[item["name"]]
        with tempfile.NamedTemporaryFile("w", suffix=".ccn") as file:
            file.write(text)
            file.flush()
            command = [f"{options.bin}/cccompile", file.name, "--schedule", "s", "--emit", "package", "--target",
                       "sm_80" if way == "tiles" else "sm_90a", "--cpu", "x86-64-v3", "-o",
                       f"{options.folder}/{item['name']}.ccnpkg"]
            return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "CCN_VERIFY": "0"}, check=False)

    compiled = packing.compile_all([{"name": name} for name in texts], compile_one)
    packing.carry(os.path.dirname(os.path.abspath(options.bin)), options.folder, os.path.abspath(__file__),
                  f"{ROOT}/test/gpu/replays.py")
    shutil.copy(f"{options.bin}/ccrun", options.folder)
    failed = len(texts) - len(compiled)
    print(f"{len(compiled)} packages, {failed} failed")
    return 1 if failed else 0


def call(options, name, *arguments, timeout=200):
    """What is wrong with a run, if something is."""
    folder = options.folder
    env = {**os.environ, "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    command = [f"{folder}/ccrun", f"{folder}/{name}.ccnpkg", "--timeout", "20", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return "no end"
    return (done.stderr.strip() or done.stdout.strip() or "failed")[-400:] if done.returncode else ""


def check_small(options, scatters):
    """With the CPU, several at once, as their kernels are compiled first."""
    with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count())) as pool:
        done = list(pool.map(lambda scatter: call(options, f"{scatter.name}-fused", "--check"), scatters))
    wrong = [(scatter.name, failure) for scatter, failure in zip(scatters, done) if failure]
    for name, failure in wrong:
        print(f"{name}: {failure}", flush=True)
    print(f"{len(scatters)} small cases, {len(wrong)} wrong", flush=True)
    return len(wrong)


def error_of(options, scatter):
    """Of the fused kernel's result, relative to f64; and what else is wrong."""
    import numpy
    import torch

    m, n, _ = scatter.sizes
    draw = numpy.random.default_rng(1)
    half = lambda *shape: draw.standard_normal(shape, dtype=numpy.float32).astype(numpy.float16)
    (x, _), (w, _) = scatter.shapes()
    given = {"x": half(*x), "w": half(*w), "v": half(n), "r": half(m, n)}
    result = "y" if scatter.loop else "s"
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, array in given.items():
            numpy.save(f"{folder}/{name}.npy", array)
            files += ["--input", f"{name}={folder}/{name}.npy"]
        failure = call(options, f"{scatter.name}-fused", *files, "--output", f"{result}={folder}/result.npy")
        if failure:
            return 0, failure
        found = numpy.load(f"{folder}/result.npy")
    x, w, v, r = (torch.from_numpy(given[name]).cuda().double() for name in "xwvr")
    exact = (x if scatter.order[0] == "n" else x.mT) @ (w if scatter.order[1] == "n" else w.mT)
    if scatter.loop:
        exact = torch.nn.functional.gelu(exact + v) + r
    return ((torch.from_numpy(found).cuda().double() - exact).norm() / exact.norm()).item(), ""


def measure(options, scatter):
    row = {"scatter": scatter.name}
    row["error"], failure = error_of(options, scatter)
    for way in () if failure or options.check else WAYS:
        with tempfile.TemporaryDirectory() as folder:
            failure = call(options, f"{scatter.name}-{way}", "--bench", "50", "--json", f"{folder}/times.json")
            if failure:
                break
            with open(f"{folder}/times.json") as file:
                row[way] = json.load(file)["seconds"]["median"] * 1e6
    if failure:
        row["failure"] = failure
    # Each rank's part of the sum is rounded.
    row["isWrong"] = bool(failure) or not row["error"] < 1e-3
    return row


def replay(options, scatter):
    env = {**os.environ, "PYTHONPATH": f"{options.folder}/python", "CCN_LIBRARY": f"{options.folder}/libccn.so.0.1",
           "LD_LIBRARY_PATH": f"{options.folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(scatter.ranks),
               f"{options.folder}/replays.py", f"{options.folder}/{scatter.name}-fused.ccnpkg", "--replays",
               str(options.replays)]
    with contextlib.suppress(subprocess.TimeoutExpired):
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
        return (done.stdout.strip() or done.stderr.strip())[-300:], done.returncode != 0
    return "no end", True


def run(options):
    small = [scatter for scatter in wanted(options) if not scatter.isLarge]
    large = [scatter for scatter in wanted(options) if scatter.isLarge]
    wrong, rows = check_small(options, small), []
    print(f"{'of large ones':40} {'error':>9} " + " ".join(f"{way:>9}" for way in WAYS) + f" {'fused/alone':>12}", flush=True)
    for scatter in large:
        row = measure(options, scatter)
        wrong += row["isWrong"]
        times = " ".join(f"{row[way]:9.1f}" if way in row else f"{'-':>9}" for way in WAYS)
        ratio = f"{row['fused'] / row['alone']:12.3f}" if "alone" in row else f"{'-':>12}"
        print(f"{scatter.name:40} {row['error']:9.2e} {times} {ratio}{'  WRONG ' if row['isWrong'] else ''}"
              f"{row.get('failure', '')}", flush=True)
        rows.append(row)
    for scatter in large if options.replays else ():
        said, failed = replay(options, scatter)
        wrong += failed
        print(f"{scatter.name}: {said}", flush=True)
    if options.json:
        with open(options.json, "w") as file:
            json.dump(rows, file, indent=1)
    print(f"{wrong} wrong")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=["pack", "run"])
    parser.add_argument("folder")
    parser.add_argument("--bin", default=f"{ROOT}/build/bin", help="where cccompile and ccrun are")
    parser.add_argument("--only", default="", help="a regular expression that names of cases match")
    parser.add_argument("--check", action="store_true", help="only compares results")
    parser.add_argument("--replays", type=int, default=0, help="how often the large cases are replayed")
    parser.add_argument("--json", help="a file for what was measured")
    options = parser.parse_args()
    options.folder = os.path.abspath(options.folder)
    return pack(options) if options.command == "pack" else run(options)


if __name__ == "__main__":
    raise SystemExit(main())
