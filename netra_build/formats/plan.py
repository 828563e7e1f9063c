"""The engine plan: every decision about one engine, ready to be written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from netra_build.core.canonical_json import Json
from netra_build.core.errors import NetraError
from netra_build.formats.catalogs.tactic import FixedTactic
from netra_build.formats.contracts import Contract, FixedContract, GoldenContract
from netra_build.formats.vocabulary import FORMAT_MEMORY, WAVE_SIZE

if TYPE_CHECKING:  # code objects without an engine have no use for these records
    from netra_build.formats.models.graph import Operation
    from netra_build.formats.models.model import Model
    from netra_build.formats.profiles import Profile


MACHINE_LINES = (("NETRA_TARGET_GFX", 950), ("NETRA_WAVE_SIZE", WAVE_SIZE))
"""Constants that every unit closes."""


class Candidate(NamedTuple):
    """One tactic that was considered for an operation and the reasons against it."""

    tactic: str | None
    selected: bool
    reasons: tuple[str, ...]

    def document(self) -> Json:
        """Return the candidate object of explain.json."""
        return {**self._asdict(), "reasons": list(self.reasons)}


class Selection(NamedTuple):
    """What runs one operation: contract and tactic, or the framework's fallback."""

    execution: str
    fallback: str
    candidates: tuple[Candidate, ...]
    contract: Contract | None = None
    tactic: str | None = None
    fixed_tactic: FixedTactic | None = None

    @property
    def kernel(self) -> FixedContract | GoldenContract | None:
        """The contract, if it is of a code object."""
        if isinstance(self.contract, FixedContract | GoldenContract):
            return self.contract
        return None

    @property
    def symbol(self) -> str | None:
        """Kernel symbol of the code object, if there is one."""
        return self.kernel.symbol if self.kernel else None


@dataclass(frozen=True)
class OperationPlan:
    """One operation of the graph with its selection, placement and kernargs."""

    index: int
    operation: Operation
    selection: Selection
    workspace_offset: int | None
    arguments: tuple[Mapping[str, Json], ...] = ()


@dataclass(frozen=True, slots=True)
class KernelInstance:
    """One unit to assemble: a tactic with all constants closed and its symbols named."""

    tactic: FixedTactic
    contract: FixedContract
    macro_symbols: tuple[str, ...]

    @property
    def symbol(self) -> str:
        """Kernel symbol."""
        return self.contract.symbol

    @property
    def constants(self) -> tuple[tuple[str, int], ...]:
        """Every constant that the unit closes, in the order in which it does."""
        return (*MACHINE_LINES, *self.contract.constants, *self.contract.specialization)

    @property
    def source_name(self) -> str:
        """Path of the unit inside the engine directory."""
        return f"generated/{self.symbol}.s"

    @property
    def closure_names(self) -> tuple[str, ...]:
        """Library-relative paths of the include closure, template first."""
        return tuple(name for name, _ in self.tactic.closure)


class GoldenArtifact(NamedTuple):
    """A golden code object that the engine names; ``data`` when it was given to be copied."""

    path: str
    sha256: str
    data: bytes | None = None

    def document(self) -> Json:
        """Return the published artifact object."""
        is_given = self.data is not None
        return {"path": self.path, "sha256": self.sha256, "materialized": is_given}


@dataclass(frozen=True)
class EnginePlan:
    """Everything that emission needs for one model under one profile.

    ``problems`` are errors that the published compiler leaves to its validator, and that a strict
    plan raises.
    """

    model: Model
    profile: Profile
    operations: tuple[OperationPlan, ...]
    kernels: tuple[KernelInstance, ...]
    golden: tuple[GoldenArtifact, ...]
    memory: MemoryPlan
    layout: Mapping[str, Json]
    depends_on: tuple[tuple[int, ...], ...]
    include_by_name: Mapping[str, bytes]
    checkpoint_hash: str | None = None
    candidates: tuple[KernelInstance, ...] = ()
    """Kernels that are built and proven beside the engine's own, and never selected."""
    problems: tuple[NetraError, ...] = ()


WORKSPACE_ALIGNMENT = 256


class BufferRequest(NamedTuple):
    """One buffer: bytes, power-of-two alignment and inclusive operation indices of its use."""

    name: str
    size: int
    alignment: int
    first_use: int
    last_use: int
    alias_of: str | None = None


class PlacedBuffer(NamedTuple):
    """A request with its byte offset in the workspace."""

    request: BufferRequest
    offset: int

    def document(self) -> Json:
        """Return the buffer object of memory_plan.json."""
        placed = {"offset": self.offset, "persistent": False, "graph_stable": True}
        return {**self.request._asdict(), **placed}


@dataclass(frozen=True)
class MemoryPlan:
    """All buffers sorted by name and the bytes that the workspace needs."""

    workspace_bytes: int
    buffers: tuple[PlacedBuffer, ...]

    @cached_property
    def offset_by_name(self) -> dict[str, int]:
        """Offset of each planned buffer."""
        return {buffer.request.name: buffer.offset for buffer in self.buffers}

    def document(self) -> Json:
        """Return memory_plan.json."""
        return {
            "format": FORMAT_MEMORY,
            "workspace_bytes": self.workspace_bytes,
            "workspace_alignment": WORKSPACE_ALIGNMENT,
            "buffers": [buffer.document() for buffer in self.buffers],
        }
