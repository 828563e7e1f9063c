"""Mutation scores from the committed table: which share of seeded faults the checks catch."""

from __future__ import annotations

from netra_build.core.errors import BadInput

NAMES = ("kernel", "specialization")
MAX_LINES = 100_000

Scores = dict[str, tuple[tuple[str, str], ...]]
"""Column and cell, by tactic or tactic and variant."""


def read_scores(document: bytes, location: str) -> Scores:
    """Return the rows of the first Markdown table of kernels whose last column is a score.

    ``BadInput`` for text that is not UTF-8 or has too many lines.
    """
    try:
        lines = document.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise BadInput("file is not UTF-8", location=location) from None
    if len(lines) > MAX_LINES:
        raise BadInput("file has too many lines", location=location, expected=MAX_LINES)
    scores: Scores = {}
    columns: list[str] = []
    for line in lines:
        if not line.lstrip().startswith("|"):
            if scores:
                return scores
            columns = []
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not columns:
            columns = cells
        elif _is_of_scores(columns) and len(cells) == len(columns) and not _is_rule(cells):
            scores[cells[0].strip("`")] = tuple(zip(columns[1:], cells[1:], strict=True))
    return scores


def _is_of_scores(columns: list[str]) -> bool:
    return columns[0] in NAMES and "score" in columns[-1]


def _is_rule(cells: list[str]) -> bool:
    return all(cell and not cell.strip("-:") for cell in cells)
