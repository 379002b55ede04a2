#!/usr/bin/env python3
"""Measures `ccsynth find` on published machines: six collectives at 1 KB, 1 MB and 1 GB.

Every schedule is executed, and timed again, by execute.py, which shares no code with ccsynth.
Prints a table in Markdown: for each machine and collective how far, in percent, the schedules' times
are above the bound that no schedule can beat. --document writes one with times, bounds, methods and
what others published. Exit code 4 if a schedule is wrong, if none is found, or if executing one takes
less than 98 % of the time that ccsynth predicts. (It may take longer: the order of sends is another,
and large schedules are timed by steps only; --results says how much.)
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time

import execute

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "..", "unit", "Synth", "data", "topologies")
COLLECTIVES = ["all_gather", "reduce_scatter", "all_reduce", "broadcast", "reduce", "all_to_all"]
SIZES = ["1KB", "1MB", "1GB"]
# Each with where it is described. The files are what machines' own tools say, or are from papers.
MACHINES = [
    ("dgx1", "SCCL"), ("z52", "SCCL"), ("dgx1.xml", "NCCL's dump"), ("dgx-a100.txt", "nvidia-smi topo -m"),
    ("hgx-h100.xml", "NCCL's dump"), ("pcie.txt", "nvidia-smi topo -m"), ("byteps-pcie", "BytePS"),
    ("byteps-nvlink", "BytePS"), ("ndv2x2", "TACCL"), ("dgx2x2", "TACCL"), ("dgx-a100x2", "ForestColl"),
    ("mi250", "ForestColl"), ("hgx-h100x2", "ForestColl"), ("dragonfly20.json", "TE-CCL"),
    ("tac_het5x5.json", "TACOS"), ("mesh(5,5)", "TACOS"), ("torus(8,8)", "BFB"), ("hypercube(6)", "BFB"),
    ("nvl72", "NVIDIA"), ("hgx-h100x16", "128 GPUs"),
]

# GB/s at 1 GB that others publish, or the optimum that they prove.
PEERS = {
    ("ndv2x2", "all_gather"): "TE-CCL 22.9, TACCL 18.6",
    ("dgx2x2", "all_gather"): "TE-CCL 129.0",
    ("dgx1", "all_gather"): "SCCL 171.4",
    ("dgx-a100x2", "all_gather"): "ForestColl 346.7",
    ("mi250", "all_gather"): "ForestColl 342.9",
    ("hgx-h100x2", "all_gather"): "ForestColl 533.3",
    ("torus(8,8)", "all_gather"): "BFB 101.6",
}


def nvl72():
    """72 GPUs behind 18 switches, each with one link of 50 GB/s a GPU."""
    gpus, switches = [f"g{i}" for i in range(72)], [f"s{i}" for i in range(18)]
    nodes = [{"name": name, "kind": "gpu"} for name in gpus] + [{"name": name, "kind": "switch"} for name in switches]
    links = [{"from": g, "to": s, "GBps": 50, "us": 0.35, "duplex": True} for g in gpus for s in switches]
    return {"ccn_topology": 1, "name": "nvl72", "nodes": nodes, "links": links}


def measure(options, machine, collective, size):
    """The row of the table, or what is wrong, for one schedule."""
    path = os.path.join(DATA, machine) if machine.endswith((".xml", ".txt", ".json")) else machine
    with tempfile.TemporaryDirectory() as folder:
        topology, schedule = os.path.join(folder, "t.json"), os.path.join(folder, "s.json")
        if machine == "nvl72":
            with open(topology, "w") as file:
                json.dump(nvl72(), file)
        else:
            subprocess.run([options.ccsynth, "topologies", path, "-o", topology], check=True, capture_output=True)
        start = time.monotonic()
        done = subprocess.run(
            [options.ccsynth, "find", "-q", "-t", topology, "-c", collective, "--size", size, "--time-limit",
             str(options.time_limit), "-o", schedule], capture_output=True, text=True)
        seconds = time.monotonic() - start
        found = re.search(r"bytes: ([\d.]+) us \(([\d.]+) GB/s\) by (.*?); ", done.stderr)
        bound = re.search(r"no schedule takes less than ([\d.]+) us", done.stderr)
        if done.returncode or not found or not bound:
            return None, f"no schedule: {done.stderr.strip()}"
        us, least = float(found[1]), float(bound[1])
        with open(topology) as one, open(schedule) as other:
            machine_text, schedule_text = json.load(one), json.load(other)
        try:
            execute.execute(schedule_text)
            nbytes = {"KB": 1e3, "MB": 1e6, "GB": 1e9}[size[-2:]] * float(size[:-2])
            own = min(t for t in execute.times(machine_text, schedule_text, [nbytes])[0] if t)
        except execute.Wrong as wrong:
            return None, str(wrong)
        return {"machine": machine, "collective": collective, "size": size, "us": us, "bound": least, "GBps": float(found[2]),
                "by": found[3], "seconds": round(seconds, 1), "executed": round(own / us - 1, 4)}, ""


def load(path):
    """Rows that were measured before, by machine, collective and size."""
    if not path or not os.path.exists(path):
        return {}
    with open(path) as file:
        rows = [json.loads(line) for line in file]
    return {(r["machine"], r["collective"], r["size"]): r for r in rows}


def gap_of(row):
    gap = 100 * (row["us"] / row["bound"] - 1)
    return f"{gap:.{1 if gap < 10 else 0}f}"


def write_document(path, options, rows):
    """A line for each machine and collective."""
    sizes = options.size or SIZES
    with open(path, "w") as out:
        out.write("# Schedules for twenty machines\n\nWritten by `machines.py --document`. Microseconds of the schedule that `ccsynth find` "
                  "finds, those that no schedule beats,\nand how far the first are above the second; for the largest size by what, and "
                  "GB/s beside those that others publish (or\nprove to be the optimum). Every schedule was executed by `execute.py`. The last "
                  "column is the longest search, in seconds.\n\n")
        if options.note:
            out.write(options.note + "\n\n")
        out.write("| machine | collective | " + " | ".join(f"{s}: us, bound, %" for s in sizes) + f" | {sizes[-1]}: by | GB/s | others | s |\n")
        out.write("| - | - |" + " - |" * len(sizes) + " - | - | - | - |\n")
        for machine, _ in MACHINES:
            for collective in options.collective or COLLECTIVES:
                found = [rows.get((machine, collective, size)) for size in sizes]
                if not any(found):
                    continue
                cells = [f"{r['us']:.2f}, {r['bound']:.2f}, {gap_of(r)}" if r else "-" for r in found]
                last = found[-1]
                by, rate = (last["by"], f"{last['GBps']:.1f}") if last else ("-", "-")
                slowest = max(r["seconds"] for r in found if r)
                out.write(f"| {machine} | `{collective}` | {' | '.join(cells)} | {by} | {rate} | "
                          f"{PEERS.get((machine, collective), '')} | {slowest:.1f} |\n")


def table(options, rows):
    """Measures what is not in `rows`, prints the table, and returns how many schedules are wrong."""
    wrong = 0
    collectives = options.collective or COLLECTIVES
    print("| machine | from | " + " | ".join(f"`{c}`" for c in collectives) + " | most s |")
    print("| --- | --- |" + " --- |" * (len(collectives) + 1))
    for machine, source in MACHINES:
        if options.machine and machine not in options.machine:
            continue
        cells, slowest = [], 0
        for collective in collectives:
            gaps = []
            for size in options.size or SIZES:
                row = rows.get((machine, collective, size))
                if not row and options.only_results:
                    gaps.append("-")
                    continue
                if not row:
                    row, why = measure(options, machine, collective, size)
                if not row:
                    wrong += 1
                    gaps.append("wrong")
                    print(f"{machine} {collective} {size}: {why}", file=sys.stderr)
                    continue
                if (machine, collective, size) not in rows and options.results:
                    with open(options.results, "a") as file:
                        file.write(json.dumps(row) + "\n")
                rows[machine, collective, size] = row
                wrong += row["executed"] < -0.02
                slowest = max(slowest, row["seconds"])
                gaps.append(gap_of(row))
            cells.append(" / ".join(gaps))
        print(f"| {machine} | {source} | {' | '.join(cells)} | {slowest:.0f} |", flush=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ccsynth", default="ccsynth", help="the tool to run")
    parser.add_argument("--time-limit", type=float, default=9, help="seconds for each search")
    parser.add_argument("--machine", action="append", help="only these")
    parser.add_argument("--size", action="append", help="only these (default: 1KB, 1MB and 1GB)")
    parser.add_argument("--collective", action="append", help="only these")
    parser.add_argument("--results", help="a file with a line of JSON for each schedule; what is in it is not measured again")
    parser.add_argument("--only-results", action="store_true", help="measure nothing")
    parser.add_argument("--note", help="a line for the document, such as on what it was measured")
    parser.add_argument("--document", help="a file for times, bounds and methods, in Markdown")
    options = parser.parse_args()
    rows = load(options.results)
    wrong = table(options, rows)
    if options.document:
        write_document(options.document, options, rows)
    return 4 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
