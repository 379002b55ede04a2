"""What run.py makes of peers' scripts, of which one is cut off and one fails: cut_off.py FOLDER-OF-RUN.PY FOLDER."""

import os
import sys
import time

sys.path.insert(0, sys.argv[1])
import run

folder = sys.argv[2]
SCRIPT = """import json, os, subprocess, sys, time
print("torch and others")
print(json.dumps({{"what": "{what}", "peer": "nccl", "us": 2.5, "bytes": 1024}}), flush=True)
print('{{"what": "no row"}}\\n{{"what": "cut", "pe', flush=True)
if {waits}:
    # As a rank that is left behind.
    left = subprocess.Popen(["sleep", "100"])
    print(left.pid, file=open("left.txt", "w"), flush=True)
    time.sleep(100)
sys.exit(os.environ["NCCL_NVLS_ENABLE"] + " is the reason")
"""
os.chdir(folder)
for name, what, waits in (("peers.py", "allreduce", False), ("peer_lamb.py", "lamb", True)):
    with open(name, "w") as file:
        file.write(SCRIPT.format(what=what, waits=waits))
begin = time.monotonic()
rows = run.measure_peers(folder, [sys.executable], "peers.py", begin + 3)
assert time.monotonic() - begin < 30
assert [(row["what"], row["us"]) for row in rows] == [("allreduce", 2.5), ("lamb", 2.5)], rows
state = f"/proc/{open('left.txt').read().strip()}/stat"
while os.path.exists(state) and open(state).read().split(") ")[1][0] != "Z":
    assert time.monotonic() - begin < 60, "what was left behind goes on"
    time.sleep(0.05)
assert run.measure_peers(folder, [sys.executable], "peers.py", begin) == []
