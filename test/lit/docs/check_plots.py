"""Fails if a plot is no XML, or has points outside of its frame.

    check_plots.py FILE.svg...
"""

import sys
import xml.etree.ElementTree as tree

for path in sys.argv[1:]:
    top = tree.parse(path).getroot()
    width, height = (float(number) for number in top.get("viewBox").split()[2:])
    lines = [line.get("points").split() for line in top if line.tag.endswith("polyline")]
    dots = [f"{dot.get('cx')},{dot.get('cy')}" for dot in top if dot.tag.endswith("circle")]
    assert dots and max(map(len, lines)) > 3, path
    for point in [point for line in lines for point in line] + dots:
        x, y = (float(number) for number in point.split(","))
        assert 0 < x < width and 0 < y < height, (path, point)
    # Larger sizes are to the right, and what takes longer is above.
    for line in [line for line in lines if len(line) > 1]:
        ends = [[float(number) for number in point.split(",")] for point in (line[0], line[-1])]
        assert ends[0][0] < ends[1][0] and ends[0][1] > ends[1][1], (path, line)
print(f"{len(sys.argv) - 1} plots")
