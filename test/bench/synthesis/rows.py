#!/usr/bin/env python3
"""Runs ccsynth on every row of the published tables and prints its times.

Each row is one process, timed by the user CPU time it took (wall time is given
too); the answer must be the expected one and the schedule must pass
`ccsynth check` (left out with --no-check). Exit code 4 when a row's answer is
wrong, 0 otherwise, whether or not the times meet their targets.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
FACTS = os.path.join(HERE, "..", "..", "unit", "Synth", "data", "synthesis_rows.json")
NAMES = {
    "allgather": "all_gather",
    "reduce_scatter": "reduce_scatter",
    "allreduce": "all_reduce",
    "broadcast": "broadcast",
    "gather": "gather",
    "scatter": "scatter",
    "alltoall": "all_to_all",
}
MACHINES = {"dgx1_v100": "dgx1", "z52_mi50": "z52", "ring4": "ring(4)", "ring5": "ring(5)", "ring8 (z52)": "z52"}


def rows(facts):
    """Yields (table, machine, collective, row, extra arguments, target in s)."""
    for machine in ("dgx1_v100", "z52_mi50"):
        for collective, points in facts[machine].items():
            for row in points:
                limit = 0.1 if row["result"] == "unsat" else 1.0
                yield "published", MACHINES[machine], NAMES[collective], row, [], limit
    for machine, points in facts["allreduce_direct"].items():
        if machine.startswith("_"):
            continue
        for row in points:
            yield "direct", MACHINES[machine], "all_reduce", row, ["--mode", "direct"], 5.0
    for row in facts["torus_allgather"]:
        shape = row["shape"].replace("x", ",")
        yield "torus", f"torus({shape})", "all_gather", row, [], 1.0 if shape == "4,4" else 10.0


def run(args):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    done = subprocess.run(args, capture_output=True, text=True)
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return done, after.ru_utime - before.ru_utime, wall


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ccsynth", default="ccsynth", help="the tool to run")
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--table", action="append", help="published, direct, torus (default: all)")
    parser.add_argument("--time-limit", default="60")
    parser.add_argument("--facts", default=FACTS)
    parser.add_argument("--no-check", action="store_true")
    options = parser.parse_args()
    with open(options.facts) as f:
        facts = json.load(f)
    wrong = 0
    totals = {}
    print(f"{'machine':10} {'collective':15} {'(C,S,R)':11} {'expected':8} {'answer':8} "
          f"{'user s':>7} {'wall s':>7} {'target':>6}  by")
    for table, machine, collective, row, extra, target in rows(facts):
        if options.table and table not in options.table:
            continue
        if options.engine == "z3":
            target = 20.0
        point = (row["C"], row["S"], row["R"])
        with tempfile.NamedTemporaryFile(suffix=".json") as out:
            done, user, wall = run(
                [options.ccsynth, "solve", "-t", machine, "-c", collective, "-C", str(point[0]), "-S",
                 str(point[1]), "-R", str(point[2]), "--engine", options.engine, "--time-limit",
                 options.time_limit, "-o", out.name] + extra)
            answer = {0: "sat", 3: "unsat" if "none exists" in done.stderr else "timeout"}.get(
                done.returncode, "error")
            if answer == "sat" and not options.no_check:
                checked = subprocess.run([options.ccsynth, "check", out.name, "-t", machine],
                                         capture_output=True, text=True)
                if checked.returncode != 0:
                    answer = "unsound"
        expected = row["result"]
        bad = answer not in (expected, "timeout") and expected != "open" or answer in ("error", "unsound")
        wrong += bad
        late = answer == "timeout" or user > target
        totals[table] = totals.get(table, 0.0) + user
        method = done.stderr.strip().split("\n")[0]
        if "by " in method:
            method = method[method.index("by ") + 3:].split(";")[0].split(":")[0]
        print(f"{machine:10} {collective:15} {','.join(map(str, point)):11} {expected:8} {answer:8} "
              f"{user:7.2f} {wall:7.2f} {target:6.1f}{'!' if late else ' '} "
              f"{'WRONG ' if bad else ''}{method[:60]}", flush=True)
    for table, total in totals.items():
        print(f"{table}: {total:.2f} s of user time")
    return 4 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
