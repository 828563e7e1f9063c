"""Read launch and workspace objects, wherever a document holds one."""

from __future__ import annotations

from netra_build.formats.fields import Fields
from netra_build.formats.records.launch import MAX_BLOCK, Launch, Workspace
from netra_build.formats.records.vocabulary import UINT32_MAX, UINT64_MAX


def read_launch(fields: Fields) -> Launch:
    """Return a launch object; refuse more than 1024 work-items per work-group."""
    fields.close(("grid", "block", "lds_bytes", "dynamic_lds_bytes"))
    launch = Launch(
        grid=fields.extent("grid"),
        block=fields.extent("block"),
        lds_bytes=fields.integer("lds_bytes", 0, high=UINT32_MAX),
        dynamic_lds_bytes=fields.integer("dynamic_lds_bytes", 0, high=UINT32_MAX),
    )
    if launch.work_items > MAX_BLOCK:
        fields.refuse(
            "work-group is too large",
            "block",
            expected=f"at most {MAX_BLOCK} work-items",
            got=launch.work_items,
        )
    return launch


def read_workspace(fields: Fields) -> Workspace:
    """Return a workspace object: bytes in 64 bits and a power-of-two alignment up to 256."""
    fields.close(("bytes", "alignment"))
    workspace = Workspace(
        fields.integer("bytes", 0, high=UINT64_MAX),
        fields.integer("alignment", 256, low=1, high=256),
    )
    if workspace.alignment & (workspace.alignment - 1):
        fields.refuse(
            "alignment is not a power of two",
            "alignment",
            expected="a power of two",
            got=workspace.alignment,
        )
    return workspace
