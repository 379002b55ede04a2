#!/usr/bin/env python3
"""Writes the page of measured speeds, README.md, and its plots, from what was measured.

    speeds.py [--check] [--collectives TABLE.json] [--operations OUT.json] [--machine TEXT] [--date DATE] [--commit HASH]

TABLE is the table-rN.json that run.py leaves; OUT is what operations.py writes. They become measured/collectives.json
and measured/operations.json, from which the page is made. --check changes nothing, and fails if the page is not theirs.
"""

import argparse
import json
import math
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, os.pardir, os.pardir, "gpu"))
sys.dont_write_bytecode = True

import table

# Titles, and what sizes are; of the programs beside this file.
OPERATIONS = {
    "all_reduce": ("all_reduce of bf16", "bytes"),
    "norm": ("all_reduce, residual and RMS norm of rows of 8192 bf16", "rows"),
    "adam": ("Adam with sharded state", "parameters"),
    "lamb": ("LAMB with sharded state", "parameters"),
}
COLOURS = ("#1b6ca8", "#c75000", "#3c8d40", "#7b4fa3", "#9a6b00", "#5c5c5c")
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 640, 360, 64, 150, 34, 46


def show_size(size, unit):
    """1 MB, or 2^20."""
    if unit == "bytes":
        for name, of in (("GB", 30), ("MB", 20), ("KB", 10)):
            if size >= 1 << of:
                return f"{size >> of} {name}"
    return f"2^{size.bit_length() - 1}" if unit == "parameters" else str(size)


def show_time(us):
    return f"{us:.1f}" if us < 100 else f"{us:.0f}"


def curves_of(rows):
    """Of each schedule, and of the alternative, the points."""
    curves = {}
    for row in rows:
        for name, us in table.by_schedule(row["us"]).items():
            curves.setdefault(name, []).append((row["size"], us))
        for us in row.get("peers", {}).values():
            curves.setdefault("alternative", []).append((row["size"], us))
    return curves


def plot(title, unit, rows):
    """A plot of times by sizes, both on logarithmic scales, as SVG."""
    curves = curves_of(rows)
    sizes = [size for points in curves.values() for size, _ in points]
    times = [us for points in curves.values() for _, us in points]
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))
    first, last = math.log2(min(sizes)), math.log2(max(sizes))

    def x(size):
        return LEFT + (math.log2(size) - first) / (last - first) * (WIDTH - LEFT - RIGHT)

    def y(us):
        return HEIGHT - BOTTOM - (math.log10(us) - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             f'<text x="{LEFT}" y="20" font-size="14">{title}</text>']
    for power in range(low, high + 1):
        at = y(10 ** power)
        lines.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{at:.1f}" y2="{at:.1f}" stroke="#ddd"/>')
        lines.append(f'<text x="{LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{10 ** power} us</text>')
    shown = sorted(set(sizes))
    for size in shown[::max(1, math.ceil(len(shown) / 6))]:
        lines.append(f'<text x="{x(size):.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{show_size(size, unit)}</text>')
    lines.append(f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 10}" text-anchor="middle">{unit}</text>')
    for number, (name, points) in enumerate(sorted(curves.items(), key=lambda curve: curve[0] == "alternative")):
        colour = "black" if name == "alternative" else COLOURS[number % len(COLOURS)]
        places = [(x(size), y(us)) for size, us in sorted(points)]
        radius = 4 if name == "alternative" else 2.5
        lines += [f'<circle cx="{a:.1f}" cy="{b:.1f}" r="{radius}" fill="{colour}"/>' for a, b in places]
        if name != "alternative":
            path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
            lines.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        at = TOP + 10 + 18 * number
        lines.append(f'<rect x="{WIDTH - RIGHT + 12}" y="{at - 9}" width="10" height="10" fill="{colour}"/>')
        lines.append(f'<text x="{WIDTH - RIGHT + 28}" y="{at}">{name}</text>')
    return "\n".join([*lines, "</svg>", ""])


def section(operation, rows):
    title, unit = OPERATIONS[operation]
    lines = [f"## {title}", "", f"![times of {operation} by size]({operation}.svg)", "",
             f"| {unit} | ccn, us | the fastest way | alternative, us | ratio |", "| --- | --- | --- | --- | --- |"]
    for row in rows:
        peer = table.fastest(row.get("peers", {}))
        other, ratio = (show_time(peer[1]), f"{row['bestUs'] / peer[1]:.2f}") if peer else ("", "")
        lines.append(f"| {show_size(row['size'], unit)} | {show_time(row['bestUs'])} | {row['best']} | {other} | {ratio} |")
    return "\n".join(lines) + "\n"


def page(collectives, operations):
    by_operation = {name: [row for row in collectives["rows"] if row["operation"] == name] for name in OPERATIONS}
    about = (f"Measured on {collectives['machine']}, on {collectives['date']}, at commit {collectives['commit']}. Times are in microseconds, the "
             "median of replays of CUDA graphs.")
    lines = ["# Measured speeds", "", "This page is made by [speeds.py](speeds.py) from [what was measured](measured).", "", about, "",
             "Each operation is a program of this folder, whose schedules, and the algorithms of whose collectives, are compared: `the "
             "fastest way` names the winner. The alternative is the fastest of what PyTorch and NCCL do with the same: NCCL's collectives, with "
             "PyTorch's own, fused or compiled operations between them. It is shown for the sizes of which its time was kept.", ""]
    lines += [section(name, rows) for name, rows in by_operation.items()]
    lines += ["## Operations on one GPU", "",
              f"Measured on {operations['machine']}, on {operations['date']}, at commit {operations['commit']}. The ratio is to the faster of eager "
              "PyTorch and `torch.compile`; above 1 PyTorch is faster. Worst last.", "",
              "| operation | ccn, us | eager | compiled | ratio |", "| --- | --- | --- | --- | --- |"]
    for row in sorted(operations["rows"], key=lambda row: row["ours"] / min(row["eager"], row["compiled"])):
        times = " | ".join(show_time(row[name]) for name in ("ours", "eager", "compiled"))
        lines.append(f"| {row['operation']} | {times} | {row['ours'] / min(row['eager'], row['compiled']):.2f} |")
    lines += ["", "## To repeat it", "", "Where the compiler is:", "",
              "    python3 test/gpu/pack.py packed --only '^(all_reduce|norm|adam|lamb)-[0-9]+-r2'",
              "    python3 test/bench/gpu/operations.py pack packed-operations", "",
              "On a machine with GPUs, PyTorch and both folders (PEERS is a script that times others, as [run.py](../../gpu/run.py) says):", "",
              "    python3 packed/run.py packed --bench . --gpus 2 --peers PEERS",
              "    PYTHONPATH=packed/python CCN_LIBRARY=packed/libccn.so.0.1 python3 packed-operations/operations.py run packed-operations --json operations.json", "",
              "And then this page:", "",
              "    python3 test/bench/gpu/speeds.py --collectives table-r2.json --operations operations.json --machine '...' --date ... "
              "--commit ...", ""]
    files = {"README.md": "\n".join(lines)}
    for name, rows in by_operation.items():
        files[f"{name}.svg"] = plot(*OPERATIONS[name], rows)
    return files


def take(path, kind, options):
    """Makes what a run left the file from which the page is made."""
    with open(path) as file:
        rows = json.load(file)
    head = {"machine": options.machine, "date": options.date, "commit": options.commit}
    if None in head.values():
        raise SystemExit("expected --machine, --date and --commit with what was measured")
    text = json.dumps(head, indent=1)[:-2] + ',\n "rows": [\n' + ",\n".join("  " + json.dumps(row) for row in rows) + "\n ]\n}\n"
    with open(os.path.join(HERE, "measured", kind + ".json"), "w") as out:
        out.write(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    for name in ("collectives", "operations", "machine", "date", "commit"):
        parser.add_argument(f"--{name}")
    options = parser.parse_args()
    measured = []
    for kind in ("collectives", "operations"):
        if getattr(options, kind):
            take(getattr(options, kind), kind, options)
        with open(os.path.join(HERE, "measured", kind + ".json")) as file:
            measured.append(json.load(file))
    wrong = 0
    for name, text in page(*measured).items():
        path = os.path.join(HERE, name)
        found = open(path).read() if os.path.exists(path) else None
        if found != text:
            wrong += 1
            if options.check:
                print(f"{name} is not what was measured; run test/bench/gpu/speeds.py")
            else:
                with open(path, "w") as out:
                    out.write(text)
    print(f"{wrong} files " + ("differ" if options.check else "written"))
    return 1 if options.check and wrong else 0


if __name__ == "__main__":
    sys.exit(main())
