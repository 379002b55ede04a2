"""Running error analysis: values in f64 with a bound of what rounding may change.

A `Bounded` holds the exact result `v` of a computation on exact inputs and, for
each element, a bound `e` on its distance from what a program computes that rounds
each operation's result once to its element type. After Higham, "Accuracy and
Stability of Numerical Algorithms", chapters 2 and 3, with fl(x) = x (1 + d) + h,
|d| <= u the type's unit roundoff (f16 2^-11, bf16 2^-8, f32 2^-24, f64 2^-53) and
|h| <= eta half of its smallest number:
  - an operation adds u |result| + eta to what its operands' errors become (16- and
    8-bit floats compute in f32 first, so u is the type's plus 2^-24);
  - a sum of n elements adds (n - 1) w times the sum of their magnitudes, where w is
    the unit roundoff in which it accumulates: 2^-24 for 16- and 8-bit floats, 2^-53
    for f32 and f64 on one rank, and 2^-24 for f32 across ranks.
f64's own errors in `v` are far below these bounds and left out.
"""

import numpy as np

from elements import F32, Tensor

SLACK = 1 + 2.0**-10  # for the terms of second order


class Bounded:
    def __init__(self, element, v, e=0.0):
        self.element = element
        self.v = np.asarray(v, np.float64)
        self.e = np.broadcast_to(np.asarray(e, np.float64), self.v.shape)

    @classmethod
    def exact(cls, tensor):
        return cls(tensor.element, tensor.values)

    @property
    def shape(self):
        return self.v.shape

    def constant(self, value):
        """A literal beside this: it takes this one's type."""
        return Bounded(self.element, self.element.round(value))

    def _operand(self, other):
        return other if isinstance(other, Bounded) else self.constant(other)

    def _rounded(self, v, e, roundings=1):
        t = self.element
        u = t.u + (2.0**-24 * roundings if t.narrow else t.u * (roundings - 1))
        return Bounded(t, v, (e + u * (np.abs(v) + e)) * SLACK + t.eta)

    def __getitem__(self, index):
        return Bounded(self.element, self.v[index], self.e[index])

    def map(self, function):
        """Moves elements."""
        return Bounded(self.element, function(self.v), function(self.e))

    def __neg__(self):
        return Bounded(self.element, -self.v, self.e)

    def __add__(self, other):
        other = self._operand(other)
        return self._rounded(self.v + other.v, self.e + other.e)

    def __sub__(self, other):
        return self + -self._operand(other)

    def __mul__(self, other):
        o = self._operand(other)
        e = self.e * np.abs(o.v) + np.abs(self.v) * o.e + self.e * o.e
        return self._rounded(self.v * o.v, e)

    __radd__ = __add__
    __rmul__ = __mul__

    def __truediv__(self, other):
        o = self._operand(other)
        room = np.abs(o.v) - o.e
        assert np.all(room > 0), "the divisor may be 0"
        v = self.v / o.v
        return self._rounded(v, (self.e + np.abs(v) * o.e) / room)

    def sqrt(self):
        v = np.sqrt(np.maximum(self.v, 0))
        # |sqrt(x') - sqrt(x)| is at most both of these.
        with np.errstate(all="ignore"):
            e = np.minimum(np.sqrt(self.e), self.e / np.where(v > 0, v, 1e-300))
        return self._rounded(v, e)

    def rsqrt(self):
        low = self.v - self.e
        assert np.all(low > 0), "the operand may be 0"
        # A root, then a quotient.
        return self._rounded(self.v**-0.5, low**-0.5 - (self.v + self.e) ** -0.5, 2)

    def relu(self):
        return Bounded(self.element, np.maximum(self.v, 0), self.e)

    def gelu(self):
        # The derivative's magnitude is below 1.13.
        return self._rounded(gelu(self.v), 1.13 * self.e)

    def where_positive(self, other, otherwise=0.0):
        """`other` where this is positive: which it may seem to be or not to be
        where the error reaches 0."""
        sure = np.abs(self.v) > self.e
        exact = self.e == 0
        v = np.where(self.v > 0, other.v, otherwise)
        e = np.where(self.v > 0, other.e, 0)
        unsure = np.abs(other.v - otherwise) + other.e
        return Bounded(other.element, v, np.where(sure | exact, e, np.maximum(e, unsure)))

    def cast(self, element):
        if element.u <= self.element.u:
            return Bounded(element, self.v, self.e)
        v = Bounded(element, self.v, self.e)
        return Bounded(element, v.v, self.e + element.u * (np.abs(self.v) + self.e) * SLACK
                       + element.eta)

    def sum(self, axis, divisor=1.0):
        """A sum on one rank, or a mean."""
        n = self.v.size // max(1, self.v.sum(axis).size) if self.v.size else 0
        magnitude = (np.abs(self.v) + self.e).sum(axis)
        e = self.e.sum(axis) + n * self.element.accumulator * magnitude
        return self._rounded(self.v.sum(axis) / divisor, e / divisor)

    def matmul(self, other, ranks=1):
        """A product whose inner dimension is cut in slices, one a rank, and whose
        parts are rounded and then added across the ranks."""
        parts = []
        for k in slices(self.shape[-1], ranks):
            a, b = self[..., k], other[..., k, :]
            magnitude = (np.abs(a.v) + a.e) @ (np.abs(b.v) + b.e)
            carried = magnitude - np.abs(a.v) @ np.abs(b.v)
            e = carried + (k.stop - k.start) * self.element.accumulator * magnitude
            parts.append(self._rounded(a.v @ b.v, e))
        return all_reduce(parts)

    def finite(self):
        return np.all(np.isfinite(self.e)) and np.all(
            np.abs(self.v) + self.e <= self.element.max)


def slices(size, ranks):
    """The slices that ranks hold of a dimension: ceil-sized, the last short."""
    piece = -(-size // ranks)
    starts = [min(size, r * piece) for r in range(ranks + 1)]
    return [slice(a, b) for a, b in zip(starts, starts[1:])]


def all_reduce(parts):
    """The sum across ranks, in f32 for f32 and narrower, in f64 for f64."""
    t = parts[0].element
    if len(parts) == 1:
        return parts[0]
    v, e = sum(p.v for p in parts), sum(p.e for p in parts)
    magnitude = sum(np.abs(p.v) + p.e for p in parts)
    w = 2.0**-24 if t.bits <= 32 else 2.0**-53
    e = e + (len(parts) - 1) * w * magnitude * SLACK
    # f32 and f64 have been rounded in each step.
    return parts[0]._rounded(v, e) if t.narrow else Bounded(t, v, e)


def sum_in_order(tensors):
    """The sum across ranks exactly as a 16- or 8-bit float or f32 has it: f32, in
    the ranks' order, rounded once to the type."""
    t = tensors[0].element
    with np.errstate(all="ignore"):
        total = tensors[0].values.astype(np.float32)
        for tensor in tensors[1:]:
            total = total + tensor.values.astype(np.float32)
    return Tensor.of(t, total)


def scalar_f32(value):
    return F32.round(value)


def gelu(x):
    import math

    erfc = np.frompyfunc(math.erfc, 1, 1)
    return x / 2 * np.asarray(erfc(-x / math.sqrt(2)), np.float64)
