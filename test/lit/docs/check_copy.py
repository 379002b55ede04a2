#!/usr/bin/env python3
"""Fails if a generated page differs from its copy in the source tree.

usage: check_copy.py GENERATED COPY
"""

import difflib
import pathlib
import sys


def main(generated, copy):
    new = pathlib.Path(generated).read_text(encoding="utf-8")
    old = pathlib.Path(copy).read_text(encoding="utf-8")
    if new == old:
        return 0
    sys.stdout.writelines(
        difflib.unified_diff(
            old.splitlines(True), new.splitlines(True), copy, generated
        )
    )
    print(f"\n{copy} is stale; update it with\n  cp {generated} {copy}")
    return 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
