"""That packages of all examples under all their schedules hold plans of bounds, and few functions for these.

    check_examples.py FOLDER EXAMPLES CCRUN CCCOMPILE...

Where the bounds of a program cannot be planned, its package has none, and nobody hears of it. Where their operations are
not fused, each is a function of its own, and a package takes as long to compile as several.
"""

import glob
import json
import os
import re
import shutil
import subprocess
import sys

folder, examples, ccrun, *cccompile = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)

# Sizes that the meshes do not divide, and few elements.
sizes = {"N": 103, "B": 6, "S": 5, "H": 12, "F": 10, "T": 7, "C": 3}
# dp_tp takes 16.
most = 20


def call(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (command, done.returncode, done.stdout[-2000:], done.stderr[-4000:])
    return done.stdout + done.stderr


def functions(plan):
    found = set()

    def walk(value):
        if isinstance(value, list):
            for one in value:
                walk(one)
        elif isinstance(value, dict):
            if value.get("function"):
                found.add(value["function"])
            for one in value.values():
                walk(one)

    walk(plan)
    return found


checked = 0
for path in sorted(glob.glob(os.path.join(examples, "*.ccn"))):
    text = open(path).read()
    params = [f"-D{name}={sizes[name]}" for name in re.findall(r"^param (\w+)", text, re.M) if name in sizes]
    for schedule in re.findall(r"^schedule (\w+) for", text, re.M):
        name = f"{os.path.basename(path)[:-4]}-{schedule}"
        call(*cccompile, path, *params, "--schedule", schedule, "--emit", "package", "-o", name)
        assert "\nerror bounds yes\n" in call(ccrun, name, "--info"), name
        data = open(name, "rb").read()
        description = json.loads(data[64:64 + int.from_bytes(data[24:32], "little")])
        only = functions(description["bounds"]) - functions(description["plan"]) - functions(description["reference"])
        assert 0 < len(only) <= most, (name, len(only))
        assert "elements differ where no bound is known" not in call(ccrun, name, "--check"), name
        checked += 1
assert checked >= 30, checked
print(checked, "packages have bounds")
