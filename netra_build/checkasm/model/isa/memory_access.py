"""Memory: scalar loads; global, flat and buffer loads, stores and atomics; loads straight to LDS.

Scalar loads may return in any order, so only lgkmcnt(0) makes their results readable.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from netra_build.checkasm.model.arrays import LANES, U32, U64, Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.addresses import (
    Locate,
    Place,
    Shape,
    buffer_descriptor,
    locate_buffer,
    locate_global,
    shapes,
)
from netra_build.checkasm.model.isa.atomics import GLOBAL_ATOMICS, Atomic
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.operands import M0, VCC, Operand, Unsupported, scalar_row
from netra_build.checkasm.model.scoreboard import DS, SCALAR_BASE, SM, VM, Touched
from netra_build.checkasm.model.sources import Form, Get

_LANE = np.arange(LANES, dtype=np.uint32)
_HINTS = ("sc0", "sc1", "nt", "offset")
STEPS_PER_TURN = 4
"""Cost of one turn of lanes that share an address, in cheap instructions."""

LOADS = shapes("dword{,x2,x3,x4} {u,s}{byte,short} {ubyte,sbyte,short}_d16{,_hi}")
STORES = shapes("dword{,x2,x3,x4} {byte,short}{,_d16_hi}")
DIRECT = shapes("dword{,x3,x4} {u,s}{byte,short}")


def _locate(d: Form, family: str, rest: tuple[Operand, ...], *more: str) -> Locate:
    """Address by the operands behind result and data; ``more`` are modifiers of buffers."""
    d.allow(*_HINTS, *(["offen", "idxen", *more] if family == "buffer" else []))
    if family != "buffer":
        return locate_global(d, rest[0], rest[1] if len(rest) > 1 else None)
    if len(rest) == 2:
        rest = (Operand("word", "off"), *rest)
    if len(rest) != 3:
        raise Unsupported(f"{len(d.operands)} operands")
    return locate_buffer(d, *rest)


def _with_data(d: Form, family: str, first: int = 0) -> tuple[Operand, Locate]:
    """Return the operand with the data and where it goes; its operands start at ``first``."""
    if family == "buffer":
        return d.operands[0], _locate(d, family, d.operands[1:])
    rest = d.operands[first:]
    return rest[1], _locate(d, family, rest[::2])


_QUEUES = {"global": (VM,), "buffer": (VM,), "flat": (VM, DS)}
"""The counters of an operation; a flat one may also be one of LDS."""


def _load(family: str, shape: Shape, d: Form) -> Run:
    if "lds" in d.modifiers and family == "buffer" and shape in DIRECT.values():
        return _load_direct(family, shape, d)
    locate = _locate(d, family, d.operands[1:])
    first = d.row(d.operands[0], shape.registers)

    def run(g: Group) -> None:
        raw = locate(g).read(g, d, shape.width)
        g.receive(first, shape.loaded(raw), d, *_QUEUES[family])

    return run


def _store(family: str, shape: Shape, d: Form) -> Run:
    data, locate = _with_data(d, family)
    gets = d.registers(data, shape.registers)

    def run(g: Group) -> None:
        values = np.stack([get(g) for get in gets])
        locate(g).write(g, d, shape.stored(values), shape.width)
        for queue in _QUEUES[family]:
            g.issue(queue, d)

    return run


def _load_direct(family: str, shape: Shape, d: Form) -> Run:
    """A load to LDS: lane i writes M0 + offset + i * size; the offset is that of memory as well."""
    locate = _locate(d, family, d.operands, "lds")
    m0 = d.scalar(Operand("s", "m0", M0), "u32")
    size = max(shape.width, 4)
    place_in_block = _LANE * U32(size) + U32(d.number("offset"))

    def run(g: Group) -> None:
        values = shape.loaded(locate(g).read(g, d, shape.width))
        target = m0(g)[:, None] + place_in_block
        access = g.batch.lds.access(g, target, size, g.E, g.reporter(d))
        place = g.batch.lds.store(access, values, is_direct=True)
        g.issue(VM, d, (), Touched(place[None], size, is_write=True, is_direct=True))

    return run


def _atomic(family: str, atomic: Atomic, d: Form) -> Run:
    """Read, modify and write; with sc0 the old value is returned."""
    returns = "sc0" in d.modifiers
    data, locate = _with_data(d, family, first=returns)
    # In a buffer the old value replaces the first registers of the data, of which a swap has more.
    dst = replace(data, dwords=atomic.registers) if family == "buffer" else d.operands[0]
    gets = d.registers(data, atomic.registers * atomic.operands)
    first = d.row(dst, atomic.registers) if returns else 0

    def run(g: Group) -> None:
        before = _exchange(g, d, locate(g), np.stack([get(g) for get in gets]), atomic)
        g.receive(first, before if returns else before[:0], d, *_QUEUES[family])

    return run


def _exchange(g: Group, d: Form, place: Place, values: Array, atomic: Atomic) -> Array:
    active = place.active
    if place.room is not None:
        active = active & (place.room >= np.uint64(atomic.width))
    memory, addresses = g.batch.memory, place.address

    def turn(row: Array, lane: Array) -> Array:
        def report(kind: str, bad: Array, detail: str) -> None:
            lanes = np.zeros_like(g.E)
            lanes[row[bad], lane[bad]] = True
            g.batch.report(kind, d, g, lanes, detail)

        g.batch.charge(STEPS_PER_TURN)
        address, everyone = addresses[row, lane], np.ones(len(row), np.bool_)
        old = memory.gather(address, everyone, atomic.width, report)
        new = atomic.combine(old, values[:, row, lane])
        memory.scatter(address, everyone, new, atomic.width, report)
        return old

    return atomic.in_turns(addresses, active, turn)


for _name, _shape in DIRECT.items():
    register(f"global_load_lds_{_name}", partial(_load_direct, "global", _shape))
for _family in ("global", "flat", "buffer"):
    for _name, _shape in LOADS.items():
        register(f"{_family}_load_{_name}", partial(_load, _family, _shape))
    for _name, _shape in STORES.items():
        register(f"{_family}_store_{_name}", partial(_store, _family, _shape))
    for _name, _operation in GLOBAL_ATOMICS.items():
        register(f"{_family}_atomic_{_name}", partial(_atomic, _family, _operation))


# Scalar loads


def _scalar_offset(d: Form) -> Get:
    """Read the byte offset: a constant, or the value of a scalar register, plus an immediate."""
    extra, operand = d.number("offset"), d.operands[2]
    if operand.kind == "int":
        total = np.asarray(U64((operand.value + extra) & 0xFFFF_FFFF_FFFF_FFFF))
        return lambda g: total
    get = d.scalar(operand, "u32")
    return lambda g: get(g).astype(U64) + U64(extra & 0xFFFF_FFFF_FFFF_FFFF)


def _scalar_load(dwords: int, d: Form) -> Run:
    base, offset = d.scalar(d.operands[1], "u64"), _scalar_offset(d)

    def load(g: Group) -> Array:
        address = (base(g) + offset(g)) & U64(0xFFFF_FFFF_FFFF_FFFC)
        nothing, active = np.zeros((1, 1), U64), np.ones((g.n, 1), np.bool_)
        report = g.reporter(d)
        return g.batch.memory.load(address[:, None], nothing, active, 4 * dwords, report)[..., 0]

    return _into_scalars(dwords, d, load)


def _scalar_buffer_load(dwords: int, d: Form) -> Run:
    """Out-of-range dwords read as zero; the buffer's stride counts records."""
    descriptor, offset = buffer_descriptor(d, d.operands[1]), _scalar_offset(d)

    def load(g: Group) -> Array:
        base, stride, records, _ = descriptor(g)
        size = np.where(stride == 0, U64(1), stride) * records
        start = offset(g) & U64(0xFFFF_FFFC)
        values = []
        for at in range(0, 4 * dwords, 4):
            place = start + U64(at)
            inside = np.broadcast_to(place + U64(4) <= size, (g.n,))[:, None]
            values.append(
                g.batch.memory.gather((base + place)[:, None], inside, 4, g.reporter(d))[0, :, 0]
            )
        return np.stack(values)

    return _into_scalars(dwords, d, load)


def _into_scalars(dwords: int, d: Form, load: Get) -> Run:
    """Write uint32[dwords, n] to scalar registers that stay held until the wait."""
    d.allow("glc", "sc0", "offset")
    row = scalar_row(d.operands[0], dwords)
    if row + dwords > VCC + 2:
        raise Unsupported(f'operand "{d.operands[0].text}"')
    keys = tuple(range(SCALAR_BASE + row, SCALAR_BASE + row + dwords))

    def run(g: Group) -> None:
        values = load(g)
        d.touch_scalars(g, row, dwords)
        g.S[row : row + dwords] = values
        g.issue(SM, d, keys)

    return run


for _dwords in (1, 2, 4, 8, 16):
    _name = "dword" if _dwords == 1 else f"dwordx{_dwords}"
    register(f"s_load_{_name}", partial(_scalar_load, _dwords))
    register(f"s_buffer_load_{_name}", partial(_scalar_buffer_load, _dwords))
