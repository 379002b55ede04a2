#!/usr/bin/env python3
"""Checks and measures what pack.py packed, on a machine with GPUs.

    run.py FOLDER [--check REGEX] [--bench REGEX] [--peers FILE] [--out FOLDER] [--jobs N] [--seconds N]

Every case named by --check runs on as many GPUs as it has ranks and is compared with the plan without a schedule on
the CPU; every case named by --bench is timed. --peers is the JSON of what others take on the same machine. Leaves
`checks.json` and `bench.json` in --out and prints a table.
"""

import argparse
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tarfile
import time


def call(folder, arguments, timeout):
    env = {**os.environ, "LD_LIBRARY_PATH": folder + ":" + os.environ.get("LD_LIBRARY_PATH", "")}
    begin = time.monotonic()
    try:
        done = subprocess.run([f"{folder}/ccrun", *arguments], capture_output=True, text=True, timeout=timeout, env=env,
                              stdin=subprocess.DEVNULL)
        return done.returncode, done.stdout, done.stderr, time.monotonic() - begin
    except subprocess.TimeoutExpired as late:
        text = (late.stderr or b"").decode(errors="replace") + f"no end after {timeout} s"
        return -1, "", text, time.monotonic() - begin


def check(folder, case, seed, timeout):
    package = f"{folder}/{case['name']}.ccnpkg"
    how = ["--nproc", str(case["ranks"])] if case.get("processes") else []
    code, out, err, seconds = call(folder, [package, "--check", "--seed", str(seed), "--timeout", "20", *how], timeout)
    return {"name": case["name"], "code": code, "seconds": round(seconds, 2), "error": err.strip()[-600:],
            "said": out.strip()[-300:]}


def bench(folder, case, out, timeout):
    package = f"{folder}/{case['name']}.ccnpkg"
    report = f"{out}/bench-case.json"
    code, text, err, seconds = call(folder, [package, "--bench", "--json", report, "--timeout", "20"], timeout)
    row = {key: value for key, value in case.items() if key not in ("options", "kind")}
    row.update(code=code, seconds=round(seconds, 2))
    if code:
        row["error"] = err.strip()[-600:]
        return row
    with open(report) as file:
        row["report"] = json.load(file)
    os.remove(report)
    row["text"] = text.strip()[-1500:]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--check", default="$^", help="which cases are checked, as a regular expression")
    parser.add_argument("--bench", default="$^", help="which cases are timed")
    parser.add_argument("--out", default=".")
    parser.add_argument("--jobs", type=int, default=4, help="how many cases are checked at once")
    parser.add_argument("--seconds", type=float, default=1e9, help="when to stop")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    begin = time.monotonic()
    folder = os.path.abspath(options.folder)
    if os.path.exists(f"{folder}/packages.tar.xz"):
        with tarfile.open(f"{folder}/packages.tar.xz") as archive:
            archive.extractall(folder, filter="data")
    cases = json.load(open(f"{folder}/cases.json"))

    checked = []
    wanted = [c for c in cases if c["kind"] == "check" and re.search(options.check, c["name"])]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def run(case):
            if time.monotonic() - begin > options.seconds:
                return None
            return check(folder, case, options.seed, 120)
        for result in pool.map(run, wanted):
            if result is None:
                continue
            checked.append(result)
            if result["code"]:
                print(f"{result['name']}: exit {result['code']}: {result['error'][-400:]}", flush=True)
    failed = sum(1 for result in checked if result["code"])
    json.dump(checked, open(f"{options.out}/checks.json", "w"), indent=1)
    print(f"{len(checked)} of {len(wanted)} cases checked, {failed} failed, {time.monotonic() - begin:.0f} s", flush=True)

    rows = []
    for case in cases:
        if case["kind"] != "bench" or not re.search(options.bench, case["name"]):
            continue
        if time.monotonic() - begin > options.seconds:
            print("out of time", flush=True)
            break
        row = bench(folder, case, options.out, 120)
        rows.append(row)
        print(f"{row['name']}: exit {row['code']} {row.get('error', '')[-300:]} {row.get('text', '')}", flush=True)
    json.dump(rows, open(f"{options.out}/bench.json", "w"), indent=1)
    return 1 if failed or any(row["code"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
