"""Tables for terminals and logs, through rich, without colour codes in the returned text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

WIDTH = 160


def table_text(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a plain table; cells are shown as they are, without markup."""
    from rich.console import Console  # late: a build that shows no table needs none of it
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
