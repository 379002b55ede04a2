"""Writes broken bytecode, from the whole one that ccn-opt made.

    make_ir.py FOLDER WHOLE
"""

import os
import sys


def main():
    folder, whole = sys.argv[1:]
    with open(whole, "rb") as file:
        data = file.read()
    broken = {
        "truncated": data[:len(data) // 2],
        "header-only": data[:8],
        "magic-only": data[:4],
        "version": data[:4] + b"\x7f" + data[5:],
        "flipped": data[:60] + bytes([data[60] ^ 255]) + data[61:],
        "garbage": data[:16] + bytes(range(256)) * 4,
    }
    for name, text in broken.items():
        with open(os.path.join(folder, name + ".mlir"), "wb") as file:
            file.write(text)


if __name__ == "__main__":
    main()
