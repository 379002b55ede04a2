"""Searches for a schedule of each program in a folder of examples, and holds it
against what was written by hand.
  examples.py CCCOMPILE EXAMPLES FOLDER
The text that is found gives the same IR and the same bytes anew, is verified
where that is quick, and takes no longer than the program as written, nor than
its schedules by hand, by prediction. Prints a line for each program.
"""

import json
import pathlib
import re
import subprocess
import sys

compiler, examples, folder = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
folder.mkdir(parents=True, exist_ok=True)


def run(*args):
    result = subprocess.run([compiler, *map(str, args)], capture_output=True, check=False)
    if result.returncode:
        sys.exit(f"{args}: {result.stderr.decode()}")
    return result.stdout


def predicted(*args):
    return json.loads(run(*args, "--predict=json"))["total_us"]


for program in sorted(examples.glob("*.ccn")):
    # Who wrote sgd's schedules stores its state in slices.
    options = ["--schedule", "auto"]
    if "slice_state mom" in program.read_text():
        options += ["--slice-state", "mom"]
    found = folder / program.name
    text = run(program, *options, "--emit", "schedule")
    found.write_bytes(text)
    if run(program, *options, "--emit", "schedule") != text:
        sys.exit(f"{program.name}: another schedule the second time")
    applied = run(program, *options, "--emit", "scheduled")
    if run(program, "--schedule", found, "--emit", "scheduled") != applied:
        sys.exit(f"{program.name}: other IR by the text")
    run(program, "--schedule", found, "--verify")
    plain = predicted(program, "--schedule", "none")
    auto = predicted(program, "--schedule", found)
    names = re.findall(r"^schedule (\w+)", program.read_text(), re.MULTILINE)
    best, name = min((predicted(program, "--schedule", name), name) for name in names)
    for other, what in ((plain, "as written"), (best, name)):
        if auto > other * 1.001:
            sys.exit(f"{program.name}: found {auto:.1f} us, {what} {other:.1f} us")
    print(f"{program.stem}: {plain:.1f} us as written, {best:.1f} us by hand, {auto:.1f} us found")
