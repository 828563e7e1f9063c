"""LDS instructions: reads, writes, two-address forms, transposing reads, atomics, lane exchange."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netra_build.checkasm.model.arrays import LANES, Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.addresses import (
    Shape,
    data_registers,
    loaded_registers,
    stored_bits,
)
from netra_build.checkasm.model.isa.atomics import Atomic, lds_atomics, rounds
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.operands import Decoded, Operand, Unsupported
from netra_build.checkasm.model.scoreboard import DS
from netra_build.checkasm.model.sources import Context, Get, vector_source

U = np.uint32
_LANE = np.arange(LANES)
STEPS_PER_TURN = 16
"""What one turn of lanes that share an address takes, in cheap instructions."""

READS = {
    "b32": Shape(4),
    "b64": Shape(8),
    "b96": Shape(12),
    "b128": Shape(16),
    "u8": Shape(1),
    "i8": Shape(1, signed=True),
    "u16": Shape(2),
    "i16": Shape(2, signed=True),
    "u8_d16": Shape(1, half="lo"),
    "u8_d16_hi": Shape(1, half="hi"),
    "i8_d16": Shape(1, signed=True, half="lo"),
    "i8_d16_hi": Shape(1, signed=True, half="hi"),
    "u16_d16": Shape(2, half="lo"),
    "u16_d16_hi": Shape(2, half="hi"),
}
WRITES = {
    "b32": Shape(4),
    "b64": Shape(8),
    "b96": Shape(12),
    "b128": Shape(16),
    "b8": Shape(1),
    "b16": Shape(2),
    "b8_d16_hi": Shape(1, half="hi"),
    "b16_d16_hi": Shape(2, half="hi"),
}


def _offset(d: Decoded) -> np.uint32:
    """The 16-bit byte offset, from the encoding."""
    d.allow("offset")
    return U(d.source.words[0] & 0xFFFF)


def _two_offsets(d: Decoded, unit: int) -> tuple[np.uint32, np.uint32]:
    d.allow("offset0", "offset1")
    bits = d.source.words[0]
    return U((bits & 0xFF) * unit), U((bits >> 8 & 0xFF) * unit)


def _address(d: Decoded, operand: Operand, context: Context) -> Get:
    return vector_source(operand, "u32", d, context)


def _keep(g: Group, places: list[Array]) -> Array | None:
    """Return places for the scoreboard where another wavefront could look at them."""
    if not g.batch.lds.tracks_readers:
        return None
    return places[0][None] if len(places) == 1 else np.stack(places)


def _read(shape: Shape) -> Callable[[Decoded, Context], Run]:
    def build(d: Decoded, context: Context) -> Run:
        offset, get = _offset(d), _address(d, d.operands[1], context)
        first = context.row(d.operands[0], shape.registers)
        rows = tuple(range(first, first + shape.registers))

        def run(g: Group) -> None:
            address = get(g) + offset
            values, place = g.batch.lds.load(g, address, shape.width, g.E, g.reporter(d))
            g.receive(first, loaded_registers(values, shape), d, DS)
            g.issue(DS, d, rows, places=_keep(g, [place]), width=shape.width)

        return run

    return build


def _read_two(width: int, unit: int) -> Callable[[Decoded, Context], Run]:
    def build(d: Decoded, context: Context) -> Run:
        offsets = _two_offsets(d, unit)
        get = _address(d, d.operands[1], context)
        count = width // 4
        first = context.row(d.operands[0], 2 * count)
        rows = tuple(range(first, first + 2 * count))

        def run(g: Group) -> None:
            address, lds = get(g), g.batch.lds
            loaded = [
                lds.load(g, address + offset, width, g.E, g.reporter(d)) for offset in offsets
            ]
            g.receive(first, np.concatenate([values for values, _ in loaded]), d, DS)
            kept = _keep(g, [place for _, place in loaded])
            g.issue(DS, d, rows, places=kept, width=width)

        return run

    return build


def _write(shape: Shape) -> Callable[[Decoded, Context], Run]:
    def build(d: Decoded, context: Context) -> Run:
        offset, get = _offset(d), _address(d, d.operands[0], context)
        gets = data_registers(d, d.operands[1], shape.registers, context)

        def run(g: Group) -> None:
            values = stored_bits(np.stack([data(g) for data in gets]), shape)
            place = g.batch.lds.store(g, get(g) + offset, values, shape.width, g.E, g.reporter(d))
            kept = _keep(g, [place])
            g.issue(DS, d, places=kept, width=shape.width, is_write=True)

        return run

    return build


def _write_two(width: int, unit: int) -> Callable[[Decoded, Context], Run]:
    def build(d: Decoded, context: Context) -> Run:
        offsets = _two_offsets(d, unit)
        get = _address(d, d.operands[0], context)
        data = [data_registers(d, d.operands[1 + i], width // 4, context) for i in (0, 1)]

        def run(g: Group) -> None:
            address, lds = get(g), g.batch.lds
            kept = []
            for offset, gets in zip(offsets, data, strict=True):
                values = np.stack([part(g) for part in gets])
                kept.append(lds.store(g, address + offset, values, width, g.E, g.reporter(d)))
            g.issue(DS, d, places=_keep(g, kept), width=width, is_write=True)

        return run

    return build


for _suffix, _shape in READS.items():
    register(f"ds_read_{_suffix}", _read(_shape))
for _suffix, _shape in WRITES.items():
    register(f"ds_write_{_suffix}", _write(_shape))
for _bits in (32, 64):
    register(f"ds_read2_b{_bits}", _read_two(_bits // 8, _bits // 8))
    register(f"ds_read2st64_b{_bits}", _read_two(_bits // 8, _bits * 8))
    register(f"ds_write2_b{_bits}", _write_two(_bits // 8, _bits // 8))
    register(f"ds_write2st64_b{_bits}", _write_two(_bits // 8, _bits * 8))


# Transposing reads


def _transpose(bits: int) -> Callable[[Decoded, Context], Run]:
    """ds_read_b64_tr: 16 lanes read a tile of 64/bits rows; lane i receives column i.

    The tile's rows hold 16 elements; 16 * bits / 64 neighbouring lanes supply the pieces of a
    row. Every lane must be active.
    """
    lanes_per_row = 16 * bits // 64
    rows_per_tile = 64 // bits

    def build(d: Decoded, context: Context) -> Run:
        offset, get = _offset(d), _address(d, d.operands[1], context)
        first = context.row(d.operands[0], 2)

        def run(g: Group) -> None:
            if not g.full:
                raise Unsupported("lanes switched off")
            loaded, place = g.batch.lds.load(g, get(g) + offset, 8, g.E, g.reporter(d))
            g.receive(first, _turn(loaded, bits, lanes_per_row, rows_per_tile), d, DS)
            g.issue(DS, d, (first, first + 1), places=_keep(g, [place]), width=8)

        return run

    return build


def _turn(loaded: Array, bits: int, lanes_per_row: int, rows_per_tile: int) -> Array:
    """Transpose uint32[2, n, 64] tile by tile."""
    n = loaded.shape[1]
    wide = loaded[0].astype(np.uint64) | loaded[1].astype(np.uint64) << np.uint64(32)
    shifts = np.arange(0, 64, bits, dtype=np.uint64)
    elements = (wide[..., None] >> shifts) & np.uint64((1 << bits) - 1)
    # [n, tile, row, piece of the row, element of the piece] -> [n, tile, row, column]
    tiles = elements.reshape(n, 4, rows_per_tile, lanes_per_row * (64 // bits))
    columns = tiles.swapaxes(2, 3)
    result = np.bitwise_or.reduce(columns << shifts, axis=3).reshape(n, LANES)
    return np.stack([result.astype(U), (result >> np.uint64(32)).astype(U)])


register("ds_read_b64_tr_b16", _transpose(16))
register("ds_read_b64_tr_b8", _transpose(8))
register("ds_read_b64_tr_b4", _transpose(4))

# Atomics


def _atomic(atomic: Atomic, returns: bool, operands: int) -> Callable[[Decoded, Context], Run]:
    def build(d: Decoded, context: Context) -> Run:
        offset = _offset(d)
        rest = d.operands[1:] if returns else d.operands
        get = _address(d, rest[0], context)
        count = atomic.width // 4
        gets = [
            part
            for operand in rest[1 : 1 + operands]
            for part in data_registers(d, operand, count, context)
        ]
        first = context.row(d.operands[0], count) if returns else -1
        rows = tuple(range(first, first + count)) if returns else ()

        def run(g: Group) -> None:
            values = np.stack([part(g) for part in gets])
            before = _exchange(g, d, get(g) + offset, values, atomic)
            if rows:
                g.receive(first, before, d, DS)
            g.issue(DS, d, rows)

        return run

    return build


def _exchange(g: Group, d: Decoded, address: Array, values: Array, atomic: Atomic) -> Array:
    before = np.zeros((atomic.width // 4, g.n, LANES), U)
    lds, report = g.batch.lds, g.reporter(d)
    rows, lanes = np.nonzero(g.E)
    turns = rounds(lds.places(g, address)[rows, lanes])
    g.batch.charge(len(turns) * STEPS_PER_TURN)
    for turn in turns:
        chosen = np.zeros((g.n, LANES), np.bool_)
        chosen[rows[turn], lanes[turn]] = True
        old = lds.exchange(g, address, atomic.width, chosen, report, atomic.combine, values)
        before[:, chosen] = old[:, chosen]
    return before


def _compare_swap(old: Array, operand: Array) -> Array:
    """LDS order: the expected value first, then the new one."""
    count = old.shape[0]
    equal = np.all(old == operand[:count], axis=0)
    return np.where(equal, operand[count:], old)


def _mask_or(old: Array, operand: Array) -> Array:
    """Clear the bits of the first operand, then set those of the second."""
    count = old.shape[0]
    result: Array = (old & ~operand[:count]) | operand[count:]
    return result


for _name, _operation in lds_atomics().items():
    register(f"ds_{_name}", _atomic(_operation, False, 1))
    _base, _, _size = _name.rpartition("_")
    register(f"ds_{_base}_rtn_{_size}", _atomic(_operation, True, 1))
for _bits in (32, 64):
    _operation = Atomic(_bits // 8, _compare_swap, 2 * _bits // 32)
    register(f"ds_cmpst_b{_bits}", _atomic(_operation, False, 2))
    register(f"ds_cmpst_rtn_b{_bits}", _atomic(_operation, True, 2))
    _operation = Atomic(_bits // 8, _mask_or, 2 * _bits // 32)
    register(f"ds_mskor_b{_bits}", _atomic(_operation, False, 2))
    register(f"ds_mskor_rtn_b{_bits}", _atomic(_operation, True, 2))
    _operation = Atomic(_bits // 8, lambda old, operand: operand)
    register(f"ds_wrxchg_rtn_b{_bits}", _atomic(_operation, True, 1))

# Exchange between lanes: no memory is touched, but the result comes through lgkmcnt


def _exchange_lanes(
    pick: Callable[[Decoded, Context], Callable[[Group], Array]],
) -> Callable[[Decoded, Context], Run]:
    def build(d: Decoded, context: Context) -> Run:
        row = context.row(d.operands[0])
        result = pick(d, context)

        def run(g: Group) -> None:
            g.receive(row, result(g)[None], d, DS)
            g.issue(DS, d, (row,))

        return run

    return build


def _take_lanes(g: Group, d: Decoded, row: int, source: Array) -> Array:
    """Value of lane ``source`` (int64[n, 64]) of a register; inactive lanes give zero."""
    waves = np.arange(g.n)[:, None]
    active = np.ones_like(g.E) if g.full else g.E[waves, source]
    if g.vstate[row]:
        wanted = np.zeros_like(g.E)
        reading, lane = np.nonzero(g.E & active)
        wanted[reading, source[reading, lane]] = True
        g.check_vector(row, d, wanted)
    return np.where(active, g.V[row][waves, source], U(0))


def _pick_backward(d: Decoded, context: Context) -> Callable[[Group], Array]:
    offset, get = _offset(d), _address(d, d.operands[1], context)
    row = context.row(d.operands[2])

    def pick(g: Group) -> Array:
        source = ((get(g) + offset) >> U(2)) & U(63)
        return _take_lanes(g, d, row, source.astype(np.int64))

    return pick


def _pick_forward(d: Decoded, context: Context) -> Callable[[Group], Array]:
    """Push to lanes; the highest source lane wins, lanes without a source get zero."""
    offset, get = _offset(d), _address(d, d.operands[1], context)
    data = vector_source(d.operands[2], "b32", d, context)

    def pick(g: Group) -> Array:
        target = (((get(g) + offset) >> U(2)) & U(63)).astype(np.int64)
        value = data(g)
        result = np.zeros((g.n, LANES), U)
        waves = np.arange(g.n)
        for lane in range(LANES):
            rows = waves[g.E[:, lane]]
            result[rows, target[rows, lane]] = value[rows, lane]
        return result

    return pick


def swizzle_lanes(pattern: int) -> Array:
    """Return the source lane per lane of ds_swizzle: quad order, or and/or/xor within 32 lanes."""
    if pattern & 0x8000:
        if pattern & 0x7F00:
            raise Unsupported(f"swizzle pattern {pattern:#x}")
        order = np.array([pattern >> 2 * i & 3 for i in range(4)])
        result: Array = _LANE // 4 * 4 + order[_LANE % 4]
        return result
    keep, force, flip = pattern & 31, pattern >> 5 & 31, pattern >> 10 & 31
    return _LANE // 32 * 32 + (((_LANE % 32) & keep | force) ^ flip)


def _pick_swizzle(d: Decoded, context: Context) -> Callable[[Group], Array]:
    source = swizzle_lanes(d.source.words[0] & 0xFFFF)
    row = context.row(d.operands[1])
    return lambda g: _take_lanes(g, d, row, np.broadcast_to(source, (g.n, LANES)))


register("ds_bpermute_b32", _exchange_lanes(_pick_backward))
register("ds_permute_b32", _exchange_lanes(_pick_forward))
register("ds_swizzle_b32", _exchange_lanes(_pick_swizzle))
