"""Texts: tables for terminals, Jinja templates beside the modules that use them, and splitting.

rich and Jinja are imported where they are needed: each takes longer than most commands run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

WIDTH = 160


def table_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a plain table; cells are shown as they are, without markup."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, show_edge=False)
    for column in columns:
        table.add_column(Text(column), no_wrap=True)
    for row in rows:
        table.add_row(*(Text(str(cell)) for cell in row))
    console = Console(width=WIDTH, color_system=None, force_terminal=False)
    with console.capture() as captured:
        console.print(table)
    return "\n".join(line.rstrip() for line in captured.get().rstrip("\n").split("\n"))


def duration_text(seconds: float) -> str:
    """Return a duration in words of one size, for example ``4 s``, ``2 min 5 s``."""
    whole = max(1, round(seconds))
    if whole < 60:
        return f"{whole} s"
    minutes, rest = divmod(whole, 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def texts_in(
    folder: Path, *, is_html: bool = False, finalize: Callable[[Any], Any] | None = None
) -> Environment:
    """Return what fills in the templates of a folder; a name that has no value is an error.

    In HTML every value is escaped. ``finalize`` changes each value before.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(folder),
        autoescape=is_html,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=StrictUndefined,
    )


def split_outside(text: str, separator: str) -> list[str]:
    """Split at the separators that stand outside brackets and parentheses."""
    pieces, depth, start = [], 0, 0
    for at, character in enumerate(text):
        depth += (character in "([") - (character in ")]")
        if character == separator and depth == 0:
            pieces.append(text[start:at])
            start = at + 1
    return [*pieces, text[start:]]
