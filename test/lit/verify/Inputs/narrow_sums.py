"""Sums of f16 that cancel: exact by every algorithm, and checked within a bound.

    narrow_sums.py FOLDER CCRUN CCCOMPILE...
"""

import os
import subprocess
import sys

import numpy as np

folder, ccrun, *cccompile = sys.argv[1:]
os.chdir(folder)


def call(*command, code=0):
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, (command, done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return done.stdout


with open("sum.ccn", "w") as file:
    file.write("""mesh m (dp = 4)
param N = 9
program p(x: f16[N] local) {
  let y = all_reduce(sum, x)
  return y
}
schedule shot for p { algorithm y = one_shot }
schedule two for p { algorithm y = two_shot }
schedule ring for p { algorithm y = ring }
schedule found for p { algorithm y = synth("ring(4)", latency) }
""")


def make(size, *options):
    call(*cccompile, "sum.ccn", "-D", f"N={size}", *options, "--emit", "package", "--cpu", "x86-64", "-o", "p")


def inputs(size, terms):
    x = np.zeros((4, size), np.float16)
    for rank, term in enumerate(terms):
        x[rank] = term
    np.save("x.npy", x)


# Who rounds what three ranks have to f16 has an infinity, or loses the last two terms.
for terms in ((40000, 40000, -40000, -39000), (2048, 1, 1, 1), (60000, 60000, -60000, 3)):
    for size, *options in ((9, "--schedule", "shot"), (9, "--schedule", "two"), (9, "--schedule", "ring"),
                           (9, "--schedule", "found"), (100000, "--topology", "ring(4)", "--search-time", "2")):
        inputs(size, terms)
        make(size, *options)
        text = call(ccrun, "p", "--input", "x=x.npy", "--output", "y=y.npy", "--check")
        assert "check y: same bits" in text, (options, text)
        found = np.load("y.npy")
        assert np.all(found == np.float16(sum(float(np.float16(term)) for term in terms))), (options, terms, np.unique(found))

print("narrow sums are exact")
