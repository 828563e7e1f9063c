"""A difference of two releases as text: blocks of text, or release notes in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from netra_build.core.canonical_json import Json
from netra_build.core.templates import texts_in

MAX_ROWS = 60
MAX_LINES = 24
SAME_CODE = ("unchanged", "renamed")
WORDS = {
    "unchanged": "unchanged",
    "renamed": "same code under a new hash",
    "text_differs": "other machine code",
    "descriptor_differs": "other kernel descriptor",
    "metadata_differs": "other metadata",
    "added": "added",
    "removed": "removed",
    "not_built": "not built",
}
SUMMARY_WORDS = (
    ("renamed", "under a new hash alone"),
    ("added", "new"),
    ("removed", "gone"),
    ("unchanged", "unchanged"),
)


def summary(difference: Mapping[str, Json]) -> str:
    """Return one sentence: how many kernels have other code, and how many only another hash."""
    kernels = difference["kernels"]
    if difference["equal"]:
        return "The two packages are equal."
    if not kernels:
        return "Neither package holds a kernel."
    counts = {word: sum(row["verdict"] == word for row in kernels) for word in WORDS}
    changed = sum(row["verdict"] not in (*SAME_CODE, "added", "removed") for row in kernels)
    what = "operations" if difference["product"] == ["engine", "engine"] else "kernels"
    parts = [f"other code in {changed} of {len(kernels)} {what}"]
    parts += [f"{counts[word]} {said}" for word, said in SUMMARY_WORDS if counts[word]]
    text = ", ".join(parts)
    return f"{text[0].upper()}{text[1:]}."


def why_text(kernel: Mapping[str, Json]) -> str:
    """Return the causes of one kernel's change, separated by semicolons."""
    return "; ".join(f"{kind} {name}" for kind, name in kernel["why"])


def source_rows(difference: Mapping[str, Json]) -> list[tuple[str, str, str]]:
    """Return role, name and state of every source that differs."""
    return [
        (pair["role"], pair["new"] or pair["old"], pair["state"])
        for pair in difference["causes"]["sources"]
    ]


def notes(difference: Mapping[str, Json]) -> str:
    """Return release notes in Markdown, with a final newline."""
    texts = texts_in(Path(__file__).parent)
    texts.filters |= {"span": _span, "plain": _plain, "why_text": why_text}
    texts.filters |= {"hunk_lines": _hunk_lines}
    names = difference["name"]
    return texts.get_template("release_notes.md").render(
        all=difference,
        title=names[1] if names[0] == names[1] else f"{names[0]} to {names[1]}",
        summary=summary(difference),
        kernels=[row for row in difference["kernels"] if row["verdict"] != "unchanged"],
        texts=_texts(difference["kernels"]),
        sources=source_rows(difference),
        words=WORDS,
        most=MAX_ROWS,
    )


def _texts(kernels: Iterable[Mapping[str, Json]]) -> list[tuple[str, Json]]:
    """Return symbol and text of the kernels whose instructions differ, each pair once."""
    found: dict[tuple[str, str], tuple[str, Json]] = {}
    for row in kernels:
        text = row["difference"]["text"] if row["difference"] else None
        if text is not None:
            found.setdefault((row["old_symbol"], row["new_symbol"]), (row["new_symbol"], text))
    return list(found.values())


def _hunk_lines(found: Sequence[Mapping[str, Json]]) -> list[str]:
    """Return instructions as an indented block, which their text cannot end."""
    lines = [
        f"    {sign} {line['offset']:#06x}  {_visible(line['text'])}"
        for hunk in found
        for sign, side in (("-", "removed"), ("+", "added"))
        for line in hunk[side]
    ]
    more = len(lines) - MAX_LINES
    return [*lines[:MAX_LINES], *([f"    {more} more lines"] if more > 0 else [])]


def _span(text: str) -> str:
    """Return a text as a code span, which the text cannot end."""
    return f"`{_visible(str(text)).replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def _plain(text: str) -> str:
    """Return a text without characters that Markdown or HTML interprets."""
    shown = _visible(text)
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|&!" else c for c in shown)


def _visible(text: str) -> str:
    """Return a text, cut when very long, without characters that hide or break lines."""
    cut = text if len(text) <= 200 else f"{text[:200]}..."
    if cut.isprintable():
        return cut
    return "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in cut)
