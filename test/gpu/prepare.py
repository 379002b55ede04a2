"""How long it takes to make programs ready on a GPU, by NVRTC and from the cache of compiled kernels.

    prepare.py PACKAGE [PACKAGE ...]

Of each package of one rank, the milliseconds of the first time, of the second in the same process, and of the first in
a new process, where kernels come from the disk; in all there is beside it what a kernel took. It needs the package ccn
on PYTHONPATH, with its libccn.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

import ccn

from device import Device


def milliseconds(path):
    with ccn.Team(ccn.load(path, "gpu")) as team:
        begin = time.monotonic()
        team.programs[0].on(team, 0).prepare(0)
        return (time.monotonic() - begin) * 1e3


def kernels_of(path):
    """How many a package has: see runtime/plan/Package.h."""
    with open(path, "rb") as file:
        header = file.read(64)
        return len(json.loads(file.read(int.from_bytes(header[24:32], "little")))["gpu"]["kernels"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", nargs="+")
    parser.add_argument("--again", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    # Takes longer than all that is measured.
    Device(0)
    if options.again:
        print(json.dumps([milliseconds(path) for path in options.packages]))
        return
    with tempfile.TemporaryDirectory() as cache:
        os.environ["CCN_CACHE_DIR"] = cache
        times = [[milliseconds(path), milliseconds(path)] for path in options.packages]
        again = subprocess.run([sys.executable, os.path.abspath(__file__), "--again", *options.packages], check=True,
                               stdout=subprocess.PIPE, timeout=100)
    kept = json.loads(again.stdout)
    kernels = [kernels_of(path) for path in options.packages]
    for path, count, (first, second), disk in zip(options.packages, kernels, times, kept):
        print(f"{os.path.basename(path)}: {count} kernels: {first:.0f} ms by NVRTC, {second:.1f} ms once more, {disk:.1f} ms "
              "from the disk", flush=True)
    print(f"a kernel: {sum(first for first, _ in times) / sum(kernels):.0f} ms by NVRTC, {sum(kept) / sum(kernels):.1f} ms "
          "from the disk", flush=True)


main()
