"""Scalar loads. They may return in any order, so only lgkmcnt(0) makes their results readable."""

from __future__ import annotations

import numpy as np

from netra_build.checkasm.model.arrays import Array
from netra_build.checkasm.model.group import Group, Run
from netra_build.checkasm.model.isa.table import register
from netra_build.checkasm.model.operands import Decoded, Operand, Unsupported
from netra_build.checkasm.model.scoreboard import SCALAR_BASE, SM
from netra_build.checkasm.model.sources import (
    Context,
    Get,
    scalar_row,
    scalar_source,
    touch_scalars,
)

DWORD = np.uint64(4)
NOTHING = np.zeros((1, 1), np.uint64)


def _offset(d: Decoded) -> Get:
    """Read the byte offset: the value of a scalar register plus an immediate."""
    immediate = d.number("offset")
    operand = d.operands[2]
    if operand.kind == "int":
        total = np.asarray(np.uint64((operand.value + immediate) & 0xFFFF_FFFF_FFFF_FFFF))
        return lambda g: total
    register_value = scalar_source(operand, "u32", d)
    extra = np.uint64(immediate & 0xFFFF_FFFF_FFFF_FFFF)
    return lambda g: register_value(g).astype(np.uint64) + extra


def _receive(g: Group, d: Decoded, row: int, values: Array) -> None:
    """Write uint32[dwords, n] to scalar registers that stay held until the wait."""
    count = values.shape[0]
    touch_scalars(g, row, count, d)
    g.S[row : row + count] = values
    g.issue(SM, d, tuple(SCALAR_BASE + at for at in range(row, row + count)))


def _load(name: str, dwords: int) -> None:
    def build(d: Decoded, _context: Context) -> Run:
        d.allow("glc", "sc0", "offset")
        row = _result_row(d.operands[0], dwords)
        base, offset = scalar_source(d.operands[1], "u64", d), _offset(d)

        def run(g: Group) -> None:
            address = (base(g) + offset(g)) & np.uint64(0xFFFF_FFFF_FFFF_FFFC)
            active = np.ones((g.n, 1), np.bool_)
            report, memory = g.reporter(d), g.batch.memory
            values = memory.load(address[:, None], NOTHING, active, 4 * dwords, report)
            _receive(g, d, row, values[..., 0])

        return run

    register(name, build)


def _result_row(operand: Operand, dwords: int) -> int:
    row = scalar_row(operand, dwords)
    if row + dwords > 108:
        raise Unsupported(f'operand "{operand.text}"')
    return row


def _buffer_load(name: str, dwords: int) -> None:
    """Out-of-range dwords read as zero; the buffer's stride counts records."""

    def build(d: Decoded, _context: Context) -> Run:
        d.allow("glc", "sc0", "offset")
        row = _result_row(d.operands[0], dwords)
        first = scalar_row(d.operands[1], 4)
        words = [scalar_source(Operand("s", "", first + i), "u32", d) for i in range(4)]
        offset = _offset(d)

        def run(g: Group) -> None:
            low, high, records, _flags = (get(g) for get in words)
            base = low.astype(np.uint64) | (high & np.uint32(0xFFFF)).astype(
                np.uint64
            ) << np.uint64(32)
            stride = ((high >> np.uint32(16)) & np.uint32(0x3FFF)).astype(np.uint64)
            size = np.where(stride == 0, np.uint64(1), stride) * records
            start = offset(g) & np.uint64(0xFFFF_FFFC)
            values = np.zeros((dwords, g.n), np.uint32)
            for at in range(dwords):
                place = start + DWORD * np.uint64(at)
                inside = np.broadcast_to(place + DWORD <= size, (g.n,))[:, None]
                address = (base + place)[:, None]
                values[at] = g.batch.memory.gather(address, inside, 4, g.reporter(d))[0, :, 0]
            _receive(g, d, row, values)

        return run

    register(name, build)


for _dwords in (1, 2, 4, 8, 16):
    _suffix = "dword" if _dwords == 1 else f"dwordx{_dwords}"
    _load(f"s_load_{_suffix}", _dwords)
    _buffer_load(f"s_buffer_load_{_suffix}", _dwords)
