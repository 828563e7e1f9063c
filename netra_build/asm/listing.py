"""Differences between two code objects as lines that people read."""

from __future__ import annotations

from collections.abc import Mapping

from netra_build.core.canonical_json import Json


def difference_lines(report: Mapping[str, Json]) -> list[str]:
    """Return lines that show the first difference of a report side by side; none if identical."""
    first = report["first_difference"]
    lines: list[str] = []
    if first["text"] is not None:
        at = first["text"]
        lines.append(f"first differing instruction, number {at['index']}:")
        lines += [f"  golden     {at['golden']}", f"  generated  {at['generated']}"]
    if first["descriptor"] is not None:
        at = first["descriptor"]
        lines.append(f"descriptor field {at['field']}:")
        lines += [f"  golden     {at['golden']}", f"  generated  {at['generated']}"]
    if first["metadata"] is not None:
        at = first["metadata"]
        lines.append(f"metadata {at['path']}:")
        lines += [f"  golden     {at['golden']}", f"  generated  {at['generated']}"]
    return lines
