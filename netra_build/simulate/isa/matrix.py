"""MFMA: each result is the exact dot product plus the accumulator, rounded once to float32.

EXEC does not matter. Lane and register maps of the unscaled forms are those of public reference
kernels; the block-scale map and the packing of four- and six-bit formats come from programming
notes only (see ``coverage``). Whether hardware rounds between partial sums is not modelled.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netra_build.simulate.arith import narrow
from netra_build.simulate.arith.dot import exact_dot, rounded_dot
from netra_build.simulate.arrays import LANES, Array
from netra_build.simulate.group import Group
from netra_build.simulate.isa.cross_lane import everyone
from netra_build.simulate.isa.table import register
from netra_build.simulate.machine import Run
from netra_build.simulate.operands import Decoded, Operand, Unsupported
from netra_build.simulate.sources import Context, Get, constant, is_vector

U = np.uint32
F64 = np.float64


@dataclass(frozen=True)
class Format:
    """An operand's element type. ``exact`` marks ranges whose dot products fit in float64."""

    name: str
    bits: int
    decode: Callable[[Array], Array]
    significant_bits: int
    exact: bool = False
    interleaved: bool = False
    """Eight-bit operands of the f8f6f4 forms: two halves of 16 consecutive k each."""


def _from_bf16(codes: Array) -> Array:
    return narrow.bf16_to_single(codes.astype(U)).astype(F64)


def _from_f16(codes: Array) -> Array:
    return codes.astype(np.uint16).view(np.float16).astype(F64)


def _from_f32(codes: Array) -> Array:
    return np.ascontiguousarray(codes).view(np.float32).astype(F64)


def _from_i8(codes: Array) -> Array:
    return np.ascontiguousarray(codes).view(np.int8).astype(np.int64)


BF16 = Format("bf16", 16, _from_bf16, 8)
F16 = Format("f16", 16, _from_f16, 11)
F32 = Format("f32", 32, _from_f32, 24)
I8 = Format("i8", 8, _from_i8, 8)
FP8 = Format("fp8", 8, narrow.E4M3.decode_bytes, 4, exact=True)
BF8 = Format("bf8", 8, narrow.E5M2.decode_bytes, 3)
BY_SELECTOR = (
    Format("fp8", 8, narrow.E4M3.decode_bytes, 4, exact=True, interleaved=True),
    Format("bf8", 8, narrow.E5M2.decode_bytes, 3, interleaved=True),
    Format("fp6", 6, narrow.E2M3.decode, 4, exact=True),
    Format("bf6", 6, narrow.E3M2.decode, 3, exact=True),
    Format("fp4", 4, narrow.E2M1.decode, 2, exact=True),
)
"""Formats of the f8f6f4 forms by the number in cbsz (first operand) and blgp (second)."""


@dataclass(frozen=True)
class Tile:
    """One shape: ``size`` rows and columns, depth ``k``, ``blocks`` independent products."""

    size: int
    k: int
    blocks: int = 1

    @property
    def groups(self) -> int:
        """Lane groups that share a row."""
        return LANES // self.size

    @property
    def results(self) -> int:
        """Result registers."""
        return self.size * self.size * self.blocks // LANES

    def operand_registers(self, bits: int) -> int:
        """Registers of one operand with elements of ``bits``."""
        per_lane = self.size * self.k * self.blocks // LANES
        return per_lane * bits // 32


# Registers to matrices


def codes_of(registers: Array, bits: int) -> Array:
    """Split uint32[registers, n, 64] into element codes: [n, 64, elements]."""
    packed = np.ascontiguousarray(np.moveaxis(registers, 0, -1))
    if bits == 32:
        return packed
    if bits == 16:
        return packed.view(np.uint16)
    octets = packed.view(np.uint8)
    if bits == 8:
        return octets
    if bits == 4:
        return np.stack([octets & 15, octets >> 4], axis=-1).reshape(*octets.shape[:2], -1)
    digits = np.unpackbits(octets, axis=-1, bitorder="little")
    weights = np.array([1, 2, 4, 8, 16, 32], np.uint8)
    result: Array = (
        (digits.reshape(*octets.shape[:2], -1, 6) * weights).sum(axis=-1).astype(np.uint8)
    )
    return result


def operand_matrix(registers: Array, tile: Tile, fmt: Format, *, second: bool) -> Array:
    """Return an operand as [n * blocks, size, k], the second one as [n * blocks, k, size].

    Codes are moved before they are decoded, since a code is a fraction of a float64.
    """
    codes = codes_of(registers, fmt.bits)
    n, _, count = codes.shape
    by_lane = codes.reshape(n, tile.groups, tile.size, count)
    if tile.blocks > 1:
        # Lane groups hold blocks instead of ranges of k.
        blocks = by_lane.reshape(n * tile.blocks, tile.size, count)
        return fmt.decode(blocks.swapaxes(1, 2) if second else blocks)
    if fmt.interleaved:
        halves = by_lane.reshape(n, tile.groups, tile.size, 2, count // 2)
        ordered = halves.transpose((0, 3, 1, 4, 2) if second else (0, 2, 3, 1, 4))
    else:
        ordered = by_lane.transpose((0, 1, 3, 2) if second else (0, 2, 1, 3))
    shape = (n, tile.k, tile.size) if second else (n, tile.size, tile.k)
    return fmt.decode(ordered.reshape(shape))


def result_matrix(registers: Array, tile: Tile) -> Array:
    """Return result registers [r, n, 64] as [n, blocks, rows, columns]."""
    n = registers.shape[1]
    if tile.size == 4:
        return registers.reshape(4, n, tile.blocks, 4).transpose(1, 2, 0, 3)
    quads = tile.size * tile.size // LANES // 4
    split = registers.reshape(tile.blocks, quads, 4, n, tile.groups, tile.size)
    return split.transpose(3, 0, 1, 4, 2, 5).reshape(n, tile.blocks, tile.size, tile.size)


def result_registers(matrix: Array, tile: Tile) -> Array:
    """Undo ``result_matrix``."""
    n = matrix.shape[0]
    if tile.size == 4:
        return matrix.transpose(2, 0, 1, 3).reshape(4, n, LANES)
    quads = tile.size * tile.size // LANES // 4
    split = matrix.reshape(n, tile.blocks, quads, tile.groups, 4, tile.size)
    return split.transpose(1, 2, 4, 0, 3, 5).reshape(tile.results, n, LANES)


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


def alike(registers: Array, tile: Tile, scale: object) -> Array:
    """Return the registers of one wavefront if all hold the same, as activations often do."""
    first = registers[0]
    if tile.blocks > 1 or scale is not None or not (first == first[:1]).all():
        return registers
    return registers[:, :1] if (registers == registers[:, :1]).all() else registers


def _accumulator(operand: Operand, tile: Tile, d: Decoded, context: Context) -> Get:
    if is_vector(operand):
        return _whole(operand, tile.results, d, context)
    if operand.kind not in ("int", "float"):
        raise Unsupported(f'operand "{operand.text}"')
    value = constant(operand, "u32")
    return lambda g: np.full((tile.results, g.n, LANES), value, U)


def _write(g: Group, first: int, values: Array, d: Decoded) -> None:
    for at, value in enumerate(values):
        row = first + at
        if g.vstate[row]:
            g.touch_vector(row, d, everyone(g))
        g.V[row] = value


def multiply(a: Array, b: Array, c: Array, significant_bits: int) -> Array:
    """Return [n, blocks, rows, columns] float32 results of operand matrices and accumulator.

    ``significant_bits`` is zero when the float64 product is known to be exact.
    """
    start = c.reshape(-1, *c.shape[-2:])
    if significant_bits:
        result = rounded_dot(a, b, start, significant_bits)
    else:
        result = exact_dot(a, b, start)
    return result.reshape(c.shape)


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
    bits = 0 if exact else max(first.significant_bits, second.significant_bits)

    def run(g: Group) -> None:
        a = operand_matrix(alike(get_a(g), tile, scale), tile, first, second=False)
        b = operand_matrix(alike(get_b(g), tile, scale), tile, second, second=True)
        c = result_matrix(get_c(g).view(np.float32), tile)
        if scale is not None:
            a, b = scale(g, a, b)
        result = np.ascontiguousarray(multiply(a, b, c, bits)).view(U)
        _write(g, row, result_registers(result, tile), d)

    return run


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
            return a * scaled[0], b * scaled[1].swapaxes(1, 2)

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
            a = operand_matrix(get_a(g), tile, I8, second=False)
            b = operand_matrix(get_b(g), tile, I8, second=True)
            c = result_matrix(get_c(g).view(np.int32), tile)
            total = np.matmul(a, b).reshape(c.shape) + c
            if saturate:
                total = np.clip(total, -(2**31), 2**31 - 1)
            bits = np.ascontiguousarray((total & 0xFFFFFFFF).astype(U))
            _write(g, row, result_registers(bits, tile), d)

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
