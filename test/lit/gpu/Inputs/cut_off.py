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
rows = run.measure_peers(folder, [sys.executable], "peers.py", ["all_reduce", "lamb"], begin + 3)
assert time.monotonic() - begin < 30
assert [(row["what"], row["us"]) for row in rows] == [("allreduce", 2.5), ("lamb", 2.5)], rows
state = f"/proc/{open('left.txt').read().strip()}/stat"
while os.path.exists(state) and open(state).read().split(") ")[1][0] != "Z":
    assert time.monotonic() - begin < 60, "what was left behind goes on"
    time.sleep(0.05)
assert run.measure_peers(folder, [sys.executable], "peers.py", ["all_reduce", "lamb"], begin) == []
# Each section is measured once, and none for LAMB alone.
assert run.table.sections(["lamb", "product_scatter", "norm", "gather_product"]) == ["gemm", "norm"]
assert run.table.sections(["lamb"]) == []
line, = run.table.make([{"operation": "product_scatter", "size": "8x4x2", "ranks": 4, "times": {"schedule fused": 3e-6}}],
                       [{"what": "gemm+rs", "peer": "nccl", "us": 4.0, "M": 8, "N": 4, "k": 2},
                        {"what": "gemm+rs", "peer": "nccl", "us": 1.0, "M": 8, "N": 4, "k": 1},
                        {"what": "gemm", "peer": "cublas", "us": 2.0, "M": 8, "N": 4, "k": 2}])
assert (line["ratio"], line["aloneUs"]) == (0.75, 2.0), line
