"""Kernel ABIs: what a tactic's kernel expects of its arguments and its grid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from netra_build.core.canonical_json import Json

if TYPE_CHECKING:
    from netra_build.formats.records.ir import Dimension


@dataclass(frozen=True, slots=True)
class AbiArgument:
    """One kernarg: offset and size in bytes; data type and shape of what a pointer points to."""

    name: str
    offset: int
    size: int
    kind: str
    access: str
    dtype: str | None
    shape: tuple[Dimension, ...]
    layout: str | None = None

    def document(self) -> dict[str, Json]:
        """Return name, kind and offset as engine.json spells them."""
        kind = "pointer" if self.kind == "pointer" else "u32_constant"
        return {"name": self.name, "kind": kind, "offset": self.offset}


@dataclass(frozen=True)
class Limits:
    """The most that any launch has: work-groups in each direction, values of ``u32`` kernargs, and
    elements of integer arrays, whose least is zero."""

    grid: tuple[int, int, int]
    values: tuple[tuple[str, int], ...] = ()
    elements: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class KernelAbi:
    """The arguments in kernarg order and the grid; names stand for what a profile fixes."""

    tactic: str
    arguments: tuple[AbiArgument, ...]
    grid: tuple[Dimension, ...]
    location: str = ""
    block: tuple[Dimension, ...] = ()
    """Work-items of a work-group; names stand for what a constant fixes."""
    modes: tuple[tuple[str, int], ...] = ()
    """Descriptor fields that the kernel's arithmetic depends on, with their values."""
    masked_grid: bool = False
    """Whether the kernel leaves alone what lies beyond the rows that a launch really has."""
    limits: Limits | None = None
