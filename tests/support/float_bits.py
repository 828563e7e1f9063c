"""Float32 numbers as bit patterns: edges, exact values and rounding, all independent of numpy."""

from __future__ import annotations

import math
import random
import struct
from fractions import Fraction

NAN = 0x7FC00000
EDGES = (0x00000000, 0x80000000, 0x00000001, 0x807FFFFF, 0x00800000, 0x3F800000, 0xBF800000)
EDGES += (0x3F800001, 0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC12345, 0x33800000)
EDGES += (0x4B800000, 0x4B800001, 0x34000000, 0x7E800000, 0x01000000)


def number(bits: int) -> float:
    return struct.unpack("<f", struct.pack("<I", bits))[0]


def is_finite(bits: int) -> bool:
    return bits & 0x7F800000 != 0x7F800000


def is_nan(bits: int) -> bool:
    return bits & 0x7FFFFFFF > 0x7F800000


def rounded(value: Fraction, zero: int = 0) -> int:
    """Return the float32 bits nearest to an exact number, ties to even; ``zero`` for none."""
    if value == 0:
        return zero
    sign, size = (0x80000000, -value) if value < 0 else (0, value)
    exponent = max(math.floor(math.log2(size.numerator) - math.log2(size.denominator)) - 1, -126)
    while Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    steps = size / Fraction(2) ** (exponent - 23)
    whole = steps.numerator // steps.denominator
    rest = steps - whole
    if rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1):
        whole += 1
    return sign | min((exponent + 126 << 23) + whole, 0x7F800000)


def operands(rng: random.Random, count: int) -> list[list[int]]:
    """Return lists of 64 bit patterns: edges, near equals and random ones."""
    result = []
    for _ in range(count):
        lane = [rng.choice(EDGES) if rng.random() < 0.3 else rng.getrandbits(32) for _ in range(64)]
        result.append(lane)
    for at in range(0, 64, 5):
        # Close exponents, where rounding and cancellation happen.
        for lane in result:
            lane[at] = 0x3F000000 + rng.getrandbits(25) | rng.getrandbits(1) << 31
    return result
