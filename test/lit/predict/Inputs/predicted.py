"""Says what a prediction holds: predicted.py json|trace FILE."""

import json
import sys

kind, path = sys.argv[1:]
with sys.stdin if path == "-" else open(path) as file:
    data = json.load(file)
if kind == "json":
    launches = data["launches"]
    print("program", data["program"], "machine", data["machine"], "ranks", data["ranks"], "launches", len(launches))
    for launch in launches:
        us = launch["end_us"] - launch["begin_us"]
        assert abs(us - sum(launch["us"].values())) < 0.01 and launch["bound_by"] in launch["us"], launch
        assert launch["us"][launch["bound_by"]] == max(launch["us"].values()), launch
    print("bounds add up")
    assert max(launch["end_us"] for launch in launches) <= data["total_us"], data
    print("the last ends before the run")
else:
    events = data["traceEvents"]
    print("names", ", ".join(event["args"]["name"] for event in events if event["ph"] == "M"))
    launches = [event for event in events if event["ph"] == "X"]
    ends = {}
    for launch in launches:
        key = launch["pid"], launch["tid"]
        assert launch["ts"] >= ends.get(key, 0) - 0.01, launch
        ends[key] = launch["ts"] + launch["dur"]
    print(len(launches), "launches, of one stream one after the other")
