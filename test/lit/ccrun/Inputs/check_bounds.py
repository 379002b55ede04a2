"""What `ccrun --check` lets pass: exactly what rounding may make of a sum.

    check_bounds.py FOLDER CCRUN CCCOMPILE...

A package's plan is changed so that it multiplies a sum by another factor than the reference plan. The limit follows
from the number of terms, the types and the magnitudes of the terms (lib/Verify/ErrorBound.h); the largest float that is
within it passes, and the next one is found.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys

import numpy as np

folder, ccrun, *cccompile = sys.argv[1:]
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)


def call(*command, code=0):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == code, (command, done.returncode, done.stdout[-2000:], done.stderr[-4000:])
    return done.stdout + done.stderr


def change(name, edit):
    """Rewrites a package after `edit` has changed what its JSON says."""
    data = open(name, "rb").read()
    size = int.from_bytes(data[24:32], "little")
    code = data[(64 + size + 63) // 64 * 64:]
    description = json.loads(data[64:64 + size])
    edit(description)
    text = json.dumps(description).encode()
    body = text + bytes(-len(text) % 64) + code
    header = data[:16] + (64 + len(body)).to_bytes(8, "little") + len(text).to_bytes(8, "little")
    with open("changed-" + name, "wb") as file:
        file.write(header + hashlib.sha256(header + body).digest() + body)
    return "changed-" + name


def swap_factors(description):
    loops = [loop for launch in description["plan"]["launches"] for part in launch["parts"] if part["kind"] == "rows"
             for loop in part["loops"] if loop["function"]]
    functions = [loop["function"] for loop in loops]
    assert len(set(functions)) == 2, functions
    for loop in loops:
        loop["function"] = functions[functions[0] == loop["function"]]


def limit(terms, element, factor):
    """How far `factor` times the sum of one term a rank may be off from another order's."""
    u, smallest = {"f16": (2.0 ** -11, 2.0 ** -24), "f32": (2.0 ** -24, 2.0 ** -149), "f64": (2.0 ** -53, 2.0 ** -1074)}[element]
    ranks, total, magnitude = len(terms), abs(sum(terms)), sum(map(abs, terms))
    # Sums of 16-bit floats are added in f32, and rounded when they are whole.
    partial, lost = min((u, smallest), (2.0 ** -24, 2.0 ** -149))
    k = (2 * ranks + ranks + 2) * partial
    error = k / (1 - k) * magnitude + ranks * lost
    error += 2 * u * (total + error) + smallest
    error *= factor
    error += 2 * u * (factor * total + error) + smallest
    # Either result may be off by as much, and the bounds are rounded too.
    return 4 * error


found = 0
for element, numpy in (("f16", np.float16), ("f32", np.float32), ("f64", np.float64)):
    for ranks in (2, 4):
        # The terms cancel, or do not: the magnitudes count. Some sums of a few of them are more than an f16 may be.
        most = [[40000, 40000, -40000, -38976]] if element == "f16" and ranks == 4 else []
        for terms in ([1.0] * ranks, [3.0, -1.0] * (ranks // 2), *most):
            total = sum(terms)
            for name in ("x", "w"):
                np.save(f"{name}.npy", np.repeat(np.array(terms, numpy)[:, None], 5, 1))
            most = numpy(2 * total + limit(terms, element, 2))
            if most > 2 * total + limit(terms, element, 2):
                most = np.nextafter(most, numpy(0))
            for value, code in ((most, 0), (np.nextafter(most, numpy(np.inf)), 4)):
                # The sum is a power of two, so that this is the result.
                factor = repr(float(value / numpy(total)))
                with open("p.ccn", "w") as file:
                    file.write(f"""mesh m (dp = {ranks})
program p(x: {element}[5] local, w: {element}[5] local) {{
  let y = 2 * all_reduce(sum, x)
  let z = {factor} * all_reduce(sum, w)
  return y, z
}}
schedule s for p {{
  algorithm y = two_shot
}}
""")
                call(*cccompile, "p.ccn", "--schedule", "s", "--emit", "package", "--cpu", "x86-64", "-o", "p")
                arguments = ["--check", "--input", "x=x.npy", "--input", "w=w.npy"]
                assert call(ccrun, "p", *arguments).endswith("check y: same bits\ncheck z: same bits\n")
                text = call(ccrun, change("p", swap_factors), *arguments, code=code)
                assert f"check y: off by {value - numpy(2 * total):g} at [" in text or element == "f64", (text, value)
                assert ("expected at most" if code else "within") in text.split("check y")[1].split("\n")[0], text
                found += 1

# What has no bound, or an exact result, must be the same.
def without_bounds(description):
    swap_factors(description)
    description["bounds"], description["bounded"] = None, []
text = call(ccrun, change("p", without_bounds), *arguments, code=4)
assert ", expected at most 0, and 4 others\n" in text, text


# Bounds that are not of this program.
def other_output(description):
    description["bounded"][0] = 0
text = call(ccrun, change("p", other_output), *arguments, code=2)
assert text == "ccrun: error: 'changed-p': the error bounds are of another program\n", text
print(found, "limits")
