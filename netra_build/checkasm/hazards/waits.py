"""Waits: loads that may be outstanding where their registers are used, and missing wait states.

The state of the first analysis holds, per outstanding operation, how many younger operations of its
in-order class were issued at least (its age). ``s_waitcnt`` with count n retires every in-order
operation of age n or more: with at most n left, those can only be the n youngest. Scalar loads
return in any order, and a flat access may take either path, so only a count of 0 retires them; a
flat access needs it on both counters. A full counter stalls the wavefront, which retires by age as
well.

The state of the second holds the age, in wait states, of each recent producer of ``hazard_table``:
the smallest over all paths.
"""

from __future__ import annotations

from typing import NamedTuple

from netra_build.asm.objects.listings import Instruction
from netra_build.checkasm.hazards.effects import Effects, base_mnemonic, describe
from netra_build.checkasm.hazards.findings import Finding, make_finding
from netra_build.checkasm.hazards.flow import Flow, run_forward, union_of_ages
from netra_build.checkasm.hazards.hazard_table import (
    EXACT,
    EXACT_OTHER,
    HWREG_BASE,
    OVERLAP,
    PARTIAL,
    ROWS,
    SAME_MNEMONIC,
    Row,
    facets_of,
)

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
"""Of outstanding operations: twice the instruction's index plus its counter, to the operation's age
or ``OUT_OF_ORDER``. Of recent producers: the instruction's index, to the wait states since."""


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
    walker = _Waits(flow, shares_lds)
    nothing: State = {}
    run_forward(flow, nothing, walker.step, union_of_ages)
    return list(walker.findings.values())


class _Waits:
    def __init__(self, flow: Flow, shares_lds: bool) -> None:
        self.flow = flow
        self.shares_lds = shares_lds
        self.findings: dict[tuple[str, int, int], Finding] = {}

    def step(self, index: int, pending: State) -> None:
        effects = self.flow.effects[index]
        if effects.kind == "wait":
            for counter, count in enumerate(wait_counts(self.flow.instructions[index])):
                _retire(pending, counter, count)
            return
        self._report_uses(index, effects, pending)
        if effects.kind in ("barrier", "end", "ds"):
            self._report_lds(index, effects, pending)
        for counter in COUNTERS_BY_KIND.get(effects.kind, ()):
            _issue(pending, 2 * index + counter, effects)

    def _report_uses(self, index: int, effects: Effects, pending: State) -> None:
        touched = effects.reads | effects.writes
        for key in [key for key in pending if self.flow.effects[key >> 1].writes & touched]:
            load = self.flow.effects[key >> 1]
            read = load.writes & effects.reads
            # Loads of one in-order class land in order: a younger one overwrites safely.
            is_safe = effects.kind == load.kind and effects.kind in IN_ORDER and not read
            if key in pending and not is_safe:
                self._report(index, key, read, load.writes & effects.writes)
                del pending[key]
                pending.pop(key ^ 1, None)

    def _report(self, index: int, key: int, read: int, written: int) -> None:
        load = self.flow.instructions[key >> 1]
        verb = f"reads {describe(read)}" if read else f"overwrites {describe(written)}"
        message = (
            f"{verb} before {_COUNTER_NAME[key & 1]} covers the load at {load.address:#x} "
            f'"{load.text}"'
        )
        self._add("missing-wait", index, key >> 1, message)

    def _report_lds(self, index: int, effects: Effects, pending: State) -> None:
        for key in pending:
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


def _retire(pending: State, counter: int, count: int) -> None:
    """Apply a wait for ``counter`` to fall to ``count``, or the stall of a full counter."""
    for key, age in list(pending.items()):
        if key & 1 == counter and (count == 0 or age >= count):
            del pending[key]


def _issue(pending: State, key: int, effects: Effects) -> None:
    """Add a new operation and age the older ones of its counter."""
    counter, is_ordered = key & 1, effects.kind in IN_ORDER
    if is_ordered:
        for older, age in pending.items():
            if older & 1 == counter and age != OUT_OF_ORDER:
                pending[older] = age + 1
        _retire(pending, counter, COUNTER_MAX[counter])
    if effects.writes or effects.traits & {"lds_dma", "lds_write"}:
        pending[key] = 0 if is_ordered else OUT_OF_ORDER


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


_ROWS_BY_PRODUCER: dict[str, list[Row]] = {}
for _row in ROWS:
    _ROWS_BY_PRODUCER.setdefault(_row.producer, []).append(_row)
_REACH = {producer: max(row.states for row in rows) for producer, rows in _ROWS_BY_PRODUCER.items()}
"""How long a producer matters."""


def check_hazards(flow: Flow) -> list[Finding]:
    """Return one finding per pair of instructions that are too close; ``BudgetExceeded``."""
    walker = _Hazards(flow)
    nothing: State = {}
    run_forward(flow, nothing, walker.step, union_of_ages)
    return list(walker.findings.values())


class _Hazards:
    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.findings: dict[tuple[int, int, str], Finding] = {}
        self.missing: dict[tuple[int, int, str], int] = {}
        pairs = {at: (flow.instructions[at], flow.effects[at]) for at in flow.reachable}
        self.facets = {at: facets_of(*pair) for at, pair in pairs.items()}
        self.reach = {
            at: max((_REACH.get(facet, 0) for facet in facets), default=0)
            for at, facets in self.facets.items()
        }

    def step(self, index: int, recent: State) -> None:
        if self.facets[index]:
            for producer, age in recent.items():
                self._compare(producer, index, age)
        is_nop = self.flow.effects[index].kind == "nop"
        states = 1 + (self.flow.instructions[index].words[0] & 0xF) if is_nop else 1
        for producer in list(recent):
            recent[producer] += states
            if recent[producer] >= self.reach[producer]:
                del recent[producer]
        if self.reach[index]:
            recent[index] = 0

    def _compare(self, producer: int, index: int, age: int) -> None:
        consumes = self.facets[index]
        for facet, mask in self.facets[producer].items():
            for row in _ROWS_BY_PRODUCER.get(facet, ()):
                other = consumes.get(row.consumer)
                if other is None or row.states <= age or not mask & other:
                    continue
                if self._related(row, producer, index, mask == other):
                    self._report(row, producer, index, age, mask & other)

    def _related(self, row: Row, producer: int, index: int, is_exact: bool) -> bool:
        if row.relation in (EXACT, PARTIAL):
            return is_exact == (row.relation == EXACT)
        if row.relation == OVERLAP:
            return True
        if row.relation == EXACT_OTHER and not is_exact:
            return False
        names = {base_mnemonic(self.flow.instructions[at].mnemonic) for at in (producer, index)}
        return (len(names) == 1) == (row.relation == SAME_MNEMONIC)

    def _report(self, row: Row, producer: int, index: int, age: int, shared: int) -> None:
        rule = "accumulator-opcode" if row.source == "CHANGE" else "wait-states"
        key = (producer, index, rule)
        if row.states - age <= self.missing.get(key, 0):
            return
        self.missing[key] = row.states - age
        name = "the hardware register" if shared >> HWREG_BASE else describe(shared)
        source = self.flow.instructions[producer]
        message = (
            f"{name} needs {row.states} wait states after "
            f'"{source.text}" at {source.address:#x}, has {age} ({row.id})'
        )
        consumer = self.flow.instructions[index]
        self.findings[key] = make_finding(rule, self.flow.kernel, message, consumer)
