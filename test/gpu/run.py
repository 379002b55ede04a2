#!/usr/bin/env python3
"""Checks and measures what pack.py packed, on a machine with GPUs.

    run.py FOLDER [--check REGEX] [--tests GPUS] [--bench REGEX] [--peers SCRIPT] [--out FOLDER] [--jobs N] [--seconds N]
           [--gpus N] [--transport auto|peer|nccl] [--products auto|kernels|cublaslt] [--processes] [--repeat N]

Every case named by --check runs on as many GPUs as it has ranks and is compared with the plan without a schedule on
the CPU; --tests runs the unit tests on the real driver, the Python scripts and the example's application; every case
named by --bench is timed, in every way that its package knows. --peers is a script in PyTorch that
times others (the rows that it prints as JSON have what, peer, us and the size); it runs on the same GPUs afterwards, until
--seconds have passed. Prints a table, and leaves `checks.json`, `bench.json`, `peers-rN.json` and `table-rN.json` in --out.
"""

import argparse
import concurrent.futures
import contextlib
import importlib.util
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import tempfile
import time

import table


def call(folder, command, timeout, **variables):
    """The exit code, which is -1 if it did not end in time, what is printed, also then, and the seconds."""
    env = {**os.environ, "LD_LIBRARY_PATH": folder + ":" + os.environ.get("LD_LIBRARY_PATH", ""), **variables}
    begin = time.monotonic()
    # Files, as processes that are left behind would hold pipes open.
    with tempfile.TemporaryFile("w+", errors="replace") as out, tempfile.TemporaryFile("w+", errors="replace") as err:
        process = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
        late = ""
        try:
            code = process.wait(timeout=max(timeout, 1))
        except subprocess.TimeoutExpired:
            code, late = -1, f"no end after {timeout:.0f} s"
            # Launchers end the ranks then, which are in sessions of their own.
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(timeout=40)
            with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
                os.killpg(process.pid, signal.SIGKILL)
                process.wait(timeout=40)
        texts = [file.seek(0) or file.read() for file in (out, err)]
    return code, texts[0], texts[1] + late, time.monotonic() - begin


def call_ranks(folder, command, ranks, timeout):
    """Starts a process for each rank, as torchrun does. What call() gives for rank 0, with what all have said of errors."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        # Not a port that the system gives to others meanwhile.
        port = 10000 + taken.getsockname()[1] % 20000
    shared = {"CCN_LAUNCHER": "torchrun", "WORLD_SIZE": str(ranks), "LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1",
              "MASTER_PORT": str(port)}
    with concurrent.futures.ThreadPoolExecutor(ranks) as pool:
        results = list(pool.map(lambda rank: call(folder, command, timeout, **shared, RANK=str(rank), LOCAL_RANK=str(rank)),
                                range(ranks)))
    code, out, _, seconds = results[0]
    return code, out, "\n".join(err for _, _, err, _ in results if err), seconds


MOST_IN_A_PROCESS = 32


def check(folder, cases, target, seed, deadline, processes):
    """Checks cases in one process, or with a process for each of their ranks (all have as many), as setting devices up takes longer than a
    check, until the deadline. What a process that ends early has not come to goes to another."""
    results = []
    while cases and time.monotonic() < deadline:
        packages = [f"{folder}/{case['name']}.ccnpkg" for case in cases]
        command = [f"{folder}/ccrun", *packages, "--target", target, "--check", "--seed", str(seed), "--timeout", "60"]
        left = deadline - time.monotonic()
        if processes:
            code, out, err, seconds = call_ranks(folder, command, cases[0]["ranks"], left)
        else:
            code, out, err, seconds = call(folder, command, left)
        if len(cases) == 1:
            ended = [(packages[0], code)]
        else:
            ended = [(package, int(number)) for package, number in re.findall(r"^(.*): exit code (\d+)$", out, re.M)]
        late = code == -1
        if len(ended) < len(cases):
            ended.append((packages[len(ended)], code))
        for case, (package, code) in zip(cases, ended):
            results.append({"name": case["name"] + (" in processes" if processes else ""), "code": code, "seconds": round(seconds / len(ended), 2),
                            "error": err.strip()[-600:] if code else ""})
        cases = [] if late else cases[len(ended):]
    return results


def run_tests(folder, ranks, replays):
    """The tests that are programs of their own, on so many GPUs; how many failed."""
    python = [sys.executable]
    for number, name in ((1, "one"), (2, "two")):
        shutil.copy(f"{folder}/step-{number}.ccnpkg", f"{folder}/{name}.ccnpkg")
    ready = [f"{folder}/{name}-1.ccnpkg" for name in ("step", "replay-ll", "replay-two_shot", "replay-norm", "replay-adam")]
    commands = [[*python, f"{folder}/prepare.py", *ready],
                [f"{folder}/tests/CcnGpuRunTests", "--gtest_brief=1"], [f"{folder}/tests/CcnApiGpuTests", "--gtest_brief=1"],
                [f"{folder}/adam-example", "--gpu"], [*python, f"{folder}/operators.py", folder, "cuda"],
                [*python, f"{folder}/calls.py", "cuda", "--package", f"{folder}/calls.ccnpkg"]]
    if ranks > 1:
        commands.append([*python, f"{folder}/bound.py", folder, "cuda"])
        commands.append([*python, f"{folder}/killed.py", f"{folder}/replay-adam-{ranks}.ccnpkg"])
    for number in sorted({1, 2, ranks}):
        packages = [f"{folder}/replay-{name}-{number}.ccnpkg" for name in ("ll", "two_shot", "norm", "adam")]
        launch = ["-m", "torch.distributed.run", "--nproc-per-node", str(number)]
        if number <= ranks:
            commands.append([*python, *launch, f"{folder}/training.py", folder, "cuda"])
            commands.append([*python, *launch, f"{folder}/replays.py", *packages, "--replays", str(replays)])
    failed = 0
    for command in commands:
        code, out, err, seconds = call(folder, command, 200, PYTHONPATH=f"{folder}/python", CCN_LIBRARY=f"{folder}/libccn.so.0.1")
        text = out + err
        failed += code != 0
        # What the scripts say of themselves begins with no sign; launchers' warnings do.
        lines = [line for line in text.strip().splitlines() if line[:1].isalnum()]
        failures = [line for line in text.splitlines() if re.search(r"FAILED|Failure|rror", line)]
        said = "\n".join(failures[:20] + [text.strip()[-700:]]) if code else "; ".join(lines[-6:])
        print(f"{' '.join(os.path.basename(word) for word in command)}: exit {code}, {seconds:.0f} s: {said}", flush=True)
    return failed


def sanitize(folder, cases, timeout):
    """Runs checks under compute-sanitizer, all in one process for each tool; how many tools found something."""
    failed = 0
    for tool in ("memcheck", "racecheck"):
        packages = [f"{folder}/{case['name']}.ccnpkg" for case in cases]
        code, out, err, seconds = call(folder, ["compute-sanitizer", "--tool", tool, "--error-exitcode", "99", f"{folder}/ccrun",
                                                *packages, "--target", "cuda", "--check", "--timeout", "300"], timeout)
        text = out + err
        failed += code != 0
        ended = len(re.findall(r": exit code 0$", text, re.M))
        print(f"{tool}: exit {code}, {ended} of {len(cases)} cases right, {seconds:.0f} s"
              + (": " + text.strip()[-2000:] if code else ""), flush=True)
    return failed


def bench(folder, case, target, timeout):
    """Measures all variants of a case; what was kept is read back."""
    package = f"{folder}/{case['name']}.ccnpkg"
    row = {key: value for key, value in case.items() if key not in ("options", "kind")}
    code, text, err, seconds = call(folder, [f"{folder}/ccrun", package, "--target", target, "--tune", "--timeout", "20"], timeout)
    row.update(code=code, seconds=round(seconds, 2), text=text.strip()[-2000:])
    if code:
        row["error"] = err.strip()[-600:]
        return row
    with open(re.search(r"as '(.*)' says", text).group(1)) as file:
        tuned = json.load(file)
    row.update(machine=tuned["machine"], chosen=tuned["measured"][tuned["variant"]]["name"],
               times={way["name"]: way["seconds"] for way in tuned["measured"] if way["seconds"] > 0})
    return row


def rows_of(text):
    """The rows that a script of the peers has printed, each a line of its own."""
    rows = []
    for line in text.splitlines():
        with contextlib.suppress(ValueError):
            row = json.loads(line)
            if isinstance(row, dict) and {"what", "peer", "us"} <= row.keys():
                rows.append(row)
    return rows


def measure_peers(folder, launch, script, operations, deadline):
    """What others take for these operations: by the script of the peers, and that of LAMB beside it, which `launch` starts.
    The rows that were printed until the deadline."""
    rows = []
    calls = [(script, ["--only", ",".join(sections)])] if (sections := table.sections(operations)) else []
    if "lamb" in operations:
        calls.append((f"{folder}/peer_lamb.py", []))
    for file, arguments in calls:
        if time.monotonic() > deadline:
            print("out of time", flush=True)
            break
        code, out, err, seconds = call(folder, [*launch, file, *arguments], deadline - time.monotonic(), NCCL_NVLS_ENABLE="0",
                                       PYTHONPATH=os.path.dirname(os.path.abspath(script)))
        found = rows_of(out)
        rows += found
        print(f"{os.path.basename(file)}: exit {code}, {seconds:.0f} s, {len(found)} rows" + (f": {err[-600:]}" if code else ""),
              flush=True)
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--check", default="$^", help="which cases are checked, as a regular expression")
    parser.add_argument("--tests", type=int, default=0, help="runs the tests that are programs of their own on so many GPUs")
    parser.add_argument("--sanitize", default="$^", help="which cases are checked under compute-sanitizer too")
    parser.add_argument("--sanitize-seconds", type=float, default=1000, help="how long each of its tools may take")
    parser.add_argument("--replays", type=int, default=100_000, help="of each graph in these tests")
    parser.add_argument("--bench", default="$^", help="which cases are timed")
    parser.add_argument("--peers", help="the script that times what others do")
    parser.add_argument("--target", default="cuda", help="cpu tries this script where there are no GPUs")
    parser.add_argument("--out", default=".")
    parser.add_argument("--jobs", type=int, default=4, help="how many cases are checked at once")
    parser.add_argument("--seconds", type=float, default=100_000, help="when to stop")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--gpus", type=int, default=10**9, help="leaves out cases of more ranks")
    parser.add_argument("--transport", choices=["auto", "peer", "nccl"], help="CCN_GPU_TRANSPORT of all that is run")
    parser.add_argument("--products", choices=["auto", "kernels", "cublaslt"], help="CCN_PRODUCTS of all that is run")
    parser.add_argument("--repeat", type=int, default=1, help="how often each case is checked")
    parser.add_argument("--processes", action="store_true", help="checks with a process for each rank instead, many cases in each")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    begin = time.monotonic()
    folder = os.path.abspath(options.folder)
    if os.path.exists(f"{folder}/packages.tar.xz"):
        with tarfile.open(f"{folder}/packages.tar.xz") as archive:
            archive.extractall(folder)
    cases = [case for case in json.load(open(f"{folder}/cases.json")) if case["ranks"] <= options.gpus]
    if options.transport:
        os.environ["CCN_GPU_TRANSPORT"] = options.transport
    if options.products:
        os.environ["CCN_PRODUCTS"] = options.products
    # Where NCCL is not installed, that which PyTorch has brought.
    if importlib.util.find_spec("nvidia") and (found := importlib.util.find_spec("nvidia.nccl")):
        folders = [f"{path}/lib" for path in found.submodule_search_locations]
        os.environ["LD_LIBRARY_PATH"] = ":".join(filter(None, [os.environ.get("LD_LIBRARY_PATH"), *folders]))

    checked = []
    wanted = [c for c in cases if c["kind"] == "check" and re.search(options.check, c["name"])]
    wanted *= options.repeat
    if options.processes:
        batches = []
        # A device has memory for the contexts of some dozens of processes only.
        for ranks in sorted({case["ranks"] for case in wanted}, reverse=True):
            like = [case for case in wanted if case["ranks"] == ranks]
            at_once = max(options.jobs // ranks, 1)
            batches += [like[i::at_once] for i in range(at_once)]
    else:
        # A process compiles the kernels of all its cases before the first check: with fewer in each, results come all the time.
        count = max(options.jobs, -(-len(wanted) // MOST_IN_A_PROCESS))
        batches = [wanted[i::count] for i in range(count)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for results in pool.map(lambda batch: check(folder, batch, options.target, options.seed, begin + options.seconds, options.processes), batches):
            for result in results:
                checked.append(result)
                if result["code"]:
                    print(f"{result['name']}: exit {result['code']}: {result['error'][-400:]}", flush=True)
    failed = sum(1 for result in checked if result["code"])
    json.dump(checked, open(f"{options.out}/checks.json", "w"), indent=1)
    print(f"{len(checked)} of {len(wanted)} cases checked, {failed} failed, {time.monotonic() - begin:.0f} s", flush=True)

    watched = [c for c in cases if c["kind"] == "check" and re.search(options.sanitize, c["name"])]
    if watched:
        failed += sanitize(folder, watched, options.sanitize_seconds)
    if options.tests:
        failed += run_tests(folder, options.tests, options.replays)

    rows = []
    for case in cases:
        if case["kind"] != "bench" or not re.search(options.bench, case["name"]):
            continue
        if time.monotonic() - begin > options.seconds:
            print("out of time", flush=True)
            break
        row = bench(folder, case, options.target, min(300, begin + options.seconds - time.monotonic() + 30))
        rows.append(row)
        print(f"{row['name']}: exit {row['code']} {row.get('error', '')[-300:]}\n{row['text']}", flush=True)
    json.dump(rows, open(f"{options.out}/bench.json", "w"), indent=1)
    for ranks in sorted({row["ranks"] for row in rows}):
        launch = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", str(ranks)]
        operations = list(dict.fromkeys(row["operation"] for row in rows if row["ranks"] == ranks))
        peers = measure_peers(folder, launch, options.peers, operations, begin + options.seconds) if options.peers else []
        json.dump(peers, open(f"{options.out}/peers-r{ranks}.json", "w"), indent=1)
        made = table.make([row for row in rows if row["ranks"] == ranks], peers)
        table.show(made)
        table.show_schedules(made)
        json.dump(made, open(f"{options.out}/table-r{ranks}.json", "w"), indent=1)
    return 1 if failed or any(row["code"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
