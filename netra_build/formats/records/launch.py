"""How a kernel is launched and what scratch memory it needs."""

from __future__ import annotations

from dataclasses import dataclass

from netra_build.core.canonical_json import Json

Extent = tuple[int, int, int]

MAX_BLOCK = 1024


@dataclass(frozen=True)
class Launch:
    """Grid in work-groups, block in work-items, LDS in bytes (fixed: in the descriptor)."""

    grid: Extent
    block: Extent
    lds_bytes: int = 0
    dynamic_lds_bytes: int = 0

    @property
    def work_items(self) -> int:
        """Work-items of one work-group."""
        return self.block[0] * self.block[1] * self.block[2]

    def document(self) -> Json:
        """Return the published launch object."""
        return {
            "grid": list(self.grid),
            "block": list(self.block),
            "lds_bytes": self.lds_bytes,
            "dynamic_lds_bytes": self.dynamic_lds_bytes,
        }


@dataclass(frozen=True)
class Workspace:
    """Private scratch of one operation, in bytes, with a power-of-two alignment."""

    bytes: int = 0
    alignment: int = 256

    def document(self) -> Json:
        """Return the published workspace object."""
        return {"bytes": self.bytes, "alignment": self.alignment}
