"""Element types: their names in ccn, DLPack, NumPy and PyTorch, and how Python's numbers become elements."""

import math
import numbers
import struct
import sys
from typing import NamedTuple, Optional


class Narrow(NamedTuple):
    """A format of a sign, an exponent with the IEEE bias, and a mantissa. Without infinities only the pattern of
    all ones is NaN."""

    exponent_bits: int
    mantissa_bits: int
    has_infinity: bool


class ElementType(NamedTuple):
    """`dlpack` is DLPack's code and bits, `numpy` a typestr without its byte order, `packing` a format of struct.

    NumPy has no bf16 and no 8-bit floats: as in ccn's .npy files they are void elements of their size. Those of the
    module ml_dtypes are like these, with names of their own.
    """

    name: str
    dlpack: tuple
    numpy: str
    torch: str
    packing: str = ""
    narrow: Optional[Narrow] = None

    @property
    def size(self):
        return self.dlpack[1] // 8


# In the order of ccn_type.
TYPES = (
    ElementType("f64", (2, 64), "f8", "float64", packing="=d"),
    ElementType("f32", (2, 32), "f4", "float32", packing="=f"),
    ElementType("f16", (2, 16), "f2", "float16", packing="=e"),
    ElementType("bf16", (4, 16), "V2", "bfloat16", narrow=Narrow(8, 7, True)),
    ElementType("f8e4m3", (10, 8), "V1", "float8_e4m3fn", narrow=Narrow(4, 3, False)),
    ElementType("f8e5m2", (12, 8), "V1", "float8_e5m2", narrow=Narrow(5, 2, True)),
    ElementType("i8", (0, 8), "i1", "int8"),
    ElementType("i16", (0, 16), "i2", "int16"),
    ElementType("i32", (0, 32), "i4", "int32"),
    ElementType("i64", (0, 64), "i8", "int64"),
    ElementType("u8", (1, 8), "u1", "uint8"),
    ElementType("u16", (1, 16), "u2", "uint16"),
    ElementType("u32", (1, 32), "u4", "uint32"),
    ElementType("u64", (1, 64), "u8", "uint64"),
    ElementType("bool", (6, 8), "b1", "bool"),
)
BY_DLPACK = {element.dlpack: element for element in TYPES}
BY_TORCH = {"torch." + element.torch: element for element in TYPES}


def encode_narrow(value, form):
    """The pattern nearest to a float, ties to even, as the runtime's encodeAs; OverflowError above the finite ones."""
    exponent_bits, mantissa_bits, has_infinity = form
    sign_bit = 1 << (exponent_bits + mantissa_bits)
    sign = sign_bit if math.copysign(1, value) < 0 else 0
    # The first pattern above the finite ones.
    overflow = ((1 << exponent_bits) - 1) << mantissa_bits if has_infinity else sign_bit - 1
    if math.isnan(value):
        return sign | (overflow | 1 << (mantissa_bits - 1) if has_infinity else overflow)
    if math.isinf(value) and has_infinity:
        return sign | overflow
    if math.isinf(value):
        raise OverflowError
    # The exponent of the result's last place is that of the value or, for subnormal results, that of the smallest
    # normal number. The mantissa's leading one adds 1 to the exponent field, and a carry another.
    smallest = 2 - (1 << (exponent_bits - 1))
    exponent = max(math.frexp(value)[1] - 1 if value else smallest, smallest)
    kept = round(math.ldexp(abs(value), mantissa_bits - exponent))
    magnitude = ((exponent - smallest) << mantissa_bits) + kept
    if magnitude >= overflow:
        raise OverflowError
    return sign | magnitude


def encode(element, value):
    """The bytes of a number as an element. TypeError if it is of another kind, OverflowError if out of range."""
    if element.name == "bool":
        if not isinstance(value, bool):
            raise TypeError
        return b"\1" if value else b"\0"
    if isinstance(value, bool):
        raise TypeError
    if element.packing or element.narrow:
        if not isinstance(value, numbers.Real):
            raise TypeError
        value = float(value)
        if element.packing:
            return struct.pack(element.packing, value)
        return encode_narrow(value, element.narrow).to_bytes(element.size, sys.byteorder)
    if not isinstance(value, numbers.Integral):
        raise TypeError
    return int(value).to_bytes(element.size, sys.byteorder, signed=element.name.startswith("i"))
