"""Differences between two code objects as lines that people read."""

from __future__ import annotations

from collections.abc import Mapping

from netra_build.core.canonical_json import Json
from netra_build.core.json_difference import ABSENT


def difference_lines(report: Mapping[str, Json]) -> list[str]:
    """Return lines that show the first difference of a report side by side; none if identical."""
    first = report["first_difference"]
    lines: list[str] = []
    if first["text"] is not None:
        lines.append(f"first differing instruction, number {first['text']['index']}:")
        lines += _both_sides(first["text"])
    if first["descriptor"] is not None:
        lines.append(f"descriptor field {first['descriptor']['field']}:")
        lines += _both_sides(first["descriptor"])
    if first["metadata"] is not None:
        lines.append(f"metadata {first['metadata']['path']}:")
        lines += _both_sides(first["metadata"])
    return lines


def _both_sides(at: Mapping[str, Json]) -> list[str]:
    golden, generated = (
        ABSENT if at[side] is None else at[side] for side in ("golden", "generated")
    )
    return [f"  golden     {golden}", f"  generated  {generated}"]
