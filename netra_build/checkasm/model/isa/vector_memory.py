"""Vector memory: global, flat and buffer loads, stores and atomics, and loads straight to LDS."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netra_build.checkasm.model.arrays import LANES, Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.addresses import (
    Locate,
    Place,
    Shape,
    data_registers,
    loaded_registers,
    locate_buffer,
    locate_global,
    read,
    stored_bits,
    write,
)
from netra_build.checkasm.model.isa.atomics import Atomic, global_atomics, rounds
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.memory import Report
from netra_build.checkasm.model.operands import M0, Decoded, Operand, Unsupported
from netra_build.checkasm.model.scoreboard import DS, VM
from netra_build.checkasm.model.sources import Context, scalar_source

U = np.uint32
_LANE = np.arange(LANES, dtype=np.uint32)
_HINTS = ("sc0", "sc1", "nt", "offset")
STEPS_PER_TURN = 4
"""What one turn of lanes that share an address takes, in cheap instructions."""

_BUFFER_FLAGS = (*_HINTS, "offen", "idxen")
Build = Callable[[Decoded, Context], Run]

LOADS = {
    "dword": Shape(4),
    "dwordx2": Shape(8),
    "dwordx3": Shape(12),
    "dwordx4": Shape(16),
    "ubyte": Shape(1),
    "sbyte": Shape(1, signed=True),
    "ushort": Shape(2),
    "sshort": Shape(2, signed=True),
    "ubyte_d16": Shape(1, half="lo"),
    "ubyte_d16_hi": Shape(1, half="hi"),
    "sbyte_d16": Shape(1, signed=True, half="lo"),
    "sbyte_d16_hi": Shape(1, signed=True, half="hi"),
    "short_d16": Shape(2, half="lo"),
    "short_d16_hi": Shape(2, half="hi"),
}
STORES = {
    "dword": Shape(4),
    "dwordx2": Shape(8),
    "dwordx3": Shape(12),
    "dwordx4": Shape(16),
    "byte": Shape(1),
    "byte_d16_hi": Shape(1, half="hi"),
    "short": Shape(2),
    "short_d16_hi": Shape(2, half="hi"),
}
DIRECT = {
    "dword": Shape(4),
    "dwordx3": Shape(12),
    "dwordx4": Shape(16),
    "ubyte": Shape(1),
    "sbyte": Shape(1, signed=True),
    "ushort": Shape(2),
    "sshort": Shape(2, signed=True),
}


# Operations


def build_load(d: Decoded, context: Context, locate: Locate, shape: Shape, flat: bool) -> Run:
    """Return what a load does: the value arrives at once, but stays held until the wait."""
    first = context.row(d.operands[0], shape.registers)
    rows = tuple(range(first, first + shape.registers))

    def run(g: Group) -> None:
        raw = read(g, d, locate(g), shape.width)
        g.receive(first, loaded_registers(raw, shape), d, VM)
        g.issue(VM, d, rows)
        if flat:
            g.issue(DS, d, rows)

    return run


def build_store(
    d: Decoded, context: Context, locate: Locate, data: Operand, shape: Shape, flat: bool
) -> Run:
    """Return what a store does."""
    gets = data_registers(d, data, shape.registers, context)

    def run(g: Group) -> None:
        values = np.stack([get(g) for get in gets])
        write(g, d, locate(g), stored_bits(values, shape), shape.width)
        g.issue(VM, d)
        if flat:
            g.issue(DS, d)

    return run


def build_direct(d: Decoded, locate: Locate, shape: Shape) -> Run:
    """Return what a load to LDS does: lane i writes M0 + offset + i * size."""
    m0 = scalar_source(Operand("s", "m0", M0), "u32", d)
    size = max(shape.width, 4)
    place_in_block = _LANE * U(size)
    extra = U(d.number("offset"))

    def run(g: Group) -> None:
        values = loaded_registers(read(g, d, locate(g), shape.width), shape)
        target = m0(g)[:, None] + extra + place_in_block
        place = g.batch.lds.store(g, target, values, size, g.E, g.reporter(d), is_direct=True)
        g.issue(VM, d, places=place[None], width=size, is_write=True, is_direct=True)

    return run


def build_atomic(
    d: Decoded,
    context: Context,
    locate: Locate,
    data: Operand,
    dst: Operand | None,
    atomic: Atomic,
    flat: bool = False,
) -> Run:
    """Return what a read-modify-write does, lane after lane where lanes share an address."""
    gets = data_registers(d, data, atomic.operands, context)
    count = atomic.width // 4
    first = context.row(dst, count) if dst is not None else -1
    rows = tuple(range(first, first + count)) if first >= 0 else ()

    def run(g: Group) -> None:
        values = np.stack([get(g) for get in gets])
        before = _exchange(g, d, locate(g), values, atomic)
        if rows:
            g.receive(first, before, d, VM)
        g.issue(VM, d, rows)
        if flat:
            g.issue(DS, d, rows)

    return run


def _exchange(g: Group, d: Decoded, place: Place, values: Array, atomic: Atomic) -> Array:
    """Apply an atomic; returns what memory held before, per lane."""
    before = np.zeros((atomic.width // 4, *place.active.shape), U)
    active = place.active
    if place.room is not None:
        active = active & (place.room >= np.uint64(atomic.width))
    memory = g.batch.memory
    rows, lanes = np.nonzero(active)
    addresses = place.address[rows, lanes]
    turns = rounds(addresses)
    g.batch.charge(len(turns) * STEPS_PER_TURN)
    for turn in turns:
        row, lane, address = rows[turn], lanes[turn], addresses[turn]
        everyone = np.ones(len(turn), np.bool_)
        report = _turn_reporter(g, d, row, lane)
        old = memory.gather(address, everyone, atomic.width, report)
        new = atomic.combine(old, values[:, row, lane])
        memory.scatter(address, everyone, new, atomic.width, report)
        before[:, row, lane] = old
    return before


def _turn_reporter(g: Group, d: Decoded, rows: Array, lanes: Array) -> Report:
    """Return what reports a bad address of some of the chosen lanes."""

    def report(kind: str, bad: Array, detail: str) -> None:
        everyone = np.zeros_like(g.E)
        everyone[rows[bad], lanes[bad]] = True
        g.batch.report(kind, d, g, everyone, detail)

    return report


# Global and flat instructions


def _base(d: Decoded, at: int) -> Operand | None:
    return d.operands[at] if len(d.operands) > at else None


def _global_load(shape: Shape, flat: bool) -> Build:
    def build(d: Decoded, context: Context) -> Run:
        d.allow(*_HINTS)
        locate = locate_global(d, context, d.operands[1], _base(d, 2))
        return build_load(d, context, locate, shape, flat)

    return build


def _global_store(shape: Shape, flat: bool) -> Build:
    def build(d: Decoded, context: Context) -> Run:
        d.allow(*_HINTS)
        locate = locate_global(d, context, d.operands[0], _base(d, 2))
        return build_store(d, context, locate, d.operands[1], shape, flat)

    return build


def _global_atomic(atomic: Atomic, flat: bool) -> Build:
    def build(d: Decoded, context: Context) -> Run:
        d.allow(*_HINTS)
        returns = "sc0" in d.modifiers
        operands = d.operands[1:] if returns else d.operands
        base = operands[2] if len(operands) > 2 else None
        locate = locate_global(d, context, operands[0], base)
        dst = d.operands[0] if returns else None
        return build_atomic(d, context, locate, operands[1], dst, atomic, flat)

    return build


def _global_direct(shape: Shape) -> Build:
    def build(d: Decoded, context: Context) -> Run:
        d.allow(*_HINTS)
        # The offset applies to both addresses.
        locate = locate_global(d, context, d.operands[0], _base(d, 1))
        return build_direct(d, locate, shape)

    return build


# Buffer instructions


def _buffer_place(d: Decoded, context: Context, extra: int) -> Locate:
    """Address by lane address, descriptor and scalar offset behind ``extra`` data operands."""
    rest = d.operands[extra:]
    if len(rest) == 2:
        rest = (Operand("word", "off"), *rest)
    if len(rest) != 3:
        raise Unsupported(f"{len(d.operands)} operands")
    return locate_buffer(d, context, *rest)


def _buffer_load(suffix: str, shape: Shape) -> Build:
    def build(d: Decoded, context: Context) -> Run:
        d.allow(*_BUFFER_FLAGS, "lds")
        direct = "lds" in d.modifiers
        if direct and suffix not in DIRECT:
            raise Unsupported('modifier "lds"')
        locate = _buffer_place(d, context, 0 if direct else 1)
        if direct:
            return build_direct(d, locate, shape)
        return build_load(d, context, locate, shape, False)

    return build


def _buffer_store(shape: Shape) -> Build:
    def build(d: Decoded, context: Context) -> Run:
        d.allow(*_BUFFER_FLAGS)
        locate = _buffer_place(d, context, 1)
        return build_store(d, context, locate, d.operands[0], shape, False)

    return build


def _buffer_atomic(atomic: Atomic) -> Build:
    def build(d: Decoded, context: Context) -> Run:
        d.allow(*_BUFFER_FLAGS)
        locate = _buffer_place(d, context, 1)
        if "sc0" not in d.modifiers:
            return build_atomic(d, context, locate, d.operands[0], None, atomic)
        # The old value replaces the first registers of the data, which a swap has more of.
        data = d.operands[0]
        dst = Operand(data.kind, data.text, data.index, atomic.width // 4)
        return build_atomic(d, context, locate, data, dst, atomic)

    return build


for _family in ("global", "flat"):
    for _suffix, _shape in LOADS.items():
        register(f"{_family}_load_{_suffix}", _global_load(_shape, _family == "flat"))
    for _suffix, _shape in STORES.items():
        register(f"{_family}_store_{_suffix}", _global_store(_shape, _family == "flat"))
for _suffix, _atomic in global_atomics().items():
    register(f"global_atomic_{_suffix}", _global_atomic(_atomic, False))
    register(f"flat_atomic_{_suffix}", _global_atomic(_atomic, True))
    register(f"buffer_atomic_{_suffix}", _buffer_atomic(_atomic))
for _suffix, _shape in DIRECT.items():
    register(f"global_load_lds_{_suffix}", _global_direct(_shape))
for _suffix, _shape in LOADS.items():
    register(f"buffer_load_{_suffix}", _buffer_load(_suffix, _shape))
for _suffix, _shape in STORES.items():
    register(f"buffer_store_{_suffix}", _buffer_store(_shape))
