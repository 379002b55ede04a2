"""What layouts combine to: elementwise operations on operands in different layouts,
the algebra of pending sums, and stores. Elements are small integers, so that results
are exact and compared bit for bit.
"""

import itertools
import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))

import numpy as np

from elements import BF16, F16, F32, F64, I32, I8, U8, Tensor
from harness import Batch, main

CASES = [({"a": 2, "b": 3}, (5, 4)), ({"a": 3, "b": 2}, (1, 7)), ({"a": 1, "b": 4}, (2, 0)),
         ({"a": 4, "b": 1}, (3, 3))]


def small(rng, element, shape):
    values = rng.integers(1, 4, shape)
    return Tensor.of(element, values.astype(np.float64)) if element.kind == "f" else Tensor(element, values)


def elementwise(runner):
    """One operand cut or local, the other too or replicated, or a row or a column."""
    rng = np.random.default_rng(1)
    for (mesh, shape), element in itertools.product(CASES, (F32, BF16, I32)):
        batch = Batch(mesh, "elementwise %s%s on %s" % (element, shape, mesh))
        x, y = small(rng, element, shape), small(rng, element, shape)
        row, column, scalar = (small(rng, element, s) for s in (shape[1:], (shape[0], 1), ()))
        whole = batch.argument(y)
        layouts = ["sliced(0, a)", "sliced(1, b)", "sliced(0, b) sliced(1, a)", "sliced(1, a) sliced(1, b)"]
        check = lambda text, value: batch.let(text, Tensor(element, value))
        for layout in layouts:
            i, j = batch.argument(x, layout), batch.argument(y, layout)
            check("%s + %s" % (i, j), x.stored + y.stored if element is not BF16 else rounded(x, y))
            for text in ("%s - %s" % (i, whole), "%s - %s" % (i, j)):
                check(text, element.encode(x.values - y.values))
            check("select(%s < %s, %s, %s)" % (i, whole, whole, i), np.where(x.values < y.values, y.stored, x.stored))
            check("%s * %s" % (i, batch.argument(row)), element.encode(x.values * row.values))
            check("%s * %s" % (batch.argument(column), i), element.encode(x.values * column.values))
            check("max(%s, %s)" % (i, batch.argument(scalar)), element.encode(np.maximum(x.values, scalar.values)))
        # A row cut as the columns are.
        i, r = batch.argument(x), batch.argument(row, "sliced(0, b)")
        check("%s + %s" % (i, r), element.encode(x.values + row.values))
        l = small(rng, element, (mesh["b"],) + shape)
        m = small(rng, element, (mesh["b"],) + shape)
        i, j = batch.argument(l, "local(b)", 1), batch.argument(m, "local(b) sliced(0, a)", 1)
        check("%s * %s" % (i, whole), element.encode(l.values * y.values))
        check("%s * %s" % (i, j), element.encode(l.values * m.values))
        check("%s - %s" % (j, batch.argument(row)), element.encode(m.values - row.values))
        # Local along one axis beside local along the other: along each axis one is
        # local and the other replicated.
        k = small(rng, element, (mesh["a"],) + shape)
        both = k.values[:, None] - l.values[None]
        check("%s - %s" % (batch.argument(k, "local(a)", 1), i), element.encode(both))
        batch.run(runner)


def rounded(x, y):
    return x.element.encode(x.values + y.values)


def pending(runner):
    """Sums that are pending: added, scaled, moved, multiplied, and then reduced."""
    rng = np.random.default_rng(2)
    for (mesh, shape), element in itertools.product(CASES, (F32, F16, F64, I32, U8)):
        batch = Batch(mesh, "pending %s%s on %s" % (element, shape, mesh))
        full = (mesh["a"],) + shape
        p, q = small(rng, element, full), small(rng, element, full)
        i, j = batch.argument(p, "partial(sum, a)", 1), batch.argument(q, "partial(sum, a) sliced(0, b)", 1)
        two = small(rng, element, ())
        s = batch.argument(two)
        encode = (lambda v: element.encode(v)) if element.kind == "f" else (lambda v: v.astype(np.int64).astype(element.storage))
        total = lambda v: v.astype(np.float64).sum(0)
        check = lambda text, value: batch.let("all_reduce(sum, %s, a)" % text, Tensor(element, encode(value)))
        P, Q = p.values, q.values
        check(i, total(P))
        check("%s + %s" % (i, j), total(P) + total(Q))
        check("%s - %s" % (i, i), 0 * total(P))
        check("%s * %s" % (s, i), total(P) * two.values)
        check("%s * 3" % i, total(P) * 3)
        check("-(-%s)" % i, total(P))
        check("-%s" % j, -total(Q))
        if element.kind == "f":
            check("%s / 2" % j, total(Q) / 2)
        check("transpose(%s)" % j, total(Q).T)
        check("reshape(%s, [%d])" % (i, shape[0] * shape[1]), total(P).reshape(-1))
        check("concat([%s, %s], 1)" % (i, j), np.concatenate([total(P), total(Q)], 1))
        check("slice(%s, 1, 0, %d)" % (j, shape[1] // 2), total(Q)[:, : shape[1] // 2])
        check("broadcast_to(%s, [2, %d, %d])" % ((i,) + shape), np.broadcast_to(total(P), (2,) + shape))
        check("sum(%s, 0)" % i, total(P).sum(0))
        check("all_reduce(sum, sum(%s), b)" % j, total(Q).sum())
        if element.kind == "f" and shape[1] == 4:
            check("mean(%s, 1)" % i, element.round(P.sum(2) / 4).sum(0))
        right = small(rng, element, (shape[1], 2))
        check("matmul(%s, %s)" % (j, batch.argument(right)), total(Q) @ right.values)
        left = small(rng, element, (2, shape[0]))
        check("matmul(%s, %s)" % (batch.argument(left), i), left.values @ total(P))
        batch.let("reduce_scatter(sum, %s + %s, 1, a)" % (i, j), Tensor(element, encode(total(P) + total(Q))))
        batch.run(runner)
    for kind, function in (("max", np.max), ("min", np.min), ("prod", np.prod)):
        batch = Batch({"a": 3}, "pending %s" % kind)
        p = small(rng, I32, (3, 5, 4))
        i = batch.argument(p, "partial(%s)" % kind, 1)
        batch.let("all_reduce(%s, transpose(%s))" % (kind, i), Tensor(I32, function(p.stored, 0).T))
        batch.let("all_reduce(%s, %s(%s, [0]))" % (kind, kind, i), Tensor(I32, function(function(p.stored, 0), 0)))
        batch.let("reduce_scatter(%s, concat([%s, %s], 0), 0)" % (kind, i, i),
                  Tensor(I32, np.concatenate([function(p.stored, 0)] * 2)))
        batch.run(runner)


STORES = """
mesh m (a = 2, b = 3)
param N = 5
program p(x: f32[N], s: f32[N] sliced(0, b), l: f32[N] local(a), q: f32[N] partial(sum, a),
          inout r0: f32[N], inout r1: f32[N] sliced(0, a), inout r2: f32[N] local(b), inout r3: f32[N] partial(sum, a),
          inout r4: f32[N] partial(sum, a), inout r5: f32[N] sliced(0, b) sliced(0, a), inout r6: f32[N]) {
  r0 <- s + 1
  r1 <- 2 * x
  r2 <- x - 1
  r3 <- q
  r4 <- q + r4
  r5 <- x + s
  r6 <- r6 + r0
  r6 <- r6 * all_reduce(sum, l, a)
  let sum0 = r0 + r6
  r0 <- r0 + r0
  return sum0
}
"""


def stores(runner):
    """Stores gather, cut, and use replicated values as local; what is read after a
    store is what was stored."""
    rng = np.random.default_rng(3)
    path = runner.write(STORES)
    for a, b, n in [(2, 3, 5), (1, 1, 4), (4, 2, 3), (3, 3, 0), (2, 5, 1)]:
        draw = lambda *shape: Tensor.of(F32, rng.integers(1, 9, shape).astype(float))
        inputs = {"x": draw(n), "s": draw(n), "l": draw(a, n), "q": draw(a, n), "r4": draw(a, n), "r6": draw(n)}
        inputs.update(r0=draw(n), r1=draw(n), r2=draw(b, n), r3=draw(a, n), r5=draw(n))
        v = {name: t.values for name, t in inputs.items()}
        r0 = v["s"] + 1
        r6 = (v["r6"] + r0) * v["l"].sum(0)
        expected = {"r0": 2 * r0, "r1": 2 * v["x"], "r2": np.repeat(v["x"][None] - 1, b, 0), "r3": v["q"],
                    "r4": v["q"] + v["r4"], "r5": v["x"] + v["s"], "r6": r6, "sum0": r0 + r6}
        got = runner.run(path, dict.fromkeys(expected, F32), inputs, {"N": n}, {"a": a, "b": b})
        for name, value in expected.items():
            runner.check("%s on %dx%d, N = %d" % (name, a, b, n), got[name], Tensor.of(F32, value))


def rewrites(runner):
    """What the compiler rewrites gives the same bits: pairs of collectives that undo
    each other, casts moved across gathers, casts of casts, movement of movement, and
    sums of all_reduces."""
    rng = np.random.default_rng(4)
    for mesh, shape in CASES + [({"a": 3, "b": 2}, (40, 30))]:
        batch = Batch(mesh, "rewrites %s on %s" % (shape, mesh))
        for element, wide in [(F16, F32), (BF16, F32), (F32, F64)]:
            x = Tensor.of(element, rng.standard_normal(shape))
            w = Tensor.of(wide, rng.standard_normal(shape) * 1.7)
            i, c = batch.argument(x), batch.argument(x, "sliced(0, a)")
            k = batch.argument(w, "sliced(1, b)")
            same = lambda text: batch.let(text, x)
            same("slice(all_gather(%s, a), 0, a)" % c)
            same("all_gather(slice(%s, 1, b), b)" % i)
            same("all_gather(slice(slice(%s, 1, b), 1, a), b, a)" % i)
            batch.let("cast(all_gather(%s, b), %s)" % (k, element), Tensor.of(element, w.values))
            batch.let("all_gather(cast(%s, %s), a)" % (c, wide), Tensor.of(wide, x.values))
            batch.let("all_gather(cast(%s, i8), b)" % k, Tensor(I8, np.trunc(w.values)))
            same("cast(cast(%s, %s), %s)" % (c, wide, element))
            batch.let("cast(cast(%s, %s), %s)" % (k, element, wide), Tensor.of(wide, element.round(w.values)))
            batch.let("cast(cast(%s, %s), i32)" % (c, wide), Tensor(I32, np.trunc(x.values)))
            same("transpose(transpose(%s))" % c)
            same("reshape(reshape(%s, [%d]), [%d, %d])" % (i, shape[0] * shape[1], *shape))
            same("reshape(reshape(%s, [%d, 1, %d]), [%d, %d])" % (c, *shape, *shape))
            same("reshard(reshard(%s, sliced(1, a)), sliced(0, a))" % c)
            same("select(%s > 0, %s, %s)" % (c, c, c))
        n = mesh["a"]
        l = Tensor.of(F32, rng.standard_normal((n,) + shape))
        i = batch.argument(l, "local(a)", 1)
        batch.let("all_gather(reduce_scatter(sum, %s, 1, a), a)" % i, Tensor(F32, in_order(l)))
        u, v = (Tensor(U8, rng.integers(0, 256, (n,) + shape)) for _ in range(2))
        batch.let("all_reduce(sum, %s, a) + all_reduce(sum, %s, a)" % (
            batch.argument(u, "local(a)", 1), batch.argument(v, "partial(sum, a)", 1)),
            Tensor(U8, u.stored.sum(0, dtype=np.uint8) + v.stored.sum(0, dtype=np.uint8)))
        batch.run(runner)


def in_order(tensor):
    total = tensor.stored[0]
    for part in tensor.stored[1:]:
        total = total + part
    return total


if __name__ == "__main__":
    main({f.__name__: f for f in (elementwise, pending, stores, rewrites)})
