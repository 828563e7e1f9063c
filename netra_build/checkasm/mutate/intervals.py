"""Intervals of scalar registers: which results are one and the same number in every launch.

The high half of a small product of addresses is the usual case: it is zero for all operands
within the bounds of the contract.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import lshift, rshift

from netra_build.asm.objects.code_object import Kernel
from netra_build.checkasm.hazards.effects import (
    EXEC_MASK,
    SCC,
    SCC_MASK,
    SGPR_BASE,
    VGPR_BASE,
    VGPR_MASK,
    Effects,
    lowest,
    numbers,
)
from netra_build.checkasm.hazards.flow import Flow, run_forward

LARGEST = 2**32 - 1
KERNARGS = "the kernarg segment"


@dataclass(frozen=True)
class Bounds:
    """The limits of a contract: work-groups, work-items in x, the largest elements of some arrays
    and the largest values of some kernargs."""

    grid: tuple[int, int, int]
    block: int
    elements: Mapping[str, int] = field(default_factory=dict)
    values: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Value:
    """Unsigned 32-bit numbers from ``low`` to ``high``; ``origin`` names the argument or segment
    that half a pointer leads into."""

    low: int = 0
    high: int = LARGEST
    origin: str = ""

    @property
    def is_one_number(self) -> bool:
        """Tell whether the register holds the same number in every execution."""
        return self.low == self.high and not self.origin


ANYTHING = Value()
NO = Value(0, 0)
State = dict[int, Value]
"""Register number to value; a register that is missing holds anything."""


@dataclass(frozen=True)
class Step:
    """Values, before and after one instruction, of the registers that it writes."""

    before: State
    after: State

    @property
    def is_settled(self) -> bool:
        """Tell whether everything that it writes is the same number in every execution."""
        return all(value.is_one_number for value in self.after.values())

    def first(self) -> Value:
        """Return what the lowest register holds afterwards."""
        return self.after[min(self.after)]


def scalar_steps(kernel: Kernel, flow: Flow, bounds: Bounds) -> dict[int, Step]:
    """Return what each instruction that writes registers does, by instruction number.

    Raises ``BudgetExceeded``.
    """
    walker = _Walker(kernel, flow, bounds)
    run_forward(flow, walker.start(), walker.step, _join)
    return walker.steps


def _join(left: State, right: State) -> State:
    """Keep what both sides agree on; registers that differ hold anything, so loops converge."""
    kept = {key: value for key, value in left.items() if right.get(key) == value}
    return left if len(kept) == len(left) else kept


class _Walker:
    def __init__(self, kernel: Kernel, flow: Flow, bounds: Bounds) -> None:
        self.kernel, self.flow, self.bounds = kernel, flow, bounds
        self.steps: dict[int, Step] = {}
        self.kernargs: dict[int, Value] = {}
        """What each dword of the kernarg segment holds, by its offset."""
        for one in kernel.metadata.arguments if kernel.metadata else ():
            name = one.name or ""
            if one.value_kind == "global_buffer":
                value = Value(origin=name)
                self.kernargs |= dict.fromkeys((one.offset, one.offset + 4), value)
            elif one.size == 4 and name in bounds.values:
                self.kernargs[one.offset] = Value(0, bounds.values[name])

    def start(self) -> State:
        """Return what the hardware puts into registers; EXEC is present while it is untouched."""
        d = self.kernel.descriptor
        state: State = {lowest(EXEC_MASK): Value(1, 1)}
        if d.user_sgpr_kernarg_segment_ptr:
            at = SGPR_BASE + 4 * d.user_sgpr_private_segment_buffer + 2 * d.user_sgpr_dispatch_ptr
            state[at] = state[at + 1] = Value(origin=KERNARGS)
        at = SGPR_BASE + d.user_sgpr_count
        flags = (d.workgroup_id_x, d.workgroup_id_y, d.workgroup_id_z)
        for size, is_wanted in zip(self.bounds.grid, flags, strict=True):
            if is_wanted:
                state[at] = Value(0, size - 1)
                at += 1
        if d.workitem_id_mode == 0:
            state[VGPR_BASE] = Value(0, self.bounds.block - 1)
        return state

    def step(self, index: int, state: State) -> None:
        effects = self.flow.effects[index]
        if not effects.writes:
            return
        mnemonic = self.flow.instructions[index].mnemonic.removesuffix("_e32").removesuffix("_e64")
        results = self._results(mnemonic, effects, state)
        written = numbers(effects.writes)
        before = {number: state.get(number, ANYTHING) for number in written}
        is_whole = lowest(EXEC_MASK) in state
        for number in written:
            value = results.get(number, ANYTHING)
            # After a change of EXEC other lanes may keep their old values.
            if value == ANYTHING or (1 << number & VGPR_MASK and not is_whole):
                state.pop(number, None)
            else:
                state[number] = value
        if effects.writes & EXEC_MASK:
            state.pop(lowest(EXEC_MASK), None)
        after = {number: state.get(number, ANYTHING) for number in written}
        self.steps[index] = Step(before, after)

    def _results(self, mnemonic: str, effects: Effects, state: State) -> State:
        if effects.kind == "smem" and "load" in effects.traits:
            return self._loaded(effects, state)
        compute = _COMPUTE.get(mnemonic)
        if compute is None or len(effects.destinations) != 1 or effects.modifiers:
            return {}
        texts = effects.operands[1:]
        sources = [
            _source(text, mask, state) for text, mask in zip(texts, effects.sources, strict=True)
        ]
        if mnemonic == "s_addc_u32":
            sources.append(state.get(SCC, ANYTHING))
        result = compute(*sources)
        found = {lowest(effects.destinations[0]): result}
        if effects.writes & SCC_MASK:
            found[SCC] = _condition(mnemonic, result)
        return found

    def _loaded(self, effects: Effects, state: State) -> State:
        """Return what a scalar load gives: pointers of the kernargs, elements of an argument."""
        base, offset = effects.operands[1], effects.operands[2]
        halves = {state.get(number, ANYTHING).origin for number in numbers(effects.sources[0])}
        origin = halves.pop() if len(halves) == 1 and base.startswith("s[") else ""
        written = numbers(effects.destinations[0])
        if origin == KERNARGS:
            first = _constant(offset)
            if first is None:
                return {}
            offsets = {number: first + 4 * at for at, number in enumerate(written)}
            return {number: self.kernargs.get(at, ANYTHING) for number, at in offsets.items()}
        most = self.bounds.elements.get(origin, LARGEST)
        return {number: Value(0, most) for number in written}


def _constant(text: str) -> int | None:
    try:
        return int(text, 0)
    except ValueError:
        return None


def _source(text: str, mask: int, state: State) -> Value:
    constant = _constant(text)
    if constant is not None:
        return Value(constant & LARGEST, constant & LARGEST)
    if mask and mask & (mask - 1) == 0:
        return state.get(lowest(mask), ANYTHING)
    return ANYTHING


def _bounded(low: int, high: int) -> Value:
    return Value(low, high) if 0 <= low <= high <= LARGEST else ANYTHING


def _condition(mnemonic: str, result: Value) -> Value:
    """Return SCC after an instruction: the carry of a sum, else whether the result is not zero."""
    if result == ANYTHING or result.origin:
        return ANYTHING
    if mnemonic in _SUMS:
        # A sum that may exceed 32 bits counts as anything.
        return NO
    return Value(int(result.low > 0), int(result.high > 0))


def _plus(left: Value, right: Value, carry: Value = NO) -> Value:
    """Half a pointer plus a number still leads into the same argument."""
    if left.origin or right.origin:
        return Value(origin="" if left.origin and right.origin else left.origin or right.origin)
    most = min(carry.high, 1)
    return _bounded(left.low + right.low + min(carry.low, 1), left.high + right.high + most)


def _times(left: Value, right: Value) -> Value:
    return _bounded(left.low * right.low, left.high * right.high)


def _high_product(left: Value, right: Value) -> Value:
    if left.origin or right.origin:
        return ANYTHING
    return Value(left.low * right.low >> 32, left.high * right.high >> 32)


def _shifted(value: Value, distance: Value, shift: Callable[[int, int], int]) -> Value:
    if not distance.is_one_number or value.origin:
        return ANYTHING
    count = distance.low & 31
    return _bounded(shift(value.low, count), shift(value.high, count))


def _shifted_left(value: Value, distance: Value) -> Value:
    return _shifted(value, distance, lshift)


def _shifted_right(value: Value, distance: Value) -> Value:
    return _shifted(value, distance, rshift)


def _both_bits(left: Value, right: Value) -> Value:
    if left.is_one_number and right.is_one_number:
        return Value(left.low & right.low, left.low & right.low)
    return Value(0, min(left.high, right.high)) if not left.origin + right.origin else ANYTHING


def _same(value: Value) -> Value:
    return value


_COMPUTE: Mapping[str, Callable[..., Value]] = {
    "s_mov_b32": _same,
    "v_mov_b32": _same,
    "v_readfirstlane_b32": _same,
    "s_add_u32": _plus,
    "s_addc_u32": _plus,
    "v_add_u32": _plus,
    "s_mul_i32": _times,
    "s_mul_hi_u32": _high_product,
    "s_lshl_b32": _shifted_left,
    "s_lshr_b32": _shifted_right,
    "v_lshlrev_b32": lambda distance, value: _shifted_left(value, distance),
    "v_lshrrev_b32": lambda distance, value: _shifted_right(value, distance),
    "s_and_b32": _both_bits,
    "v_and_b32": _both_bits,
}
"""The result interval of an instruction from those of its sources; others may give anything."""

_SUMS = ("s_add_u32", "s_addc_u32")
