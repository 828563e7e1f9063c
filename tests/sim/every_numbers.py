"""Float formats in exact fractions: what the rows of the instruction tables state results with."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

HALF = Fraction(1, 2)
Number = Fraction | float
"""An exact number, or a float for infinities and NaN."""


@dataclass(frozen=True)
class Format:
    """A binary float format; ``top`` is what its largest exponent means."""

    name: str
    exponent_bits: int
    mantissa_bits: int
    top: str = "ieee"
    """"ieee": infinities and NaN; "nan": only all ones is NaN; "finite": nothing special."""

    @property
    def bits(self) -> int:
        return 1 + self.exponent_bits + self.mantissa_bits

    @property
    def bias(self) -> int:
        return (1 << self.exponent_bits - 1) - 1

    @property
    def sign(self) -> int:
        return 1 << self.bits - 1

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent_bits) - 1) << self.mantissa_bits

    @property
    def largest(self) -> int:
        """The bits of the largest finite number."""
        return {"ieee": self.infinity - 1, "nan": self.sign - 2, "finite": self.sign - 1}[self.top]

    @property
    def nan(self) -> int:
        return self.sign - 1 if self.top == "nan" else self.infinity | 1 << self.mantissa_bits - 1

    def is_nan(self, bits: int) -> bool:
        size = bits & (self.sign - 1)
        return size > self.infinity if self.top == "ieee" else size > self.largest

    def is_signalling(self, bits: int) -> bool:
        return self.is_nan(bits) and not bits >> self.mantissa_bits - 1 & 1

    def is_negative(self, bits: int) -> bool:
        return bool(bits & self.sign)

    def value(self, bits: int) -> Number:
        """Return the number that ``bits`` mean."""
        size = bits & (self.sign - 1)
        if self.is_nan(bits):
            return math.nan
        if size > self.largest:
            return -math.inf if bits & self.sign else math.inf
        exponent, mantissa = divmod(size, 1 << self.mantissa_bits)
        if exponent:
            mantissa += 1 << self.mantissa_bits
        result = mantissa * power(max(exponent, 1) - self.bias - self.mantissa_bits)
        return -result if bits & self.sign else result

    def code(self, number: Number, zero: int = 0, *, saturates: bool = False) -> int:
        """Return the nearest bits, ties to even; ``zero`` is the sign bit of a zero result."""
        if isinstance(number, float):
            if math.isnan(number):
                return self.nan
            return self._beyond(saturates) | (self.sign if number < 0 else 0)
        if number == 0:
            return self.sign if zero else 0
        size = self._steps(abs(number), nearest=True)
        if size > self.largest:
            size = self._beyond(saturates)
        return size | (self.sign if number < 0 else 0)

    def cut(self, number: Fraction, zero: int = 0) -> int:
        """Return the bits of the nearest number that is not larger in size."""
        if number == 0:
            return self.sign if zero else 0
        size = min(self._steps(abs(number), nearest=False), self.largest)
        return size | (self.sign if number < 0 else 0)

    def _beyond(self, saturates: bool) -> int:
        if saturates or self.top == "finite":
            return self.largest
        return self.nan if self.top == "nan" else self.infinity

    def _steps(self, size: Fraction, *, nearest: bool) -> int:
        exponent = max(floor_log2(size), 1 - self.bias)
        steps = size * power(self.mantissa_bits - exponent)
        whole, rest = steps.numerator // steps.denominator, steps % 1
        if nearest and (rest > HALF or (rest == HALF and whole & 1)):
            whole += 1
        return (exponent + self.bias - 1 << self.mantissa_bits) + whole


def power(exponent: int) -> Fraction:
    """Return two to a whole power."""
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)


def floor_log2(size: Fraction) -> int:
    guess = size.numerator.bit_length() - size.denominator.bit_length()
    return guess if power(guess) <= size else guess - 1


F16 = Format("f16", 5, 10)
BF16 = Format("bf16", 8, 7)
F32 = Format("f32", 8, 23)
F64 = Format("f64", 11, 52)
FP8 = Format("fp8", 4, 3, "nan")
BF8 = Format("bf8", 5, 2)
FP6 = Format("fp6", 2, 3, "finite")
BF6 = Format("bf6", 3, 2, "finite")
FP4 = Format("fp4", 2, 1, "finite")
FORMATS = {f.name: f for f in (F16, BF16, F32, F64, FP8, BF8, FP6, BF6, FP4)}


# Arithmetic on bits


def fused(f: Format, a: int, b: int, c: int, out: Format | None = None) -> int:
    """a * b + c, rounded once; ``out`` is the format of the result."""
    out = out or f
    x, y, z = f.value(a), f.value(b), f.value(c)
    return fused_numbers(out, (x, y, z), tuple(map(f.is_negative, (a, b, c))))


def fused_numbers(out: Format, numbers: tuple[Number, ...], negative: tuple[bool, ...]) -> int:
    x, y, z = numbers
    if any(n != n for n in numbers):
        return out.nan
    minus = negative[0] != negative[1]
    if math.inf in (abs(x), abs(y)):
        if 0 in (x, y) or (abs(z) == math.inf and negative[2] != minus):
            return out.nan
        return out.code(-math.inf if minus else math.inf)
    if abs(z) == math.inf:
        return out.code(z)
    is_minus_zero = minus and negative[2] and x * y == 0 and z == 0
    return out.code(x * y + z, zero=is_minus_zero)


def plus(f: Format, a: int, b: int) -> int:
    return fused(f, a, f.code(Fraction(1)), b)


def minus(f: Format, a: int, b: int) -> int:
    return plus(f, a, b if f.is_nan(b) else b ^ f.sign)


def times(f: Format, a: int, b: int) -> int:
    x, y = f.value(a), f.value(b)
    if x != x or y != y:
        return f.nan
    is_minus = f.is_negative(a) != f.is_negative(b)
    if math.inf in (abs(x), abs(y)):
        return f.nan if 0 in (x, y) else f.code(-math.inf if is_minus else math.inf)
    return f.code(x * y, zero=is_minus)


def order(f: Format, bits: int) -> int:
    """Return a whole number that grows with the value; minus zero lies below zero."""
    size = bits & (f.sign - 1)
    return -size - 1 if bits & f.sign else size


def pick(f: Format, choose: Callable, a: int, b: int) -> int:
    """Minimum or maximum that prefers numbers, but lets a signalling NaN through."""
    if f.is_signalling(a) or f.is_signalling(b):
        return f.nan
    if f.is_nan(a):
        return b
    if f.is_nan(b):
        return a
    return choose(a, b, key=lambda bits: order(f, bits))


def pick3(f: Format, choose: Callable, a: int, b: int, c: int) -> int:
    return pick(f, choose, pick(f, choose, a, b), c)


def middle(f: Format, a: int, b: int, c: int) -> int | None:
    if {0, f.sign} <= {a, b, c}:
        return None  # which of two zeros is the middle one is not said
    if any(f.is_nan(bits) for bits in (a, b, c)):
        return pick3(f, min, a, b, c)
    return sorted((a, b, c), key=lambda bits: order(f, bits))[1]


# Functions of one number


def whole(f: Format, rule: Callable[[Fraction], int], bits: int) -> int:
    """Round to a whole number by ``rule``; the sign of the operand survives."""
    number = f.value(bits)
    if isinstance(number, float):
        return f.code(number)
    return f.code(Fraction(rule(number)), zero=f.is_negative(bits))


def fraction(f: Format, bits: int) -> int | None:
    number = f.value(bits)
    if isinstance(number, float):
        return f.nan if number != number else None
    below_one = f.code(Fraction(1)) - 1
    return min(f.code(number - math.floor(number)), below_one)


def mantissa(f: Format, bits: int) -> int:
    number = f.value(bits)
    if isinstance(number, float) or number == 0:
        return f.nan if number != number else bits
    return f.code(number * power(-floor_log2(abs(number)) - 1))


def exponent(f: Format, bits: int) -> int:
    number = f.value(bits)
    if isinstance(number, float) or number == 0:
        return 0
    return floor_log2(abs(number)) + 1


def scaled(f: Format, bits: int, by: int) -> int:
    number = f.value(bits)
    if isinstance(number, float):
        return f.code(number)
    return f.code(number * power(max(-5000, min(5000, by))), zero=f.is_negative(bits))


def reciprocal(f: Format, bits: int) -> int:
    number = f.value(bits)
    if number != number:
        return f.nan
    if abs(number) == math.inf or number == 0:
        return (f.infinity if number == 0 else 0) | bits & f.sign
    return f.code(1 / number)


def root(f: Format, bits: int) -> int:
    number = f.value(bits)
    if number == 0 or number == math.inf:
        return bits
    if number != number or number < 0:
        return f.nan
    return f.code(sticky_root(number))


def reciprocal_root(f: Format, bits: int) -> int:
    number = f.value(bits)
    if number == 0:
        return f.infinity | bits & f.sign
    if number == math.inf:
        return 0
    if number != number or number < 0:
        return f.nan
    return f.code(sticky_root(1 / number))


def sticky_root(number: Fraction) -> Fraction:
    """Return the root, cut far below any rounding position but on the right side of ties."""
    shift = 2 * (80 + max(0, -floor_log2(number)))
    exact = number * power(shift)
    below = math.isqrt(exact.numerator // exact.denominator)
    is_exact = Fraction(below * below) == exact
    return Fraction(2 * below + (not is_exact), 2) * power(-shift // 2)


def power_of_two(f: Format, bits: int) -> int:
    number = f.value(bits)
    if isinstance(number, float):
        return f.nan if number != number else (f.infinity if number > 0 else 0)
    if abs(number) > 2000:
        return f.infinity if number > 0 else 0
    base = math.floor(number)
    return f.code(Fraction(2.0 ** float(number - base)) * power(base))


def logarithm(f: Format, bits: int) -> int:
    number = f.value(bits)
    if number == 0:
        return f.infinity | f.sign
    if number == math.inf:
        return bits
    if number != number or number < 0:
        return f.nan
    base = floor_log2(number)
    if number * power(-base) > Fraction(3, 2):
        base += 1
    rest = number * power(-base)
    # log1p keeps the digits of numbers near one.
    return f.code(base + Fraction(math.log1p(float(rest - 1)) / math.log(2)))


def turn(f: Format, shift: Fraction, bits: int) -> int | None:
    """Sine of a whole turn times the operand; a quarter turn more is the cosine."""
    number = f.value(bits)
    if isinstance(number, float):
        return f.nan
    if abs(number) > 256:
        return None
    angle = (number + shift) % 1
    if (4 * angle).denominator == 1:
        value = (0, 1, 0, -1)[int(4 * angle)]
        return None if value == 0 else f.code(Fraction(value))
    near = angle - Fraction(round(2 * angle), 2)
    sign = 1 if round(2 * angle) % 2 == 0 else -1
    if abs(near) > Fraction(1, 8):
        side = 1 if near > 0 else -1
        return f.code(
            Fraction(sign * side * math.cos(2 * math.pi * float(abs(near) - Fraction(1, 4))))
        )
    return f.code(Fraction(sign * math.sin(2 * math.pi * float(near))))


def classes(f: Format, bits: int) -> int:
    """Return the position of the operand's class in the mask of v_cmp_class."""
    number, negative = f.value(bits), f.is_negative(bits)
    if number != number:
        return 0 if f.is_signalling(bits) else 1
    if abs(number) == math.inf:
        return 2 if negative else 9
    if number == 0:
        return 5 if negative else 6
    is_small = abs(number) < power(1 - f.bias)
    return {(True, False): 3, (True, True): 4, (False, True): 7, (False, False): 8}[
        negative, is_small
    ]


def moved(source: Format, target: Format, bits: int, *, saturates: bool = False) -> int:
    """Convert between formats, to nearest even."""
    number = source.value(bits)
    if isinstance(number, float) or number:
        return target.code(number, saturates=saturates)
    return target.sign if source.is_negative(bits) else 0


def to_whole(f: Format, rule: Callable, low: int, high: int, bits: int) -> int:
    """Convert to an integer in [low, high]; NaN is zero."""
    number = f.value(bits)
    if isinstance(number, float):
        return 0 if number != number else (low if number < 0 else high)
    return max(low, min(high, rule(number)))
