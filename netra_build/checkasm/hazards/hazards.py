"""Wait-state check: the smallest distance over all paths between dependent instructions.

Every instruction has producer facets (a facet's name and the registers it concerns) and consumer
facets; a row of ``hazard_table`` joins one of each. The state of the data flow is the age, in
wait states, of each recent producer.
"""

from __future__ import annotations

from dataclasses import dataclass

from netra_build.asm.objects.listings import Instruction
from netra_build.checkasm.hazards.effects import Effects, base_mnemonic
from netra_build.checkasm.hazards.findings import Finding, make_finding
from netra_build.checkasm.hazards.flow import Block, Flow, run_forward, union_of_ages
from netra_build.checkasm.hazards.hazard_table import (
    EXACT,
    OTHER_MNEMONIC,
    PARTIAL,
    ROWS,
    SAME_MNEMONIC,
    Row,
)
from netra_build.checkasm.hazards.registers import (
    EXEC_MASK,
    M0_MASK,
    SCALAR_MASK,
    VCC_MASK,
    VECTOR_MASK,
    describe,
)

_MATRIX_KINDS = (
    *("xdl2", "xdl4", "xdl8", "xdl16"),
    *("sgemm2", "sgemm8", "sgemm16", "dgemm4", "dgemm16"),
)
_HWREG_BASE = 1024
"""Hardware register numbers as bits above all registers."""

Facets = tuple[tuple[str, int], ...]
State = dict[int, int]
"""Index of a producer to the fewest wait states issued since, over all paths."""

_ROWS_BY_PRODUCER: dict[str, tuple[Row, ...]] = {
    producer: tuple(row for row in ROWS if row.producer == producer)
    for producer in {row.producer for row in ROWS}
}
_REACH = {producer: max(row.states for row in rows) for producer, rows in _ROWS_BY_PRODUCER.items()}


@dataclass(frozen=True, slots=True)
class _Step:
    """One instruction for the check: its own states, how long it matters, facets."""

    states: int
    reach: int
    produces: Facets
    consumes: dict[str, int]


def check_hazards(flow: Flow) -> list[Finding]:
    """Return one finding per pair of instructions that are too close; ``BudgetExceeded``."""
    walker = _Walker(flow)
    empty: State = {}
    run_forward(flow, empty, walker.transfer, union_of_ages, len)
    return list(walker.findings.values())


def wait_states(instruction: Instruction, effects: Effects) -> int:
    """Return how many wait states one instruction gives."""
    return 1 + (instruction.words[0] & 0xF) if effects.kind == "nop" else 1


class _Walker:
    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.findings: dict[tuple[int, int], Finding] = {}
        self.missing: dict[tuple[int, int], int] = {}
        self.steps = {index: _step(flow, index) for index in flow.reachable}

    def transfer(self, block: Block, state: State) -> State:
        recent = dict(state)
        for index in range(block.start, block.end):
            step = self.steps[index]
            if recent and step.consumes:
                for producer, age in recent.items():
                    self._compare(producer, index, age)
            gone = []
            for producer in recent:
                recent[producer] += step.states
                if recent[producer] >= self.steps[producer].reach:
                    gone.append(producer)
            for producer in gone:
                del recent[producer]
            if step.reach:
                recent[index] = 0
        return recent

    def _compare(self, producer: int, index: int, age: int) -> None:
        consumes = self.steps[index].consumes
        for facet, mask in self.steps[producer].produces:
            for row in _ROWS_BY_PRODUCER[facet]:
                other = consumes.get(row.consumer)
                if other is None or row.states <= age or not mask & other:
                    continue
                if self._related(row, producer, index, mask, other):
                    self._report(row, producer, index, age, mask & other)

    def _related(self, row: Row, producer: int, index: int, mask: int, other: int) -> bool:
        if row.relation == PARTIAL:
            return mask != other
        if row.relation == EXACT:
            return mask == other
        if row.relation in (SAME_MNEMONIC, OTHER_MNEMONIC):
            names = [
                base_mnemonic(self.flow.instructions[number].mnemonic)
                for number in (producer, index)
            ]
            return (names[0] == names[1]) == (row.relation == SAME_MNEMONIC)
        return True

    def _report(self, row: Row, producer: int, index: int, age: int, shared: int) -> None:
        key = (producer, index)
        if row.states - age <= self.missing.get(key, 0):
            return
        self.missing[key] = row.states - age
        source = self.flow.instructions[producer]
        message = (
            f"{_shared_name(shared)} needs {row.states} wait states after "
            f'"{source.text}" at {source.address:#x}, has {age} ({row.id})'
        )
        consumer = self.flow.instructions[index]
        self.findings[key] = make_finding("wait-states", self.flow.kernel, message, consumer)


def _shared_name(shared: int) -> str:
    return "the hardware register" if shared >> _HWREG_BASE else describe(shared)


def _step(flow: Flow, index: int) -> _Step:
    instruction, effects = flow.instructions[index], flow.effects[index]
    produces = tuple(
        (facet, mask)
        for facet, mask in _produced(instruction, effects)
        if mask and facet in _ROWS_BY_PRODUCER
    )
    consumes = {facet: mask for facet, mask in _consumed(instruction, effects) if mask}
    reach = max((_REACH[facet] for facet, _ in produces), default=0)
    return _Step(wait_states(instruction, effects), reach, produces, consumes)


def _produced(instruction: Instruction, effects: Effects) -> Facets:
    if effects.kind == "valu":
        return _valu_produced(effects)
    if effects.kind == "mfma":
        kind = matrix_kind(effects)
        return ((f"{kind}_result", effects.writes), (f"{kind}_c", matrix_sources(effects)[1]))
    if effects.kind == "salu":
        hwreg = _hwreg(instruction) if "setreg" in effects.traits else 0
        return (("setreg", hwreg), ("salu_m0", effects.writes & M0_MASK))
    if effects.kind in ("vmem", "flat"):
        return (("wide_store_data", _wide_store_data(instruction, effects)),)
    return ()


def _valu_produced(effects: Effects) -> Facets:
    vector = effects.writes & VECTOR_MASK
    traits = effects.traits
    return (
        ("valu_vgpr", 0 if "dot" in traits else vector),
        ("valu_sgpr", effects.writes & SCALAR_MASK),
        ("valu_exec", effects.writes & EXEC_MASK),
        ("transcendental_vgpr", vector if "transcendental" in traits else 0),
        ("partial_vgpr", vector if "partial" in traits else 0),
        ("dot_vgpr", vector if "dot" in traits else 0),
    )


def _consumed(instruction: Instruction, effects: Effects) -> Facets:
    kind = effects.kind
    if kind == "valu":
        return _valu_consumed(effects)
    if kind == "mfma":
        ab, c = matrix_sources(effects)
        family = matrix_kind(effects).rstrip("0123456789")
        return (
            ("matrix_source", effects.reads & VECTOR_MASK),
            ("matrix_ab", ab),
            ("matrix_c", c),
            (f"{family}_c", c),
            ("matrix_exec", EXEC_MASK),
            ("matrix_write", effects.writes),
        )
    if kind in ("vmem", "flat", "ds", "gws"):
        scalar = effects.reads & SCALAR_MASK if kind == "vmem" else 0
        return (
            ("vector_read", effects.reads & VECTOR_MASK),
            ("memory_read", effects.reads & VECTOR_MASK),
            ("vector_write", effects.writes & VECTOR_MASK),
            ("vmem_scalar", scalar),
            ("m0_use", effects.reads & M0_MASK),
        )
    if kind in ("salu", "message"):
        hwreg = _hwreg(instruction) if effects.traits & {"getreg", "setreg"} else 0
        m0 = M0_MASK if kind == "message" or "indirect_register" in effects.traits else 0
        facet = "getreg" if "getreg" in effects.traits else "setreg"
        return ((facet, hwreg), ("m0_use", m0))
    return ()


def _valu_consumed(effects: Effects) -> Facets:
    traits = effects.traits
    vector = effects.reads & VECTOR_MASK
    scalar = effects.reads & SCALAR_MASK
    facets = [
        ("vector_read", vector),
        ("valu_read", vector),
        ("vector_write", effects.writes & VECTOR_MASK),
        ("valu_write", effects.writes & VECTOR_MASK),
        ("valu_scalar", scalar),
        ("plain_valu_read", 0 if "transcendental" in traits else vector),
    ]
    if "dpp" in traits:
        facets += [("dpp_source", vector), ("dpp_exec", EXEC_MASK)]
    if "permlane" in traits:
        facets += [("permlane_source", vector), ("permlane_exec", EXEC_MASK)]
    if "readlane" in traits:
        facets += [("readlane_source", vector)]
    if traits & {"readlane", "writelane"}:
        facets += [("lane_exec", EXEC_MASK)]
    if "lane_select" in traits:
        facets += [("lane_select", effects.sources[-1] & SCALAR_MASK)]
    if "div_fmas" in traits:
        facets += [("div_fmas_vcc", VCC_MASK)]
    if "dot" in traits:
        facets += [("dot_source_ab", _dot_sources(effects))]
    return tuple(facets)


def matrix_kind(effects: Effects) -> str:
    """Return the class of a matrix instruction: number family and passes."""
    return next(kind for kind in _MATRIX_KINDS if kind in effects.traits)


def matrix_sources(effects: Effects) -> tuple[int, int]:
    """Return the A and B registers (with scales and sparse indices) and the accumulator's."""
    sources = effects.sources
    place = 0 if "sparse" in effects.traits else 2
    if len(sources) <= place:
        return effects.reads & VECTOR_MASK, 0
    others = 0
    for number, mask in enumerate(sources):
        if number != place:
            others |= mask
    return others & VECTOR_MASK, sources[place] & VECTOR_MASK


def _dot_sources(effects: Effects) -> int:
    """Return a dot instruction's A and B; the accumulator is tied in front or comes third."""
    tied = len(effects.sources) == len(effects.operands)
    first, second = effects.sources[1:3] if tied else effects.sources[:2]
    return first | second


def _wide_store_data(instruction: Instruction, effects: Effects) -> int:
    """Return the data registers of a store of more than 64 bits, 0 for narrower ones.

    Buffer stores with an SGPR offset read their data early enough.
    """
    if not effects.traits & {"store", "atomic"}:
        return 0
    buffer = instruction.mnemonic.startswith(("buffer_", "tbuffer_"))
    if buffer and effects.operands[-1].startswith(("s", "ttmp", "m0", "vcc")):
        return 0
    returns = len(effects.destinations)
    place = 0 if buffer else 1
    data = effects.sources[place] if returns == 0 or buffer else effects.sources[1]
    return data if data.bit_count() > 2 else 0


def _hwreg(instruction: Instruction) -> int:
    """Return the hardware register of s_getreg and s_setreg as a bit of its own."""
    return 1 << (_HWREG_BASE + (instruction.words[0] & 0x3F))
