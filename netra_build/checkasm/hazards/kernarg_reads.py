"""Which kernarg bytes the code reads: constant propagation from the kernarg pointer.

Followed: copies of the pointer, additions of constants, scalar and global loads with constant
offsets, and preloaded SGPRs. Anything else that is done to the pointer is noted as unresolved.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from netra_build.asm.objects.code_object import Kernel
from netra_build.asm.objects.descriptor import KernelDescriptor
from netra_build.checkasm.hazards.dataflow import run_forward
from netra_build.checkasm.hazards.effects import Effects
from netra_build.checkasm.hazards.flow import Block, Flow
from netra_build.checkasm.hazards.instruction_set import base_mnemonic
from netra_build.checkasm.hazards.registers import SCALAR_MASK, SGPR_BASE, lowest, numbers

LOW, HIGH, TAINTED, CONSTANT, PRELOADED = "low", "high", "tainted", "constant", "preloaded"
Value = tuple[str, int]
"""Kind and number: byte offset of a pointer's low half, a constant, a preloaded dword."""
State = dict[int, Value]

_BEFORE_POINTER = (
    ("user_sgpr_private_segment_buffer", 4),
    ("user_sgpr_dispatch_ptr", 2),
    ("user_sgpr_queue_ptr", 2),
)
_WIDTH_BYTES = {"byte": 1, "ubyte": 1, "sbyte": 1, "short": 2, "ushort": 2, "sshort": 2}
_DWORDS = re.compile(r"_load_dword(?:x(\d+))?$")
_INTEGER = re.compile(r"-?(?:0x[0-9a-f]{1,8}|\d{1,10})")


@dataclass(frozen=True, order=True)
class KernargRead:
    """Bytes ``offset`` to ``offset + size`` read by the instruction with this index."""

    offset: int
    size: int
    index: int


@dataclass
class KernargUse:
    """All reads found, and the instructions at which the pointer was lost."""

    reads: set[KernargRead] = field(default_factory=set)
    unresolved: set[int] = field(default_factory=set)


def find_kernarg_reads(kernel: Kernel, flow: Flow) -> KernargUse:
    """Return the kernarg bytes that the reachable code reads; ``BudgetExceeded``."""
    walker = _Walker(flow)
    run_forward(flow, _start(kernel.descriptor), walker.transfer, _join, len)
    return walker.use


def _start(descriptor: KernelDescriptor) -> State:
    at = SGPR_BASE + sum(n for name, n in _BEFORE_POINTER if getattr(descriptor, name))
    state: State = {}
    if descriptor.user_sgpr_kernarg_segment_ptr:
        state[at] = (LOW, 0)
        state[at + 1] = (HIGH, 0)
    first = SGPR_BASE + descriptor.user_sgpr_dwords() - descriptor.kernarg_preload_length
    for number in range(descriptor.kernarg_preload_length):
        state[first + number] = (PRELOADED, descriptor.kernarg_preload_offset + number)
    return state


def _join(left: State, right: State) -> State:
    """Keep what both paths agree on; a pointer at two offsets becomes a tainted one."""
    if left == right:
        return left
    result: State = {}
    for register, value in left.items():
        other = right.get(register)
        if other == value:
            result[register] = value
        elif TAINTED in (value[0], other[0] if other else "") or (
            other is not None and value[0] == other[0] == LOW
        ):
            result[register] = (TAINTED, 0)
    return result


class _Walker:
    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.use = KernargUse()

    def transfer(self, block: Block, state: State) -> State:
        values = dict(state)
        for index in range(block.start, block.end):
            effects = self.flow.effects[index]
            if not values and effects.kind not in ("salu", "valu"):
                continue
            self._note_preloaded(index, effects, values)
            results = self._results(index, effects, values)
            for register in numbers(effects.writes & (SCALAR_MASK | (1 << 256) - 1)):
                values.pop(register, None)
            values.update(results)
        return values

    def _note_preloaded(self, index: int, effects: Effects, values: State) -> None:
        if not effects.reads & SCALAR_MASK:
            return
        for register in numbers(effects.reads & SCALAR_MASK):
            kind, number = values.get(register, ("", 0))
            if kind == PRELOADED:
                self.use.reads.add(KernargRead(4 * number, 4, index))

    def _results(self, index: int, effects: Effects, values: State) -> State:
        mnemonic = base_mnemonic(self.flow.instructions[index].mnemonic)
        if mnemonic in ("s_mov_b32", "s_mov_b64", "s_movk_i32", "v_mov_b32"):
            return self._copy(index, mnemonic, effects, values)
        if mnemonic in ("s_add_u32", "s_addc_u32", "s_add_i32"):
            return _add(mnemonic, effects, values)
        if effects.kind == "smem" and "load" in effects.traits:
            self._scalar_load(index, effects, values)
        elif mnemonic.startswith("global_load_") and "load" in effects.traits:
            self._global_load(index, effects, values)
        else:
            return self._other(index, effects, values)
        return {}

    def _copy(self, index: int, mnemonic: str, effects: Effects, values: State) -> State:
        source, target = effects.sources[0], effects.destinations[0]
        if not target:
            return {}
        if not source:
            constant = _integer(effects.operands[1])
            if constant is None:
                return {}
            result = {lowest(target): (CONSTANT, constant)}
            if mnemonic == "s_mov_b64":
                result[lowest(target) + 1] = (CONSTANT, -1 if constant < 0 else 0)
            return result
        if mnemonic == "v_mov_b32" and _pointer_read(effects, values):
            self.use.unresolved.add(index)
            return {}
        pairs = zip(numbers(target), numbers(source), strict=False)
        return {to: values[origin] for to, origin in pairs if origin in values}

    def _scalar_load(self, index: int, effects: Effects, values: State) -> None:
        if not effects.sources or effects.sources[0].bit_count() != 2:
            return
        low = lowest(effects.sources[0])
        offset = sum(_offset_modifier(modifier) for modifier in effects.modifiers)
        register = effects.sources[1] if len(effects.sources) > 1 else 0
        if register:
            kind, number = values.get(lowest(register), ("", 0))
            extra = number if kind == CONSTANT else None
        else:
            extra = _integer(effects.operands[2]) if len(effects.operands) > 2 else 0
        self._load(index, low, None if extra is None else offset + extra, values)

    def _global_load(self, index: int, effects: Effects, values: State) -> None:
        address, base = effects.sources[0], effects.sources[-1]
        if base.bit_count() != 2 or not base & SCALAR_MASK:
            return
        kind, number = values.get(lowest(address), ("", 0))
        offset = sum(_offset_modifier(modifier) for modifier in effects.modifiers)
        self._load(index, lowest(base), offset + number if kind == CONSTANT else None, values)

    def _load(self, index: int, low: int, offset: int | None, values: State) -> None:
        kind, start = values.get(low, ("", 0))
        high_kind = values.get(low + 1, ("", 0))[0]
        if kind not in (LOW, TAINTED):
            return
        if kind == TAINTED or offset is None or high_kind != HIGH:
            self.use.unresolved.add(index)
            return
        size = _load_bytes(self.flow.instructions[index].mnemonic)
        self.use.reads.add(KernargRead(start + offset, size, index))

    def _other(self, index: int, effects: Effects, values: State) -> State:
        """Any other use: scalar arithmetic taints its result, everything else loses the pointer."""
        if not _pointer_read(effects, values):
            return {}
        if effects.kind == "salu":
            return dict.fromkeys(numbers(effects.writes & SCALAR_MASK), (TAINTED, 0))
        self.use.unresolved.add(index)
        return {}


def _pointer_read(effects: Effects, values: State) -> bool:
    scalar = effects.reads & SCALAR_MASK
    return bool(scalar) and any(
        values.get(register, ("", 0))[0] in (LOW, TAINTED) for register in numbers(scalar)
    )


def _add(mnemonic: str, effects: Effects, values: State) -> State:
    if not effects.destinations[0]:
        return {}
    target = lowest(effects.destinations[0])
    terms = [
        values.get(lowest(mask)) if mask else _constant(text)
        for mask, text in zip(effects.sources, effects.operands[1:], strict=False)
    ]
    kinds = [term[0] if term else "" for term in terms]
    if LOW in kinds or TAINTED in kinds:
        if sorted(kinds) == [CONSTANT, LOW] and mnemonic != "s_addc_u32":
            return {target: (LOW, sum(term[1] for term in terms if term))}
        return {target: (TAINTED, 0)}
    if mnemonic == "s_addc_u32" and HIGH in kinds:
        return {target: (HIGH, 0)}
    if kinds == [CONSTANT, CONSTANT] and mnemonic != "s_addc_u32":
        return {target: (CONSTANT, sum(term[1] for term in terms if term))}
    return {}


def _constant(text: str) -> Value | None:
    number = _integer(text)
    return None if number is None else (CONSTANT, number)


def _integer(text: str) -> int | None:
    """Return a printed integer, read as a signed 32-bit value; None for anything else."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text, 0)
    return number - (1 << 32) if number >= 1 << 31 else number


def _offset_modifier(modifier: str) -> int:
    if not modifier.startswith("offset:"):
        return 0
    return _integer(modifier.removeprefix("offset:")) or 0


def _load_bytes(mnemonic: str) -> int:
    match = _DWORDS.search(mnemonic)
    if match:
        return 4 * int(match[1] or 1)
    word = mnemonic.split("_load_")[-1].split("_")[0]
    return _WIDTH_BYTES.get(word, 4)
