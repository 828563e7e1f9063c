"""The metadata's argument list: its layout, compared with the kernarg bytes that the code reads.

Constants are propagated from the kernarg pointer. Followed: copies of the pointer, additions of
constants, scalar and global loads with constant offsets, and preloaded SGPRs. Anything else that is
done to the pointer is noted as unresolved.
"""

from __future__ import annotations

import re

from netra_build.asm.objects.code_object import Kernel
from netra_build.asm.objects.descriptor import KernelDescriptor
from netra_build.asm.objects.metadata import ArgumentMetadata
from netra_build.checkasm.hazards.effects import (
    SCALAR_MASK,
    SGPR_BASE,
    VGPR_MASK,
    Effects,
    base_mnemonic,
    lowest,
    numbers,
    union,
)
from netra_build.checkasm.hazards.findings import Finding, make_finding
from netra_build.checkasm.hazards.flow import Flow, run_forward
from netra_build.checkasm.hazards.kernarg_layout import (
    HIDDEN,
    KernargRead,
    argument_name,
    layout_faults,
    order_faults,
    read_fault,
)

LOW, HIGH, TAINTED, CONSTANT = "low", "high", "tainted", "constant"
PRELOADED, PADDING = "preloaded", "padding"
Value = tuple[str, int]
"""Kind and number: byte offset of a pointer's low half, a constant, a preloaded dword, the byte
offset of a loaded dword that no argument owns."""
State = dict[int, Value]
NOTHING: Value = ("", 0)

_BEFORE_POINTER = (
    ("user_sgpr_private_segment_buffer", 4),
    ("user_sgpr_dispatch_ptr", 2),
    ("user_sgpr_queue_ptr", 2),
)
_COPIES = ("s_mov_b32", "s_mov_b64")
_INTEGER = re.compile(r"-?(?:0x[0-9a-f]{1,8}|\d{1,10})")


def check_kernargs(kernel: Kernel, flow: Flow) -> list[Finding]:
    """Return the findings about kernargs; ``BudgetExceeded`` from the data flow.

    A read must touch an argument and may cover alignment gaps next to it, as wide loads do.
    """
    findings = []
    listed = kernel.metadata.arguments if kernel.metadata else ()
    arguments = sorted(listed, key=lambda argument: argument.offset)
    size = kernel.descriptor.kernarg_size
    for text in (*order_faults(listed), *layout_faults(arguments, size)):
        findings.append(make_finding("kernarg-layout", kernel.symbol, text))
    walker = _Walker(flow, arguments)
    run_forward(flow, _start(kernel.descriptor), walker.step, _join)
    for read in sorted(walker.reads):
        text = read_fault(read, arguments, size, has_metadata=kernel.metadata is not None)
        if text:
            instruction = flow.instructions[read.index]
            findings.append(make_finding("kernarg-read", kernel.symbol, text, instruction))
    for use in sorted(walker.uses):
        text = f"uses kernarg bytes {use.offset} to {use.offset + 3}, which no argument owns"
        instruction = flow.instructions[use.index]
        findings.append(make_finding("kernarg-read", kernel.symbol, text, instruction))
    findings += _unread(kernel, flow, arguments, walker)
    return findings


def _unread(
    kernel: Kernel, flow: Flow, arguments: list[ArgumentMetadata], walker: _Walker
) -> list[Finding]:
    if walker.unresolved:
        instruction = flow.instructions[min(walker.unresolved)]
        text = "a kernarg address is computed at run time and not followed"
        return [make_finding("kernarg-unresolved", kernel.symbol, text, instruction)]
    findings = []
    for argument in arguments:
        last = argument.offset + argument.size
        read = any(r.offset < last and r.offset + r.size > argument.offset for r in walker.reads)
        if not read and not argument.value_kind.startswith("hidden_"):
            text = f"{argument_name(argument)} is never read"
            findings.append(make_finding("kernarg-unread", kernel.symbol, text))
    return findings


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
    """Keep what both paths agree on, and padding; a pointer at two offsets becomes tainted."""
    if left == right:
        return left
    both = (*right.items(), *left.items())
    result = {register: value for register, value in both if value[0] == PADDING}
    for register, value in left.items():
        other = right.get(register, NOTHING)
        if register in result:
            continue
        if other == value:
            result[register] = value
        elif TAINTED in (value[0], other[0]) or value[0] == other[0] == LOW:
            result[register] = (TAINTED, 0)
    return result


class _Walker:
    """Collects all reads, and the instructions at which tracking of the pointer ends."""

    def __init__(self, flow: Flow, arguments: list[ArgumentMetadata]) -> None:
        self.flow = flow
        self.arguments = arguments
        self.reads: set[KernargRead] = set()
        self.uses: set[KernargRead] = set()
        """Of bytes that no argument owns, once they are loaded."""
        self.unresolved: set[int] = set()

    def step(self, index: int, values: State) -> None:
        effects = self.flow.effects[index]
        if not values and effects.kind not in ("salu", "valu"):
            return
        self._note_uses(index, effects, values)
        results = self._results(index, effects, values)
        for register in numbers(effects.writes & (SCALAR_MASK | VGPR_MASK)):
            values.pop(register, None)
        values.update(results)

    def _note_uses(self, index: int, effects: Effects, values: State) -> None:
        is_copy = self.flow.instructions[index].mnemonic in _COPIES
        for register in numbers(effects.reads & (SCALAR_MASK | VGPR_MASK)):
            kind, number = values.get(register, NOTHING)
            if kind == PRELOADED:
                self.reads.add(KernargRead(4 * number, 4, index))
            if kind == PADDING and not is_copy:
                self.uses.add(KernargRead(number, 4, index))

    def _results(self, index: int, effects: Effects, values: State) -> State:
        """Return what the instruction's registers hold; of uses that are not followed, scalar
        arithmetic taints its result and everything else ends tracking."""
        mnemonic = base_mnemonic(self.flow.instructions[index].mnemonic)
        if mnemonic in (*_COPIES, "s_movk_i32", "v_mov_b32"):
            return self._copy(index, mnemonic, effects, values)
        if mnemonic in ("s_add_u32", "s_addc_u32", "s_add_i32"):
            return _add(mnemonic, effects, values)
        if "load" in effects.traits and mnemonic.startswith(("s_", "global_load_")):
            return self._load(index, effects, values)
        if _pointer_read(effects, values):
            if effects.kind == "salu":
                return dict.fromkeys(numbers(effects.writes & SCALAR_MASK), (TAINTED, 0))
            self.unresolved.add(index)
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
            self.unresolved.add(index)
            return {}
        pairs = zip(numbers(target), numbers(source), strict=False)
        return {to: values[origin] for to, origin in pairs if origin in values}

    def _load(self, index: int, effects: Effects, values: State) -> State:
        """Note the bytes that a load reads at an offset from the pointer; return its padding."""
        if effects.kind == "smem":
            base, distance = (*effects.sources, 0, 0)[:2]
            text = effects.operands[2] if len(effects.operands) > 2 else "0"
        else:
            base, distance, text = effects.sources[-1], effects.sources[0], ""
        if base.bit_count() != 2 or not base & SCALAR_MASK:
            return {}
        (kind, start), (high, _) = (values.get(lowest(base) + at, NOTHING) for at in (0, 1))
        distance_kind, number = _operand(values, distance, text)
        if (kind, high, distance_kind) == (LOW, HIGH, CONSTANT):
            size = _load_bytes(self.flow.instructions[index].mnemonic)
            first = start + _offset(effects) + number
            self.reads.add(KernargRead(first, size, index))
            loaded = zip(
                numbers(union(effects.destinations)), range(first, first + size, 4), strict=False
            )
            return {to: (PADDING, at) for to, at in loaded if not self._is_owned(at)}
        if kind in (LOW, TAINTED):
            self.unresolved.add(index)
        return {}

    def _is_owned(self, at: int) -> bool:
        """Tell whether a dword belongs to an argument or, behind them, to the runtime's own."""
        return not self.arguments or any(
            one.offset < at + 4
            and (one.offset + one.size > at or one.value_kind.startswith(HIDDEN))
            for one in self.arguments
        )


def _pointer_read(effects: Effects, values: State) -> bool:
    read = numbers(effects.reads & SCALAR_MASK)
    return any(values.get(register, NOTHING)[0] in (LOW, TAINTED) for register in read)


def _add(mnemonic: str, effects: Effects, values: State) -> State:
    if not effects.destinations[0]:
        return {}
    target = lowest(effects.destinations[0])
    sources = zip(effects.sources, effects.operands[1:], strict=False)
    terms = [_operand(values, mask, text) for mask, text in sources]
    kinds = [kind for kind, _ in terms]
    total = sum(number for _, number in terms)
    if LOW in kinds or TAINTED in kinds:
        if sorted(kinds) == [CONSTANT, LOW] and mnemonic != "s_addc_u32":
            return {target: (LOW, total)}
        return {target: (TAINTED, 0)}
    if mnemonic == "s_addc_u32" and HIGH in kinds:
        return {target: (HIGH, 0)}
    if kinds == [CONSTANT, CONSTANT] and mnemonic != "s_addc_u32":
        return {target: (CONSTANT, total)}
    return {}


def _operand(values: State, mask: int, text: str) -> Value:
    """Return what a source operand holds: a register's value or a printed constant."""
    if mask:
        return values.get(lowest(mask), NOTHING)
    number = _integer(text)
    return NOTHING if number is None else (CONSTANT, number)


def _integer(text: str) -> int | None:
    """Return a printed integer, read as a signed 32-bit value; None for anything else."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text, 0)
    return number - (1 << 32) if number >= 1 << 31 else number


def _offset(effects: Effects) -> int:
    texts = (m.removeprefix("offset:") for m in effects.modifiers if m.startswith("offset:"))
    return sum(_integer(text) or 0 for text in texts)


def _load_bytes(mnemonic: str) -> int:
    """Return the bytes of a global or scalar load."""
    dwords = mnemonic.rpartition("_dwordx")[2] if "_dwordx" in mnemonic else "1"
    return 1 if "byte" in mnemonic else 2 if "short" in mnemonic else 4 * int(dwords)
