"""Verifies, or proves, every schedule of every example on meshes of many sizes.

verify_examples.py FOLDER OPTION -- TOOL...
"""

import itertools
import pathlib
import re
import subprocess
import sys

# By the number of axes: sizes of one rank, that divide, that do not.
MESHES = {
    1: ["1", "2", "3", "4", "8"],
    2: ["1x1", "2x1", "1x2", "2x2", "3x2", "2x4"],
    3: ["1x1x1", "2x2x2", "3x1x2"],
}


def main():
    folder, option, tool = sys.argv[1], sys.argv[2], sys.argv[4:]
    verified = 0
    for path in sorted(pathlib.Path(folder).glob("*.ccn")):
        text = path.read_text()
        axes = re.findall(r"(\w+)\s*=", re.search(r"^mesh \w+ \((.*)\)", text, re.M).group(1))
        schedules = re.findall(r"^schedule (\w+) for", text, re.M)
        for schedule, sizes in itertools.product(dict.fromkeys(schedules), MESHES[len(axes)]):
            mesh = ",".join(f"{axis}={size}" for axis, size in zip(axes, sizes.split("x")))
            done = subprocess.run([*tool, str(path), "--schedule", schedule, "--mesh", mesh, option],
                                  capture_output=True, text=True, timeout=120)
            print(f"{mesh}: {done.stdout.strip()}{done.stderr}")
            assert done.returncode == 0, done.returncode
            assert re.match(rf"program '\w+' with schedule '{schedule}': (same bits|within .*|proved equal over the reals) on \d+ ranks? \(", done.stdout)
            verified += 1
    print(f"{verified} verified")
    assert verified


main()
