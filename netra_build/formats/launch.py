"""How a kernel is launched and what scratch memory it needs."""

from __future__ import annotations

from dataclasses import dataclass

from netra_build.core.canonical_json import Json
from netra_build.formats.fields import Fields
from netra_build.formats.vocabulary import UINT32_MAX, UINT64_MAX

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
        return {**vars(self), "grid": list(self.grid), "block": list(self.block)}


@dataclass(frozen=True)
class Workspace:
    """Private scratch of one operation, in bytes, with a power-of-two alignment."""

    bytes: int = 0
    alignment: int = 256

    def document(self) -> Json:
        """Return the published workspace object."""
        return dict(vars(self))


def read_launch(fields: Fields) -> Launch:
    """Return a launch object; refuse more than 1024 work-items per work-group."""
    fields.close("grid block lds_bytes dynamic_lds_bytes")
    launch = Launch(
        grid=fields.extent("grid"),
        block=fields.extent("block"),
        lds_bytes=fields.integer("lds_bytes", 0, high=UINT32_MAX),
        dynamic_lds_bytes=fields.integer("dynamic_lds_bytes", 0, high=UINT32_MAX),
    )
    if launch.work_items > MAX_BLOCK:
        most = f"at most {MAX_BLOCK} work-items"
        fields.refuse("work-group is too large", "block", expected=most, got=launch.work_items)
    return launch


def read_workspace(fields: Fields) -> Workspace:
    """Return a workspace object: bytes in 64 bits and a power-of-two alignment up to 256."""
    fields.close("bytes alignment")
    workspace = Workspace(
        fields.integer("bytes", 0, high=UINT64_MAX),
        fields.integer("alignment", 256, low=1, high=256),
    )
    found = workspace.alignment
    if found & (found - 1):
        fact = "alignment is not a power of two"
        fields.refuse(fact, "alignment", expected="a power of two", got=found)
    return workspace
