#!/usr/bin/env python3
"""Ranks that share a GPU: whether their kernels, which wait for each other, always come to run; and if not, why.

    shared.py FOLDER [--times N] [--at-once N[,N...]] [--timeout S] [--gpus LIST] [--only REGEX]

Checks the packages named `once-...` that pack.py has packed, each --times times, with --at-once processes at once: on one
GPU (--gpus 0) or on two (--gpus 0,1), with products by ccn's kernels and by cuBLASLt. A failure is printed with everything
that tells why: the error, which says what each rank's GPU was given, has begun and has done; and, for a process that takes
longer than half of its time limit, the state of its threads and of the GPU. Ends with 1 if anything failed.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import glob
import os
import re
import subprocess
import sys
import tempfile
import time


def read(path):
    with contextlib.suppress(OSError), open(path) as file:
        return file.read().strip()
    return "?"


def threads_of(process):
    """How often a process has threads in a state: what they are, the system call that they are in, and whether they run."""
    counts = collections.Counter()
    for task in glob.glob(f"/proc/{process}/task/*"):
        before = read(f"{task}/stat").rpartition(")")[2].split()
        time.sleep(0.01)
        after = read(f"{task}/stat").rpartition(")")[2].split()
        busy = "runs" if len(after) > 12 and before[11:13] != after[11:13] else "is idle"
        call = (read(f"{task}/syscall").split() or ["?"])[0]
        counts[f"{read(f'{task}/comm')} {busy}, call {call} ({read(f'{task}/wchan')})"] += 1
    return "; ".join(f"{count} x {what}" for what, count in counts.most_common())


def stacks_of(process):
    """Where its threads are, if there is a debugger."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        done = subprocess.run(["gdb", "-p", str(process), "-batch", "-ex", "thread apply all bt 12"], capture_output=True,
                              text=True, timeout=60)
        return "\n".join(row for row in done.stdout.splitlines() if re.match(r"Thread|#", row))
    return "no debugger"


def gpu():
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(["nvidia-smi", "--query-gpu=index,utilization.gpu,memory.used,compute_mode", "--format=csv,noheader"],
                              capture_output=True, text=True, timeout=20).stdout.strip().replace("\n", "; ")
    return "?"


def check(folder, package, products, options):
    """What is wrong with one run; empty if nothing is."""
    env = {**os.environ, "CCN_PRODUCTS": products, "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}"}
    if options.gpus:
        env["CUDA_VISIBLE_DEVICES"] = options.gpus
    with tempfile.TemporaryDirectory() as made, tempfile.TemporaryFile("w+") as out:
        # A trace makes ranks say what their GPUs have begun.
        traced = ["--trace", f"{made}/trace.json"] if options.trace else []
        process = subprocess.Popen([f"{folder}/ccrun", package, "--check", "--timeout", str(options.timeout), *traced], env=env,
                                   stdin=subprocess.DEVNULL, stdout=out, stderr=out, text=True)
        begin, said = time.monotonic(), ""
        # Compiling is over by then, as packages are warmed up.
        try:
            process.wait(timeout=options.timeout / 2)
        except subprocess.TimeoutExpired:
            said = (f"\n  after {time.monotonic() - begin:.0f} s: threads: {threads_of(process.pid)}\n  GPUs: {gpu()}\n"
                    f"{stacks_of(process.pid)}")
            try:
                process.wait(timeout=5 * options.timeout + 60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                said += "\n  killed, as it did not end"
        out.seek(0)
        text = out.read()
    # What is only slow is told too.
    if process.returncode == 0 and not said:
        return ""
    rows = [row for row in text.splitlines() if "error" in row or (row.startswith("check") and "same bits" not in row)]
    return f"exit {process.returncode} after {time.monotonic() - begin:.1f} s: {' | '.join(rows)}{said}"


def run(options):
    folder = os.path.abspath(options.folder)
    if os.path.exists(f"{folder}/packages.tar.xz"):
        subprocess.run(["tar", "xf", f"{folder}/packages.tar.xz", "-C", folder], check=True)
    packages = [path for path in sorted(glob.glob(f"{folder}/once-*.ccnpkg"))
                if re.search(options.only, os.path.basename(path))]
    if not packages:
        sys.exit(f"{folder}: no package 'once-...' of that name")
    failed = 0
    for package in packages:
        check(folder, package, "auto", options)
    for jobs in map(int, options.at_once.split(",")):
        for products in ("auto", "kernels"):
            work = [package for _ in range(options.times) for package in packages]
            begin = time.monotonic()
            with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
                wrong = [(package, said) for package, said in
                         zip(work, pool.map(lambda package: check(folder, package, products, options), work)) if said]
            failed += len(wrong)
            print(f"{jobs} at once, products {products}: {len(work)} runs, {len(wrong)} failed or slow, "
                  f"{time.monotonic() - begin:.0f} s", flush=True)
            for package, said in wrong:
                print(f"{os.path.basename(package)}: {said}", flush=True)
    return failed > 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--times", type=int, default=20, help="how often each package is checked in each way")
    parser.add_argument("--at-once", default="1,5", help="how many processes share the GPUs")
    parser.add_argument("--timeout", type=float, default=20, help="how long a rank waits for another, in seconds")
    parser.add_argument("--gpus", help="CUDA_VISIBLE_DEVICES")
    parser.add_argument("--only", default="", help="a regular expression for the packages' names")
    parser.add_argument("--trace", action="store_true", help="so that errors say what GPUs have begun and done; changes what is timed")
    options = parser.parse_args()
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
