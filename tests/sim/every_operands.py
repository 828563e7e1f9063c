"""Rows of the instruction tables: what an operand is, and how operands are drawn."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from every_numbers import FORMATS, Format

LANES = range(64)
WORD = (1 << 32) - 1
ALL_LANES = (1 << 64) - 1
EDGES = (0, 1, 2, 7, 31, 32, 63, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFF, 0x800000)
EDGES += (0xFFFFFF, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF)
IMPLICIT = ("scc", "exec", "vcc!")
SCALAR = ("scc", "exec", "vcc", "vcc!", "mask")


@dataclass(frozen=True)
class Kind:
    """What an operand holds: ``count`` numbers of ``bits``, in vector or scalar registers.

    Kinds are written u32, u64, u16, f32, f16x2, s32 (scalar), mask (a bit per lane in two scalar
    registers), vcc, vcc! (not named by the instruction), scc and exec.
    """

    text: str
    number: str
    count: int
    bits: int

    @property
    def is_scalar(self) -> bool:
        return self.text in SCALAR or self.text.startswith("s")

    @property
    def is_mask(self) -> bool:
        return self.text in ("mask", "vcc", "vcc!", "exec")

    @property
    def words(self) -> int:
        return max(1, self.count * self.bits // 32)

    @property
    def format(self) -> Format | None:
        return FORMATS.get(self.number)

    @property
    def mask(self) -> int:
        return (1 << self.count * self.bits) - 1


def kind_of(text: str) -> Kind:
    """Read a kind."""
    if text in SCALAR:
        return Kind(text, "u64", 1, 32 if text == "scc" else 64)
    number, _, count = text.partition("x")
    plain = number.removesuffix("_lo").removesuffix("_hi")
    bits = FORMATS[plain].bits if plain in FORMATS else int(plain[1:])
    return Kind(text, plain, int(count or 1), bits)


@dataclass(frozen=True)
class Row:
    """One instruction: its operands, and what it does.

    ``fn`` takes the operands of one lane as whole numbers and returns the results (a tuple if
    there are several); None means that this row does not say. ``is_whole``: it takes lists of 64
    instead, and returns lists for vectors. ``text`` names results {x}, {y}, {z} and operands {a},
    {b}, {c}, {d}; without it the operands follow the mnemonic in order. {p} is 16 bytes of global
    memory per lane (an offset from s[4:5]), {f} their address, {r} a buffer descriptor, {l}
    16 bytes of LDS.
    """

    name: str
    sources: tuple[Kind, ...]
    results: tuple[Kind, ...]
    fn: Callable[..., Any]
    text: str = ""
    before: str = ""
    is_whole: bool = False
    is_tame: bool = False
    """Floats of moderate size only."""
    draw: Callable[[random.Random], Sequence[int]] | None = None
    """Draws the operands of one lane together."""


def row(name: str, kinds: str, fn: Callable[..., Any], text: str = "", **options: Any) -> Row:
    """Return a row; ``kinds`` is for example "u32 u32 : u32 mask"."""
    left, _, right = kinds.partition(":")
    sources, results = (tuple(map(kind_of, side.split())) for side in (left, right))
    return Row(name, sources, results, fn, text, **options)


# Operands


def any_word(rng: random.Random, bits: int) -> int:
    if rng.random() < 0.4:
        return rng.choice(EDGES) & ((1 << bits) - 1) if bits <= 32 else wide_edge(rng)
    return rng.getrandbits(bits) >> (rng.randrange(bits) if rng.random() < 0.3 else 0)


def wide_edge(rng: random.Random) -> int:
    return rng.choice((rng.choice(EDGES), rng.choice(EDGES) << 32, ALL_LANES, 1 << 63, WORD << 31))


def any_float(rng: random.Random, f: Format, is_tame: bool) -> int:
    """Random bits, special values, and numbers of similar size."""
    kind = rng.random()
    sign = f.sign * rng.getrandbits(1)
    one = f.bias << f.mantissa_bits
    if is_tame or kind < 0.45:
        spread = min(6, f.bias - 1) << f.mantissa_bits
        return sign | one + rng.randrange(-spread, spread + 1)
    if kind < 0.65:
        special = (0, 1, f.sign - 1, f.infinity, f.infinity | 1, f.nan, f.largest, one)
        special += (
            1 << f.mantissa_bits,
            (1 << f.mantissa_bits) - 1,
            one + (1 << f.mantissa_bits - 1),
        )
        return sign | rng.choice(special) & (f.sign - 1)
    return rng.getrandbits(f.bits)


def special_float(rng: random.Random, f: Format) -> int:
    """Zeros, infinities and NaNs, which meet each other in some lanes."""
    one = f.bias << f.mantissa_bits
    special = (0, 0, 1, one, f.infinity, f.infinity | 1, f.nan, f.largest)
    return f.sign * rng.getrandbits(1) | rng.choice(special) & (f.sign - 1)


def any_operand(rng: random.Random, kind: Kind, is_tame: bool) -> int:
    if kind.text == "scc":
        return rng.getrandbits(1)
    if kind.text == "exec":
        return rng.getrandbits(64) | 1 << rng.randrange(64)
    f = kind.format
    value = 0
    for at in range(kind.count):
        part = any_float(rng, f, is_tame) if f else any_word(rng, kind.bits)
        value |= part << at * kind.bits
    if kind.bits * kind.count < 32 and not kind.is_scalar:
        # What lies above a narrow operand must not matter.
        value |= rng.getrandbits(32) << kind.bits * kind.count & WORD
    return value


def operands(rng: random.Random, row: Row) -> list[list[int]]:
    """Return a list of 64 numbers per operand; scalars repeat one."""
    if row.draw:
        return [list(column) for column in zip(*(row.draw(rng) for _ in LANES), strict=True)]
    columns = []
    for kind in row.sources:
        if kind.is_scalar:
            columns.append([any_operand(rng, kind, row.is_tame)] * 64)
        else:
            columns.append([any_operand(rng, kind, row.is_tame) for _ in LANES])
        f = kind.format
        if f and kind.count == 1 and not row.is_tame:
            for lane in range(3, 64, 5):
                columns[-1][lane] = special_float(rng, f)
    same = [i for i, kind in enumerate(row.sources) if kind.text == row.sources[0].text]
    if len(same) > 1 and not row.sources[0].is_scalar:
        for lane in range(0, 64, 7):
            columns[same[1]][lane] = columns[same[0]][lane]
    return columns
