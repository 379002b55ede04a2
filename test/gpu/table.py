#!/usr/bin/env python3
"""The table of what we take beside what others take, of the same run.

    table.py BENCH.json [PEERS.json ...] [--json OUT.json]

BENCH is what run.py leaves, PEERS too, or what peers.py and peer_lamb.py do. A line for each operation and size: every way
that was measured, the fastest of ours, the fastest peer, and their ratio (below 1 we are faster). `target` is that of
four H100, and is left out for other numbers of GPUs; of products joined with collectives, whose size is that of a rank's
product, MxNxK, `alone` is what a peer takes for the product without the collective. Then each operation's schedules side by side.
"""

import argparse
import json

# Microseconds, by operation and size, on four H100.
TARGETS = {
    "all_reduce": {1 << 10: 2.9, 1 << 14: 3.4, 1 << 16: 4.4, 1 << 18: 6.5, 1 << 20: 9.5, 1 << 22: 22, 1 << 24: 76,
                   1 << 26: 288, 1 << 30: 4450},
    "norm": {1: 4.0, 8: 5.5, 64: 10.5, 512: 43, 2048: 152, 8192: 575},
    "adam": {1 << 16: 5, 1 << 20: 13.5, 1 << 24: 155, 1 << 28: 2320},
    "product_scatter": {"8192x8192x2048": 450},
    "product_reduce": {"8192x8192x2048": 680},
    "gather_product": {"8192x2048x8192": 450},
}
# The same as multiples of the product alone, where the product takes longer than the transfer.
TIMES_ALONE = {
    "product_scatter": {"8192x8192x7168": 1.05, "8192x12288x12288": 1.03, "8192x12288x3072": 1.06, "1024x8192x7168": 1.12,
                        "4096x4096x3584": 1.15},
    "product_reduce": {"8192x8192x7168": 1.10, "1024x8192x7168": 1.25},
    "gather_product": {"8192x7168x8192": 1.04, "1024x7168x8192": 1.12},
}
# What peers call our operations, the fields with the size, the section of peers.py that measures them (LAMB has a script
# of its own), and what they call the product without the collective.
PEERS = {"all_reduce": ("allreduce", ["bytes"], "allreduce"), "norm": ("allreduce+residual+rmsnorm", ["tokens"], "norm"),
         "adam": ("adam", ["elements"], "adam"), "lamb": ("lamb", ["elements"], None),
         "product_scatter": ("gemm+rs", ["M", "N", "k"], "gemm", "gemm"),
         "product_reduce": ("gemm+ar", ["M", "N", "k"], "gemm", "gemm"),
         "gather_product": ("ag+gemm", ["M", "N", "k"], "gemm", "column_gemm")}


def fastest(times):
    """The name and time of the fastest; None if there is none."""
    return min(times.items(), key=lambda item: item[1]) if times else None


def peers_of(rows, what, fields, size):
    return {row["peer"]: row["us"] for row in rows
            if row["what"] == what and "x".join(str(row.get(field)) for field in fields) == str(size)}


def sections(operations):
    """The sections of peers.py that measure these operations."""
    return list(dict.fromkeys(PEERS[operation][2] for operation in operations if PEERS[operation][2]))


def make(bench, peers):
    """Rows of the table: a dictionary for each operation, size and number of ranks."""
    ours = {}
    for row in bench:
        key = (row["operation"], row["size"], row["ranks"])
        for name, seconds in row.get("times", {}).items():
            ours.setdefault(key, {})[name] = seconds * 1e6
    table = []
    for (operation, size, ranks), times in ours.items():
        line = {"operation": operation, "size": size, "ranks": ranks, "us": times}
        line["best"], line["bestUs"] = fastest(times)
        what, fields, _, *alone = PEERS[operation]
        line["peers"] = peers_of(peers, what, fields, size)
        if alone and (product := fastest(peers_of(peers, alone[0], fields, size))):
            line["aloneUs"] = product[1]
            if ranks == 4 and size in TIMES_ALONE[operation]:
                line["target"] = product[1] * TIMES_ALONE[operation][size]
        if peer := fastest(line["peers"]):
            line["peer"], line["peerUs"] = peer
            line["ratio"] = line["bestUs"] / line["peerUs"]
        if ranks == 4 and size in TARGETS.get(operation, {}):
            line["target"] = TARGETS[operation][size]
        table.append(line)
    return table


def show(table):
    print(f"{'operation':15} {'size':>15} ranks {'ours, us':>10} {'peer, us':>10} {'ratio':>6} {'target':>7} {'alone':>7}  "
          "the fastest; the fastest peer")
    for line in table:
        cells = [f"{line[key]:{form}}" if key in line else "-" for key, form in
                 (("bestUs", ".2f"), ("peerUs", ".2f"), ("ratio", ".2f"), ("target", ".4g"), ("aloneUs", ".1f"))]
        print(f"{line['operation']:15} {line['size']:>15} {line['ranks']:5} {cells[0]:>10} {cells[1]:>10} {cells[2]:>6} "
              f"{cells[3]:>7} {cells[4]:>7}  {line['best']}; {line.get('peer', '-')}")


def by_schedule(times):
    """The fastest of each schedule, whatever its collectives' algorithms."""
    best = {}
    for name, us in times.items():
        schedule = name.split(":")[0].removeprefix("schedule ")
        best[schedule] = min(us, best.get(schedule, us))
    return best


def show_schedules(table):
    """The schedules of each operation side by side, in microseconds."""
    for operation in dict.fromkeys(line["operation"] for line in table):
        lines = [(line, by_schedule(line["us"])) for line in table if line["operation"] == operation]
        schedules = list(dict.fromkeys(name for _, best in lines for name in best))
        print(f"\n{operation:15} {'size':>15} ranks " + " ".join(f"{name:>12}" for name in schedules))
        for line, best in lines:
            print(f"{'':15} {line['size']:>15} {line['ranks']:5} "
                  + " ".join(f"{best[name]:12.2f}" if name in best else f"{'-':>12}" for name in schedules))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench")
    parser.add_argument("peers", nargs="*")
    parser.add_argument("--json", help="where to write the table, with every time")
    options = parser.parse_args()
    peers = [row for path in options.peers for row in json.load(open(path))]
    table = make(json.load(open(options.bench)), peers)
    show(table)
    show_schedules(table)
    if options.json:
        with open(options.json, "w") as out:
            json.dump(table, out, indent=1)


if __name__ == "__main__":
    main()
