"""MFMA: each result is the exact dot product plus the accumulator, rounded once to float32.

EXEC does not matter. Lane and register maps of the unscaled forms are those of public reference
kernels; the block-scale map and the packing of four- and six-bit formats come from programming
notes only (see ``coverage``). Whether hardware rounds between partial sums is not modelled.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from netra_build.checkasm.model.arith import narrow
from netra_build.checkasm.model.arrays import LANES, Array, Scratch
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.lane_moves import everyone
from netra_build.checkasm.model.isa.matrix_tiles import (
    Tile,
    distinct,
    exact_dot,
    rounded_dot,
    split_codes,
)
from netra_build.checkasm.model.isa.table import register, spellings
from netra_build.checkasm.model.operands import Operand, Unsupported, constant, is_vector
from netra_build.checkasm.model.sources import Form, Get

U = np.uint32
F64 = np.float64


Decode = Callable[[Array, Array, Scratch], None]
"""Fills a float64 array with the numbers that element codes stand for."""


@dataclass(frozen=True)
class Format:
    """An operand's element type. ``exact`` marks ranges whose dot products fit in float64."""

    name: str
    bits: int
    decode: Decode
    significant_bits: int
    exact: bool = False
    interleaved: bool = False
    """Eight-bit operands of the f8f6f4 forms: two halves of 16 consecutive k each."""
    unit: float = 1.0
    """What decoded numbers are multiples of."""


def _by(convert: Callable[[Array], Array]) -> Decode:
    return lambda codes, result, _scratch: np.copyto(result, convert(codes))


FP8 = Format("fp8", 8, narrow.E4M3.decode_bytes, 4, exact=True, unit=narrow.E4M3.unit)
BF8 = Format("bf8", 8, narrow.E5M2.decode_bytes, 3, unit=narrow.E5M2.unit)
BY_NAME = {
    one.name: one
    for one in (
        Format("bf16", 16, _by(lambda codes: narrow.bf16_to_single(codes.astype(U))), 8),
        Format("f16", 16, _by(lambda codes: codes.view(np.float16)), 11),
        Format("f32", 32, _by(lambda codes: codes.view(np.float32)), 24),
        Format("i8", 8, _by(lambda codes: codes.view(np.int8)), 8),
        FP8,
        BF8,
    )
}
BY_SELECTOR = (
    replace(FP8, interleaved=True),
    replace(BF8, interleaved=True),
    Format("fp6", 6, _by(narrow.E2M3.decode), 4, exact=True),
    Format("bf6", 6, _by(narrow.E3M2.decode), 3, exact=True),
    Format("fp4", 4, _by(narrow.E2M1.decode), 2, exact=True),
)
"""Formats of the f8f6f4 forms by the number in cbsz (first operand) and blgp (second)."""


def _whole(operand: Operand, count: int, d: Form) -> Get:
    """Return a reader of ``count`` registers in all lanes, EXEC ignored: uint32[count, n, 64]."""
    first = d.row(operand, count)

    def get(g: Group) -> Array:
        for row in range(first, first + count):
            if g.vstate[row]:
                g.check_vector(row, d, everyone(g))
        return g.V[first : first + count]

    return get


def _accumulator(operand: Operand, tile: Tile, d: Form) -> Get:
    """Return a reader of the accumulator: uint32[n * blocks, rows, columns], or one constant."""
    if is_vector(operand):
        whole = _whole(operand, tile.results, d)
        return lambda g: tile.result(whole(g))
    if operand.kind not in ("int", "float"):
        raise Unsupported(f'operand "{operand.text}"')
    same = np.full((1, 1, 1), constant(operand, "u32"))
    return lambda g: same


def _write(g: Group, first: int, matrix: Array, tile: Tile, d: Form) -> None:
    for row in range(first, first + tile.results):
        if g.vstate[row]:
            g.touch_vector(row, d, everyone(g))
    tile.put_result(g.V[first : first + tile.results], matrix)


def _operand(
    g: Group, name: str, registers: Array, tile: Tile, fmt: Format, may_repeat: bool
) -> Array:
    """Return float64[n * blocks, rows, k] in multiples of the format's unit.

    ``may_repeat`` lets one row or wavefront stand for all when they are equal. The second operand
    is the same with columns for rows.
    """
    parts = tile.by_lane_group(registers)
    if may_repeat and tile.blocks == 1:
        parts = distinct(parts)
    scratch = g.batch.scratch
    rows = tile.rows(parts, scratch, interleaved=fmt.interleaved)
    codes = split_codes(rows, fmt.bits)
    numbers = scratch.array(f"{name} operand", codes.shape, F64)
    fmt.decode(codes, numbers, scratch)
    return numbers


Product = Callable[[Group, Array, Array, Array], Array]
"""Takes both operands as numbers and the accumulator; returns the bits of the result."""


def _build(tile: Tile, types: str, d: Form) -> Run:
    first, second = _formats(types, d)
    get_a = _whole(d.operands[1], tile.operand_registers(first.bits), d)
    get_b = _whole(d.operands[2], tile.operand_registers(second.bits), d)
    get_c = _accumulator(d.operands[3], tile, d)
    row = d.row(d.operands[0], tile.results)
    is_scaled = len(d.operands) > 4
    if types == "i8":
        product = _integer_product("clamp" in d.modifiers)
    else:
        product = _float_product(first, second, is_scaled)
        product = _scaled(product, tile, d) if is_scaled else product

    def run(g: Group) -> None:
        a = _operand(g, "first", get_a(g), tile, first, not is_scaled)
        b = _operand(g, "second", get_b(g), tile, second, not is_scaled)
        _write(g, row, product(g, a, b, get_c(g)), tile, d)

    return run


def _formats(types: str, d: Form) -> tuple[Format, Format]:
    """Return the operand formats: of the mnemonic, or those that the instruction chooses."""
    if types != "f8f6f4":
        d.allow(*["clamp"] * (types == "i8"))
        return BY_NAME[types.split("_")[0]], BY_NAME[types.split("_")[-1]]
    d.allow("cbsz", "blgp", *["op_sel", "op_sel_hi"] * (len(d.operands) > 4))
    selectors = (d.number("cbsz"), d.number("blgp"))
    if max(selectors) >= len(BY_SELECTOR):
        raise Unsupported(f"operand formats {selectors}")
    return BY_SELECTOR[selectors[0]], BY_SELECTOR[selectors[1]]


def _integer_product(saturate: bool) -> Product:
    def product(_g: Group, a: Array, b: Array, c: Array) -> Array:
        # Sums of 8-bit products are exact in float64.
        total = np.matmul(a, b.swapaxes(1, 2)).astype(np.int64) + c.view(np.int32)
        if saturate:
            total = np.clip(total, -(2**31), 2**31 - 1)
        bits: Array = (total & 0xFFFFFFFF).astype(U)
        return bits

    return product


def _float_product(first: Format, second: Format, is_scaled: bool) -> Product:
    exact = first.exact and second.exact and not is_scaled
    bits = max(first.significant_bits, second.significant_bits)
    unit = first.unit * second.unit

    def product(g: Group, a: Array, b: Array, c: Array) -> Array:
        columns = b.swapaxes(1, 2)
        if exact:
            return exact_dot(a, columns, c.view(np.float32), unit).view(U)
        scaled = a * unit if unit != 1.0 else a
        return rounded_dot(scaled, columns, c.view(np.float32), bits, g.batch.charge).view(U)

    return product


def _scaled(product: Product, tile: Tile, d: Form) -> Product:
    low, high = d.flag_list("op_sel", 3, 0), d.flag_list("op_sel_hi", 3, 0)
    gets = [_scale_source(operand, d) for operand in d.operands[4:6]]
    sources = [(get, low[i] + 2 * high[i]) for i, get in enumerate(gets)]

    def scaled(g: Group, a: Array, b: Array, c: Array) -> Array:
        first, second = (
            np.repeat(_scale_values(get(g), byte, tile), 32, axis=2) for get, byte in sources
        )
        return product(g, a * first, b * second, c)

    return scaled


def _scale_values(registers: Array, byte: int, tile: Tile) -> Array:
    """Return float64[n, size, blocks of 32 k]: block b of row i comes from lane size * b + i."""
    codes = (registers >> U(8 * byte)) & U(0xFF)
    by_block = codes.reshape(codes.shape[0], tile.groups, tile.size)
    return narrow.scale_value(by_block.swapaxes(1, 2))


def _scale_source(operand: Operand, d: Form) -> Get:
    if is_vector(operand):
        whole = _whole(operand, 1, d)
        return lambda g: whole(g)[0]
    value = constant(operand, "u32")
    return lambda g: np.full((g.n, LANES), value, U)


_NAME = re.compile(r"v_mfma_(?:scale_)?[fi]32_(\d+)x\d+x(\d+)(?:_(\d+)b)?_(.*)")
_FORMS = """
v_mfma_f32_{16x16x16,16x16x32,32x32x8,32x32x16,4x4x4_16b,16x16x4_4b,32x32x4_2b}_{bf16,f16}
v_mfma_f32_{16x16x4,32x32x2,4x4x1_16b,16x16x1_4b,32x32x1_2b}_f32
v_mfma_f32_{16x16x32,32x32x16}_{fp8,bf8}_{fp8,bf8} v_mfma_{,scale_}f32_{16x16x128,32x32x64}_f8f6f4
v_mfma_i32_{16x16x32,16x16x64,32x32x16,32x32x32,4x4x4_16b,16x16x4_4b,32x32x4_2b}_i8
"""
for _name, _ in spellings(_FORMS):
    _form = _NAME.fullmatch(_name)
    assert _form is not None
    _tile = Tile(int(_form[1]), int(_form[2]), int(_form[3] or 1))
    register(_name, partial(_build, _tile, _form[4]))
