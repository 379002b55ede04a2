#!/usr/bin/env python3
"""Measures `ccsynth find` on published machines: six collectives at 1 KB, 1 MB and 1 GB.

Every schedule is executed, and timed again, by execute.py, which shares no code with ccsynth.
Prints a table in Markdown: for each machine and collective how far, in percent, the schedules' times
are above the bound that no schedule can beat. Exit code 4 if a schedule is wrong, if none is found, or
if executing one takes less than 98 % of the time that ccsynth predicts. (It may take longer: the order
of sends is another, and large schedules are timed by steps only; --rows says how much.)
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
        return (us, least, found[3], seconds, own / us - 1), ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ccsynth", default="ccsynth", help="the tool to run")
    parser.add_argument("--time-limit", type=float, default=10, help="seconds for each search")
    parser.add_argument("--machine", action="append", help="only these")
    parser.add_argument("--rows", action="store_true", help="a line for each schedule on standard error")
    parser.add_argument("--size", action="append", help="only these (default: 1KB, 1MB and 1GB)")
    parser.add_argument("--collective", action="append", help="only these")
    options = parser.parse_args()
    wrong = 0
    print("| machine | from | " + " | ".join(options.collective or COLLECTIVES) + " | most s |")
    print("| - | - |" + " - |" * len(options.collective or COLLECTIVES) + " - |")
    for machine, source in MACHINES:
        if options.machine and machine not in options.machine:
            continue
        cells, slowest = [], 0
        for collective in options.collective or COLLECTIVES:
            gaps = []
            for size in options.size or SIZES:
                row, why = measure(options, machine, collective, size)
                if not row:
                    wrong += 1
                    gaps.append("wrong")
                    print(f"{machine} {collective} {size}: {why}", file=sys.stderr)
                    continue
                us, bound, method, seconds, differs = row
                wrong += differs < -0.02
                slowest = max(slowest, seconds)
                gap = 100 * (us / bound - 1)
                gaps.append(f"{gap:.{1 if gap < 10 else 0}f}")
                if options.rows:
                    print(f"{machine} {collective} {size}: {us:.2f} us, bound {bound:.2f}, by {method}, {seconds:.1f} s, "
                          f"executed {100 * differs:+.1f} %", file=sys.stderr, flush=True)
            cells.append(" / ".join(gaps))
        print(f"| {machine} | {source} | {' | '.join(cells)} | {slowest:.0f} |", flush=True)
    return 4 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
