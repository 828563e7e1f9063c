"""MFMA: each result is the exact dot product plus the accumulator, rounded once to float32.

EXEC does not matter. Lane and register maps of the unscaled forms are those of public reference
kernels; the block-scale map and the packing of four- and six-bit formats come from programming
notes only (see ``coverage``). Whether hardware rounds between partial sums is not modelled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from netra_build.checkasm.model.arith import narrow
from netra_build.checkasm.model.arith.dot import exact_dot, rounded_dot
from netra_build.checkasm.model.arrays import LANES, Array, Scratch
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.cross_lane import everyone
from netra_build.checkasm.model.isa.matrix_tiles import (
    Tile,
    by_lane_group,
    distinct,
    operand_rows,
    put_result,
    result_matrix,
    split_codes,
)
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.operands import Decoded, Operand, Unsupported
from netra_build.checkasm.model.sources import Context, Get, constant, is_vector

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


def _viewed_as(dtype: type) -> Decode:
    """Return a decoder of codes that numpy has a type for."""
    return lambda codes, result, _scratch: np.copyto(result, codes.view(dtype))


def _looked_up(form: narrow.Minifloat) -> Decode:
    """Return a decoder of codes narrower than a byte."""
    return lambda codes, result, _scratch: np.copyto(result, form.decode(codes))


def _from_bf16(codes: Array, result: Array, _scratch: Scratch) -> None:
    np.copyto(result, narrow.bf16_to_single(codes.astype(U)))


BF16 = Format("bf16", 16, _from_bf16, 8)
F16 = Format("f16", 16, _viewed_as(np.float16), 11)
F32 = Format("f32", 32, _viewed_as(np.float32), 24)
I8 = Format("i8", 8, _viewed_as(np.int8), 8)
FP8 = Format("fp8", 8, narrow.E4M3.decode_bytes, 4, exact=True, unit=narrow.E4M3.unit)
BF8 = Format("bf8", 8, narrow.E5M2.decode_bytes, 3, unit=narrow.E5M2.unit)
BY_SELECTOR = (
    replace(FP8, interleaved=True),
    replace(BF8, interleaved=True),
    Format("fp6", 6, _looked_up(narrow.E2M3), 4, exact=True),
    Format("bf6", 6, _looked_up(narrow.E3M2), 3, exact=True),
    Format("fp4", 4, _looked_up(narrow.E2M1), 2, exact=True),
)
"""Formats of the f8f6f4 forms by the number in cbsz (first operand) and blgp (second)."""


# Reading and writing whole operands, EXEC ignored


def _whole(operand: Operand, count: int, d: Decoded, context: Context) -> Get:
    """Return a reader of ``count`` registers in all lanes: uint32[count, n, 64]."""
    first = context.row(operand, count)

    def get(g: Group) -> Array:
        for row in range(first, first + count):
            if g.vstate[row]:
                g.check_vector(row, d, everyone(g))
        return g.V[first : first + count]

    return get


def _accumulator(operand: Operand, tile: Tile, d: Decoded, context: Context) -> Get:
    """Return a reader of the accumulator: uint32[n * blocks, rows, columns], or one constant."""
    if is_vector(operand):
        whole = _whole(operand, tile.results, d, context)
        return lambda g: result_matrix(whole(g), tile)
    if operand.kind not in ("int", "float"):
        raise Unsupported(f'operand "{operand.text}"')
    same = np.full((1, 1, 1), constant(operand, "u32"))
    return lambda g: same


def _write(g: Group, first: int, matrix: Array, tile: Tile, d: Decoded) -> None:
    """Write uint32[n * blocks, rows, columns] to the result registers."""
    for row in range(first, first + tile.results):
        if g.vstate[row]:
            g.touch_vector(row, d, everyone(g))
    put_result(g.V[first : first + tile.results], matrix, tile)


def _float_form(name: str, tile: Tile, first: Format, second: Format) -> None:
    def build(d: Decoded, context: Context) -> Run:
        d.allow()
        return _build_float(d, context, tile, first, second, None)

    register(name, build)


Scale = Callable[[Group, Array, Array], tuple[Array, Array]]


def _build_float(
    d: Decoded, context: Context, tile: Tile, first: Format, second: Format, scale: Scale | None
) -> Run:
    get_a = _whole(d.operands[1], tile.operand_registers(first.bits), d, context)
    get_b = _whole(d.operands[2], tile.operand_registers(second.bits), d, context)
    get_c = _accumulator(d.operands[3], tile, d, context)
    row = context.row(d.operands[0], tile.results)
    exact = first.exact and second.exact and scale is None
    bits = max(first.significant_bits, second.significant_bits)

    unit = first.unit * second.unit

    def run(g: Group) -> None:
        a = _operand(g, "first", get_a(g), tile, first, scale is None)
        b = _operand(g, "second", get_b(g), tile, second, scale is None)
        c = get_c(g).view(np.float32)
        if scale is not None:
            a, b = scale(g, a, b)
        columns = b.swapaxes(1, 2)
        if exact:
            result = exact_dot(a, columns, c, unit)
        else:
            scaled = a * unit if unit != 1.0 else a
            result = rounded_dot(scaled, columns, c, bits, g.batch.charge)
        _write(g, row, result.view(U), tile, d)

    return run


def _operand(
    g: Group, name: str, registers: Array, tile: Tile, fmt: Format, may_repeat: bool
) -> Array:
    """Return float64[n * blocks, rows, k] in multiples of the format's unit.

    ``may_repeat`` lets one row or wavefront stand for all when they are equal. The second operand
    is the same with columns for rows.
    """
    parts = by_lane_group(registers, tile)
    if may_repeat and tile.blocks == 1:
        parts = distinct(parts)
    scratch = g.batch.scratch
    rows = operand_rows(parts, tile, scratch, interleaved=fmt.interleaved)
    codes = split_codes(rows, fmt.bits)
    numbers = scratch.array(f"{name} operand", codes.shape, F64)
    fmt.decode(codes, numbers, scratch)
    return numbers


# Operand formats chosen by the instruction, and block scales


def _formats(d: Decoded) -> tuple[Format, Format]:
    selectors = (d.number("cbsz"), d.number("blgp"))
    if max(selectors) >= len(BY_SELECTOR):
        raise Unsupported(f"operand formats {selectors}")
    return BY_SELECTOR[selectors[0]], BY_SELECTOR[selectors[1]]


def _selectable_form(name: str, tile: Tile) -> None:
    def build(d: Decoded, context: Context) -> Run:
        d.allow("cbsz", "blgp")
        first, second = _formats(d)
        return _build_float(d, context, tile, first, second, None)

    register(name, build)


def _scale_values(registers: Array, byte: int, tile: Tile) -> Array:
    """Return float64[n, size, blocks of 32 k]: block b of row i comes from lane size * b + i."""
    codes = (registers >> U(8 * byte)) & U(0xFF)
    by_block = codes.reshape(codes.shape[0], tile.groups, tile.size)
    return narrow.scale_value(by_block.swapaxes(1, 2))


def _scaled_form(name: str, tile: Tile) -> None:
    def build(d: Decoded, context: Context) -> Run:
        d.allow("cbsz", "blgp", "op_sel", "op_sel_hi")
        first, second = _formats(d)
        low, high = d.flag_list("op_sel", 3, 0), d.flag_list("op_sel_hi", 3, 0)
        gets = [_scale_source(operand, d, context) for operand in d.operands[4:6]]
        bytes_used = [low[i] + 2 * high[i] for i in (0, 1)]

        def scale(g: Group, a: Array, b: Array) -> tuple[Array, Array]:
            scaled = []
            for get, byte in zip(gets, bytes_used, strict=True):
                scaled.append(np.repeat(_scale_values(get(g), byte, tile), 32, axis=2))
            return a * scaled[0], b * scaled[1]

        return _build_float(d, context, tile, first, second, scale)

    register(name, build)


def _scale_source(operand: Operand, d: Decoded, context: Context) -> Get:
    if is_vector(operand):
        whole = _whole(operand, 1, d, context)
        return lambda g: whole(g)[0]
    value = constant(operand, "u32")
    return lambda g: np.full((g.n, LANES), value, U)


def _integer_form(name: str, tile: Tile) -> None:
    def build(d: Decoded, context: Context) -> Run:
        d.allow("clamp")
        saturate = "clamp" in d.modifiers
        registers = tile.operand_registers(8)
        get_a = _whole(d.operands[1], registers, d, context)
        get_b = _whole(d.operands[2], registers, d, context)
        get_c = _accumulator(d.operands[3], tile, d, context)
        row = context.row(d.operands[0], tile.results)

        def run(g: Group) -> None:
            a = _operand(g, "first", get_a(g), tile, I8, True)
            b = _operand(g, "second", get_b(g), tile, I8, True)
            # Sums of 8-bit products are exact in float64.
            total = np.matmul(a, b.swapaxes(1, 2)).astype(np.int64) + get_c(g).view(np.int32)
            if saturate:
                total = np.clip(total, -(2**31), 2**31 - 1)
            _write(g, row, (total & 0xFFFFFFFF).astype(U), tile, d)

        return run

    register(name, build)


for _size, _k in ((16, 16), (16, 32), (32, 8), (32, 16)):
    for _format in (BF16, F16):
        _plain_name = f"v_mfma_f32_{_size}x{_size}x{_k}_{_format.name}"
        _float_form(_plain_name, Tile(_size, _k), _format, _format)
for _size, _k, _blocks in ((4, 4, 16), (16, 4, 4), (32, 4, 2)):
    for _format in (BF16, F16):
        _plain_name = f"v_mfma_f32_{_size}x{_size}x{_k}_{_blocks}b_{_format.name}"
        _float_form(_plain_name, Tile(_size, _k, _blocks), _format, _format)
for _size, _k in ((16, 4), (32, 2)):
    _float_form(f"v_mfma_f32_{_size}x{_size}x{_k}_f32", Tile(_size, _k), F32, F32)
for _size, _blocks in ((4, 16), (16, 4), (32, 2)):
    _plain_name = f"v_mfma_f32_{_size}x{_size}x1_{_blocks}b_f32"
    _float_form(_plain_name, Tile(_size, 1, _blocks), F32, F32)
for _size, _k in ((16, 32), (32, 16)):
    for _first in (FP8, BF8):
        for _second in (FP8, BF8):
            _plain_name = f"v_mfma_f32_{_size}x{_size}x{_k}_{_first.name}_{_second.name}"
            _float_form(_plain_name, Tile(_size, _k), _first, _second)
for _size, _k in ((16, 128), (32, 64)):
    _selectable_form(f"v_mfma_f32_{_size}x{_size}x{_k}_f8f6f4", Tile(_size, _k))
    _scaled_form(f"v_mfma_scale_f32_{_size}x{_size}x{_k}_f8f6f4", Tile(_size, _k))
for _size, _k in ((16, 32), (16, 64), (32, 16), (32, 32)):
    _integer_form(f"v_mfma_i32_{_size}x{_size}x{_k}_i8", Tile(_size, _k))
for _size, _k, _blocks in ((4, 4, 16), (16, 4, 4), (32, 4, 2)):
    _plain_name = f"v_mfma_i32_{_size}x{_size}x{_k}_{_blocks}b_i8"
    _integer_form(_plain_name, Tile(_size, _k, _blocks))
