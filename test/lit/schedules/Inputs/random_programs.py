"""Random programs under random schedules: the scheduled program computes what the unscheduled one does, or
the schedule is refused with a numbered condition.

random_programs.py COUNT FIRST-SEED -- TOOL...
"""

import pathlib
import random
import re
import subprocess
import sys
import tempfile

import numpy as np

# What rounding in another order can change, relative to the largest element.
TOLERANCE = 2e-5


class Generator:
    """One program over matrices, vectors and scalars, all made from the sum of gradients `a0`."""

    def __init__(self, seed):
        self.rng = random.Random(seed)
        self.matrices, self.vectors, self.scalars = ["a0", "p", "q", "s"], ["v"], ["c"]
        self.names, self.lines = [], []

    def matrix(self):
        recent = self.rng.random() < 0.6
        return self.rng.choice(self.matrices[-4:] if recent else self.matrices)

    def define(self, name, expression, values):
        self.lines.append(f"let {name} = {expression}")
        values.append(name)
        self.names.append(name)

    def statement(self, name):
        rng, m = self.rng, self.matrix
        kinds = [
            (6, lambda: (f"{m()} {rng.choice('+-*')} {m()}", self.matrices)),
            (3, lambda: (f"{rng.choice(['tanh', 'sigmoid', 'relu', 'abs'])}({m()})", self.matrices)),
            (2, lambda: (f"{m()} {rng.choice('+*')} {rng.choice(self.vectors)}", self.matrices)),
            (2, lambda: (f"{m()} * {rng.choice(self.scalars)}", self.matrices)),
            (2, lambda: (f"{rng.choice(['sum', 'max', 'mean'])}({m()}, 0)", self.vectors)),
            (1, lambda: (f"norm({m()})", self.scalars)),
            (1, lambda: (f"dropout({m()}, 0.3, 7)", self.matrices)),
            (1, lambda: (f"softmax({m()}, {rng.choice([0, 1])})", self.matrices)),
            (1, lambda: (f"matmul({m()}, w)", self.matrices)),
            (1, lambda: (f"select({m()} > 0, {m()}, {m()})", self.matrices)),
        ]
        make = rng.choices([kind for _, kind in kinds], [weight for weight, _ in kinds])[0]
        self.define(name, *make())

    def store(self, target):
        self.lines.append(f"{target} <- 0.5 * {target} + {self.matrix()}")

    def program(self):
        rng = self.rng
        self.define("b0", "a0 * c", self.matrices)
        for i in range(rng.randint(2, 9)):
            self.store(rng.choice("pq")) if rng.random() < 0.1 else self.statement(f"a{i + 1}")
        for target in "pq":
            if rng.random() < 0.6:
                self.store(target)
        results = list(dict.fromkeys(["b0", *self.names[-3:]]))
        stored = [target for target in "pq" if any(line.startswith(target) for line in self.lines)]
        after = rng.sample(self.names + stored, rng.choice([1, 1, 2]))
        schedule = ["let (rs, ag) = split a0", f"let (part, ends) = reorder ag after {', '.join(after)}"]
        if rng.random() < 0.4:
            schedule.append(f"slice_state {rng.choice('pq')}")
        if rng.random() < 0.7:
            schedule.append("fuse rs, part, ends")
        text = "\n".join([
            "mesh m (r = 2)", "param A = 5", "param B = 3",
            "program f(g: f32[A, B] local, inout p: f32[A, B], inout q: f32[A, B], s: f32[A, B], v: f32[B],",
            "          w: f32[B, B], c: f32) {", "let a0 = all_reduce(sum, g)", *self.lines,
            f"return {', '.join(results)}", "}", "schedule t for f {", *schedule, "}", ""])
        return text, ["p", "q", *results]


def run(tool, folder, outputs, extra):
    words = [f"{name}={folder}/{name}.npy" for name in outputs]
    done = subprocess.run([*tool, f"{folder}/f.ccn", "--run", *extra, *(w for o in words for w in ("--output", o))],
                          capture_output=True, text=True, timeout=120)
    return done, {name: np.load(f"{folder}/{name}.npy") for name in outputs} if done.returncode == 0 else None


def main():
    count, first, tool = int(sys.argv[1]), int(sys.argv[2]), sys.argv[4:]
    same = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(first, first + count):
            generator = Generator(seed)
            text, outputs = generator.program()
            pathlib.Path(folder, "f.ccn").write_text(text)
            mesh, rows = generator.rng.choice([1, 2, 3, 4, 8]), generator.rng.choice([1, 2, 5, 7, 8])
            options = ["--mesh", f"r={mesh}", "-D", f"A={rows}", "--seed", str(seed)]
            done, expected = run(tool, folder, outputs, options)
            assert expected, f"seed {seed}:\n{text}\n{done.stderr}"
            done, found = run(tool, folder, outputs, [*options, "--schedule", "t"])
            if found is None:
                reason = re.search(r"\(\w+_c\d+\)|has the name", done.stderr)
                assert done.returncode == 1 and reason, f"seed {seed}:\n{text}\n{done.stderr}"
                refused += 1
                continue
            same += 1
            for name in outputs:
                a, b = expected[name].astype(np.float64), found[name].astype(np.float64)
                if not np.isfinite(a).all():
                    continue
                limit = TOLERANCE * (np.abs(a) + np.abs(a).max(initial=0))
                assert np.all(np.abs(a - b) <= limit), f"seed {seed}, {mesh} ranks: {name}\n{text}\n{a}\n{b}"
    print(f"{same} the same, {refused} refused")
    assert same > count / 10


main()
