#!/usr/bin/env python3
"""Predicted times (cccompile --predict) beside measured ones.

    predicted.py FACTS.json... [--bin BUILD/bin] [--machine NAME|FILE] [--only REGEX] [--quiet]

A file of facts holds what ccrun --bench measured of the programs of this folder, each way that their packages know, what
operations.py measured, or what peers.py did. Each way is compiled and predicted again. Prints predicted and measured microseconds and their ratio;
then, of each benchmark, the median error and how many pairs of its ways whose measured times differ by 10 % or more are predicted
in the right order. Rows whose number is odd were left out when the figures of the machine were fitted; they are shown apart.
"""

import argparse
import concurrent.futures
import itertools
import json
import os
import re
import statistics
import subprocess
import tempfile

import operations

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))

# Products that are named by their sizes: M x N x K, and the transposed ones.
PRODUCT = re.compile(r"mm-(\d+)x(\d+)x(\d+)-(\w+)")


def schedule_of(text, program, name, ways):
    """A schedule `measured` of a program: what the schedule `name` does (nothing if it is None), and all_reduces that run as `ways` says."""
    body = re.search(r"schedule %s for \w+ \{\n(.*?)\n\}" % name, text, re.S).group(1) if name else ""
    lines = [body] if body else []
    for way in ways:
        value, algorithm, *protocol = way.split()
        lines.append(f"  algorithm {value} = {algorithm}")
        if algorithm == "one_shot":
            lines.append(f"  protocol {value} = {protocol[0] if protocol else 'simple'}")
    return f"schedule measured for {program} {{\n" + "\n".join(lines) + "\n}\n" if lines else ""


def programs_of_ways(facts):
    """Of a file of ways to run programs: benchmark, size, way, measured time, text, options."""
    for row in facts["rows"]:
        name, size = row["operation"], row["size"]
        with open(f"{HERE}/{name}.ccn") as file:
            text = file.read()
        axis = re.search(r"mesh m \((\w+)", text).group(1)
        param, value = {"norm": ("T", size), "all_reduce": ("N", size // 2)}.get(name, ("N", size))
        for way, measured in row["times_us"].items():
            schedule, _, ways = way.partition(": ")
            chosen = None if schedule == "no schedule" else schedule.removeprefix("schedule ")
            added = schedule_of(text, name, chosen, ways.split(", ") if ways else [])
            options = ["-D", f"{param}={value}", "--mesh", f"{axis}={row['ranks']}"]
            yield name, size, way, measured, text + added, options + ["--schedule", "measured" if added else "none"]


def programs_of_operations(facts):
    """Likewise of what operations.py measured, as far as it has the programs."""
    texts = {name: (arguments, text) for name, arguments, text, _ in operations.OPERATIONS}
    texts["mm-nt-4096"] = ("x: bf16[4096, 4096], y: bf16[4096, 4096]", "matmul(x, transpose(y))")
    texts["mm-tn-4096"] = ("x: bf16[4096, 4096], y: bf16[4096, 4096]", "matmul(transpose(x), y)")
    for row in facts["rows"]:
        name = row["operation"]
        if product := PRODUCT.fullmatch(name):
            m, n, k, element = product.groups()
            texts[name] = (f"x: {element}[{m}, {k}], y: {element}[{k}, {n}]", "matmul(x, y)")
        if name not in texts or not row["ours"]:
            continue
        arguments, text = texts[name]
        program = f"mesh m (d = 1)\nprogram f({arguments}) {{\n  let out = {text}\n  return out\n}}\n"
        fused = program + "schedule default for f {\n  fuse out\n}\n"
        yield "operations", 0, name, row["ours"], (fused, program), []


def programs_of_peers(facts):
    """Of what peers.py measured, the products alone, as cuBLAS computes ours too."""
    for row in facts["rows"]:
        if row["what"] in ("gemm", "column_gemm") and row["peer"] == "cublas":
            m, n, k = row["M"], row["N"], row["k"]
            text = (f"mesh m (d = 1)\nprogram f(x: bf16[{m}, {k}], y: bf16[{k}, {n}]) {{\n"
                    "  let out = matmul(x, y)\n  return out\n}\n")
            yield "products", 0, f"{m} x {n} x {k}", row["us"], text, []


def predict(case, options):
    (name, size, way, measured, texts, arguments), machine = case
    for text in texts if isinstance(texts, tuple) else (texts,):
        with tempfile.NamedTemporaryFile("w", suffix=".ccn") as file:
            file.write(text)
            file.flush()
            done = subprocess.run(
                [f"{options.bin}/cccompile", file.name, "--predict=json", "--machine", options.machine or machine] + arguments,
                capture_output=True, text=True)
        if "(fuse_c1)" not in done.stderr:
            break
    if done.returncode:
        return None, done.stderr.strip().splitlines()[0]
    return json.loads(done.stdout)["total_us"], ""


def judge(title, rows):
    """One line: how many, the median error, and the share of pairs of one size in the right order."""
    if not rows:
        return
    errors = [abs(predicted / measured - 1) for _, _, _, measured, predicted, _ in rows]
    right = pairs = 0
    sizes = {}
    for row in rows:
        sizes.setdefault(row[:2], []).append(row)
    for same in sizes.values():
        if not same[0][1]:  # These are no ways to do the same.
            continue
        for (_, _, _, a, p, _), (_, _, _, b, q, _) in itertools.combinations(same, 2):
            if max(a, b) >= 1.1 * min(a, b):
                pairs += 1
                right += (a < b) == (p < q)
    order = f"{100 * right / pairs:5.1f} % of {pairs} pairs" if pairs else "-"
    print(f"{title:28} {len(rows):5} {100 * statistics.median(errors):8.1f} %   {order}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("facts", nargs="+")
    parser.add_argument("--bin", default=f"{ROOT}/build/bin", help="where cccompile is")
    parser.add_argument("--machine", help="as of cccompile; that of the facts by default")
    parser.add_argument("--only", default="", help="a regular expression that benchmarks match")
    parser.add_argument("--quiet", action="store_true", help="print the summary alone")
    options = parser.parse_args()
    cases = []
    for path in options.facts:
        with open(path) as file:
            facts = json.load(file)
        first = facts["rows"][0]
        of = programs_of_ways if "times_us" in first else programs_of_peers if "peer" in first else programs_of_operations
        machine = "h100" if "H100" in facts.get("machine", facts.get("_about", "")) else "h200"
        cases += [(case, machine) for case in of(facts) if re.search(options.only, case[0])]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        predictions = list(pool.map(lambda case: predict(case, options), cases))
    rows, failed = [], 0
    for number, (case, (predicted, why)) in enumerate(zip(cases, predictions)):
        name, size, way, measured = case[0][:4]
        if predicted is None:
            failed += 1
            print(f"{name} {size} {way}: {why}")
            continue
        rows.append((name, size, way, measured, predicted, number))
        if not options.quiet:
            print(f"{name:11} {size:10} {way:52} {predicted:10.2f} {measured:10.2f} {predicted / measured:6.2f}")
    print(f"{'':28} {'cases':>5} {'median error':>10}   right order")
    for name in dict.fromkeys(row[0] for row in rows):
        judge(name, [row for row in rows if row[0] == name])
    judge("all", rows)
    judge("all that were fitted", [row for row in rows if row[5] % 2 == 0])
    judge("all that were left out", [row for row in rows if row[5] % 2])
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
