"""Verifies and proves every schedule of a file on the meshes given.

verify_all.py FILE MESH... -- TOOL...
"""

import pathlib
import re
import subprocess
import sys

split = sys.argv.index("--")
path, *meshes = sys.argv[1:split]
schedules = re.findall(r"^schedule (\w+) for", pathlib.Path(path).read_text(), re.M)
assert schedules and meshes
for schedule in schedules:
    for mesh in meshes:
        for option in ("--verify", "--verify=prove"):
            done = subprocess.run([*sys.argv[split + 1:], path, "--schedule", schedule, "--mesh", mesh, option],
                                  capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, f"{schedule}, {mesh}, {option}:\n{done.stdout}{done.stderr}"
