#!/usr/bin/env python3
"""Compares the numbered conditions of the passes' documentation with their checks and tests.

usage: conditions.py SOURCE_FOLDER

Every label, such as `fuse_c1`, in a **Conditions** list of lib/Transforms/Passes.td
or dialect/schedule/ScheduleOps.td follows the one before it
in number, stands in a comment of lib/Transforms/*.cpp and in a message beside it, and starts a comment of a test
in test/lit/transforms/*-errors.* that expects a message with it. A label that the documentation lacks may stand in
neither.
"""

import pathlib
import re
import sys

LABEL = r"[a-z_]+_c[0-9]+"


def main(source):
    transforms = pathlib.Path(source) / "lib/Transforms"
    pages = [transforms / "Passes.td", pathlib.Path(source) / "dialect/schedule/ScheduleOps.td"]
    text = "".join(page.read_text() for page in pages if page.exists())
    documented = re.findall(rf"^ *- `({LABEL})`:", text, re.M)
    code = "".join(path.read_text() for path in sorted(transforms.glob("*.cpp")))
    tests = "".join(path.read_text() for path in sorted((pathlib.Path(source) / "test/lit/transforms").glob("*-errors.*")))
    problems = []
    last = {}
    for label in documented:
        name, _, number = label.rpartition("_c")
        if int(number) != last.get(name, 0) + 1:
            problems.append(f"'{label}' does not follow {name}_c{last.get(name, 0)}")
        last[name] = int(number)
        if not re.search(rf"// {label}\b", code):
            problems.append(f"'{label}' has no comment beside its check")
        if f'"{label}"' not in code and f"({label})" not in code:
            problems.append(f"'{label}' is in no message")
        if not re.search(rf"^// {label}\b", tests, re.M) or f"({label})" not in tests:
            problems.append(f"'{label}' has no test")
    for label in sorted(set(re.findall(rf"[\"(]({LABEL})[\")]", code + tests)) - set(documented)):
        problems.append(f"'{label}' is not documented")
    if not documented:
        problems.append("found no conditions; is the path right?")
    print("\n".join([*problems, f"{len(documented)} conditions, {len(problems)} problems"]))
    return bool(problems)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
