#!/usr/bin/env python3
"""The table of what we take beside what others take, of the same run.

    table.py BENCH.json [PEERS.json ...] [--json OUT.json]

BENCH is what run.py leaves, PEERS too, or what peers.py and peer_lamb.py do. A line for each operation and size: every way
that was measured, the fastest of ours, the fastest peer, and their ratio (below 1 we are faster). `target` is that of
four H100, and is left out for other numbers of GPUs. Then each operation's schedules side by side.
"""

import argparse
import json

# Microseconds, by operation and size, on four H100.
TARGETS = {
    "all_reduce": {1 << 10: 2.9, 1 << 14: 3.4, 1 << 16: 4.4, 1 << 18: 6.5, 1 << 20: 9.5, 1 << 22: 22, 1 << 24: 76,
                   1 << 26: 288, 1 << 30: 4450},
    "norm": {1: 4.0, 8: 5.5, 64: 10.5, 512: 43, 2048: 152, 8192: 575},
    "adam": {1 << 16: 5, 1 << 20: 13.5, 1 << 24: 155, 1 << 28: 2320},
}
# What peers call our operations, and the field with the size.
PEERS = {"all_reduce": ("allreduce", "bytes"), "norm": ("allreduce+residual+rmsnorm", "tokens"),
         "adam": ("adam", "elements"), "lamb": ("lamb", "elements")}


def fastest(times):
    """The name and time of the fastest; None if there is none."""
    return min(times.items(), key=lambda item: item[1]) if times else None


def peers_of(rows, operation, size):
    what, field = PEERS[operation]
    return {row["peer"]: row["us"] for row in rows if row["what"] == what and row.get(field) == size}


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
        line["peers"] = peers_of(peers, operation, size)
        if peer := fastest(line["peers"]):
            line["peer"], line["peerUs"] = peer
            line["ratio"] = line["bestUs"] / line["peerUs"]
        if ranks == 4 and size in TARGETS.get(operation, {}):
            line["target"] = TARGETS[operation][size]
        table.append(line)
    return table


def show(table):
    print(f"{'operation':11} {'size':>11} ranks {'ours, us':>10} {'peer, us':>10} {'ratio':>6} {'target':>7}  "
          "the fastest; the fastest peer")
    for line in table:
        cells = [f"{line[key]:{form}}" if key in line else "-" for key, form in
                 (("bestUs", ".2f"), ("peerUs", ".2f"), ("ratio", ".2f"), ("target", "g"))]
        print(f"{line['operation']:11} {line['size']:11} {line['ranks']:5} {cells[0]:>10} {cells[1]:>10} {cells[2]:>6} "
              f"{cells[3]:>7}  {line['best']}; {line.get('peer', '-')}")


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
        print(f"\n{operation:11} {'size':>11} ranks " + " ".join(f"{name:>12}" for name in schedules))
        for line, best in lines:
            print(f"{'':11} {line['size']:11} {line['ranks']:5} "
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
