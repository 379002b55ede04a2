"""Elementwise functions, operators and casts for every element type, against NumPy.

Types of 8 bits are tried on all values and pairs of values, those of 16 bits on all
values; wider ones and pairs of 16-bit values on random patterns among which are all
special values. Results are compared bit for bit (but for NaNs) where IEEE 754
defines them; rsqrt, exp, log, tanh, sigmoid, gelu, silu and pow, computed in f64 for
all types but f64, are to be the value rounded once (with 2^-16 of the roundoff to
spare for f64's own error), in f64 within 8 units in the last place; gelu within 2 x^2
more, which the rounding of erfc's argument x / sqrt(2) brings about.
"""

import os
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                os.pardir, os.pardir, "Inputs"))

import numpy as np

from bounded import gelu
from elements import ALL, BF16, BOOL, F32, F64, FLOATS, INTEGERS, Tensor
from harness import Batch, main

MESH = {"m": 1}


def patterns(element, rng, count):
    """Random elements, special ones first."""
    if element.kind == "b":
        return rng.integers(0, 2, count).astype(bool)
    bits = element.storage.itemsize * 8
    raw = rng.integers(0, 2**bits, count, dtype="uint%d" % bits)
    if element.kind != "f":
        special = np.array([0, 1, 2, 2**bits - 1, 2 ** (bits - 1), 2 ** (bits - 1) - 1], raw.dtype)
        raw[: count // 2] &= np.asarray(15, raw.dtype)
    else:
        values = [0.0, -0.0, 1.0, -1.0, 0.5, 2.0, np.inf, -np.inf, np.nan, element.max,
                  -element.max, 2 * element.eta, -2 * element.eta, 2.0**element.emin, 3.0]
        special = element.encode(values).view(raw.dtype)
        # Half are of a common size: random patterns are mostly huge or tiny.
        common = element.encode(4 * rng.standard_normal(count // 2)).view(raw.dtype)
        raw[: count // 2] = common
    raw[: len(special)] = special
    return raw.view(element.storage)


def everything(element):
    bits = element.bits
    return np.arange(2**bits, dtype="uint%d" % bits).view(element.storage)


def singles(element, rng):
    if element.kind == "b":
        return np.array([False, True])
    return everything(element) if element.bits <= 16 else patterns(element, rng, 20000)


def pairs(element, rng):
    if element.kind == "b":
        return np.array([False, False, True, True]), np.array([False, True, False, True])
    if element.bits == 8:
        x, y = np.meshgrid(everything(element), everything(element))
        return x.reshape(-1), y.reshape(-1)
    x = patterns(element, rng, 20000)
    # Every special value meets every other.
    y = patterns(element, rng, 20000)
    n = 16
    x[: n * n], y[: n * n] = np.repeat(x[:n], n), np.tile(y[:n], n)
    return x, y


class Near:
    """Expected to be these f64 values, rounded once (f64: within 8 + `more` ulp)."""

    def __init__(self, element, v, more=0):
        self.element, self.v, self.more = element, np.asarray(v, np.float64), more

    def difference(self, got):
        nearest = self.element.round(self.v)
        values = got.values
        u = self.element.u * (16 + 4 * self.more if self.element is F64 else 1 + 2.0**-16)
        with np.errstate(all="ignore"):
            right = np.abs(values - self.v) <= u * np.abs(self.v) + self.element.eta * (1 + 2.0**-16)
            right |= values == nearest
            right |= np.isnan(values) & np.isnan(self.v)
            right |= np.isnan(values) & np.isnan(nearest)
        if right.all():
            return None
        i = int(np.argmin(right))
        return "element [%d] is %r, expected %r (%d of %d are wrong)" % (
            i, values[i], self.v[i], np.count_nonzero(~right), right.size)


def run(runner, batch, title, near):
    """Runs a batch some of whose results are only nearly known."""
    batch.title = title

    def test():
        outputs = {name: e.element for name, e in {**batch.expected, **near}.items()}
        text = batch.text().replace("return ", "return %s" % "".join(n + ", " for n in near)) \
            if near else batch.text()
        got = runner.run(runner.write(text), outputs, batch.inputs)
        lets = dict(batch.lets)
        for name, expected in batch.expected.items():
            runner.check("%s: %s" % (title, lets[name]), got[name], expected)
        for name, expected in near.items():
            runner.compared += 1
            message = expected.difference(got[name])
            if message:
                runner.failures.append("%s: %s: %s" % (title, lets[name], message))

    runner.attempt(title, test)


def compute(element):
    return np.float64 if element is F64 else np.float32


def unary(runner):
    rng = np.random.default_rng(1)
    for element in FLOATS:
        x = Tensor(element, singles(element, rng))
        batch, near = Batch(MESH), {}
        name = batch.argument(x)
        with np.errstate(all="ignore"):
            v = x.values
            c = v.astype(compute(element))
            relu = np.where(v > 0, v, np.where(np.isnan(v), v, 0.0))
            for call, value in [("neg(%s)", -v), ("-%s", -v), ("abs(%s)", np.abs(v)), ("relu(%s)", relu),
                                ("sqrt(%s)", np.sqrt(c))]:
                batch.let(call % name, Tensor.of(element, value))
            sigmoid = np.where(v < 0, np.exp(np.minimum(v, 0)) / (1 + np.exp(np.minimum(v, 0))),
                               1 / (1 + np.exp(-np.maximum(v, 0))))
            for function, value in [("rsqrt", 1 / np.sqrt(v)), ("exp", np.exp(v)), ("log", np.log(v)), ("tanh", np.tanh(v)),
                                    ("sigmoid", sigmoid), ("gelu", gelu(v)), ("silu", v * sigmoid)]:
                near[batch.let("%s(%s)" % (function, name))] = Near(
                    element, value, np.minimum(v * v, 2000) if function == "gelu" else 0)
        run(runner, batch, "unary of %s" % element, near)
    for element in INTEGERS:
        x = Tensor(element, singles(element, rng))
        batch = Batch(MESH, "unary of %s" % element)
        name = batch.argument(x)
        v = x.stored
        zero = np.zeros_like(v)
        batch.let("neg(%s)" % name, Tensor(element, zero - v))
        batch.let("abs(%s)" % name, Tensor(element, np.where(v < 0, zero - v, v)))
        batch.let("relu(%s)" % name, Tensor(element, np.maximum(v, 0)))
        batch.run(runner)


def extremum(v, w, larger):
    """IEEE 754-2019 maximum or minimum."""
    with np.errstate(invalid="ignore"):
        result = np.maximum(v, w) if larger else np.minimum(v, w)
    both_zero = (v == 0) & (w == 0)
    negative = np.signbit(v) & np.signbit(w) if larger else np.signbit(v) | np.signbit(w)
    return np.where(both_zero, np.where(negative, -0.0, 0.0), result)


def divide(v, w):
    """The quotient towards zero and the remainder with the sign of the first."""
    if v.dtype.kind == "u":
        return v // w, v % w
    magnitude = lambda a: np.where(a < 0, np.uint64(0) - a.astype(np.uint64), a.astype(np.uint64))
    q, r = magnitude(v) // magnitude(w), magnitude(v) % magnitude(w)
    negate = lambda a, where: np.where(where, np.uint64(0) - a, a).astype(v.dtype)
    return negate(q, (v < 0) != (w < 0)), negate(r, v < 0)


def binary(runner):
    rng = np.random.default_rng(2)
    for element in ALL:
        x, y = pairs(element, rng)
        a, b = Tensor(element, x), Tensor(element, y)
        v, w = a.values, b.values
        batch, near = Batch(MESH), {}
        i, j = batch.argument(a), batch.argument(b)
        with np.errstate(all="ignore"):
            for op, value in [("==", v == w), ("!=", v != w), ("<", v < w), ("<=", v <= w),
                              (">", v > w), (">=", v >= w)]:
                batch.let("%s %s %s" % (i, op, j), Tensor(BOOL, value))
            condition = batch.argument(Tensor(BOOL, rng.integers(0, 2, x.shape).astype(bool)))
            mask = batch.inputs[condition].stored
            batch.let("select(%s, %s, %s)" % (condition, i, j), Tensor(element, np.where(mask, x, y)))
            if element.kind == "f":
                c, d = v.astype(compute(element)), w.astype(compute(element))
                for op, value in [("+", c + d), ("-", c - d), ("*", c * d), ("/", c / d),
                                  ("%", np.fmod(c, d))]:
                    batch.let("%s %s %s" % (i, op, j), Tensor.of(element, value))
                batch.let("max(%s, %s)" % (i, j), Tensor.of(element, extremum(v, w, True)))
                batch.let("min(%s, %s)" % (i, j), Tensor.of(element, extremum(v, w, False)))
                near[batch.let("pow(%s, %s)" % (i, j))] = Near(element, np.power(v, w))
            else:
                batch.let("max(%s, %s)" % (i, j), Tensor(element, np.maximum(v, w)))
                batch.let("min(%s, %s)" % (i, j), Tensor(element, np.minimum(v, w)))
            if element.kind in "iu":
                for op, value in [("+", v + w), ("-", v - w), ("*", v * w)]:
                    batch.let("%s %s %s" % (i, op, j), Tensor(element, value))
                divisor = Tensor(element, np.where(w == 0, w.dtype.type(3), w))
                k = batch.argument(divisor)
                q, r = divide(v, divisor.stored)
                batch.let("%s / %s" % (i, k), Tensor(element, q))
                batch.let("%s %% %s" % (i, k), Tensor(element, r))
        run(runner, batch, "binary of %s" % element, near)


def scalars(runner):
    """Scalars and literals beside arrays, and shapes that are repeated."""
    rng = np.random.default_rng(3)
    for element in FLOATS + INTEGERS:
        batch = Batch(MESH, "repeated %s" % element)
        whole = lambda *shape: Tensor.of(element, rng.integers(1, 9, shape).astype(float))
        a, row, column, s = whole(3, 4), whole(4), whole(3, 1), whole()
        x, r, c = (batch.argument(t) for t in (a, row, column))
        t = batch.argument(s, number="%d" % s.values)
        v = lambda tensor: tensor.values.astype(np.float64)
        for expression, value in [
                ("%s + %s" % (x, r), v(a) + v(row)), ("%s + %s" % (c, r), v(column) + v(row)),
                ("%s * %s" % (c, x), v(column) * v(a)), ("%s + %s" % (t, x), v(s) + v(a)),
                ("%s * 2" % x, 2 * v(a)), ("3 + %s" % r, 3 + v(row)), ("%s + 1" % t, v(s) + 1),
                ("max(%s, %s)" % (x, t), np.maximum(v(a), v(s))),
                ("select(%s > %s, %s, %s)" % (x, r, c, t), np.where(v(a) > v(row), v(column), v(s))),
                ("select(true, %s, 1)" % x, v(a)), ("select(%s > 4, 1, %s)" % (x, x), np.where(v(a) > 4, 1, v(a))),
                ("%s + %s * %s - %s" % (x, x, r, c), element.round(v(a) + element.round(v(a) * v(row))) - v(column))]:
            batch.let(expression, Tensor.of(element, value))
        batch.run(runner)


def to_float(integers):
    """Integers as f64, rounded to odd: a later rounding to fewer digits is as if of
    the integer itself."""
    if integers.dtype.kind == "b":
        return integers.astype(np.float64)
    negative = integers < 0
    m = np.where(negative, np.uint64(0) - integers.astype(np.uint64), integers.astype(np.uint64))
    low = m & np.uint64(0xFFF)
    sticky = np.where(low != 0, np.uint64(0x1000), np.uint64(0))
    m = np.where(m >= np.uint64(2**53), (m & ~np.uint64(0xFFF)) | sticky, m)
    return np.where(negative, -m.astype(np.float64), m.astype(np.float64))


def cast(source, target):
    """What the cast gives, as stored elements."""
    v = source.values
    with np.errstate(all="ignore"):
        if target.kind == "b":
            return v != 0
        if target.kind == "f":
            if source.element.kind == "f" or target is not F64:
                return target.encode(v if source.element.kind == "f" else to_float(v))
            return v.astype(np.float64)
        if source.element.kind != "f":
            return v.astype(target.storage)
        info = np.iinfo(target.storage)
        whole = np.trunc(np.where(np.isnan(v), 0, v))
        inside = (whole > float(info.min)) & (whole < float(info.max))
        result = np.where(inside, whole, 0).astype(target.storage)
        result[whole >= float(info.max)] = info.max
        result[whole <= float(info.min)] = info.min
        return result


def casts(runner):
    rng = np.random.default_rng(4)
    for source in ALL:
        x = Tensor(source, singles(source, rng))
        if source.kind == "f" and source.bits > 16:
            # Halfway cases of every narrower float.
            halves = []
            for target in FLOATS:
                if target.digits < source.digits:
                    base = target.round(rng.standard_normal(200) * 2.0 ** rng.integers(-12, 8, 200))
                    halves += list(base * (1 + target.u)) + [target.max * (1 + target.u), target.eta]
                    halves += [target.max * (1 + target.u) * (1 + 2.0**-20), target.eta * (1 + 2.0**-20)]
            for bits in (7, 8, 15, 16, 31, 32, 63, 64):
                halves += [2.0**bits, -(2.0**bits), 2.0**bits - 0.5, -(2.0**bits) - 1]
            x = Tensor(source, np.concatenate([x.stored, source.encode(halves)]))
        batch = Batch(MESH, "casts of %s" % source)
        name = batch.argument(x)
        for target in ALL:
            batch.let("cast(%s, %s)" % (name, target), Tensor(target, cast(x, target)))
        batch.run(runner)


if __name__ == "__main__":
    main({f.__name__: f for f in (unary, binary, scalars, casts)})
