"""Proofs that a mutant changes nothing: the same bytes, the same results in every launch that the
contract allows, or an ordering that holds without it.

The proof about waits tracks the outstanding operations again, without the wait analysis of
``hazards``: a wait is redundant when nothing is outstanding that it could cover, when only stores
are and the program ends, or when everything it could cover is a load into registers and the static
analysis, which follows every path, finds no register of the mutant used too early.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from netra_build.asm.objects.code_object import CodeObject, Kernel
from netra_build.asm.objects.listings import Disassembly
from netra_build.checkasm.hazards.effects import Effects
from netra_build.checkasm.hazards.flow import Flow, build_flow, run_forward, union_of_ages
from netra_build.checkasm.hazards.waits import (
    COUNTER_MAX,
    COUNTERS_BY_KIND,
    IN_ORDER,
    WaitCounts,
    wait_counts,
)
from netra_build.checkasm.mutate.intervals import Bounds, scalar_steps
from netra_build.checkasm.mutate.mutant import (
    NOP_DELETE,
    NOP_SHRINK,
    WAIT_DELETE,
    WAIT_WEAKEN,
    Mutant,
    Source,
)

_MEMORY = (*COUNTERS_BY_KIND, "barrier", "message")

Ages = dict[tuple[int, int], int]
"""Instruction index and counter of each operation that may be outstanding, to its least age."""


@dataclass(frozen=True)
class Clean:
    """The unmutated kernel."""

    code: CodeObject
    kernel: Kernel
    listing: Disassembly
    source: Source

    @cached_property
    def flow(self) -> Flow:
        """Return the control flow of the kernel."""
        return build_flow(self.kernel, self.listing)[0]

    @cached_property
    def outstanding(self) -> dict[int, Ages]:
        """Return, for each wait, the operations that may be outstanding in front of it."""
        return outstanding_at_waits(self.flow)

    def instruction_of(self, index: int) -> int | None:
        """Return the number of the instruction that statement ``index`` became, if it is known."""
        places = self.source.instructions()
        if not self.source.is_plain() or len(places) != len(self.flow.instructions):
            return None
        return places.index(index) if index in places else None


def identical(left: CodeObject, right: CodeObject) -> bool:
    """Tell whether two code objects hold the same code, descriptors and metadata."""
    ours = [kernel.descriptor.normalised() for kernel in left.kernels]
    theirs = [kernel.descriptor.normalised() for kernel in right.kernels]
    return left.text == right.text and ours == theirs and left.metadata == right.metadata


def prove_ordering(clean: Clean, mutant: Mutant) -> str:
    """Return why a mutant of an ordering kind that no check catches leaves the ordering intact.

    Empty when there is no proof.
    """
    if mutant.kind in (NOP_DELETE, NOP_SHRINK):
        return "the wait-state table asks for no more states on any path"
    number = clean.instruction_of(mutant.index)
    if mutant.kind not in (WAIT_DELETE, WAIT_WEAKEN) or number is None:
        return ""
    waits = wait_counts(clean.flow.instructions[number])
    covered = [
        index
        for (index, counter), _ in clean.outstanding.get(number, {}).items()
        if waits[counter] < COUNTER_MAX[counter]
    ]
    if not covered:
        return "nothing that its counters cover is outstanding on any path"
    effects = [clean.flow.effects[index] for index in covered]
    has_barrier = any(one.kind == "barrier" for one in clean.flow.effects)
    if all(_is_register_load(one, has_barrier) for one in effects):
        return "it covers register loads only, and each is waited for again before its use"
    if not _touches_memory_after(clean.flow, number):
        return "the program ends behind it without another memory access or barrier"
    return ""


def prove_value(
    clean: Clean, code: CodeObject, listing: Disassembly, mutant: Mutant, bounds: Bounds
) -> str:
    """Return why a mutated scalar instruction gives the same result as before.

    Both programs agree up to the instruction, so it is enough that it leaves the same numbers in
    the same registers, SCC included. A removed one must have left registers as they were.
    Empty when there is no proof.
    """
    number = clean.instruction_of(mutant.index)
    if number is None:
        return ""
    step = scalar_steps(clean.kernel, clean.flow, bounds).get(number)
    if step is None or not step.is_settled:
        return ""
    if not mutant.after:
        is_alike = step.before == step.after
        return f"{step.first().low} is there already, in every launch of the contract" * is_alike
    kernel = code.kernel(clean.kernel.symbol, clean.source.name)
    flow = build_flow(kernel, listing)[0]
    if len(flow.instructions) != len(clean.flow.instructions):
        return ""
    changed = scalar_steps(kernel, flow, bounds).get(number)
    if changed is None or changed.after != step.after:
        return ""
    return f"the result is {step.first().low} either way in every launch of the contract"


def _is_register_load(effects: Effects, has_barrier: bool) -> bool:
    """Tell whether only the registers matter; behind a barrier others may overwrite the LDS."""
    other = {"lds_dma", "lds_write", "store", "atomic", *(("lds_read",) if has_barrier else ())}
    return bool(effects.writes) and not effects.traits & other


def _touches_memory_after(flow: Flow, number: int) -> bool:
    """Tell whether any instruction that may follow accesses memory or waits at a barrier."""
    block_at = next(at for at, one in enumerate(flow.blocks) if one.start <= number < one.end)
    later = set(range(number + 1, flow.blocks[block_at].end))
    pending, seen = list(flow.blocks[block_at].successors), set[int]()
    while pending:
        at = pending.pop()
        if at not in seen:
            seen.add(at)
            later |= set(range(flow.blocks[at].start, flow.blocks[at].end))
            pending += flow.blocks[at].successors
    return any(flow.effects[index].kind in _MEMORY for index in later)


def outstanding_at_waits(flow: Flow) -> dict[int, Ages]:
    """Return what may be outstanding in front of each ``s_waitcnt``, by instruction number.

    An operation is identified by its instruction and counter; its age is the least number of
    younger in-order operations of that counter. Raises ``BudgetExceeded``.
    """
    found: dict[int, Ages] = {}

    def step(index: int, ages: Ages) -> None:
        if flow.effects[index].kind == "wait":
            found[index] = dict(ages)
            _retire(ages, wait_counts(flow.instructions[index]), flow)
        else:
            _issue(ages, index, flow.effects[index])

    nothing: Ages = {}
    run_forward(flow, nothing, step, union_of_ages)
    return found


def _retire(ages: Ages, counts: WaitCounts, flow: Flow) -> None:
    for key in list(ages):
        index, counter = key
        is_ordered = flow.effects[index].kind in IN_ORDER
        due = counts[counter] == 0 or (is_ordered and ages[key] >= counts[counter])
        if counts[counter] < COUNTER_MAX[counter] and due:
            del ages[key]


def _issue(ages: Ages, index: int, effects: Effects) -> None:
    for counter in COUNTERS_BY_KIND.get(effects.kind, ()):
        if effects.kind in IN_ORDER:
            for key in ages:
                ages[key] += key[1] == counter
        ages[index, counter] = 0
