#!/usr/bin/env python3
"""Exchanges .npy files with NumPy: npy_interop.py NpyCopy

NumPy writes, NpyCopy copies through ccn's reader and writer, NumPy reads.
"""

import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("NumPy is not installed: skipped")
    sys.exit(77)

copier = sys.argv[1]
failures = 0


def copy(source, target):
    return subprocess.run([copier, source, target], capture_output=True, text=True)


def check(condition, what):
    global failures
    if not condition:
        failures += 1
        print("FAILED:", what)


def save(path, array, version):
    with open(path, "wb") as file:
        np.lib.format.write_array(file, array, version=version)


with tempfile.TemporaryDirectory() as folder:
    source, target = os.path.join(folder, "in.npy"), os.path.join(folder, "out.npy")
    random = np.random.default_rng(1)
    types = ["f2", "f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "b1", "V1", "V2"]
    shapes = [(), (1,), (7,), (0,), (3, 4), (0, 5), (5, 0), (2, 3, 4), (2, 1, 3, 1)]
    copies = 0
    for name in types:
        for shape in shapes:
            for order in "CF":
                for version in [(1, 0), (2, 0), (3, 0)]:
                    dtype = np.dtype(name)
                    size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
                    raw = random.integers(0, 2 if name == "b1" else 256, size, dtype=np.uint8)
                    array = np.frombuffer(raw.tobytes(), dtype=dtype).reshape(shape).copy(order=order)
                    what = f"{name} {shape} {order} {version}"
                    save(source, array, version)
                    if os.path.exists(target):
                        os.remove(target)
                    result = copy(source, target)
                    check(result.returncode == 0, what + ": " + result.stderr)
                    if result.returncode != 0:
                        continue
                    back = np.load(target)
                    check(back.dtype == dtype and back.shape == shape, what + " type or shape")
                    check(back.tobytes() == array.tobytes(), what + " elements")
                    copies += 1

    refused = [
        ("big-endian", np.zeros(3, ">f4"), "big-endian"),
        ("complex", np.zeros(3, "c8"), "<c8"),
        ("string", np.array(["abc"]), "<U3"),
        ("bytes", np.array([b"abc"]), "|S3"),
        ("date", np.zeros(3, "M8[ns]"), "<M8[ns]"),
        ("structured", np.zeros(3, [("a", "f4"), ("b", "i4")]), "structured"),
        ("object", np.array([None, {}]), "Python objects"),
        ("raw", np.zeros(3, "V3"), "|V3"),
    ]
    for what, array, message in refused:
        np.save(source, array, allow_pickle=True)
        result = copy(source, target)
        check(result.returncode == 1 and message in result.stderr, what + ": " + result.stderr)

    np.savez(source + ".npz", a=np.zeros(3))
    result = copy(source + ".npz", target)
    check(result.returncode == 1 and "not a .npy file" in result.stderr, "npz: " + result.stderr)

print(f"{copies} files copied, {len(refused) + 1} refused, {failures} failures")
sys.exit(1 if failures else 0)
