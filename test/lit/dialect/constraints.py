#!/usr/bin/env python3
"""Compares the numbered constraints of a dialect's documentation with their
checks and their tests.

usage: constraints.py SOURCE_FOLDER GENERATED_DOC [plan]

Every label, such as `add_c1`, in a **Constraints** list
  - follows the one before it in number, without gaps,
  - stands in a comment of dialect/ccn/*.cpp or *.h, beside its check,
  - starts the comment of a test in test/lit/dialect/*-errors.mlir, with an
    expected error.
A label that the documentation lacks may stand in neither.

With `plan` it is about the plan dialect in dialect/plan, whose tests are in
test/lit/plan.

The elementwise operations share their documentation, and so their checks and
their tests: in C++ `unary_c1` stands for neg_c1, exp_c1, ..., and `binary_c1` for
add_c1, ...; a test of all of them may stand in test/unit/Dialect.
"""

import collections
import pathlib
import re
import sys

LABEL = r"[a-z0-9_]+_c[0-9]+"


def read(path):
    return path.read_text(encoding="utf-8")


def documented(dialect, generated, is_plan):
    """The labels of all constraints, and the shared ones of those that have one.

    TableGen puts some labels together, so those of operations and attributes come
    from the generated page; interfaces are not on it."""
    text = read(generated) + "".join(map(read, sorted(dialect.glob("*.td"))))
    labels = []
    for label in re.findall(rf"^ *- `({LABEL})`:", text, re.M):
        if label not in labels:
            labels.append(label)
    shared = {}
    if is_plan:
        return labels, shared
    for kind, name in re.findall(
        r"def \w+Op *: Ccn_(Unary|Binary|Activation)\w*<\s*\"(\w+)\"",
        read(dialect / "ElementwiseOps.td"),
    ):
        kind = kind.replace("Activation", "Unary")
        for label in labels:
            if label.rpartition("_c")[0] == name:
                shared[label] = f"{kind.lower()}_c{label.rpartition('_c')[2]}"
    return labels, shared


def main(source, generated, is_plan):
    dialect = pathlib.Path(source) / "dialect" / ("plan" if is_plan else "ccn")
    folder = pathlib.Path(source) / "test/lit" / ("plan" if is_plan else "dialect")
    tests = sorted(folder.glob("*-errors.mlir"))
    labels, shared = documented(dialect, pathlib.Path(generated), is_plan)
    problems = []
    if not labels or not (shared or is_plan) or not tests:
        problems.append("found no constraints or no tests; is the path right?")

    numbers = collections.defaultdict(list)
    for label in labels:
        name, _, number = label.rpartition("_c")
        numbers[name].append(int(number))
    for name, found in numbers.items():
        if found != list(range(1, len(found) + 1)):
            problems.append(f"the constraints of '{name}' are numbered {found}")

    checked = {}
    for path in sorted(dialect.glob("*.cpp")) + sorted(dialect.glob("*.h")):
        for comment in re.findall(r"//.*", read(path)):
            for label in re.findall(rf"\b{LABEL}\b", comment):
                checked.setdefault(label, path.name)
    tested, tested_together = {}, set()
    for path in tests:
        for case in re.split(r"^// -----$", read(path), flags=re.M):
            for label in re.findall(rf"^// ({LABEL})\b", case, re.M):
                tested.setdefault(label, path.name)
                if "expected-error" not in case:
                    problems.append(f"{path.name}: '{label}' expects no error")

    for path in sorted((pathlib.Path(source) / "test/unit/Dialect").glob("*.cpp")):
        for comment in re.findall(r"//.*", read(path)):
            for label in re.findall(rf"\b{LABEL}\b", comment):
                if label in shared.values():
                    tested_together.add(label)

    for label in labels:
        if shared.get(label, label) not in checked:
            problems.append(f"'{label}' has no check in {dialect}/*.cpp or *.h")
        if label not in tested and shared.get(label) not in tested_together:
            problems.append(f"'{label}' has no test in {folder}")
    known = set(labels) | set(shared.values())
    for label, name in checked.items():
        if label not in known:
            problems.append(f"{name}: '{label}' is not documented")
    for label, name in tested.items():
        if label not in labels:
            problems.append(f"{name}: '{label}' is not documented")

    for problem in problems:
        print(problem)
    print(f"{len(labels)} constraints, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4) or sys.argv[3:] not in ([], ["plan"]):
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:3], is_plan=len(sys.argv) == 4))
