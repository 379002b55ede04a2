"""Every collective on meshes of one to three axes with ragged slices, against its
definition on external arrays: a local or partial tensor has a leading dimension for
each mesh axis along which it is that, in the mesh's order; a sliced one is whole.

Elements are small integers, so that sums are exact in every type and order, and
results are compared bit for bit.
"""

import itertools
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))

import numpy as np

from elements import ALL, BF16, BOOL, F16, F32, F64, F8E4M3, F8E5M2, I8, I32, I64, U8, U16, U64, Tensor
from harness import Batch, main

REDUCE = {"sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum}

# The states of a tensor of two dimensions along an axis.
STATES = ["R", "S0", "S1", "L", "P"]


def spell(axis, state):
    if state == "R":
        return ""
    if state[0] == "S":
        return "sliced(%s, %s)" % (state[1], axis)
    return "local(%s)" % axis if state == "L" else "partial(sum, %s)" % axis


class Operand:
    """A tensor in given states along the mesh's axes, drawn at random."""

    def __init__(self, rng, mesh, states, shape, element):
        self.mesh, self.states, self.element = mesh, list(states), element
        self.leading = [a for a, s in zip(mesh, states) if s in "LP"]
        full = [mesh[a] for a in self.leading] + list(shape)
        values = rng.integers(0, 2 if element is BOOL else 3, full)
        self.x = values.astype(np.float64 if element.kind == "f" else element.storage)

    def layout(self):
        return " ".join(filter(None, map(spell, self.mesh, self.states)))

    def tensor(self, x=None):
        x = self.x if x is None else x
        return Tensor.of(self.element, x) if self.element.kind == "f" else Tensor(self.element, x)

    def position(self, axis):
        """The leading dimension of an axis along which it is local or partial, or
        where that would go."""
        before = list(self.mesh)[: list(self.mesh).index(axis)]
        return sum(a in self.leading for a in before)


def moved(x, dim, shift):
    """What ranks have after a send by `shift` along dimension dim."""
    result = x.copy()
    n = x.shape[dim]
    for i in range(n):
        if 0 <= i - shift < n:
            index = [slice(None)] * x.ndim
            source = list(index)
            index[dim], source[dim] = i, i - shift
            result[tuple(index)] = x[tuple(source)]
    return result


def reduced(kind, x, dim):
    with np.errstate(all="ignore"):
        if x.dtype.kind == "b":
            return x.any(dim) if kind == "max" else x.all(dim)
        return REDUCE[kind].reduce(x, dim, dtype=x.dtype)


def with_root(x, dim, root, value, others=None):
    """x (or `others` everywhere) with `value` at the root's place."""
    result = x.copy() if others is None else np.full_like(x, others)
    index = [slice(None)] * x.ndim
    index[dim] = root
    result[tuple(index)] = value
    return result


def try_all(batch, rng, operand, axis):
    """Adds every collective along the axis that takes the operand's state there."""
    name = batch.argument(operand.tensor(), operand.layout(), len(operand.leading))
    state = operand.states[list(operand.mesh).index(axis)]
    n, x, at = operand.mesh[axis], operand.x, operand.position(axis)
    root = int(rng.integers(n))
    let = lambda expression, value: batch.let(expression % {"x": name, "a": axis, "r": root},
                                              operand.tensor(value))
    number = operand.element is not BOOL
    if state in ("L", "P"):
        for kind in REDUCE:
            # Another reduction would not commute with a sum that is pending, along
            # whichever axis.
            if (kind != "sum" and "P" in operand.states) or (kind in ("sum", "prod") and not number):
                continue
            whole = reduced(kind, x, at)
            let("all_reduce(%s, %%(x)s, %%(a)s)" % kind, whole)
            let("reduce(%s, %%(x)s, %%(r)d, %%(a)s)" % kind, with_root(x, at, root, whole))
            for d in (0, 1):
                let("reduce_scatter(%s, %%(x)s, %d, %%(a)s)" % (kind, d), whole)
        if state == "P":
            return
        picked = np.take(x, root, at)
        let("broadcast(%(x)s, %(r)d, %(a)s)", picked)
        for d in (0, 1):
            let("scatter(%%(x)s, %%(r)d, %d, %%(a)s)" % d, picked)
        for shift in (1, -1, 2, -3):
            if n == 1 or abs(shift) < n:
                let("send(%%(x)s, %%(a)s, %+d)" % shift, moved(x, at, shift))
    elif state == "R":
        for d in (0, 1):
            let("slice(%%(x)s, %d, %%(a)s)" % d, x)
    else:
        # An axis may not be taken from between others.
        same = [a for a, s in zip(operand.mesh, operand.states) if s == state]
        if same[-1] != axis:
            return
        let("all_gather(%(x)s, %(a)s)", x)
        if len(same) > 1:
            let("all_gather(%%(x)s, %s)" % ", ".join(same), x)
        local = np.repeat(np.expand_dims(x, at), n, at)
        let("gather(%(x)s, %(r)d, %(a)s)", with_root(local, at, root, x, 0))
        d = int(state[1])
        let("all_to_all(%%(x)s, %d -> %d, %%(a)s)" % (d, 1 - d), x)


def one_axis(runner):
    """Every element type, every size of mesh."""
    rng = np.random.default_rng(1)
    for n, shape in [(1, (3, 2)), (2, (5, 3)), (3, (4, 7)), (4, (1, 2)), (5, (6, 0)), (8, (3, 9))]:
        for element in ALL:
            mesh = {"a": n}
            batch = Batch(mesh, "%s%s on %d ranks" % (element, shape, n))
            for state in STATES:
                if state != "P" or element is not BOOL:
                    operand = Operand(rng, mesh, [state], shape, element)
                    # Scaled down for the products of 8-bit types.
                    try_all(batch, rng, operand, "a")
            batch.run(runner)


def two_axes(runner):
    """Every state along one axis beside every state along the other."""
    rng = np.random.default_rng(2)
    elements = [F32, BF16, U8, F16, I64]
    for i, (sizes, shape) in enumerate([((2, 3), (5, 7)), ((3, 2), (2, 1)), ((1, 4), (3, 3)), ((4, 2), (9, 2)), ((2, 2), (0, 3))]):
        mesh = dict(zip("ab", sizes))
        batch = Batch(mesh, "%s%s on %s" % (elements[i], shape, sizes))
        for states in itertools.product(STATES, STATES):
            operand = Operand(rng, mesh, states, shape, elements[i])
            for axis in mesh:
                try_all(batch, rng, operand, axis)
            both = reduced_both(operand)
            if both is not None:
                name = list(batch.inputs)[-1]
                batch.let("all_reduce(sum, %s, a, b)" % name, operand.tensor(both))
                batch.let("reduce_scatter(sum, %s, 1, b, a)" % name, operand.tensor(both))
        batch.run(runner)


def reduced_both(operand):
    if any(s not in "LP" for s in operand.states):
        return None
    return reduced("sum", reduced("sum", operand.x, 0), 0)


def three_axes(runner):
    rng = np.random.default_rng(3)
    elements = [F32, F16, I32]
    for element, sizes, shape in zip(elements, [(2, 2, 2), (1, 3, 2), (3, 1, 2)], [(5, 7), (4, 3), (1, 6)]):
        mesh = dict(zip("abc", sizes))
        batches = {}
        for states in itertools.product(STATES, STATES, STATES):
            operand = Operand(rng, mesh, states, shape, element)
            batch = batches.setdefault(
                states[0], Batch(mesh, "%s%s on %s %s" % (element, shape, sizes, states[0])))
            try_all(batch, rng, operand, str(rng.choice(list(mesh))))
        for batch in batches.values():
            batch.run(runner)


def resharded(operand, target):
    """The external array after a reshard, or None where it is not legal."""
    x, leading = operand.x, list(operand.leading)
    position = lambda axis: sum(a in leading for a in list(operand.mesh)[: list(operand.mesh).index(axis)])
    for axis, before, after in zip(operand.mesh, operand.states, target):
        at = position(axis)
        if before == "L":
            if after != "L":
                return None
        elif before == "P":
            # Nobody would know of the sum that is pending.
            if after == "L":
                return None
            if after in ("R", "S0", "S1"):
                x = reduced("sum", x, at)
                leading.remove(axis)
        elif after == "L" and before == "R":
            x = np.repeat(np.expand_dims(x, at), operand.mesh[axis], at)
            leading.append(axis)
        elif after not in ("R", "S0", "S1"):
            return None
    return x


def reshards(runner):
    """Every legal change of layout on a mesh of two axes, and some of three."""
    rng = np.random.default_rng(4)
    for sizes, shape, element in [((2, 3), (5, 7), F32), ((3, 2), (1, 4), F16), ((1, 2), (3, 0), BF16),
                                  ((4, 2), (3, 10), U16)]:
        mesh = dict(zip("ab", sizes))
        pairs = itertools.product(itertools.product(STATES, repeat=2), repeat=2)
        reshard(runner, rng, mesh, shape, element, pairs)
    for sizes, shape, element in [((2, 2, 2), (7, 5), F32), ((2, 1, 3), (4, 2), I8)]:
        mesh = dict(zip("abc", sizes))
        triples = list(itertools.product(STATES, repeat=3))
        pairs = [(triples[i], triples[j]) for i, j in rng.integers(0, 125, (3000, 2))]
        reshard(runner, rng, mesh, shape, element, pairs)


def reshard(runner, rng, mesh, shape, element, pairs):
    batch = Batch(mesh, "reshard %s%s on %s" % (element, shape, mesh))
    names = {}
    for source, target in pairs:
        if source not in names:
            operand = Operand(rng, mesh, source, shape, element)
            names[source] = operand, batch.argument(operand.tensor(), operand.layout(), len(operand.leading))
        operand, name = names[source]
        x = resharded(operand, target)
        if x is None:
            continue
        states = [spell(a, s) for a, s in zip(mesh, target) if s != "R"] or ["replicated"]
        # The order in which axes cut the same dimension is part of the layout.
        for order in (states, states[::-1]) if len(set(states)) > 1 else (states,):
            batch.let("reshard(%s, %s)" % (name, " ".join(order)), operand.tensor(x))
        if len(batch.lets) > 300:
            batch.run(runner)
            batch, names = Batch(batch.mesh, batch.title), {}
    if batch.expected:
        batch.run(runner)


if __name__ == "__main__":
    main({f.__name__: f for f in (one_axis, two_axes, three_axes, reshards)})
