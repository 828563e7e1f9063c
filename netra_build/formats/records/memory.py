"""The static memory plan: buffers with sizes, lifetimes and offsets in one workspace."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from netra_build.core.canonical_json import Json
from netra_build.formats.records.vocabulary import FORMAT_MEMORY

WORKSPACE_ALIGNMENT = 256


@dataclass(frozen=True)
class BufferRequest:
    """One buffer: bytes, power-of-two alignment and inclusive operation indices of its use."""

    name: str
    size: int
    alignment: int
    first_use: int
    last_use: int
    persistent: bool = False
    alias_of: str | None = None


@dataclass(frozen=True)
class PlacedBuffer:
    """A request with its byte offset in the workspace (None for persistent buffers)."""

    request: BufferRequest
    offset: int | None

    def document(self) -> Json:
        """Return the buffer object of memory_plan.json."""
        request = self.request
        return {
            "name": request.name,
            "offset": self.offset,
            "size": request.size,
            "alignment": request.alignment,
            "first_use": request.first_use,
            "last_use": request.last_use,
            "persistent": request.persistent,
            "graph_stable": True,
            "alias_of": request.alias_of,
        }


@dataclass(frozen=True)
class MemoryPlan:
    """All buffers sorted by name and the bytes that the workspace needs."""

    workspace_bytes: int
    buffers: tuple[PlacedBuffer, ...]

    @cached_property
    def offset_by_name(self) -> dict[str, int | None]:
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
