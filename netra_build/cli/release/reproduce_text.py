"""A comparison of a release with its rebuild as text: causes first, then code, then files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from netra_build.cli.look.diff_text import MAX_ROWS, change_table, difference_text
from netra_build.core.canonical_json import Json
from netra_build.core.terminal import table_text

COLUMNS = "state", "file"


def reproduction_text(document: Mapping[str, Json], *, show_all: bool = False) -> str:
    """Return the comparison for people, without a final newline."""
    top, count = document["package"], document["compared"]
    if document["equal"]:
        return f"{top}: identical, {count} files and the archive"
    blocks = _causes(document)
    for row in document["code"]:
        blocks.append(f"{row['name']}\n{_code(row['difference'], show_all)}")
    for name, lines in document["lines"].items():
        shown = [f"  {sign} {number:>5}  {text}" for sign, number, text in lines]
        blocks.append("\n".join([f"source {name}", *shown]))
    for name, changes in document["documents"].items():
        if show_all:
            blocks.append(change_table(name, changes))
    blocks += _files(document["files"], show_all)
    blocks += [f"the rebuild refused: {refusal}" for refusal in document["refusals"]]
    if not document["files"]:
        blocks.append("files are identical, the archive is not: another compressor wrote it")
    blocks.append(f"{top}: different, {len(document['files'])} of {count} files")
    return "\n\n".join(blocks)


def _causes(document: Mapping[str, Json]) -> list[str]:
    """Return tables of sources and libraries that are not the recorded ones."""
    blocks = []
    if document["sources"]:
        blocks.append(f"sources that differ\n{table_text(COLUMNS, _rows(document['sources']))}")
    if document["environment"]:
        blocks.append(change_table("Python and its libraries", document["environment"]))
    recorded, here = document["compressor"]["recorded"], document["compressor"]["here"]
    rows = [(k, v, here.get(k)) for k, v in recorded.items() if v != here.get(k)]
    if rows:
        blocks.append(f"compressor\n{table_text(('', 'recorded', 'here'), rows)}")
    return blocks


def _code(difference: Mapping[str, Json], show_all: bool) -> str:
    text = difference_text(difference, show_all=show_all)
    return text.removesuffix("\n\ndifferent")


def _rows(pairs: Sequence[Mapping[str, str]]) -> list[tuple[str, str]]:
    return [(pair["state"], pair["old"] or pair["new"]) for pair in pairs]


def _files(pairs: Sequence[Mapping[str, str]], show_all: bool) -> list[str]:
    if not pairs:
        return []
    rows = _rows(pairs)
    shown = rows if show_all else rows[:MAX_ROWS]
    block = f"files that differ\n{table_text(COLUMNS, shown)}"
    if len(shown) < len(rows):
        block += f"\n{len(rows) - len(shown)} more; --all shows them"
    return [block]
