#!/usr/bin/env python3
"""Products of operands that ranks gather, as one kernel, beside other ways to compute them.

    gathers.py pack FOLDER [--bin BUILD/bin] [--only REGEX]     where compilers are: packages, with what runs them
    gathers.py run FOLDER [--only REGEX] [--json OUT.json] [--check] [--replays N]
                                                                 on a machine with GPUs of sm_90a and PyTorch

Ranks share GPUs if there are fewer of them. Small cases are compared with the CPU. Of large ones, the result is compared
with f64, and times of a run, replayed in a graph, are printed in microseconds: as one kernel (`fused`); the gather, then
the product, by the library where that is (`apart`); and the product alone, of an operand that is there (`alone`), which
is what gathering is to be hidden behind. `--check` measures nothing. `--replays` repeats the large cases so often, as
processes under torch.distributed.run, and compares all bits.
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

WAYS = ("fused", "apart", "alone")


class Gather:
    """`what` is gathered: rows, rows that are a result too ("kept"), or columns. Sizes are those of a rank's product."""

    def __init__(self, what, ranks, element, sizes, loop="", isLarge=False):
        self.what, self.ranks, self.element, self.sizes, self.loop, self.isLarge = what, ranks, element, sizes, loop, isLarge
        m, n, k = sizes
        self.name = "-".join(part for part in (what, f"of{ranks}", element, f"{m}x{n}x{k}", re.sub(r"\W+", "", loop)) if part)

    def text(self, way):
        m, n, k = self.sizes
        rows, e = self.what != "columns", self.element
        local = lambda shape: f"{e}{shape} local"
        x = f"x: {e}[{m}, {k}] sliced(0)" if rows and way != "alone" else f"x: {local([m, k])}"
        w = f"w: {local([n, k])}" if rows or way == "alone" else f"w: {e}[{n}, {k}] sliced(0)"
        gathered = "x" if rows else "w"
        lines = [f"  let g = {gathered}" if way == "alone" else f"  let g = all_gather({gathered})",
                 f"  let p = matmul({'g' if rows else 'x'}, transpose({'w' if rows else 'g'}))"]
        names = ["p"]
        if self.loop:
            lines.append(f"  let y = {self.loop}")
            names.append("y")
        results = [names[-1]] + (["g"] if self.what == "kept" and way != "alone" else [])
        fused = (["g"] if way == "fused" else []) + names
        schedule = f"  fuse {', '.join(fused)}\n" if len(fused) > 1 else ""
        return (f"mesh d (ranks = {self.ranks})\nprogram f({x}, {w}, v: {local([n])}) {{\n" + "\n".join(lines) +
                f"\n  return {', '.join(results)}\n}}\nschedule s for f {{\n{schedule}}}\n")

    def packages(self):
        return {f"{self.name}-{way}": self.text(way) for way in (WAYS if self.isLarge else WAYS[:1])}


def gathers():
    for ranks in (2, 3, 4, 8):
        yield Gather("rows", ranks, "bf16", (520, 256, 512), "gelu(p + v)")
        yield Gather("rows", ranks, "f16", (130, 77, 200), "p * v")
        yield Gather("kept", ranks, "f16", (140, 136, 72), "relu(p)")
        yield Gather("columns", ranks, "bf16", (70, 520, 136), "p + v")
        yield Gather("rows", ranks, "f8e4m3", (300, 136, 272), "cast(p, f32)")
    yield Gather("rows", 4, "bf16", (5, 70, 64), "p + v")
    yield Gather("columns", 2, "f8e5m2", (1000, 200, 4112), "cast(p, f32)")
    # A transformer's products, of 4 and 8 ranks; few tokens; weights that are gathered.
    for ranks, m, n, k in ((4, 8192, 2048, 8192), (4, 8192, 7168, 8192), (4, 4096, 3584, 4096), (8, 8192, 1024, 8192),
                           (2, 8192, 4096, 4096), (4, 256, 2048, 8192)):
        yield Gather("rows", ranks, "f16", (m, n, k), isLarge=True)
    yield Gather("rows", 4, "f16", (8192, 3584, 8192), "gelu(p + v)", isLarge=True)
    yield Gather("kept", 4, "f16", (8192, 2048, 8192), isLarge=True)
    yield Gather("columns", 4, "f16", (2048, 8192, 8192), isLarge=True)


def wanted(options):
    return [gather for gather in gathers() if re.search(options.only, gather.name)]


def pack(options):
    sys.path.insert(0, f"{ROOT}/test/gpu")
    import packing

    os.makedirs(options.folder, exist_ok=True)
    texts = {name: text for gather in wanted(options) for name, text in gather.packages().items()}

    def compile_one(item):
        with tempfile.NamedTemporaryFile("w", suffix=".ccn") as file:
            file.write(texts[item["name"]])
            file.flush()
            return packing.compile_file(options.bin, file.name, f"{options.folder}/{item['name']}.ccnpkg", ["--schedule", "s"])

    compiled = packing.compile_all([{"name": name} for name in texts], compile_one)
    packing.carry(os.path.dirname(os.path.abspath(options.bin)), options.folder, os.path.abspath(__file__),
                  f"{ROOT}/test/gpu/replays.py")
    shutil.copy(f"{options.bin}/ccrun", options.folder)
    failed = len(texts) - len(compiled)
    print(f"{len(compiled)} packages, {failed} failed")
    return 1 if failed else 0


def call(options, name, *arguments, timeout=200):
    """What ccrun prints, and what is wrong, if something is."""
    folder = options.folder
    env = {**os.environ, "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    command = [f"{folder}/ccrun", f"{folder}/{name}.ccnpkg", "--timeout", "20", *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=timeout, check=False)
    except subprocess.TimeoutExpired:
        return "", "no end"
    return done.stdout, (done.stderr.strip() or done.stdout.strip() or "failed")[-400:] if done.returncode else ""


def check_small(options, gathers):
    """With the CPU, several at once, as their kernels are compiled first."""
    with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count())) as pool:
        done = list(pool.map(lambda gather: call(options, f"{gather.name}-fused", "--check"), gathers))
    wrong = [(gather.name, failure) for gather, (_, failure) in zip(gathers, done) if failure]
    for name, failure in wrong:
        print(f"{name}: {failure}", flush=True)
    print(f"{len(gathers)} small cases, {len(wrong)} wrong", flush=True)
    return len(wrong)


def error_of(options, gather):
    """Of the fused kernel's result, relative to f64; and what else is wrong."""
    import numpy
    import torch

    m, n, k = gather.sizes
    rows, ranks = gather.what != "columns", gather.ranks
    draw = numpy.random.default_rng(1)
    half = lambda *shape: draw.standard_normal(shape, dtype=numpy.float32).astype(numpy.float16)
    given = {"x": half(m, k) if rows else half(ranks, m, k), "w": half(ranks, n, k) if rows else half(n, k),
             "v": half(ranks, n)}
    result = "y" if gather.loop else "p"
    with tempfile.TemporaryDirectory() as folder:
        files = []
        for name, array in given.items():
            numpy.save(f"{folder}/{name}.npy", array)
            files += ["--input", f"{name}={folder}/{name}.npy"]
        kept = ["--output", f"g={folder}/g.npy"] if gather.what == "kept" else []
        _, failure = call(options, f"{gather.name}-fused", *files, "--output", f"{result}={folder}/result.npy", *kept)
        if failure:
            return 0, failure
        found = numpy.load(f"{folder}/result.npy")
        if kept and not numpy.array_equal(numpy.load(f"{folder}/g.npy").reshape(-1, m, k)[0], given["x"]):
            return 0, "what is gathered is not what ranks had"
    on_gpu = lambda array: torch.from_numpy(array).cuda().double()
    most = 0
    for rank in range(ranks):
        x, w = on_gpu(given["x"] if rows else given["x"][rank]), on_gpu(given["w"][rank] if rows else given["w"])
        exact = x @ w.T
        if gather.loop:
            exact = torch.nn.functional.gelu(exact + on_gpu(given["v"][rank]))
        most = max(most, ((on_gpu(found[rank]) - exact).norm() / exact.norm()).item())
    return most, ""


def measure(options, gather):
    row = {"gather": gather.name}
    row["error"], failure = error_of(options, gather)
    for way in () if failure or options.check else WAYS:
        with tempfile.TemporaryDirectory() as folder:
            _, failure = call(options, f"{gather.name}-{way}", "--bench", "50", "--json", f"{folder}/times.json")
            if failure:
                break
            with open(f"{folder}/times.json") as file:
                row[way] = json.load(file)["seconds"]["median"] * 1e6
    if failure:
        row["failure"] = failure
    row["isWrong"] = bool(failure) or not row["error"] < 1e-3
    return row


def replay(options, gather):
    env = {**os.environ, "PYTHONPATH": f"{options.folder}/python", "CCN_LIBRARY": f"{options.folder}/libccn.so.0.1",
           "LD_LIBRARY_PATH": f"{options.folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(gather.ranks),
               f"{options.folder}/replays.py", f"{options.folder}/{gather.name}-fused.ccnpkg", "--replays", str(options.replays)]
    with contextlib.suppress(subprocess.TimeoutExpired):
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)
        return (done.stdout.strip() or done.stderr.strip())[-300:], done.returncode != 0
    return "no end", True


def run(options):
    small = [gather for gather in wanted(options) if not gather.isLarge]
    large = [gather for gather in wanted(options) if gather.isLarge]
    wrong, rows = check_small(options, small), []
    print(f"{'of large ones':40} {'error':>9} {'fused':>9} {'apart':>9} {'alone':>9} {'fused/alone':>12}", flush=True)
    for gather in large:
        row = measure(options, gather)
        wrong += row["isWrong"]
        times = " ".join(f"{row[way]:9.1f}" if way in row else f"{'-':>9}" for way in WAYS)
        ratio = f"{row['fused'] / row['alone']:12.3f}" if "alone" in row else f"{'-':>12}"
        print(f"{gather.name:40} {row['error']:9.2e} {times} {ratio}{'  WRONG ' if row['isWrong'] else ''}"
              f"{row.get('failure', '')}", flush=True)
        rows.append(row)
    for gather in large if options.replays else ():
        said, failed = replay(options, gather)
        wrong += failed
        print(f"{gather.name}: {said}", flush=True)
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
