"""LDS instructions: reads, writes, two-address forms, transposing reads, atomics, lane exchange."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from netra_build.checkasm.model.arrays import LANES, U32, U64, Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.addresses import Shape, shapes
from netra_build.checkasm.model.isa.atomics import LDS_ATOMICS, Atomic
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.operands import Unsupported
from netra_build.checkasm.model.scoreboard import DS, Touched
from netra_build.checkasm.model.sources import Form, Get

_LANE = np.arange(LANES)
STEPS_PER_TURN = 16
"""Cost of one turn of lanes that share an address, in cheap instructions."""

READS = shapes("b{32,64,96,128} {u,i}{8,16} {u8,i8,u16}_d16{,_hi}")
WRITES = shapes("b{32,64,96,128} b{8,16}{,_d16_hi}")


def _offset(d: Form) -> np.uint32:
    """The 16-bit byte offset, from the encoding."""
    d.allow("offset")
    return U32(d.source.words[0] & 0xFFFF)


def _offsets(d: Form, unit: int) -> tuple[np.uint32, ...]:
    """The offset of one address, or the two that count units of so many bytes."""
    if not unit:
        return (_offset(d),)
    d.allow("offset0", "offset1")
    bits = d.source.words[0]
    return U32((bits & 0xFF) * unit), U32((bits >> 8 & 0xFF) * unit)


def _touched(g: Group, places: list[Array], width: int, is_write: bool = False) -> Touched | None:
    """Return the bytes for the scoreboard if another wavefront could access them."""
    if not g.batch.lds.tracks_readers:
        return None
    whole = places[0][None] if len(places) == 1 else np.stack(places)
    return Touched(whole, width, is_write)


def _read(shape: Shape, unit: int, d: Form) -> Run:
    """Read at one address, or at two for a ``unit`` of their offsets."""
    offsets = _offsets(d, unit)
    get = d.vector(d.operands[1], "u32")
    first = d.row(d.operands[0], shape.registers * len(offsets))

    def run(g: Group) -> None:
        address, lds, report = get(g), g.batch.lds, g.reporter(d)
        places = []
        parts = []
        for offset in offsets:
            access = lds.access(g, address + offset, shape.width, g.E, report)
            parts.append(shape.loaded(lds.load(access)))
            places.append(access.asked)
        values = parts[0] if len(parts) == 1 else np.concatenate(parts)
        g.receive(first, values, d, DS, touched=_touched(g, places, shape.width))

    return run


def _write(shape: Shape, unit: int, d: Form) -> Run:
    offsets = _offsets(d, unit)
    get = d.vector(d.operands[0], "u32")
    data = [d.registers(operand, shape.registers) for operand in d.operands[1 : 1 + len(offsets)]]

    def run(g: Group) -> None:
        lds, report = g.batch.lds, g.reporter(d)
        places = []
        for offset, gets in zip(offsets, data, strict=True):
            values = shape.stored(np.stack([part(g) for part in gets]))
            access = lds.access(g, get(g) + offset, shape.width, g.E, report)
            places.append(lds.store(access, values))
        g.issue(DS, d, (), _touched(g, places, shape.width, is_write=True))

    return run


for _name, _shape in READS.items():
    register(f"ds_read_{_name}", partial(_read, _shape, 0))
for _name, _shape in WRITES.items():
    register(f"ds_write_{_name}", partial(_write, _shape, 0))
for _name in ("b32", "b64"):
    _shape = READS[_name]
    for _form, _unit in (("2", _shape.width), ("2st64", 64 * _shape.width)):
        register(f"ds_read{_form}_{_name}", partial(_read, _shape, _unit))
        register(f"ds_write{_form}_{_name}", partial(_write, _shape, _unit))


# Transposing reads


def _transpose(bits: int, d: Form) -> Run:
    """ds_read_b64_tr: 16 lanes read a tile of 64/bits rows; lane i receives column i.

    The tile's rows hold 16 elements; 16 * bits / 64 neighbouring lanes supply the pieces of a
    row. Every lane must be active.
    """
    offset, get = _offset(d), d.vector(d.operands[1], "u32")
    first = d.row(d.operands[0], 2)

    def run(g: Group) -> None:
        if not g.full:
            raise Unsupported("lanes switched off")
        lds = g.batch.lds
        access = lds.access(g, get(g) + offset, 8, g.E, g.reporter(d))
        values = _turn(lds.load(access), bits)
        g.receive(first, values, d, DS, touched=_touched(g, [access.asked], 8))

    return run


def _turn(loaded: Array, bits: int) -> Array:
    """Transpose uint32[2, n, 64] tile by tile."""
    n = loaded.shape[1]
    wide = loaded[0].astype(U64) | loaded[1].astype(U64) << U64(32)
    shifts = np.arange(0, 64, bits, dtype=U64)
    elements = (wide[..., None] >> shifts) & U64((1 << bits) - 1)
    # [n, tile, row, piece of the row, element of the piece] -> [n, tile, row, column]
    tiles = elements.reshape(n, 4, 64 // bits, 16)
    columns = tiles.swapaxes(2, 3)
    result = np.bitwise_or.reduce(columns << shifts, axis=3).reshape(n, LANES)
    return np.stack([result.astype(U32), (result >> U64(32)).astype(U32)])


for _bits in (4, 8, 16):
    register(f"ds_read_b64_tr_b{_bits}", partial(_transpose, _bits))

# Atomics


def _atomic(atomic: Atomic, returns: bool, d: Form) -> Run:
    offset, rest = _offset(d), d.operands[returns:]
    address, data = d.vector(rest[0], "u32"), rest[1 : 1 + atomic.operands]
    lists = [d.registers(each, atomic.registers) for each in data]
    first = d.row(d.operands[0], atomic.registers) if returns else 0

    def run(g: Group) -> None:
        values = np.stack([get(g) for gets in lists for get in gets])
        before = _exchange(g, d, address(g) + offset, values, atomic)
        g.receive(first, before if returns else before[:0], d, DS)

    return run


def _exchange(g: Group, d: Form, address: Array, values: Array, atomic: Atomic) -> Array:
    lds, report = g.batch.lds, g.reporter(d)

    def turn(row: Array, lane: Array) -> Array:
        g.batch.charge(STEPS_PER_TURN)
        chosen = np.zeros((g.n, LANES), np.bool_)
        chosen[row, lane] = True
        access = lds.access(g, address, atomic.width, chosen, report)
        return lds.exchange(access, atomic.combine, values)[:, row, lane]

    return atomic.in_turns(lds.places(g, address), g.E, turn)


for _name, _operation in LDS_ATOMICS.items():
    _base, _, _size = _name.rpartition("_")
    register(f"ds_{_base}_rtn_{_size}", partial(_atomic, _operation, True))
    if _base != "wrxchg":
        register(f"ds_{_name}", partial(_atomic, _operation, False))

# Exchange between lanes: no memory is touched, but the result comes through lgkmcnt


def _exchange_lanes(pick: Callable[[Form], Get], d: Form) -> Run:
    row, result = d.row(d.operands[0]), pick(d)
    return lambda g: g.receive(row, result(g)[None], d, DS)


def _take_lanes(g: Group, d: Form, row: int, source: Array) -> Array:
    """Value of lane ``source`` (int64[n, 64]) of a register; inactive lanes give zero."""
    waves = np.arange(g.n)[:, None]
    active = np.ones_like(g.E) if g.full else g.E[waves, source]
    if g.vstate[row]:
        wanted = np.zeros_like(g.E)
        reading, lane = np.nonzero(g.E & active)
        wanted[reading, source[reading, lane]] = True
        g.check_vector(row, d, wanted)
    return np.where(active, g.V[row][waves, source], U32(0))


def _pick_backward(d: Form) -> Get:
    offset, get = _offset(d), d.vector(d.operands[1], "u32")
    row = d.row(d.operands[2])

    def pick(g: Group) -> Array:
        source = ((get(g) + offset) >> U32(2)) & U32(63)
        return _take_lanes(g, d, row, source.astype(np.int64))

    return pick


def _pick_forward(d: Form) -> Get:
    """Push to lanes; the highest source lane wins, lanes without a source get zero."""
    offset, get = _offset(d), d.vector(d.operands[1], "u32")
    data = d.vector(d.operands[2], "b32")

    def pick(g: Group) -> Array:
        target = (((get(g) + offset) >> U32(2)) & U32(63)).astype(np.int64)
        value = data(g)
        result = np.zeros((g.n, LANES), U32)
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


def _pick_swizzle(d: Form) -> Get:
    source = swizzle_lanes(d.source.words[0] & 0xFFFF)
    row = d.row(d.operands[1])
    return lambda g: _take_lanes(g, d, row, np.broadcast_to(source, (g.n, LANES)))


register("ds_bpermute_b32", partial(_exchange_lanes, _pick_backward))
register("ds_permute_b32", partial(_exchange_lanes, _pick_forward))
register("ds_swizzle_b32", partial(_exchange_lanes, _pick_swizzle))
