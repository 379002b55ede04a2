"""The element types of ccn in NumPy, and their rounding.

A tensor of an element type is a NumPy array of its *storage* type: NumPy's own
type where it has one, uint16 for the bits of bf16, uint8 for those of f8e4m3 and
f8e5m2. `decode` gives the exact values (f64, or the integers themselves),
`encode` rounds values to nearest, ties to even, once.

The formats are written down from their definitions (IEEE 754, and the OCP 8-bit
specification for f8e4m3, which has no infinities and one NaN pattern a sign).
"""

import numpy as np


class Element:
    """An element type: `name`, `kind` (f, i, u or b), `storage`."""

    def __init__(self, name, kind, storage, raw=None):
        self.name = name
        self.kind = kind
        self.storage = np.dtype(storage)
        # The type of the .npy file, where it is not the storage.
        self.raw = raw

    def __repr__(self):
        return self.name

    @property
    def bits(self):
        return 1 if self.kind == "b" else self.storage.itemsize * 8

    def decode(self, stored):
        stored = np.asarray(stored, self.storage)
        with np.errstate(invalid="ignore"):
            return stored.astype(np.float64) if self.kind == "f" else stored

    def encode(self, values):
        """Floats: round once, to nearest even. Integers: as NumPy casts."""
        with np.errstate(all="ignore"):
            return np.asarray(values).astype(self.storage)

    def round(self, values):
        """The values of the type nearest to f64 values."""
        return self.decode(self.encode(values))


class Float(Element):
    """A binary floating-point type of `digits` bits of significand (with the
    hidden one) and smallest normal exponent `emin`."""

    def __init__(self, name, storage, digits, emin, emax, raw=None):
        super().__init__(name, "f", storage, raw)
        self.digits = digits
        # The unit roundoff: rounding changes a normal value by at most u |v|.
        self.u = 2.0 ** -digits
        # Half of the smallest subnormal number: else by at most this.
        self.eta = 2.0 ** (emin - digits) if emin > -1000 else 2.0 ** -1074
        self.emin = emin
        self.max = (2 - 2.0 ** (1 - digits)) * 2.0 ** emax

    @property
    def narrow(self):
        return self.bits < 32

    @property
    def accumulator(self):
        """The unit roundoff in which sums and products accumulate."""
        return 2.0 ** -24 if self.narrow else 2.0 ** -53


class TableFloat(Float):
    """A float that NumPy lacks: all its values in a table, by their patterns."""

    def __init__(self, name, storage, exponent_bits, mantissa_bits, infinite, raw):
        bias = 2 ** (exponent_bits - 1) - 1
        emax = bias if infinite else bias + 1
        super().__init__(name, storage, mantissa_bits + 1, 1 - bias, emax, raw)
        self.sign = 1 << (exponent_bits + mantissa_bits)
        pattern = np.arange(self.sign)
        exponent = pattern >> mantissa_bits
        fraction = (pattern & (2**mantissa_bits - 1)) / 2.0**mantissa_bits
        magnitudes = np.where(
            exponent == 0,
            fraction * 2.0 ** (1 - bias),
            (1 + fraction) * 2.0 ** (exponent - bias),
        )
        # The first pattern that is no finite number; rounding treats it as the
        # next number would be.
        self.overflow = (
            (2**exponent_bits - 1) << mantissa_bits if infinite else self.sign - 1
        )
        if not infinite:
            self.max = magnitudes[self.overflow - 1]
        self.ladder = magnitudes[: self.overflow + 1].copy()
        magnitudes[self.overflow :] = np.nan
        if infinite:
            magnitudes[self.overflow] = np.inf
        self.nan = self.overflow | (1 << (mantissa_bits - 1)) if infinite else self.overflow
        self.table = np.concatenate([magnitudes, -magnitudes])

    def decode(self, stored):
        return self.table[np.asarray(stored, self.storage)]

    def encode(self, values):
        values = np.asarray(values, np.float64)
        magnitude = np.abs(values)
        top = len(self.ladder) - 1
        with np.errstate(invalid="ignore"):
            above = np.clip(np.searchsorted(self.ladder, magnitude), 1, top)
            low, high = self.ladder[above - 1], self.ladder[above]
            # Both differences are exact: the neighbours have 9 digits at most.
            to_low, to_high = magnitude - low, high - magnitude
            nearer_high = (to_high < to_low) | ((to_high == to_low) & (above % 2 == 0))
        pattern = np.where(nearer_high, above, above - 1)
        pattern = np.where(np.isnan(values), self.nan, pattern)
        return (pattern + np.where(np.signbit(values), self.sign, 0)).astype(self.storage)


F64 = Float("f64", np.float64, 53, -1022, 1023)
F32 = Float("f32", np.float32, 24, -126, 127)
F16 = Float("f16", np.float16, 11, -14, 15)
BF16 = TableFloat("bf16", np.uint16, 8, 7, True, "V2")
F8E4M3 = TableFloat("f8e4m3", np.uint8, 4, 3, False, "V1")
F8E5M2 = TableFloat("f8e5m2", np.uint8, 5, 2, True, "V1")
BOOL = Element("bool", "b", np.bool_)
SIGNED = [Element("i%d" % n, "i", "int%d" % n) for n in (8, 16, 32, 64)]
UNSIGNED = [Element("u%d" % n, "u", "uint%d" % n) for n in (8, 16, 32, 64)]
I8, I16, I32, I64 = SIGNED
U8, U16, U32, U64 = UNSIGNED

FLOATS = [F64, F32, F16, BF16, F8E4M3, F8E5M2]
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
ALL = NUMBERS + [BOOL]


class Tensor:
    """An array with its element type, in the external form of the language."""

    def __init__(self, element, stored):
        self.element = element
        self.stored = np.asarray(stored, element.storage)

    @classmethod
    def of(cls, element, values):
        return cls(element, element.encode(values))

    @property
    def values(self):
        return self.element.decode(self.stored)

    @property
    def shape(self):
        return self.stored.shape

    def save(self, path, fortran=False):
        stored = np.asfortranarray(self.stored) if fortran else self.stored
        np.save(path, stored.view(self.element.raw) if self.element.raw else stored)

    @classmethod
    def load(cls, path, element):
        array = np.load(path)
        expected = np.dtype(element.raw) if element.raw else element.storage
        if array.dtype != expected:
            raise AssertionError(
                "%s: expected elements of %s, found %s" % (path, expected, array.dtype)
            )
        return cls(element, array.view(element.storage) if element.raw else array)
