"""Layouts of tensors, as programs' types have them: the state on each axis of the mesh."""

from __future__ import annotations

import re
from typing import Dict, Mapping, NamedTuple, Optional

_STATE = re.compile(r"sliced\((?P<dim>\d+), (?P<sliced>\w+)\)|partial\((?P<reduction>\w+), (?P<partial>\w+)\)"
                    r"|local\((?P<local>\w+)\)")


class AxisState(NamedTuple):
    """The state of a tensor on an axis of the mesh: "replicated", "local", "sliced" along the dimension `dim`, or
    "partial", where the value is the `reduction` of what the ranks hold: "sum", "prod", "max" or "min"."""

    kind: str
    dim: Optional[int] = None
    reduction: Optional[str] = None

    def __str__(self):
        inner = self.reduction if self.dim is None else str(self.dim)
        return self.kind if inner is None else f"{self.kind}({inner})"


def layout_of(type_name: str, mesh: Mapping[str, int]) -> Dict[str, AxisState]:
    """The state on each axis, of "f32[1003] sliced(0, dp)"; sliced axes come first, in the order of the type: of those
    that cut one dimension, the outermost first."""
    found = {}
    for match in _STATE.finditer(type_name):
        if match["sliced"]:
            found[match["sliced"]] = AxisState("sliced", dim=int(match["dim"]))
        elif match["partial"]:
            found[match["partial"]] = AxisState("partial", reduction=match["reduction"])
        else:
            found[match["local"]] = AxisState("local")
    replicated = AxisState("replicated")
    return {**found, **{axis: replicated for axis in mesh if axis not in found}}
