"""Rows: matrix instructions, one for each mnemonic and each pair of selectable formats."""

from __future__ import annotations

import re
from fractions import Fraction

from every_integer import signed
from every_numbers import F32, FORMATS, power
from every_operands import Row, any_operand, kind_of, row

ROWS: list[Row] = []
SCALE = 60
"""All elements are whole multiples of 2 ** -60 here, so that sums are sums of integers."""


def element(kind: str, code: int) -> int:
    if kind == "i8":
        return signed(code, 8)
    number = FORMATS[kind].value(code) * power(SCALE)
    assert number.denominator == 1
    return number.numerator


class Shape:
    """Rows, columns and depth, and the lanes that hold them."""

    def __init__(self, size: int, k: int, blocks: int, kinds: tuple[str, str]) -> None:
        self.size, self.k, self.blocks, self.kinds = size, k, blocks, kinds
        self.per_lane = size * k * blocks // 64
        self.results = size * size * blocks // 64

    def bits(self, side: int) -> int:
        return 8 if self.kinds[side] == "i8" else FORMATS[self.kinds[side]].bits

    def matrix(self, side: int, lanes: list[int], is_selected: bool) -> dict:
        """Return elements by (block, row, k)."""
        bits, kind = self.bits(side), self.kinds[side]
        table = {}
        for lane, packed in enumerate(lanes):
            group, line = divmod(lane, self.size)
            for at in range(self.per_lane):
                code = packed >> at * bits & (1 << bits) - 1
                block, depth = 0, group * self.per_lane + at
                if self.blocks > 1:
                    block, depth = group, at
                elif is_selected and bits == 8:
                    # Two runs of 16: the second one follows those of all lane groups.
                    depth = (at // 16 * (64 // self.size) + group) * 16 + at % 16
                table[block, line, depth] = element(kind, code)
        return table

    def place(self, lane: int, register: int) -> tuple[int, int, int]:
        """Return block, row and column of a result."""
        if self.size == 4:
            return lane // 4, register, lane % 4
        per_block = self.size * self.size // 64
        block, at = divmod(register, per_block)
        groups = 64 // self.size
        line = (at // 4 * groups + lane // self.size) * 4 + at % 4
        return block, line, lane % self.size

    def product(self, a: list[int], b: list[int], c: list[int], is_selected=False, scales=None):
        """Return the exact sums of products plus accumulator, rounded once, lane by lane."""
        first, second = (self.matrix(i, v, is_selected) for i, v in enumerate((a, b)))
        result = []
        for lane in range(64):
            packed = 0
            for register in range(self.results):
                block, line, column = self.place(lane, register)
                bits = c[lane] >> 32 * register & 0xFFFFFFFF
                terms = (first[block, line, k] * second[block, column, k] for k in range(self.k))
                if scales:
                    terms = (
                        term << scales[0][line, k // 32] + scales[1][column, k // 32]
                        for k, term in enumerate(terms)
                    )
                packed |= (
                    self.finish(sum(terms), bits, 2 * SCALE + 20 * bool(scales)) << 32 * register
                )
            result.append(packed)
        return result

    def finish(self, total: int, bits: int, shift: int) -> int:
        if self.kinds[0] == "i8":
            return total + bits & 0xFFFFFFFF
        exact = Fraction(total, 1 << shift) + F32.value(bits)
        return F32.code(exact)


def operand(kind: str, bits: int, count: int) -> str:
    if kind == "i8":
        return f"u32x{count * bits // 32}" if count * bits > 32 else "u32"
    return f"{kind}x{count}" if count > 1 else kind


NAMES = [
    "f32_16x16x16_bf16",
    "f32_16x16x16_f16",
    "f32_16x16x1_4b_f32",
    "f32_16x16x32_bf16",
    "f32_16x16x32_f16",
    "f32_16x16x4_4b_bf16",
    "f32_16x16x4_4b_f16",
    "f32_16x16x4_f32",
    "f32_32x32x16_bf16",
    "f32_32x32x16_f16",
    "f32_32x32x1_2b_f32",
    "f32_32x32x2_f32",
    "f32_32x32x4_2b_bf16",
    "f32_32x32x4_2b_f16",
    "f32_32x32x8_bf16",
    "f32_32x32x8_f16",
    "f32_4x4x1_16b_f32",
    "f32_4x4x4_16b_bf16",
    "f32_4x4x4_16b_f16",
    "i32_16x16x32_i8",
    "i32_16x16x4_4b_i8",
    "i32_16x16x64_i8",
    "i32_32x32x16_i8",
    "i32_32x32x32_i8",
    "i32_32x32x4_2b_i8",
    "i32_4x4x4_16b_i8",
]
NAMES += [
    f"f32_{shape}_{first}_{second}"
    for shape in ("16x16x32", "32x32x16")
    for first in ("fp8", "bf8")
    for second in ("fp8", "bf8")
]


def matrix_row(name: str, kinds: tuple[str, str], tail: str = "") -> Row:
    """Return the row of one product; the accumulator is a register operand."""
    size, k, blocks = re.search(r"_(\d+)x\d+x(\d+)(?:_(\d+)b)?", name).groups()
    shape = Shape(int(size), int(k), int(blocks or 1), kinds)
    texts = [operand(kind, shape.bits(at), shape.per_lane) for at, kind in enumerate(kinds)]
    total = f"u32x{shape.results}" if kinds[0] == "i8" else f"f32x{shape.results}"
    is_selected = "f8f6f4" in name

    def run(a, b, c, *scales):
        found = None
        if scales:
            found = [block_scales(shape, list(lanes), at) for at, lanes in enumerate(scales)]
        return shape.product(a, b, c, is_selected, found)

    extra = " u32 u32" if "scale" in name else ""
    return row(
        name,
        f"{texts[0]} {texts[1]} {total}{extra} : {total}",
        run,
        f"{name} {{x}}, {{a}}, {{b}}, {{c}}{tail}\ns_nop 15\ns_nop 3",
        is_whole=True,
        is_tame=True,
    )


def block_scales(shape: Shape, lanes: list[int], side: int) -> dict:
    """Row i's block b of 32 has its exponent in lane size * b + i; op_sel picks the byte.

    Exponents are kept within 10 of one, as shifts of a total that is 20 digits longer.
    """
    byte = 8 * side
    return {
        (line, block): (lanes[shape.size * block + line] >> byte & 0xFF) - 127 + 10
        for line in range(shape.size)
        for block in range(shape.k // 32)
    }


for _name in NAMES:
    _parts = _name.split("_")
    _kinds = (_parts[-2], _parts[-1]) if _parts[-2] in FORMATS else (_parts[-1],) * 2
    ROWS.append(matrix_row(f"v_mfma_{_name}", _kinds))

SELECTORS = ("fp8", "bf8", "fp6", "bf6", "fp4")


def tame_scales(kinds: tuple[str, ...]):
    """Draw operands for a scaled product: scales near one, their other bytes anything."""

    def draw(rng):
        values = [any_operand(rng, kind_of(text), True) for text in kinds]
        for byte in (0, 8):
            other = rng.getrandbits(32) & ~(0xFF << byte)
            values.append(other | rng.randrange(117, 138) << byte)
        return values

    return draw


for _shape in ("16x16x128", "32x32x64"):
    for _first in range(5):
        for _second in range(5):
            if _shape == "32x32x64" and (_first + _second) % 2:
                continue
            _kinds = (SELECTORS[_first], SELECTORS[_second])
            _tail = f" cbsz:{_first} blgp:{_second}"
            ROWS.append(matrix_row(f"v_mfma_f32_{_shape}_f8f6f4", _kinds, _tail))
    for _first, _second in ((0, 0), (4, 2), (3, 1)):
        _kinds = (SELECTORS[_first], SELECTORS[_second])
        _tail = f", {{d}}, {{e}} op_sel:[0,1,0] cbsz:{_first} blgp:{_second}"
        _row = matrix_row(f"v_mfma_scale_f32_{_shape}_f8f6f4", _kinds, _tail)
        _draw = tame_scales(tuple(kind.text for kind in _row.sources[:3]))
        ROWS.append(Row(**{**vars(_row), "draw": _draw}))
