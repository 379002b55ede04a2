#!/usr/bin/env python3
"""Shows that a rank sends sums of one chunk while it multiplies the next.

usage: overlap.py CCRUN PACKAGE TRACE
"""

import json
import subprocess
import sys


def overlaps(trace):
    """Parts of kernels that communicate during a product of a later launch."""
    with open(trace, encoding="utf-8") as file:
        spans = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X" and "part" in e["args"]]
    products = [e for e in spans if e["name"] == "matmul"]
    others = [e for e in spans if e["name"] == "rows"]
    return [
        (other, product)
        for other in others
        for product in products
        if other["pid"] == product["pid"]
        and other["tid"] != product["tid"]
        and product["args"]["index"] > other["args"]["index"]
        and product["ts"] < other["ts"] + other["dur"]
        and other["ts"] < product["ts"] + product["dur"]
    ]


def main(ccrun, package, trace):
    # A busy machine may run one thread after the other; not each time.
    for _ in range(20):
        subprocess.run([ccrun, package, "--trace", trace], check=True, stdout=subprocess.DEVNULL)
        if overlaps(trace):
            return 0
    print("no chunk travelled during the product of the next")
    return 1


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
