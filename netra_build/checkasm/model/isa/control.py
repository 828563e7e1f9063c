"""Program control: branches, waits, barriers, hardware registers, end of program."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from netra_build.checkasm.model.arrays import Array
from netra_build.checkasm.model.group import Group, Outcome, Run, Stop
from netra_build.checkasm.model.isa.table import instruction, register
from netra_build.checkasm.model.memory import CODE_BASE
from netra_build.checkasm.model.operands import PAIRS, Operand, Unsupported
from netra_build.checkasm.model.scoreboard import LGKM_CAPACITY, VM, VM_CAPACITY
from netra_build.checkasm.model.sources import Form

MODE_REGISTER = 1

MODE_MODELLED = 0x0080_03FF
"""Bits of MODE that the model implements: rounding, subnormals, clamping, IEEE, fp16 overflow."""


def _nothing(g: Group) -> None:
    """Timing, priority and cache hints change no result."""


register(
    "s_nop s_setprio s_sleep s_icache_inv s_dcache_inv s_dcache_wb s_dcache_inv_vol"
    " s_dcache_wb_vol s_incperflevel s_decperflevel s_ttracedata v_nop buffer_inv",
    lambda d: _nothing,
)
register("s_endpgm", lambda d: lambda g: Stop.END)


def branch_target(d: Form) -> int:
    """Return the address that a branch's 16-bit word offset leads to."""
    offset = d.source.words[0] & 0xFFFF
    if offset & 0x8000:
        offset -= 0x10000
    return d.next_pc + 4 * offset


def _branch(kind: str, is_wanted: bool, d: Form) -> Run:
    """Jump where it is or is not so that SCC, or any bit of VCC or EXEC, is set."""
    target, next_pc = branch_target(d), d.next_pc
    get = d.scalar(Operand("s", kind, PAIRS[kind], 2), "b64") if kind in PAIRS else _scc
    return lambda g: _go(g, (get(g) != 0) == is_wanted, target, next_pc)


def _scc(g: Group) -> Array:
    return g.scc


def _go(g: Group, taken: Array, target: int, next_pc: int) -> Outcome:
    """Jump where ``taken`` (bool[n]) says so; a disagreement splits the group."""
    if taken.all():
        return target
    if not taken.any():
        return next_pc
    g.charge_copy()
    there, here = g.take(np.flatnonzero(taken)), g.take(np.flatnonzero(~taken))
    there.pc, here.pc = target, next_pc
    return [here, there]


@instruction("s_branch")
def _build_always(d: Form) -> Run:
    target = branch_target(d)
    return lambda g: target


for _kind, _set, _clear in (("scc", "1", "0"), ("vcc", "nz", "z"), ("exec", "nz", "z")):
    register(f"s_cbranch_{_kind}{_set}", partial(_branch, _kind, True))
    register(f"s_cbranch_{_kind}{_clear}", partial(_branch, _kind, False))


def _jump(g: Group, address: Array) -> Outcome:
    """Go to an address in the loaded code object; different addresses split the group."""
    offsets = (address - np.uint64(CODE_BASE)).view(np.int64)
    first = int(offsets[0])
    if np.all(offsets == first):
        return first
    parts = []
    for offset in np.unique(offsets):
        part = g.take(np.flatnonzero(offsets == offset))
        part.pc = int(offset)
        parts.append(part)
    return parts


@instruction("s_getpc_b64")
def _save_pc(d: Form) -> Callable[[Group], None]:
    """Put the address behind the instruction into the result."""
    put = d.scalar_dest(d.operands[0], 2)
    return lambda g: put(g, np.full(g.n, CODE_BASE + d.next_pc, np.uint64))


@instruction("s_setpc_b64")
def _build_set_pc(d: Form) -> Run:
    get = d.scalar(d.operands[0], "u64")
    return lambda g: _jump(g, get(g))


@instruction("s_swappc_b64")
def _build_swap_pc(d: Form) -> Run:
    save, get = _save_pc(d), d.scalar(d.operands[1], "u64")

    def run(g: Group) -> Outcome:
        target = get(g)
        save(g)
        return _jump(g, target)

    return run


@instruction("s_call_b64")
def _build_call(d: Form) -> Run:
    save, target = _save_pc(d), branch_target(d)

    def run(g: Group) -> Outcome:
        save(g)
        return target

    return run


def wait_counts(word: int) -> tuple[int, int]:
    """Return (vmcnt, lgkmcnt) of an encoded s_waitcnt."""
    return (word & 0xF) | ((word >> 14) & 3) << 4, (word >> 8) & 0xF


@instruction("s_waitcnt")
def _build_wait(d: Form) -> Run:
    vm_count, lgkm_count = wait_counts(d.source.words[0])

    def run(g: Group) -> None:
        if vm_count < VM_CAPACITY:
            for slot in g.board.due_vm(vm_count):
                g.retire(slot)
        if lgkm_count < LGKM_CAPACITY:
            for slot in g.board.due_lgkm(lgkm_count):
                g.retire(slot)

    return run


register("s_barrier", lambda d: lambda g: Stop.BARRIER)
register("buffer_wbl2", lambda d: lambda g: g.issue(VM, d))


def _field(d: Form, at: int) -> tuple[int, int]:
    """Return offset and width of the MODE field of an operand; other registers are refused."""
    bits = d.source.words[0] & 0xFFFF
    if bits & 0x3F != MODE_REGISTER:
        raise Unsupported(f'"{d.operands[at].text}"')
    return (bits >> 6) & 0x1F, (bits >> 11) + 1


@instruction("s_getreg_b32")
def _build_get_register(d: Form) -> Run:
    offset, width = _field(d, 1)
    put = d.scalar_dest(d.operands[0], 1)
    mask = (1 << width) - 1
    return lambda g: put(g, np.full(g.n, g.mode >> offset & mask, np.uint32))


def _set_mode_field(g: Group, offset: int, width: int, value: int) -> None:
    mask = ((1 << width) - 1) << offset
    mode = (g.mode & ~mask) | (value << offset & mask)
    if (mode ^ g.mode) & ~MODE_MODELLED & 0xFFFF_FFFF:
        raise Unsupported("a MODE field that is not modelled")
    g.set_mode(mode)


@instruction("s_setreg_b32")
def _build_set_register(d: Form) -> Run:
    offset, width = _field(d, 0)
    get = d.scalar(d.operands[1], "u32")

    def run(g: Group) -> None:
        values = np.broadcast_to(get(g), (g.n,))
        if not np.all(values == values[0]):
            raise Unsupported("different MODE values in one launch")
        _set_mode_field(g, offset, width, int(values[0]))

    return run


@instruction("s_setreg_imm32_b32")
def _build_set_immediate(d: Form) -> Run:
    offset, width = _field(d, 0)
    value = d.source.words[1]
    return lambda g: _set_mode_field(g, offset, width, value)
