"""Writes the .npy files, right and wrong, of the misuses of arrays.

    make_arrays.py FOLDER
"""

import os
import sys

import numpy as np


def header(text, version=b"\x01\x00"):
    """A file whose header is the text, without elements."""
    return b"\x93NUMPY" + version + len(text).to_bytes(2, "little") + text.encode()


def main():
    folder = sys.argv[1]
    os.chdir(folder)
    right = np.arange(8, dtype=np.float32)
    arrays = {
        "right": right,
        "f64": right.astype(np.float64),
        "i32": right.astype(np.int32),
        "f16": right.astype(np.float16),
        "bool": right > 3,
        "complex": right.astype(np.complex64),
        "text": np.array(["a"] * 8),
        "big-endian": right.astype(">f4"),
        "matrix": right.reshape(2, 4),
        "scalar": np.float32(1),
        "long": np.arange(9, dtype=np.float32),
        "empty": right[:0],
        "two": np.zeros((2, 8), np.float32),
        "three": np.zeros((3, 8), np.float32),
        "ones-i32": np.ones(8, np.int32),
        "zeros-i32": np.zeros(8, np.int32),
        "rows": np.array([0, 1, 8], np.int64),
    }
    for name, array in arrays.items():
        np.save(name, array)
    np.save("objects", np.array([None] * 8), allow_pickle=True)
    np.save("fields", np.zeros(8, [("a", "<f4")]))
    with open("right.npy", "rb") as file:
        data = file.read()
    files = {
        "truncated": data[:-5],
        "too-long": data + b"\0",
        "cut-header": data[:40],
        "cut-magic": data[:5],
        "nothing": b"",
        "no-array": b"x, y\n1, 2\n",
        "version": data[:6] + b"\x09\x00" + data[8:],
        "no-dictionary": header("hello"),
        "no-shape": header("{'descr': '<f4', 'fortran_order': False, }"),
        "negative": header("{'descr': '<f4', 'fortran_order': False, 'shape': (-8,), }"),
        "huge": header("{'descr': '<f4', 'fortran_order': False, "
                       "'shape': (4611686018427387904, 4), }"),
        "huge-header": b"\x93NUMPY\x02\x00\xff\xff\xff\xff" + b" " * 64,
    }
    for name, text in files.items():
        with open(name + ".npy", "wb") as file:
            file.write(text)
    os.mkdir("folder.npy")


if __name__ == "__main__":
    main()
