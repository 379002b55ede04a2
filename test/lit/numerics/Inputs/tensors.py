"""Reductions, norms, products, convolution and movement against NumPy: every element
type; replicated, cut and local operands; dimensions that do not divide, are smaller
than the mesh, 1 or 0.

Integers are compared bit for bit, and so is what only moves or picks elements. Sums
and products of floats are within the bounds of bounded.py: sums of n elements that
accumulate in f32 (16- and 8-bit floats) or f64 within (n - 1) unit roundoffs of the
sum of magnitudes, and one rounding of each rank's part and of the result.
"""

import itertools
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))

import numpy as np

from bounded import Bounded, all_reduce, slices
from elements import (ALL, BF16, BOOL, F16, F32, F64, FLOATS, I16, I32, I64, I8, INTEGERS, NUMBERS,
                      U16, U32, U64, U8, Tensor)
from harness import Batch, main


def draw(rng, element, shape):
    if element.kind == "f":
        return Tensor.of(element, rng.standard_normal(shape))
    if element.kind == "b":
        return Tensor(element, rng.integers(0, 2, shape).astype(bool))
    info = np.iinfo(element.storage)
    return Tensor(element, rng.integers(info.min, info.max, shape, element.storage, endpoint=True))


def widened(bounded):
    return bounded.cast(F32) if bounded.element.narrow else bounded


def f64_slack(bounded):
    """In f64 the reference's own errors are of the same size, of exp's too."""
    if bounded.element is F64:
        bounded.e = 8 * bounded.e
    return bounded


#
# Reductions
#


def lowest(element, kind):
    """A maximum or minimum of nothing: the type's least or greatest value."""
    sign = -1 if kind == "max" else 1
    if element.kind == "f":
        infinite = np.isinf(element.round(np.inf))
        return sign * (np.inf if infinite else element.max)
    if element.kind == "b":
        return kind == "min"
    info = np.iinfo(element.storage)
    return info.min if kind == "max" else info.max


def parts(tensor, cut, ranks):
    """The ranks' slices of a tensor, along the dimension cut (None: whole)."""
    if cut is None:
        return [tensor.stored]
    index = [slice(None)] * tensor.stored.ndim
    pieces = []
    for s in slices(tensor.shape[cut], ranks):
        index[cut] = s
        pieces.append(tensor.stored[tuple(index)])
    return pieces


def reduction(kind, tensor, dims, cut=None, ranks=1):
    """What a reduction gives, after the sum over ranks where it goes over a cut."""
    element, axes = tensor.element, tuple(dims)
    x = tensor.stored
    count = int(np.prod([x.shape[d] for d in dims]))
    shape = [s for d, s in enumerate(x.shape) if d not in dims]
    if kind in ("max", "min"):
        if count == 0:
            return Tensor.of(element, np.full(shape, lowest(element, kind)))
        values = tensor.values
        with np.errstate(invalid="ignore"):
            result = values.max(axes) if kind == "max" else values.min(axes)
        return Tensor.of(element, result)
    if element.kind != "f":
        function = np.sum if kind == "sum" else np.prod
        return Tensor(element, function(x, axes, dtype=element.storage))
    divisor = count if kind == "mean" else 1
    if kind == "mean" and count == 0:
        return Bounded(element, np.full(shape, np.nan))
    results = []
    for piece in parts(tensor, cut if cut in dims else None, ranks):
        part = Bounded.exact(Tensor(element, piece))
        if kind == "prod":
            v = part.v.prod(axes)
            n = part.v.size // max(1, v.size)
            results.append(part._rounded(v, n * element.accumulator * np.abs(v)))
        else:
            results.append(part.sum(axes, divisor))
    if kind != "prod" or len(results) == 1:
        return all_reduce(results)
    product = results[0]
    for other in results[1:]:
        # Across ranks f32, and one rounding.
        product = product * other
    return product


def reductions(runner):
    rng = np.random.default_rng(1)
    every = [(0,), (1,), (2,), (0, 2), (0, 1, 2)]
    for element, (ranks, shape) in itertools.product(
            ALL, [(1, (3, 4, 5)), (3, (4, 7, 2)), (4, (2, 1, 9)), (2, (3, 0, 2))]):
        batch = Batch({"a": ranks}, "reduce %s%s on %d" % (element, shape, ranks))
        kinds = ["max", "min"]
        kinds += ["sum", "prod"] if element.kind != "b" else []
        kinds += ["mean"] if element.kind == "f" else []
        x = draw(rng, element, shape)
        for cut, dims, kind in itertools.product([None, 0, 1, 2], every, kinds):
            name = batch.argument(x, "sliced(%d)" % cut if cut is not None else "")
            call = "%s(%s, [%s])" % (kind, name, ", ".join(map(str, dims)))
            if len(dims) == 1 and kind not in ("max", "min"):
                call = "%s(%s, %d)" % (kind, name, dims[0])
            elif len(dims) == 3:
                call = "%s(%s)" % (kind, name)
            if cut in dims:
                across = "sum" if kind == "mean" else kind
                call = "all_reduce(%s, %s)" % (across, call)
            batch.let(call, reduction(kind, x, dims, cut, ranks))
        local = draw(rng, element, (ranks,) + shape)
        name = batch.argument(local, "local", 1)
        for dims, kind in itertools.product(every, kinds):
            each = [reduction(kind, Tensor(element, t), dims) for t in local.stored]
            stacked = (Tensor(element, np.stack([t.stored for t in each])) if isinstance(each[0], Tensor)
                       else Bounded(element, np.stack([t.v for t in each]), np.stack([t.e for t in each])))
            batch.let("%s(%s, [%s])" % (kind, name, ", ".join(map(str, dims))), stacked)
        batch.run(runner)


def reduce_nan(runner):
    """NaN wins a maximum and a minimum; infinities; the order of zeros."""
    batch = Batch({"a": 2}, "NaN")
    for element in FLOATS:
        inf = np.inf if np.isinf(element.round(np.inf)) else element.max
        rows = [[1, np.nan, 3], [np.nan] * 3, [inf, 2, -inf], [-inf] * 3, [-1, -2, -3]]
        x = Tensor.of(element, rows)
        cut = batch.argument(x, "sliced(1)")
        whole = batch.argument(x)
        with np.errstate(invalid="ignore"):
            for kind, value in [("max", np.max(x.values, 1)), ("min", np.min(x.values, 1))]:
                batch.let("%s(%s, [1])" % (kind, whole), Tensor.of(element, value))
                batch.let("all_reduce(%s, %s(%s, [1]))" % (kind, kind, cut), Tensor.of(element, value))
    batch.run(runner)


#
# Norms
#


def exponential(x):
    """exp of values with errors e: they become factors."""
    v = np.exp(x.v)
    return x._rounded(v, v * np.expm1(np.minimum(x.e, 1)))


def keep(x, axis):
    return x.map(lambda a: np.expand_dims(a, axis))


def mean(x, axis, ranks):
    """A mean over a dimension that is cut along the ranks, each part divided."""
    pieces = [Bounded(x.element, np.take(x.v, range(s.start, s.stop), axis),
                      np.take(x.e, range(s.start, s.stop), axis)) for s in slices(x.shape[axis], ranks)]
    return keep(all_reduce([p.sum(axis, x.shape[axis]) for p in pieces]), axis)


def total(x, axes, ranks):
    axis = axes[0]
    pieces = [Bounded(x.element, np.take(x.v, range(s.start, s.stop), axis),
                      np.take(x.e, range(s.start, s.stop), axis)) for s in slices(x.shape[axis], ranks)]
    return all_reduce([p.sum(axes) for p in pieces])


def softmax(x, axis, ranks):
    wide = widened(x)
    power = exponential(wide - Bounded(wide.element, wide.v.max(axis, keepdims=True)))
    return (power / keep(total(power, (axis,), ranks), axis)).cast(x.element)


def layer_norm(x, gamma, beta, eps, ranks):
    wide = widened(x)
    centred = wide - mean(wide, -1 + x.v.ndim, ranks)
    variance = mean(centred * centred, -1 + x.v.ndim, ranks)
    scaled = centred * (variance + eps).rsqrt() * widened(gamma)
    return (scaled + widened(beta)).cast(x.element)


def rms_norm(x, gamma, eps, ranks):
    wide = widened(x)
    square = mean(wide * wide, -1 + x.v.ndim, ranks)
    return (wide * (square + eps).rsqrt() * widened(gamma)).cast(x.element)


def norms(runner):
    rng = np.random.default_rng(2)
    for element, (ranks, shape) in itertools.product(
            FLOATS, [(1, (3, 4, 5)), (3, (4, 7, 2)), (4, (2, 1, 9)), (8, (3, 5, 1)), (2, (1, 1, 3))]):
        batch = Batch({"a": ranks}, "norms of %s%s on %d" % (element, shape, ranks))
        gamma, beta = draw(rng, element, shape[-1:]), draw(rng, element, shape[-1:])
        x = draw(rng, element, shape)
        local = draw(rng, element, (ranks,) + shape)
        g, b = batch.argument(gamma), batch.argument(beta)
        eg, eb = Bounded.exact(gamma), Bounded.exact(beta)

        def add(name, cut):
            n = lambda d: ranks if cut is not None and cut == d else 1
            yield "softmax(%s, 0)" % name, lambda x: softmax(x, 0, n(0))
            yield "softmax(%s, 1)" % name, lambda x: softmax(x, 1, n(1))
            yield "softmax(%s, 2)" % name, lambda x: softmax(x, 2, n(2))
            yield ("layer_norm(%s, %s, %s, 1e-2)" % (name, g, b),
                   lambda x: layer_norm(x, eg, eb, 1e-2, n(2)))
            yield "rms_norm(%s, %s, 0.5)" % (name, g), lambda x: rms_norm(x, eg, 0.5, n(2))
            for d in range(3):
                yield ("norm(%s, %d)" % (name, d),
                       lambda x: total(widened(x) * widened(x), (d,), n(d)).sqrt().cast(element))
            yield ("norm(%s)" % name, lambda x: total(
                widened(x) * widened(x), (cut or 0, *(set(range(3)) - {cut or 0})),
                n(cut)).sqrt().cast(element))

        for cut in (None, 0, 1, 2):
            name = batch.argument(x, "sliced(%d)" % cut if cut is not None else "")
            for text, function in add(name, cut):
                batch.let(text, f64_slack(function(Bounded.exact(x))))
        name = batch.argument(local, "local", 1)
        for text, function in add(name, None):
            each = [f64_slack(function(Bounded.exact(Tensor(element, t)))) for t in local.stored]
            batch.let(text, Bounded(element, np.stack([t.v for t in each]), np.stack([t.e for t in each])))
        batch.run(runner)


#
# Products
#


def product(a, b, ranks=1):
    if a.element.kind == "f":
        return Bounded.exact(a).matmul(Bounded.exact(b), ranks)
    return Tensor(a.element, np.matmul(a.stored, b.stored))


def matmuls(runner):
    rng = np.random.default_rng(3)
    sizes = [(2, 3, 4, 5), (4, 1, 7, 3), (3, 5, 2, 1), (1, 2, 0, 3), (2, 0, 3, 2)]
    for element, (ranks, (n, m, k, l)) in itertools.product(NUMBERS, enumerate(sizes, 1)):
        batch = Batch({"a": ranks}, "matmul %s %s on %d" % (element, (n, m, k, l), ranks))
        a, b = draw(rng, element, (n, m, k)), draw(rng, element, (n, k, l))
        flat, right = draw(rng, element, (m, k)), draw(rng, element, (k, l))
        for left, other, place in [(flat, right, "%s"), (a, b, "%s"), (a, right, "%s")]:
            whole = product(left, other)
            d = left.stored.ndim - 2
            e = other.stored.ndim - 2
            cases = [("", ""), ("sliced(%d)" % d, ""), ("", "sliced(%d)" % (e + 1))]
            if d:
                cases.append(("sliced(0)", "sliced(0)" if e else ""))
            for x, y in cases:
                batch.let("matmul(%s, %s)" % (batch.argument(left, x), batch.argument(other, y)), whole)
            cut = product(left, other, ranks)
            for x, y in [("sliced(%d)" % (d + 1), "sliced(%d)" % e), ("sliced(%d)" % (d + 1), ""),
                         ("", "sliced(%d)" % e)]:
                batch.let("all_reduce(sum, matmul(%s, %s))"
                          % (batch.argument(left, x), batch.argument(other, y)), cut)
        local = draw(rng, element, (ranks, m, k))
        each = [product(Tensor(element, t), right) for t in local.stored]
        stacked = (Tensor(element, np.stack([t.stored for t in each])) if element.kind != "f" else
                   Bounded(element, np.stack([t.v for t in each]), np.stack([t.e for t in each])))
        batch.let("matmul(%s, %s)" % (batch.argument(local, "local", 1), batch.argument(right)), stacked)
        batch.run(runner)


def convolution(x, w, stride, padding):
    """A naive convolution: for each element of the result, the window's products."""
    n, c, height, width = x.shape
    o, _, kh, kw = w.shape
    rows, columns = ((size + 2 * padding - k) // stride + 1 for size, k in ((height, kh), (width, kw)))
    spread = np.zeros((n, c, height + 2 * padding, width + 2 * padding), x.dtype)
    spread[:, :, padding : padding + height, padding : padding + width] = x
    result = np.zeros((n, o, rows, columns), x.dtype)
    for i, f, r, s in itertools.product(range(n), range(o), range(rows), range(columns)):
        window = spread[i, :, r * stride : r * stride + kh, s * stride : s * stride + kw]
        result[i, f, r, s] = (window * w[f]).sum(dtype=x.dtype)
    return result


def convolved(x, w, stride, padding, ranks=1):
    element = x.element
    if element.kind != "f":
        return Tensor(element, convolution(x.stored, w.stored, stride, padding))
    results = []
    for s in slices(x.shape[1], ranks):
        a, b = x.values[:, s], w.values[:, s]
        v = convolution(a, b, stride, padding)
        magnitude = convolution(np.abs(a), np.abs(b), stride, padding)
        n = b.shape[1] * b.shape[2] * b.shape[3]
        results.append(Bounded.exact(x)._rounded(v, n * element.accumulator * magnitude))
    return all_reduce(results)


def convolutions(runner):
    rng = np.random.default_rng(4)
    shapes = [((2, 3, 6, 5), (4, 3, 3, 2), 1, 0), ((1, 4, 5, 5), (3, 4, 3, 3), 2, 1), ((5, 1, 3, 4), (1, 1, 1, 1), 1, 0),
              ((2, 5, 4, 3), (2, 5, 4, 3), 3, 2), ((0, 2, 3, 3), (2, 2, 2, 2), 1, 0), ((2, 0, 3, 3), (2, 0, 2, 2), 1, 1)]
    for element, (ranks, (xs, ws, stride, padding)) in itertools.product(NUMBERS, enumerate(shapes, 1)):
        batch = Batch({"a": ranks}, "conv2d %s %s %s on %d" % (element, xs, ws, ranks))
        x, w = draw(rng, element, xs), draw(rng, element, ws)
        for a, b in [("", ""), ("sliced(0)", ""), ("", "sliced(0)"), ("sliced(1)", "sliced(1)"), ("sliced(1)", "")]:
            call = "conv2d(%s, %s, %d, %d)" % (batch.argument(x, a), batch.argument(w, b), stride, padding)
            pending = a == "sliced(1)"
            batch.let("all_reduce(sum, %s)" % call if pending else call,
                      convolved(x, w, stride, padding, ranks if pending else 1))
        batch.run(runner)
    batch = Batch({"a": 2}, "conv2d's defaults")
    x, w = draw(rng, F32, (1, 2, 5, 4)), draw(rng, F32, (2, 2, 2, 2))
    i, j = batch.argument(x), batch.argument(w)
    batch.let("conv2d(%s, %s)" % (i, j), convolved(x, w, 1, 0))
    batch.let("conv2d(%s, %s, 2)" % (i, j), convolved(x, w, 2, 0))
    batch.run(runner)


#
# Movement
#


def movement(runner):
    rng = np.random.default_rng(5)
    for element, (ranks, (n, m, k)) in itertools.product(
            ALL, enumerate([(2, 3, 4), (5, 1, 3), (1, 7, 2), (3, 0, 2)], 1)):
        batch = Batch({"a": ranks}, "movement of %s %s on %d" % (element, (n, m, k), ranks))
        x, y = draw(rng, element, (n, m, k)), draw(rng, element, (n, 2, k))
        local = draw(rng, element, (ranks, n, m, k))
        for layout in ("", "sliced(0)", "sliced(1)", "sliced(2)"):
            i, j = batch.argument(x, layout), batch.argument(y, layout)
            let = lambda text, value: batch.let(text, Tensor(element, value))
            for p in itertools.permutations(range(3)):
                let("transpose(%s, %s)" % (i, list(p)), x.stored.transpose(p))
            cut = int(layout[7]) if layout else None
            if cut != 1:
                let("concat([%s, %s, %s], 1)" % (i, j, i), np.concatenate([x.stored, y.stored, x.stored], 1))
                let("slice(%s, 1, 0, %d)" % (j, 1), y.stored[:, :1])
            if cut != 2:
                let("slice(%s, 2, 1, %d)" % (i, k), x.stored[:, :, 1:])
                let("slice(%s, 2, 1, 1)" % i, x.stored[:, :, 1:1])
            let("broadcast_to(%s, [2, %d, %d, %d])" % (i, n, m, k), np.broadcast_to(x.stored, (2, n, m, k)))
            if cut is None:
                let("reshape(%s, [%d])" % (i, n * m * k), x.stored.reshape(-1))
                let("reshape(%s, [%d, %d])" % (i, m * k, n), x.stored.reshape(m * k, n))
            if cut == 0:
                let("reshape(%s, [%d, %d])" % (i, n, m * k), x.stored.reshape(n, m * k))
            if cut == 2:
                let("reshape(%s, [%d, %d])" % (i, n * m, k), x.stored.reshape(n * m, k))
        i = batch.argument(local, "local", 1)
        batch.let("transpose(%s, [2, 0, 1])" % i, Tensor(element, local.stored.transpose(0, 3, 1, 2)))
        batch.let("reshape(%s, [%d, %d])" % (i, k, n * m), Tensor(element, local.stored.reshape(ranks, k, n * m)))
        batch.let("slice(%s, 0, 0, 1)" % i, Tensor(element, local.stored[:, :1]))
        row, one = draw(rng, element, (k,)), draw(rng, element, (1, 1))
        batch.let("broadcast_to(%s, [3, %d])" % (batch.argument(row, "sliced(0)"), k),
                  Tensor(element, np.broadcast_to(row.stored, (3, k))))
        batch.let("broadcast_to(%s, [%d, 5])" % (batch.argument(one), m),
                  Tensor(element, np.broadcast_to(one.stored, (m, 5))))
        batch.run(runner)


def scattered_sum(table, indices, rows):
    """The table with rows added: in the accumulator, rounded once."""
    element = table.element
    if element.kind != "f":
        result = table.stored.copy()
        np.add.at(result, indices.stored.astype(np.int64), rows.stored)
        return Tensor(element, result)
    v, magnitude, count = table.values.copy(), np.abs(table.values), np.zeros(table.shape)
    where = indices.stored.astype(np.int64)
    np.add.at(v, where, rows.values)
    np.add.at(magnitude, where, np.abs(rows.values))
    np.add.at(count, where, 1)
    e = Bounded(element, v, 0)._rounded(v, count * element.accumulator * magnitude).e
    # Rows that no index names are as they were.
    return Bounded(element, v, np.where(count > 0, e, 0))


def rows(runner):
    rng = np.random.default_rng(6)
    for element, kind in itertools.chain(itertools.product(ALL, [I32]), itertools.product([F32], INTEGERS)):
        for ranks, (size, width, count) in [(1, (5, 3, 7)), (3, (4, 2, 5)), (2, (1, 1, 1)), (4, (3, 0, 2)), (2, (6, 5, 0))]:
            batch = Batch({"a": ranks}, "rows of %s by %s on %d" % (element, kind, ranks))
            table, new = draw(rng, element, (size, width)), draw(rng, element, (count, width))
            indices = Tensor(kind, rng.integers(0, size, count).astype(kind.storage))
            picked = Tensor(element, table.stored[indices.stored.astype(np.int64)])
            t, i, r = (batch.argument(a) for a in (table, indices, new))
            tc, rc = batch.argument(table, "sliced(1)"), batch.argument(new, "sliced(1)")
            ic = batch.argument(indices, "sliced(0)")
            for a, b in [(t, i), (tc, i), (t, ic)]:
                batch.let("gather_rows(%s, %s)" % (a, b), picked)
            local = Tensor(kind, rng.integers(0, size, (ranks, count)).astype(kind.storage))
            batch.let("gather_rows(%s, %s)" % (t, batch.argument(local, "local", 1)),
                      Tensor(element, table.stored[local.stored.astype(np.int64)]))
            if element.kind != "b":
                sums = scattered_sum(table, indices, new)
                for a, b in [(t, r), (tc, rc), (tc, r), (t, rc)]:
                    batch.let("scatter_rows(%s, %s, %s)" % (a, i, b), sums)
            batch.run(runner)


def long(runner):
    """Dimensions longer than the blocks in which elements are processed."""
    rng = np.random.default_rng(7)
    for element in (F64, F32, F16, BF16, I32, U8):
        batch = Batch({"a": 3}, "long %s" % element)
        for shape in [(3, 2501), (2501, 3), (1025, 2, 3), (2, 1027, 3), (5000,)]:
            x = draw(rng, element, shape)
            dims = [(d,) for d in range(len(shape))] + [tuple(range(len(shape)))]
            for cut, dim, kind in itertools.product([None] + list(range(len(shape))), dims, ("sum", "max")):
                name = batch.argument(x, "sliced(%d)" % cut if cut is not None else "")
                call = "%s(%s, [%s])" % (kind, name, ", ".join(map(str, dim)))
                batch.let("all_reduce(%s, %s)" % (kind, call) if cut in dim else call,
                          reduction(kind, x, dim, cut, 3))
            name = batch.argument(x, "sliced(%d)" % (len(shape) - 1))
            order = list(range(len(shape)))[::-1]
            batch.let("transpose(%s, %s)" % (name, order), Tensor(element, x.stored.T))
            batch.let("all_gather(concat([%s, %s], 0))" % (name, name) if len(shape) > 1 else "all_gather(%s)" % name,
                      Tensor(element, np.concatenate([x.stored, x.stored]) if len(shape) > 1 else x.stored))
            # Few values of an operand repeat, and a literal.
            batch.let("max(%s, %s)" % (name, batch.argument(draw(rng, element, ()), number="1")),
                      Tensor.of(element, np.maximum(x.values, 1)))
        a, b = draw(rng, element, (3, 1500)), draw(rng, element, (1500, 1100))
        i, j = batch.argument(a, "sliced(1)"), batch.argument(b)
        batch.let("all_reduce(sum, matmul(%s, %s))" % (i, j), product(a, b, 3))
        batch.let("matmul(%s, %s)" % (batch.argument(a), batch.argument(b, "sliced(1)")), product(a, b))
        c, d = draw(rng, element, (2, 3, 4, 5)), draw(rng, element, (2, 3, 5, 2))
        batch.let("matmul(%s, %s)" % (batch.argument(c, "sliced(1)"), batch.argument(d)), product(c, d))
        t, i = draw(rng, element, (7, 1500)), Tensor(I32, rng.integers(0, 7, 1200).astype(np.int32))
        batch.let("gather_rows(%s, %s)" % (batch.argument(t), batch.argument(i, "sliced(0)")),
                  Tensor(element, t.stored[i.stored]))
        batch.run(runner)


if __name__ == "__main__":
    main({f.__name__: f for f in (long, reductions, reduce_nan, norms, matmuls, convolutions, movement, rows)})
