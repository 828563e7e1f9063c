"""A difference of two releases for people: blocks of text, or release notes in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from netra_build.core.canonical_json import Json

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


def summary(difference: Mapping[str, Json]) -> str:
    """Return one sentence: how many kernels run other code, and how many have another hash."""
    kernels = difference["kernels"]
    if difference["equal"]:
        return "The two packages are equal."
    if not kernels:
        return "Neither package holds a kernel."
    counts = {word: sum(row["verdict"] == word for row in kernels) for word in WORDS}
    changed = sum(row["verdict"] not in (*SAME_CODE, "added", "removed") for row in kernels)
    what = "operations" if difference["product"] == ["engine", "engine"] else "kernels"
    parts = [f"other code in {changed} of {len(kernels)} {what}"]
    for word, said in (
        ("renamed", "under a new hash alone"),
        ("added", "new"),
        ("removed", "gone"),
        ("unchanged", "unchanged"),
    ):
        if counts[word]:
            parts.append(f"{counts[word]} {said}")
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
    names, versions = difference["name"], difference["version"]
    title = _plain(names[1] if names[0] == names[1] else f"{names[0]} to {names[1]}")
    lines = [f"# {title}: {versions[0]} to {versions[1]}", "", summary(difference), ""]
    lines += _kernels(difference)
    lines += _code(difference)
    lines += _causes(difference)
    lines += _changes("Verdicts", difference["verdicts"])
    rows = [
        (what, f"{sizes[0]:,}", f"{sizes[1]:,}", f"{sizes[1] - sizes[0]:+,}")
        for what, sizes in difference["sizes"].items()
    ]
    rows = [(what.replace("_", " "), *row) for what, *row in rows]
    lines += _table("Sizes", ("", "old", "new", "change"), rows)
    lines += ["Numerics are of a functional model; no release states anything about hardware.", ""]
    return "\n".join(lines)


def _kernels(difference: Mapping[str, Json]) -> list[str]:
    rows = [
        (_span(row["operation"]), WORDS[row["verdict"]], _plain(why_text(row)))
        for row in difference["kernels"]
        if row["verdict"] != "unchanged"
    ]
    return _table("Kernels", ("operation", "what", "why"), rows)


def _code(difference: Mapping[str, Json]) -> list[str]:
    """Return the instructions that differ, once for each pair of kernels."""
    lines: list[str] = []
    seen = set()
    for row in difference["kernels"]:
        pair = row["old_symbol"], row["new_symbol"]
        text = row["difference"]["text"] if row["difference"] else None
        if text is None or pair in seen:
            continue
        seen.add(pair)
        lines += [f"### {_span(row['new_symbol'])}", ""]
        found = text["instructions"]
        if found is None:
            lines += [f"`.text`: {text['old_bytes']} to {text['new_bytes']} bytes.", ""]
            continue
        lines += [
            f"{found['old']} to {found['new']} instructions, {found['removed']} removed, "
            f"{found['added']} added.",
            "",
            *_hunks(found["hunks"]),
        ]
    return lines


def _hunks(found: Sequence[Mapping[str, Json]]) -> list[str]:
    """Return instructions as an indented block, which no text of theirs can end."""
    body = []
    for hunk in found:
        body += [
            f"    - {line['offset']:#06x}  {_visible(line['text'])}" for line in hunk["removed"]
        ]
        body += [f"    + {line['offset']:#06x}  {_visible(line['text'])}" for line in hunk["added"]]
    more = len(body) - MAX_LINES
    return [*body[:MAX_LINES], *([f"    {more} more lines"] if more > 0 else []), ""]


def _causes(difference: Mapping[str, Json]) -> list[str]:
    causes = difference["causes"]
    rows = [(role, _span(name), state) for role, name, state in source_rows(difference)]
    return [
        *_table("Sources", ("", "file", ""), rows),
        *_changes("Tool chain", causes["toolchain"]),
        *_changes("Python and its libraries", causes["environment"]),
        *_changes("Asked for", causes["asked"]),
    ]


def _changes(title: str, changes: Iterable[Mapping[str, Json]]) -> list[str]:
    rows = [
        (_span(change["pointer"]), *(_value(change, side) for side in ("old", "new")))
        for change in changes
    ]
    return _table(title, ("", "old", "new"), rows)


def _value(change: Mapping[str, Json], side: str) -> str:
    return _span(str(change[side])) if side in change else ""


def _table(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    if not rows:
        return []
    lines = [f"## {title}", "", f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    lines += [f"| {' | '.join(row)} |" for row in rows[:MAX_ROWS]]
    more = len(rows) - MAX_ROWS
    return [*lines, *(["", f"{more} more."] if more > 0 else []), ""]


def _span(text: str) -> str:
    """Return a text as code, which cannot end there."""
    return f"`{_visible(str(text)).replace('`', chr(39)).replace('|', chr(92) + '|')}`"


def _plain(text: str) -> str:
    """Return a text without what Markdown or HTML would read."""
    shown = _visible(text)
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>#|&!" else c for c in shown)


def _visible(text: str) -> str:
    """Return a text, cut when very long, without characters that hide or break lines."""
    cut = text if len(text) <= 200 else f"{text[:200]}..."
    if cut.isprintable():
        return cut
    return "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in cut)
