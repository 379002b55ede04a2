"""Does what errors about layouts advise, until programs compile.

    repairs.py COMMAND...

Every pair of layouts on two axes is joined by several operations. An error must name a
repair and the operand to repair, and a few repairs must lead to a program without
errors. Many pairs are compiled at once, one a program of a file.
"""

import json
import re
import subprocess
import sys

OPERATIONS = ("{0} + {1}", "{0} * {1}", "max({0}, {1})", "matmul({0}, {1})")
STATES = ("", "sliced(0, {0})", "sliced(1, {0})", "partial(sum, {0})", "local({0})")
AT_ONCE = 10  # each program has up to two errors, and 20 are shown
MOST_REPAIRS = 6


def layouts():
    """All layouts of a matrix on two axes, as the compiler writes them."""
    found = []
    for dp in STATES:
        for tp in STATES:
            both = [dp.format("dp"), tp.format("tp")]
            found.append(" ".join(state for state in both if state))
            if dp == tp and "sliced" in dp:
                found.append(" ".join(reversed(both)))
    return found


class Pair:
    """An operation on two tensors, and what was done to them so far."""

    def __init__(self, operation, lhs, rhs):
        self.name = f"{operation.format('x', 'y')} of '{lhs}' and '{rhs}'"
        self.operation = operation
        self.layouts = (lhs, rhs)
        self.operands = ["x", "y"]
        self.lets = []

    def program(self, number):
        """A program on its own line each: the operation's line is the error's."""
        lets = "; ".join(self.lets + [f"let z = {self.operation.format(*self.operands)}"])
        return (f"program p{number}(x: f32[8, 8] {self.layouts[0]}, "
                f"y: f32[8, 8] {self.layouts[1]}) {{ {lets} }}\n")

    def repair(self, error):
        """Does what the error says, to the operand that it names."""
        advice = re.search(r"repair with '(\w+)\((sum, )?(\w+)(.*)\)' on the .*$", error["message"])
        if not advice:
            raise ValueError("no repair is named")
        call, kind, operand, rest = advice.groups()
        index = self.operands.index(operand)
        name = f"r{len(self.lets)}"
        self.lets.append(f"let {name} = {call}({kind or ''}{self.operands[index]}{rest})")
        self.operands[index] = name


def step(command, pairs):
    """Compiles pairs together and repairs those with errors, which it returns."""
    text = "mesh m (dp = 2, tp = 2)\n" + "".join(
        pair.program(i) for i, pair in enumerate(pairs))
    done = subprocess.run(command + ["-", "--diagnostics", "json"], input=text,
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1):
        raise ValueError(f"exit {done.returncode}: {done.stderr}")
    wrong = {}
    for error in json.loads(done.stderr or "[]"):
        wrong.setdefault(error["line"] - 2, []).append(error)
    for line, errors in wrong.items():
        if len(errors) != 1:
            raise ValueError(f"{pairs[line].name}: expected one error, found {errors}")
        try:
            pairs[line].repair(errors[0])
        except (ValueError, TypeError, StopIteration) as what:
            raise ValueError(f"{pairs[line].name}, {pairs[line].lets}: {what}: "
                             f"{errors[0]['message']}") from what
    return [pairs[line] for line in wrong]


def main():
    command = sys.argv[1:]
    pairs = [Pair(operation, lhs, rhs) for operation in OPERATIONS
             for lhs in layouts() for rhs in layouts()]
    count = len(pairs)
    for _ in range(MOST_REPAIRS):
        pairs = [pair for begin in range(0, len(pairs), AT_ONCE)
                 for pair in step(command, pairs[begin:begin + AT_ONCE])]
    for pair in pairs:
        print(f"{pair.name} is still wrong after {pair.lets}")
    print(f"{count} pairs of layouts")
    return 1 if pairs else 0


if __name__ == "__main__":
    sys.exit(main())
