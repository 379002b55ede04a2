"""Runs a program with and without a schedule and compares what it leaves.

compare.py PROGRAM SCHEDULE [--tolerance T] RUN... -- TOOL...

Each RUN is `mesh;param,param`, as in `dp=3;N=7`. Without a tolerance the arrays must have
the same bits; with one, |a - b| <= T * (|a| + max |a|).
"""

import itertools
import pathlib
import re
import subprocess
import sys
import tempfile

import numpy as np

split = sys.argv.index("--")
args, tool = sys.argv[1:split], sys.argv[split + 1:]
program, schedule, *runs = args
tolerance = None
if runs[0] == "--tolerance":
    tolerance, runs = float(runs[1]), runs[2:]
text = pathlib.Path(program).read_text()
names = re.findall(r"\binout (\w+)", text)
for line in re.findall(r"^\s*return (.*)$", text, re.M):
    names += [name.strip() for name in line.split(",")]
assert names and runs

with tempfile.TemporaryDirectory() as folder:
    for run, seed in itertools.product(runs, (0, 1)):
        mesh, _, params = run.partition(";")
        command = [*tool, program, "--run", "--mesh", mesh, "--seed", str(seed)]
        for param in filter(None, params.split(",")):
            command += ["-D", param]
        arrays = []
        for extra in ([], ["--schedule", schedule]):
            paths = {name: f"{folder}/{name}.npy" for name in names}
            outputs = [word for name, path in paths.items() for word in ("--output", f"{name}={path}")]
            done = subprocess.run([*command, *extra, *outputs], capture_output=True, text=True)
            assert done.returncode == 0, f"{run}: {done.stderr}"
            arrays.append({name: np.load(path) for name, path in paths.items()})
        for name in names:
            a, b = arrays[0][name], arrays[1][name]
            assert a.shape == b.shape, f"{run}: {name} has shapes {a.shape} and {b.shape}"
            if tolerance is None:
                same = a.tobytes() == b.tobytes()
            else:
                a, b = a.astype(np.float64), b.astype(np.float64)
                same = np.all(np.abs(a - b) <= tolerance * (np.abs(a) + np.max(np.abs(a), initial=0)))
            assert same, f"{run}, seed {seed}: {name} differs:\n{a}\n{b}"
