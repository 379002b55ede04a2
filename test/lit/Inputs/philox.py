"""Random numbers by counter: Philox4x32-10 of Salmon, Moraes, Dror and Shaw
("Parallel random numbers: as easy as 1, 2, 3", SC 2011), vectorized.

Element i of a tensor, counted in row-major order over the whole, unsliced tensor,
takes lane i % 4 of the block of counter i // 4 and the seed as key.
"""

import math

import numpy as np

MASK = np.uint64(0xFFFFFFFF)
SHIFT = np.uint64(32)


def philox(counter, key):
    """The four 32-bit words (as uint64 arrays) for counter words and key words."""
    x0, x1, x2, x3 = (np.asarray(c, np.uint64) for c in counter)
    k0, k1 = (int(k) for k in key)
    for _ in range(10):
        p0 = np.uint64(0xD2511F53) * x0
        p1 = np.uint64(0xCD9E8D57) * x2
        x0, x1, x2, x3 = (
            (p1 >> SHIFT) ^ x1 ^ np.uint64(k0),
            p1 & MASK,
            (p0 >> SHIFT) ^ x3 ^ np.uint64(k1),
            p0 & MASK,
        )
        k0 = (k0 + 0x9E3779B9) & 0xFFFFFFFF
        k1 = (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return x0, x1, x2, x3


def draw(shape, seed, stream=0):
    """32 random bits for each element of a tensor of the shape."""
    count = int(np.prod(shape, dtype=np.int64))
    blocks = np.arange((count + 3) // 4, dtype=np.uint64)
    seed = int(seed) & 0xFFFFFFFFFFFFFFFF
    high = np.zeros_like(blocks)
    words = philox(
        (blocks & MASK, blocks >> SHIFT, high + np.uint64(stream & 0xFFFFFFFF),
         high + np.uint64(stream >> 32)),
        (seed & 0xFFFFFFFF, seed >> 32),
    )
    return np.stack(words, axis=-1).reshape(-1)[:count].reshape(shape)


def dropout_mask(shape, rate, seed):
    """Whether each element is kept: u >= rate for u uniform in [0, 1), of 24 bits."""
    u = (draw(shape, seed) >> np.uint64(8)).astype(np.float64) * 2.0**-24
    return u >= rate


def fnv1a(text):
    value = 14695981039346656037
    for byte in text.encode():
        value = ((value ^ byte) * 1099511628211) & 0xFFFFFFFFFFFFFFFF
    return value


def draw_scale(element, shape):
    """By what the floats of an argument of that global shape are scaled."""
    if element.kind != "f" or len(shape) < 2:
        return 1.0
    summed = math.prod(shape[1 if len(shape) > 2 else 0:-1])
    exponent = max(0, math.ceil(math.log2(summed)) - 3) if summed else 0
    smallest = {"f8e4m3": -6, "f8e5m2": -14, "f16": -14}.get(element.name, -126)
    return 2.0 ** max(-exponent, smallest + 3)


def fill(element, shape, seed, name, scale=1.0):
    """What an input of that name holds that was not given, as stored elements."""
    bits = draw(shape, seed, fnv1a(name))
    if element.kind == "f":
        return element.encode(((bits >> np.uint64(8)).astype(np.float64) + 1) * 2.0**-24 * scale)
    return (bits >> np.uint64(31 if element.kind == "b" else 30)).astype(element.storage)


# The known answers of the authors' test vectors (kat_vectors of Random123).
assert [int(w) for w in philox((0, 0, 0, 0), (0, 0))] == [
    0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
assert [int(w) for w in philox((0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
                               (0xA4093822, 0x299F31D0))] == [
    0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]
