"""Runs programs with the compiler under test and compares what comes out.

`Runner(argv)` takes the command of the compiler, flags included. Arrays go through
.npy files in the external form of the language: a tensor's global shape, after a
leading dimension for each mesh axis along which it is local or partial.
"""

import os
import shutil
import subprocess
import sys
import tempfile

import numpy as np

from bounded import Bounded
from elements import Tensor


class Failure(Exception):
    pass


class Runner:
    def __init__(self, argv):
        self.argv = argv
        self.folder = tempfile.mkdtemp(prefix="ccn-test-")
        self.runs = 0
        self.compared = 0
        self.failures = []

    def close(self):
        """Prints a summary; the exit code of the test."""
        shutil.rmtree(self.folder, ignore_errors=True)
        for failure in self.failures[:20]:
            print(failure)
        if len(self.failures) > 20:
            print("... and %d more" % (len(self.failures) - 20))
        print("%d runs, %d outputs compared, %d failures"
              % (self.runs, self.compared, len(self.failures)))
        return 1 if self.failures or not self.compared else 0

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, text, name="program.ccn"):
        with open(self.path(name), "w") as file:
            file.write(text)
        return self.path(name)

    def command(self, program, params={}, mesh={}, arguments=()):
        command = self.argv + [program, "--run"]
        for name, value in params.items():
            command += ["-D", "%s=%s" % (name, value)]
        if mesh:
            command += ["--mesh", ",".join("%s=%d" % axis for axis in mesh.items())]
        return command + [str(a) for a in arguments]

    def call(self, program, params={}, mesh={}, arguments=(), timeout=120):
        """Runs the compiler; gives the finished process."""
        self.runs += 1
        return subprocess.run(self.command(program, params, mesh, arguments),
                              capture_output=True, text=True, timeout=timeout)

    def run(self, program, outputs, inputs={}, params={}, mesh={}, arguments=(),
            timeout=120):
        """Runs a program file and gives its outputs as tensors. `inputs` maps names
        to tensors, to lists of them (scattered) or to numbers as text; `outputs`
        maps names to element types, or to a list of sizes too if scattered."""
        arguments = list(arguments)
        for name, value in inputs.items():
            if isinstance(value, str):
                arguments += ["--input", "%s=%s" % (name, value)]
                continue
            pieces = value if isinstance(value, list) else [value]
            paths = [self.path("in-%s-%d.npy" % (name, i)) for i in range(len(pieces))]
            for piece, path in zip(pieces, paths):
                piece.save(path)
            arguments += ["--input", "%s=%s" % (name, ",".join(paths))]
        for name in outputs:
            path = self.path("out-%s.npy" % name)
            if os.path.exists(path):
                os.remove(path)
            arguments += ["--output", "%s=%s" % (name, path)]
        process = self.call(program, params, mesh, arguments, timeout)
        if process.returncode != 0:
            raise Failure("exit code %d of %s\n%s%s" % (
                process.returncode,
                " ".join(self.command(program, params, mesh, arguments)),
                process.stdout, process.stderr))
        return {name: Tensor.load(self.path("out-%s.npy" % name), element)
                for name, element in outputs.items()}

    def check(self, title, got, expected):
        """Compares a tensor with what is expected: a Tensor, bit for bit (but for
        the bits of NaN), or a Bounded, within its bounds."""
        self.compared += 1
        message = difference(got, expected)
        if message:
            self.failures.append("%s: %s" % (title, message))

    def check_all(self, title, got, expected):
        for name in expected:
            self.check("%s: %s" % (title, name), got[name], expected[name])

    def attempt(self, title, function):
        """Calls function, which compares, and records what it raises."""
        try:
            function()
        except (Failure, AssertionError, subprocess.TimeoutExpired) as error:
            self.failures.append("%s: %s" % (title, error))


class Batch:
    """A program that computes many expressions, each with what it should give."""

    def __init__(self, mesh, title=""):
        self.mesh = mesh
        self.title = title
        self.arguments = []
        self.inputs = {}
        self.lets = []
        self.expected = {}

    def argument(self, tensor, layout="", leading=0, number=None):
        """Declares an argument; its external array has `leading` dimensions for
        mesh axes. Gives its name."""
        name = "x%d" % len(self.arguments)
        shape = tensor.shape[leading:]
        size = "[%s]" % ", ".join(map(str, shape)) if shape else ""
        self.arguments.append("%s: %s%s %s" % (name, tensor.element, size, layout))
        self.inputs[name] = tensor if number is None else number
        return name

    def let(self, expression, expected=None):
        """Computes an expression and, if it has an expected value, checks it."""
        name = "r%d" % len(self.lets)
        self.lets.append((name, expression))
        if expected is not None:
            self.expected[name] = expected
        return name

    def text(self):
        return "mesh m (%s)\nprogram p(%s) {\n%s  return %s\n}\n" % (
            ", ".join("%s = %d" % axis for axis in self.mesh.items()),
            ",\n          ".join(self.arguments),
            "".join("  let %s = %s\n" % let for let in self.lets), ", ".join(self.expected))

    def run(self, runner):
        def test():
            outputs = {name: value.element for name, value in self.expected.items()}
            got = runner.run(runner.write(self.text()), outputs, self.inputs)
            lets = dict(self.lets)
            for name, value in self.expected.items():
                runner.check("%s: %s = %s" % (self.title, name, lets[name]), got[name], value)

        runner.attempt(self.title, test)


def difference(got, expected):
    """What is wrong with a tensor, or None."""
    if got.element is not expected.element:
        return "expected elements of %s, found %s" % (expected.element, got.element)
    if got.shape != expected.shape:
        return "expected shape %s, found %s" % (expected.shape, got.shape)
    values = got.values
    if isinstance(expected, Tensor):
        wanted, within = expected.values, None
        wrong = values != wanted
        if got.element.kind == "f":
            wrong = wrong & ~(np.isnan(values) & np.isnan(wanted))
            wrong |= (np.signbit(values) != np.signbit(wanted)) & (wanted == 0)
    else:
        wanted, within = expected.v, expected.e
        unknown = np.isnan(wanted)
        assert np.all(np.isfinite(within[~unknown])), "the test's bounds are infinite"
        with np.errstate(invalid="ignore"):
            right = np.where(unknown, np.isnan(values), np.abs(values - wanted) <= within)
        wrong = ~right
    if not np.any(wrong):
        return None
    index = tuple(int(i) for i in np.argwhere(wrong)[0])
    place = "[%s]" % ", ".join(str(i) for i in index) if index else ""
    message = "element %s is %r, expected %r" % (place, values[index], wanted[index])
    if within is not None:
        message += " within %.3g, off by %.3g" % (
            within[index], abs(values[index] - wanted[index]))
    return message + " (%d of %d elements are wrong)" % (np.count_nonzero(wrong), values.size)


def main(tests, argv=None):
    """The command line of a test: `NAME... -- COMPILER FLAG...`; runs the tests of
    those names, or all, each with a runner."""
    argv = sys.argv[1:] if argv is None else argv
    split = argv.index("--")
    names, command = argv[:split], argv[split + 1 :]
    runner = Runner(command)
    for name in names or tests:
        runner.attempt(name, lambda: tests[name](runner))
    sys.exit(runner.close())
