#!/usr/bin/env python3
"""Executes a schedule of ccsynth on numbers and times it, without any code of ccsynth.

  execute.py TOPOLOGY.json SCHEDULE.json [BYTES ...]

Each rank draws random numbers, the sends move and add them as the schedule says,
and what the ranks end with is compared with what the collective is defined to
give. Times follow from the topology's links alone: of whole steps one after the
other, and of sends that start when their data is there and their links are free.
Exit code 1 if the schedule is wrong.
"""

import collections
import heapq
import json
import random
import sys

MAX_EVENTS = 150_000  # larger schedules are timed by steps only


class Wrong(Exception):
    pass


def relation(c):
    """For each chunk the ranks that contribute and those that need it; whether chunks are summed; chunks a buffer."""
    if "chunks" in c:
        return [(x["pre"], x["post"]) for x in c["chunks"]], c["combining"], c["buffer_chunks"]
    name, ranks, each, root = c["name"], c["ranks"], c["chunks_per_node"], c.get("root", 0)
    everyone, owners = list(range(ranks)), [c // each for c in range(ranks * each)]
    if name == "all_to_allv":
        pairs = [((p,), (q,)) for p in everyone for q in everyone for _ in range(c["counts"][p][q] * each)]
        columns = [sum(column) for column in zip(*c["counts"])]
        return pairs, False, each * max([sum(row) for row in c["counts"]] + columns)
    return {
        "all_gather": lambda: ([([p], everyone) for p in owners], False, ranks * each),
        "reduce_scatter": lambda: ([(everyone, [p]) for p in owners], True, ranks * each),
        "gather": lambda: ([([p], [root]) for p in owners], False, ranks * each),
        "scatter": lambda: ([([root], [p]) for p in owners], False, ranks * each),
        "all_reduce": lambda: ([(everyone, everyone)] * each, True, each),
        "broadcast": lambda: ([([root], everyone)] * each, False, each),
        "reduce": lambda: ([(everyone, [root])] * each, True, each),
        "all_to_all": lambda: ([([p], [i * ranks // each]) for p in everyone for i in range(each)], False, each),
    }[name]()


def pick(parts, wanted):
    """The number that distinct parts, each (ranks, number), add up to for exactly the wanted ranks; None if none do."""
    if not wanted:
        return 0
    for ranks, number in parts:
        if min(wanted) in ranks and ranks <= wanted:
            rest = pick(parts, wanted - ranks)
            if rest is not None:
                return number + rest
    return None


def execute(schedule):
    """Raises Wrong unless all ranks end with what they need."""
    chunks, combining, _ = relation(schedule["collective"])
    draw = random.Random(1)
    own, sums, kept = {}, {}, collections.defaultdict(list)  # by (chunk, host): parts as (ranks, number)
    for c, (pre, _) in enumerate(chunks):
        for rank in pre:
            own[c, rank] = sums[c, rank] = (frozenset([rank]), draw.getrandbits(60))
    for number, step in enumerate(schedule["steps"], 1):
        arriving = []
        for send in step["sends"]:
            c, at = send["chunk"], (send["chunk"], send["from"])
            if send["from"] == send["to"] or max(send["from"], send["to"]) >= schedule["hosts"]:
                raise Wrong(f"step {number}: no such hosts: {send}")
            if send.get("sums"):
                wanted = frozenset(send["sums"])
                total = pick([p for p in (sums.get(at), own.get(at)) if p] + kept[at], wanted)
                part = None if total is None else (wanted, total)
            else:
                part = sums.get(at)
            if part is None:
                raise Wrong(f"step {number}: the sender does not have this: {send}")
            arriving.append((send.get("op", "copy"), (c, send["to"]), part))
        written = {}
        for op, to, part in arriving:
            if op == "stash":
                kept[to].append(part)
                continue
            if to in written and "copy" in (op, written[to]):
                raise Wrong(f"step {number}: chunk {to[0]} is written twice at host {to[1]}")
            written[to] = op
            old = sums.get(to, (frozenset(), 0))
            sums[to] = part if op == "copy" else (old[0] | part[0], old[1] + part[1])
    for c, (pre, post) in enumerate(chunks):
        right = sum(own[c, rank][1] for rank in (pre if combining else pre[:1]))
        for rank in post:
            at = (c, rank)
            if sums.get(at, (0, None))[1] == right:
                continue
            if not combining or pick([p for p in (sums.get(at), own.get(at)) if p] + kept[at], frozenset(pre)) != right:
                raise Wrong(f"rank {rank} ends without chunk {c}")


def ways(topology, schedule):
    """For each step the sends as (chunk, from, to, latency, resources); and GB/s by resource, a link or an edge set."""
    hosts = [n["name"] for kind in ("gpu", "cpu") for n in topology["nodes"] if n["kind"] == kind]
    latency, gbps, sets = {}, {}, collections.defaultdict(list)
    for link in topology["links"]:
        for pair in [(link["from"], link["to"])] + [(link["to"], link["from"])] * link.get("duplex", False):
            latency[pair], gbps[pair] = link.get("us", 0), link["GBps"]
    for group in topology.get("edge_sets", []):
        gbps[group["name"]] = group["GBps"]
        for a, b in group["links"]:
            sets[a, b].append(group["name"])
    steps = []
    for step in schedule["steps"]:
        steps.append([])
        for send in step["sends"]:
            path = [hosts[send["from"]], *send.get("via", []), hosts[send["to"]]]
            links = list(zip(path, path[1:]))
            if any(link not in latency for link in links):
                raise Wrong(f"the topology has no way {' '.join(path)}")
            resources = tuple(set(links + [s for link in links for s in sets[link]]))
            steps[-1].append((send["chunk"], send["from"], send["to"], sum(latency[x] for x in links), resources))
    return steps, gbps


def stepwise(steps, gbps, chunk):
    """Microseconds of all steps, each as long as its longest latency and then its busiest resource."""
    total = 0
    for step in steps:
        load = collections.Counter(r for send in step for r in send[4])
        total += max((send[3] for send in step), default=0)
        total += max((n * chunk / gbps[r] / 1000 for r, n in load.items()), default=0)
    return total


def events(steps, gbps, chunk):
    """Microseconds until all has arrived if each send starts when it can; a send waits for what earlier steps bring."""
    sends = [(s, *send) for s, step in enumerate(steps) for send in step]
    arrivals = collections.defaultdict(list)  # by (chunk, host): (step, send)
    for i, (s, c, _, to, _, _) in enumerate(sends):
        arrivals[c, to].append((s, i))
    missing, waits = [0] * len(sends), collections.defaultdict(list)
    for i, (s, c, source, _, _, _) in enumerate(sends):
        for earlier, j in arrivals[c, source]:
            if earlier < s:
                missing[i] += 1
                waits[j].append(i)
    free, last = collections.defaultdict(float), 0.0
    lines, moments = collections.defaultdict(list), []  # by way the sends that are ready; when to look at a way
    queued = set()

    def offer(i, now):
        way = sends[i][5]
        heapq.heappush(lines[way], i)
        if way not in queued:
            queued.add(way)
            heapq.heappush(moments, (now, lines[way][0], way))

    for i, count in enumerate(missing):
        if count == 0:
            offer(i, 0.0)
    later, ready = [], [0.0] * len(sends)  # sends whose data is on its way
    while moments or later:
        if later and (not moments or later[0][0] <= moments[0][0]):
            now, i = heapq.heappop(later)
            offer(i, now)
            continue
        now, _, way = heapq.heappop(moments)
        start = max(free[r] for r in way)
        if start > now:
            heapq.heappush(moments, (start, lines[way][0], way))
            continue
        i = heapq.heappop(lines[way])
        for r in way:
            free[r] = now + chunk / gbps[r] / 1000
        end = now + sends[i][4] + max(chunk / gbps[r] / 1000 for r in way)
        last = max(last, end)
        queued.discard(way)
        if lines[way]:
            queued.add(way)
            heapq.heappush(moments, (max(free[r] for r in way), lines[way][0], way))
        for j in waits[i]:
            missing[j] -= 1
            ready[j] = max(ready[j], end)
            if not missing[j]:
                heapq.heappush(later, (ready[j], j))
    return last


def times(topology, schedule, sizes):
    """For each size in bytes, microseconds by steps and by events (None where there are too many sends)."""
    steps, gbps = ways(topology, schedule)
    buffer, few = relation(schedule["collective"])[2], sum(map(len, steps)) <= MAX_EVENTS
    return [(stepwise(steps, gbps, b / buffer), events(steps, gbps, b / buffer) if few else None) for b in sizes]


def main():
    topology, schedule = (json.load(open(name)) for name in sys.argv[1:3])
    try:
        execute(schedule)
        sizes = [float(text) for text in sys.argv[3:]]
        for size, (whole, event) in zip(sizes, times(topology, schedule, sizes)):
            print(f"{size:.0f} bytes: {whole:.3f} us by steps" + (f", {event:.3f} us by events" if event else ""))
    except Wrong as wrong:
        print(f"{sys.argv[2]}: {wrong}")
        sys.exit(1)
    print(f"{schedule['collective'].get('name', 'collective')}: executed, all ranks have what they need")


if __name__ == "__main__":
    main()
