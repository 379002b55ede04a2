#!/usr/bin/env python3
"""Gives a tool parts of a module, as text and as bytecode, and bytecode with
bytes changed. The tool must refuse or accept them, and end by itself.

usage: truncated.py CCN_OPT FILE.mlir
"""

import random
import subprocess
import sys


def run(tool, arguments, data):
    process = subprocess.run(
        [tool, *arguments, "-"], input=data, capture_output=True, timeout=120
    )
    if process.returncode not in (0, 1):
        print(process.stderr.decode(errors="replace")[:4000])
        print(f"exit code {process.returncode} for {len(data)} bytes: {data!r}")
        sys.exit(1)
    return process


def main(tool, path):
    with open(path, "rb") as file:
        text = file.read()
    bytecode = run(tool, ["-emit-bytecode", "-o", "-"], text).stdout
    assert bytecode.startswith(b"ML\xefR")
    assert run(tool, [], bytecode).returncode == 0
    generator = random.Random(0)
    refused = 0
    for whole in (text, bytecode):
        for _ in range(20):
            part = whole[: generator.randrange(len(whole))]
            refused += run(tool, [], part).returncode
    for _ in range(20):
        changed = bytearray(bytecode)
        # The header stays; it says that this is bytecode.
        for _ in range(generator.randrange(1, 4)):
            changed[generator.randrange(6, len(changed))] = generator.randrange(256)
        run(tool, [], bytes(changed))
    print(f"{refused} of 40 parts refused")
    return 0 if refused > 20 else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
