"""Runs generated kernels on devices that are threads of the CPU, whose ranks send each other messages.

    run_messages.py FOLDER CCRUN CCN-SAMPLE-PACKAGE FOLDER-OF-THE-SOURCE FOLDER-OF-THE-BUILD
"""

import concurrent.futures
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time

import ranks as common

folder, ccrun, sample, source, build = sys.argv[1:6]
common.enter(folder)
sys.path.insert(0, f"{source}/test/gpu")
import pack

gpus = {**os.environ, "LD_LIBRARY_PATH": f"{build}/lib/fake-nvrtc:{build}/lib/fake-cuda",
        "CCN_CACHE_DIR": os.path.join(folder, "cache"), "CCN_VERIFY": "0", "CCN_PRODUCTS": "kernels"}
for name in ("RANK", "WORLD_SIZE", "CCN_GPU_TRANSPORT", "CCN_TRANSPORT"):
    gpus.pop(name, None)


def run(*command, code=0, **more):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300,
                          env={**gpus, **{name: str(value) for name, value in more.items()}})
    assert done.returncode == code, (command, more, done.returncode, done.stdout, done.stderr)
    return done.stdout if code == 0 else done.stderr


# Odd sizes: fused kernels, several streams, every collective and protocol, schedules that were synthesized; what is
# not contiguous (attention and mlp are cut along their last dimensions, all_to_all along two).
CASES = """adam-(fused|overlapped)-0-[234] lamb-fused-0-3 rmsnorm_tp-fused-0-[24] sgd-plain-0-2
           attention_tp-overlapped-0-2 mlp_tp-(fused|overlapped)-0-3 moe-(fused|overlapped)-0-3 pipeline-fused-0-2x2
           dp_tp-(overlapped|bucketed)-0-2x2 collectives-(f32|bf16)-5-[234] synthesized-[34]-5""".split()


def outputs(package, how, name, **more):
    """What a run leaves, as bytes; and that it is what the program says."""
    first = run(ccrun, package, "--seed", 5, "--check", *how, **more)
    assert "check " in first, first
    names = [line.split()[1].rstrip(":") for line in first.splitlines() if line.startswith("check ")]
    files = {output: f"{name}-{output}.npy" for output in names}
    run(ccrun, package, "--seed", 5, *how, *(word for output, file in files.items()
                                             for word in ("--output", f"{output}={file}")), **more)
    return {output: open(file, "rb").read() for output, file in files.items()}


def compare(case):
    package = f"{case['name']}.ccnpkg"
    run(f"{build}/bin/cccompile", case["file"], *case["options"], "--emit", "package", "--target", "sm_80", "-o",
        package)
    expected = outputs(package, [], f"{case['name']}-peer", CCN_GPU_TRANSPORT="peer")
    assert outputs(package, [], f"{case['name']}-nccl", CCN_GPU_TRANSPORT="nccl") == expected, case
    assert outputs(package, ["--nproc", case["ranks"]], f"{case['name']}-processes",
                   CCN_GPU_TRANSPORT="nccl") == expected, case
    return case["ranks"]


wanted = [case for case in pack.cases(folder) if any(re.fullmatch(one, case["name"]) for one in CASES)]
assert len(wanted) == 26, [case["name"] for case in wanted]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    assert set(pool.map(compare, wanted)) == {2, 3, 4}

# Devices that cannot access each other send messages by themselves; graphs and traces have them.
name = "adam-overlapped-0-3.ccnpkg"
assert run(ccrun, name, "--check", CCN_FAKE_NO_PEERS=1).count("same bits") == 3
text = run(ccrun, name, "--check", code=4, CCN_FAKE_NO_PEERS=1, CCN_GPU_TRANSPORT="peer")
assert re.fullmatch(r"ccrun: error: rank \d: rank \d: GPU \d cannot access the memory of GPU \d; CCN_GPU_TRANSPORT is "
                    r"peer\n", text), text
text = run(ccrun, name, "--check", code=4, CCN_GPU_TRANSPORT="nccl", CCN_FAKE_GPUS=2)
assert "NCCL, which would send messages instead, takes one rank on a GPU, found ranks 0 and 2 on the same" in text, text
text = run(ccrun, name, "--check", code=2, CCN_GPU_TRANSPORT="mail")
assert text == "ccrun: error: CCN_GPU_TRANSPORT: expected auto, peer or nccl, found 'mail'\n", text
assert "of 3 replays of a graph of" in run(ccrun, name, "--bench", 3, CCN_GPU_TRANSPORT="nccl")
run(ccrun, name, "--trace", "t.json", CCN_GPU_TRANSPORT="nccl")
events = [event for event in json.load(open("t.json"))["traceEvents"] if event["ph"] == "X"]
run(ccrun, name, "--trace", "t.json", CCN_GPU_TRANSPORT="peer")
assert len(events) == len([event for event in json.load(open("t.json"))["traceEvents"] if event["ph"] == "X"])

# A rank that is killed ends the others, which wait for its messages.
process = subprocess.Popen([ccrun, name, "--nproc", "3", "--bench", "1000000"], stderr=subprocess.PIPE, text=True,
                           stdout=subprocess.DEVNULL, env={**gpus, "CCN_GPU_TRANSPORT": "nccl"})
ranks = []
start = time.monotonic()
while len(ranks) < 3 or time.monotonic() - start < 2:
    assert time.monotonic() - start < 60 and process.poll() is None
    path = f"/proc/{process.pid}/task/{process.pid}/children"
    ranks = open(path).read().split()
os.kill(int(ranks[1]), signal.SIGKILL)
start = time.monotonic()
text = process.communicate(timeout=60)[1]
assert "rank 1 (dp = 1) was ended by signal 9" in text and process.returncode == 4, text
assert time.monotonic() - start < 20

# What was measured where kernels access the others' memory says nothing of messages.
run(f"{build}/bin/cccompile", f"{source}/test/lit/ccrun/Inputs/tune.ccn", "--program", "f", "--emit", "package",
    "--autotune", "--schedule", "none", "--target", "sm_80", "-o", "tuned.ccnpkg")


def tuned(number, **more):
    """Measures the variants, and keeps that the fastest is `number`."""
    path = re.search(r" runs on .* from now on, as '(.*)' says", run(ccrun, "tuned.ccnpkg", "--tune", 1, **more))[1]
    text = re.sub('"variant": .*', f'"variant": {number}', open(path).read())
    with open(path, "w") as out:
        out.write(text)


def variant(**more):
    """The one that runs, which is the one that --info says."""
    run(ccrun, "tuned.ccnpkg", "--bench", 1, "--json", "bench.json", **more)
    number = json.load(open("bench.json"))["variant"]
    info = run(ccrun, "tuned.ccnpkg", "--info", **more)
    assert re.search(r"^  (\d+) .*, which runs on \d", info, re.M)[1] == str(number), info
    return number


tuned(2)
assert variant() == variant(CCN_GPU_TRANSPORT="peer") == 2
assert variant(CCN_GPU_TRANSPORT="nccl") == 0
tuned(1, CCN_GPU_TRANSPORT="nccl")
assert variant() == 2 and variant(CCN_GPU_TRANSPORT="nccl") == 1

# On several hosts, as torchrun starts ranks, of which the last is on another.
elsewhere = common.elsewhere()
if not elsewhere:
    print("skipped: no permission to make a mount namespace")
    sys.exit()
with socket.create_server(("127.0.0.1", 0)) as server:
    port = server.getsockname()[1]


def on_hosts(name, count, *options):
    started = []
    for rank in range(count):
        last = rank == count - 1
        told = {"RANK": rank, "WORLD_SIZE": count, "LOCAL_RANK": 0 if last else rank, "TORCHELASTIC_RUN_ID": name,
                "TORCHELASTIC_USE_AGENT_STORE": "False", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        started.append(subprocess.Popen([*(elsewhere if last else []), ccrun, f"{name}.ccnpkg", *options],
                                        env={**gpus, **{key: str(value) for key, value in told.items()}},
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
    said = [process.communicate(timeout=120)[1] for process in started]
    assert not any(said) and not any(process.returncode for process in started), said


on_hosts("tuned", 2, "--bench", "1", "--json", "hosts.json")
assert json.load(open("hosts.json"))["variant"] == 1
for name in ("adam-overlapped-0-3", "collectives-f32-5-4"):
    expected = outputs(f"{name}.ccnpkg", [], name, CCN_GPU_TRANSPORT="nccl")
    on_hosts(name, int(name[-1]), "--seed", "5",
             *(word for output in expected for word in ("--output", f"{output}={name}-hosts-{output}.npy")))
    assert {output: open(f"{name}-hosts-{output}.npy", "rb").read() for output in expected} == expected
