"""Runs packages for GPUs, made by hand, on a driver whose devices are threads.

    run_gpus.py FOLDER CCRUN CCN-SAMPLE-PACKAGE FOLDER-OF-THE-DRIVER
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

import numpy as np

folder, ccrun, sample, driver = sys.argv[1:5]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)

cache = os.path.join(folder, "cache")
gpus = {**os.environ, "LD_LIBRARY_PATH": driver, "CCN_CACHE_DIR": cache}
# Of this machine, which may have GPUs.
none = {**gpus, "CCN_FAKE_GPUS": "0"}


def package(name, *arguments):
    subprocess.run([sample, name, *map(str, arguments)], check=True)
    return name


def run(*arguments, code=0, env=gpus):
    done = subprocess.run([ccrun, *map(str, arguments)], capture_output=True, text=True, timeout=120, env=env)
    assert done.returncode == code, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stderr


threads, processes = [], ["--nproc", 4]
name = package("a.ccnpkg", "gpu", 4, 1003)

# What has been compiled is shown.
assert "registers" not in run(name, "--info")
x = np.random.default_rng(1).standard_normal((4, 1003)).astype(np.float32)
y = np.arange(1003, dtype=np.float32)
np.save("x.npy", x)
np.save("y.npy", y)
expected = y + np.float32(0.25) * (((x[0] + x[1]) + x[2]) + x[3])
for how in (threads, processes, ["--target", "cuda"], ["--target", "cpu"]):
    run(name, *how, "--input", "x=x.npy", "--input", "y=y.npy", "--input", "scale=0.25", "--output", "y=o.npy",
        "--output", "s=s.npy")
    assert np.array_equal(np.load("o.npy"), expected), how
    assert np.array_equal(np.load("s.npy"), expected), how
assert len(os.listdir(cache)) == 1
text = run(name, "--info")
assert re.search(r"  publish: 256 threads, 0 bytes of dynamic shared memory, waits; \d+ registers", text), text

for how in (threads, processes):
    assert "check y: same bits\ncheck s: same bits\n" in run(name, "--check", *how)
    text = run(name, "--bench", 5, "--json", "b.json", *how)
    assert "of 5 replays of a graph of 20 runs" in text and "launched rather than replayed" in text, text
    report = json.load(open("b.json"))
    assert report["target"] == "cuda" and len(report["seconds"]["all"]) == 5, report
    assert report["launchedSeconds"] > 0 and "bytes" not in report, report
    # What was measured has not changed the results.
    assert "check" not in run(name, "--bench", 2, "--input", "x=x.npy", "--input", "y=y.npy", "--input", "scale=0.25",
                              "--output", "y=o.npy", *how)
    assert np.array_equal(np.load("o.npy"), expected), how
    run(name, "--trace", "t.json", *how)
    events = [e for e in json.load(open("t.json"))["traceEvents"] if e["ph"] == "X"]
    assert len(events) == 4 * 3 and {e["name"] for e in events} == {"publish", "all_reduce + update", "slice"}
    assert {e["tid"] for e in events if e["name"] == "slice"} == {1}

# Ranks share devices where these are fewer.
run(name, "--check", env={**gpus, "CCN_FAKE_GPUS": "1"})
run(name, "--check", *processes, env={**gpus, "CCN_FAKE_GPUS": "3"})

# Failures have a name, whatever ranks are.
lost, failing = package("l.ccnpkg", "gpu", 4, 1000, "lost", 1), package("f.ccnpkg", "gpu", 4, 1000, "failing", 2)
for how in (threads, processes):
    text = run(lost, "--timeout", 0.5, *how, code=4)
    assert re.fullmatch(r"ccrun: error: rank [023]: launch 'publish': waited 0.5 s for rank 1 "
                        r"\(flag 1: expected 1, seen 0\); given to the GPUs: ranks 0 to 3: 3 of 3 launches of run 1\n", text), text
    text = run(failing, *how, code=4)
    assert text == "ccrun: error: rank 2: launch 'publish': division by zero at sample.ccn:7:3\n", text
    text = run(name, *how, code=4, env=none)
    assert re.fullmatch(r"ccrun: error: rank \d: cuInit failed: .*\n", text), text

# A rank that is killed ends the others, which wait for it on their GPUs.
process = subprocess.Popen([ccrun, lost, "--nproc", "4"], stderr=subprocess.PIPE, text=True, env=gpus)
start = time.monotonic()
ranks = []
while len(ranks) < 4:
    assert time.monotonic() - start < 60
    path = f"/proc/{process.pid}/task/{process.pid}/children"
    ranks = open(path).read().split() if os.path.exists(path) else []
time.sleep(1)
os.kill(int(ranks[2]), signal.SIGKILL)
start = time.monotonic()
assert "rank 2 (dp = 2) was ended by signal 9" in process.communicate(timeout=60)[1]
assert process.returncode == 4 and time.monotonic() - start < 10

# What is for the CPU only is not for GPUs.
text = run(package("c.ccnpkg", "average", 2, 10), "--target", "cuda", code=2)
assert text == "ccrun: error: --target cuda: 'c.ccnpkg' holds no kernels for GPUs\n", text
