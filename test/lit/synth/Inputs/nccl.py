"""Reads what ccsynth nccl wrote, as NCCL would.

    nccl.py GRAPHS.xml TUNER.csv TOPOLOGY.json

Each channel passes each GPU once; the links of a topology without switches carry all channels of a graph at once; and
the rows of each collective cover all sizes once.
"""

import collections
import csv
import json
import sys
import xml.etree.ElementTree

graphs, tuner, topology = sys.argv[1:]
machine = json.load(open(topology))
gpus = [node["name"] for node in machine["nodes"] if node["kind"] == "gpu"]
capacity = {}
for link in machine["links"]:
    capacity[link["from"], link["to"]] = link["GBps"]
    if link.get("duplex"):
        capacity[link["to"], link["from"]] = link["GBps"]
root = xml.etree.ElementTree.parse(graphs).getroot()
assert root.tag == "graphs" and root.get("version") == "1"
for graph, (number, pattern) in zip(root, (("0", "4"), ("1", "3")), strict=True):
    assert (graph.get("id"), graph.get("pattern"), graph.get("crossnic")) == (number, pattern, "0")
    assert int(graph.get("nchannels")) == len(graph) > 0
    assert graph.get("typeintra") in ("NVL", "PIX", "PXB") and graph.get("samechannels") in ("0", "1")
    load = collections.Counter()
    for channel in graph:
        ring = [int(gpu.get("dev"), 16) for gpu in channel]
        # Older versions of NCCL read the number as C does.
        assert ring == [int(gpu.get("dev"), 0) for gpu in channel]
        assert sorted(ring) == list(range(len(gpus))), ring
        for a, b in zip(ring, ring[1:] + ring[:1]):
            load[gpus[a], gpus[b]] += float(graph.get("speedintra"))
    if len(gpus) == len(machine["nodes"]):
        assert all(load[link] <= capacity.get(link, 0) + 1e-6 for link in load), load
    print(f"graph {number}: {len(graph)} channels of {graph.get('speedintra')} GB/s")
ends = {}
for row in csv.reader(line for line in open(tuner) if not line.startswith("#")):
    kind, first, last, algorithm, protocol, channels, nodes, ranks, operations, registered = row
    assert int(first) == ends.get(kind, -1) + 1 and int(last) >= int(first), row
    ends[kind] = int(last)
    assert ends[kind] < 2**64
    assert algorithm in ("ring", "tree") and protocol in ("ll", "simple"), row
    assert int(channels) == len(root[0]) and nodes == "1" and int(ranks) == len(gpus), row
    assert (operations, registered) == ("-1", "-1") and len(",".join(row)) < 256
assert set(ends.values()) == {2**64 - 1}, ends
print("rows for", ", ".join(ends))
