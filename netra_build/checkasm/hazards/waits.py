"""Wait analysis: which loads may still be outstanding where their registers are used.

The state holds, per outstanding operation, how many younger operations of its in-order class
were issued at least (its age). ``s_waitcnt`` with count n retires every in-order operation of age
n or more: with at most n left, those can only be the n youngest. Scalar loads return in any
order, and a flat access may take either path, so only a count of 0 retires them; a flat access
needs it on both counters. A full counter stalls the wavefront, which retires by age as well.
"""

from __future__ import annotations

from typing import NamedTuple

from netra_build.asm.objects.listings import Instruction
from netra_build.checkasm.hazards.effects import Effects
from netra_build.checkasm.hazards.findings import Finding, make_finding
from netra_build.checkasm.hazards.flow import Block, Flow, run_forward, union_of_ages
from netra_build.checkasm.hazards.registers import describe

_COUNTER_NAME = ("vmcnt", "lgkmcnt")
COUNTER_MAX = (63, 15)
VM, LGKM = 0, 1
COUNTERS_BY_KIND = {
    "vmem": (VM,),
    "smem": (LGKM,),
    "ds": (LGKM,),
    "gws": (LGKM,),
    "flat": (VM, LGKM),
}
"""Counters that an instruction of this kind raises."""

IN_ORDER = ("vmem", "ds")
"""Kinds whose operations finish in the order of their issue."""

OUT_OF_ORDER = -1

State = dict[int, int]
"""Twice the instruction's index plus its counter, to the operation's age or
``OUT_OF_ORDER``."""


class WaitCounts(NamedTuple):
    """The counts of one ``s_waitcnt``; the largest value of a counter means no wait."""

    vmcnt: int
    lgkmcnt: int


def wait_counts(instruction: Instruction) -> WaitCounts:
    """Decode the 16-bit immediate of an ``s_waitcnt`` of the GFX9 encoding."""
    word = instruction.words[0]
    return WaitCounts(vmcnt=(word & 0xF) | (word >> 14 & 3) << 4, lgkmcnt=word >> 8 & 0xF)


def check_waits(flow: Flow, *, shares_lds: bool) -> list[Finding]:
    """Return the findings of the wait analysis.

    ``shares_lds`` says that a work-group may hold more than one wavefront; only then do LDS
    operations that cross an ``s_barrier`` matter. Raises ``BudgetExceeded``.
    """
    walker = _Walker(flow, shares_lds)
    empty: State = {}
    run_forward(flow, empty, walker.transfer, union_of_ages, len)
    return list(walker.findings.values())


class _Walker:
    def __init__(self, flow: Flow, shares_lds: bool) -> None:
        self.flow = flow
        self.shares_lds = shares_lds
        self.findings: dict[tuple[str, int, int], Finding] = {}

    def transfer(self, block: Block, state: State) -> State:
        pending = _Pending(state, self.flow.effects)
        for index in range(block.start, block.end):
            self._step(index, pending)
        return pending.snapshot()

    def _step(self, index: int, pending: _Pending) -> None:
        effects = self.flow.effects[index]
        if effects.kind == "wait":
            for counter, count in enumerate(wait_counts(self.flow.instructions[index])):
                if count < COUNTER_MAX[counter]:
                    pending.retire(counter, count)
            return
        touched = (effects.reads | effects.writes) & pending.registers
        if touched:
            self._report_uses(index, effects, pending)
        if pending.operations and effects.kind in ("barrier", "end", "ds"):
            self._report_lds(index, effects, pending)
        for counter in COUNTERS_BY_KIND.get(effects.kind, ()):
            pending.issue(index, effects, counter)

    def _report_uses(self, index: int, effects: Effects, pending: _Pending) -> None:
        for key in list(pending.operations):
            load = self.flow.effects[key >> 1]
            read = load.writes & effects.reads
            written = load.writes & effects.writes
            if not read and _supersedes(effects, load):
                continue
            if (read or written) and key in pending.operations:
                self._report(index, key, read, written)
                pending.drop(key)

    def _report(self, index: int, key: int, read: int, written: int) -> None:
        load = self.flow.instructions[key >> 1]
        verb = f"reads {describe(read)}" if read else f"overwrites {describe(written)}"
        message = (
            f"{verb} before {_COUNTER_NAME[key & 1]} covers the load at {load.address:#x} "
            f'"{load.text}"'
        )
        self._add("missing-wait", index, key >> 1, message)

    def _report_lds(self, index: int, effects: Effects, pending: _Pending) -> None:
        for key in pending.operations:
            operation = self.flow.effects[key >> 1]
            rule = _lds_rule(effects, operation)
            if rule is None or (effects.kind == "barrier" and not self.shares_lds):
                continue
            source = self.flow.instructions[key >> 1]
            message = (
                f'"{source.text}" at {source.address:#x} may be outstanding here, '
                f"{_COUNTER_NAME[key & 1]} does not cover it"
            )
            self._add(rule, index, key >> 1, message)

    def _add(self, rule: str, index: int, cause: int, message: str) -> None:
        key = (rule, index, cause)
        if key not in self.findings:
            instruction = self.flow.instructions[index]
            self.findings[key] = make_finding(rule, self.flow.kernel, message, instruction)


class _Pending:
    """Outstanding operations while one block is walked.

    An in-order operation is stored with the number of its issue, so that one addition ages all of
    them; an out-of-order one has no number.
    """

    def __init__(self, state: State, effects: tuple[Effects, ...]) -> None:
        self.effects = effects
        self.issued = [0, 0]
        self.operations: dict[int, int | None] = {
            key: None if age == OUT_OF_ORDER else -age for key, age in state.items()
        }
        self.registers = 0
        self._gather()

    def _gather(self) -> None:
        self.registers = 0
        for key in self.operations:
            self.registers |= self.effects[key >> 1].writes

    def snapshot(self) -> State:
        """Return the state behind the block."""
        return {
            key: OUT_OF_ORDER if number is None else self.issued[key & 1] - number
            for key, number in self.operations.items()
        }

    def retire(self, counter: int, count: int) -> None:
        """Apply a wait for ``counter`` to fall to ``count``, or the stall of a full counter."""
        limit = self.issued[counter] - count
        gone = [
            key
            for key, number in self.operations.items()
            if key & 1 == counter and (count == 0 or (number is not None and number <= limit))
        ]
        for key in gone:
            del self.operations[key]
        if gone:
            self._gather()

    def drop(self, key: int) -> None:
        """Remove one operation, after it was reported."""
        self.operations.pop(key, None)
        self.operations.pop(key ^ 1, None)
        self._gather()

    def issue(self, index: int, effects: Effects, counter: int) -> None:
        """Add a new operation and age the older ones of its counter."""
        in_order = effects.kind in IN_ORDER
        if in_order:
            self.issued[counter] += 1
            self.retire(counter, COUNTER_MAX[counter])
        if effects.writes or effects.traits & {"lds_dma", "lds_write"}:
            self.operations[2 * index + counter] = self.issued[counter] if in_order else None
            self.registers |= effects.writes


def _supersedes(effects: Effects, load: Effects) -> bool:
    """Tell whether a younger load overwrites safely: loads of one in-order class land in order."""
    return effects.kind == load.kind and effects.kind in IN_ORDER


def _lds_rule(effects: Effects, operation: Effects) -> str | None:
    """Return the rule that an outstanding LDS operation violates at this instruction."""
    if "lds_dma" in operation.traits:
        if effects.kind == "ds":
            return "lds-dma-read" if "lds_read" in effects.traits else None
        return "lds-dma-at-barrier" if effects.kind == "barrier" else "lds-dma-at-end"
    if effects.kind == "barrier":
        if "lds_write" in operation.traits:
            return "lds-write-at-barrier"
        if "lds_read" in operation.traits:
            return "lds-read-at-barrier"
    return None
