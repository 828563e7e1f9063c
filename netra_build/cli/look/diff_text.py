"""A difference as text: tables of what changed, instructions line by line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from netra_build.core.canonical_json import Json
from netra_build.core.texts import table_text

MAX_ROWS = 40
MAX_CELL = 30
MAX_INSTRUCTIONS = 200
GAP = "-"
CONSEQUENCES = (
    "explain.json",
    "graph_recipe.json",
    "netra.json",
    "symbols.json",
    "validation_plan.json",
)
"""Documents derived from the others; their changes are only counted unless all are shown."""
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


def difference_text(difference: Mapping[str, Json], *, show_all: bool = False) -> str:
    """Return the difference as text, without a final newline.

    Without ``show_all`` long lists are cut and values that differ in hashes alone are counted.
    """
    writer = Writer(show_all)
    {
        "engine": writer.engine,
        "code object": writer.code,
        "tactic catalog": writer.catalog,
        "release package": writer.package,
    }[difference["kind"]](difference)
    if writer.hidden_identities:
        writer.blocks.append(
            f"{writer.hidden_identities} more values differ in hashes alone; --all shows them"
        )
    writer.blocks.append("equal" if difference["equal"] else "different")
    return "\n\n".join(writer.blocks)


class Writer:
    """Collects blocks of text and counts what it leaves out."""

    def __init__(self, show_all: bool) -> None:
        self.show_all = show_all
        self.blocks: list[str] = []
        self.hidden_identities = 0

    def engine(self, difference: Mapping[str, Json]) -> None:
        """Write documents, contracts, kernels and files of two engines."""
        self._operations(difference["kernels"])
        documents = difference["documents"]
        later = [] if self.show_all else [name for name in CONSEQUENCES if name in documents]
        for name in documents:
            if name not in later:
                self.changes(name, documents[name])
        self._contracts(difference["contracts"])
        counts = [(name, len(documents[name])) for name in later]
        self.table("documents that follow; --all shows them", ("file", "changes"), counts)
        for row in difference["kernels"]:
            if row["difference"] is not None:
                self.kernel(row["difference"], f'operation "{row["operation"]}"')
        rows = [
            (row["old"] or GAP, GAP if row["new"] == row["old"] else row["new"] or GAP, _files(row))
            for row in difference["files"]
            if self.show_all or row["old"] is None or row["new"] is None
        ]
        self.table("files", ("old", "renamed", ""), rows)

    def package(self, difference: Mapping[str, Json]) -> None:
        """Write what changed between two releases, why, and which kernels run other code."""
        heads = zip(difference["name"], difference["version"], strict=True)
        self.blocks.append(" -> ".join(f"{name} {version}" for name, version in heads))
        self.blocks.append(summary(difference))
        kernels = [
            (row["operation"], WORDS[row["verdict"]], why_text(row))
            for row in difference["kernels"]
            if self.show_all or row["verdict"] != "unchanged"
        ]
        self.table("kernels", ("operation", "what", "why"), kernels)
        self.table("sources", ("", "file", ""), source_rows(difference))
        for title in ("toolchain", "environment", "asked"):
            self.changes(title, difference["causes"][title])
        self.changes("verdicts", difference["verdicts"])
        self._contracts(difference["contracts"])
        for row in differing(difference["kernels"]):
            self.kernel(row["difference"], f'operation "{row["operation"]}"')
        sizes = [(what.replace("_", " "), *pair) for what, pair in difference["sizes"].items()]
        self.table("sizes", ("", "old", "new"), sizes)
        files = [(row["state"], row["new"] or row["old"]) for row in difference["files"]]
        if self.show_all:
            self.table("files", ("", "file"), files)

    def code(self, difference: Mapping[str, Json]) -> None:
        """Write header, kernels, metadata and sections of two code objects."""
        self.changes("header", difference["header"])
        for kernel in difference["kernels"]:
            self.kernel(kernel, "kernel")
        lonely = [("removed", name) for name in difference["removed"]]
        lonely += [("added", name) for name in difference["added"]]
        self.table("kernels of one side", ("", "symbol"), lonely)
        self.changes("metadata of the whole object", difference["metadata"])
        rows = [
            (
                row["section"],
                *(GAP if n is None else n for n in (row["old_bytes"], row["new_bytes"])),
            )
            for row in difference["sections"]
        ]
        self.table("sections that differ", ("section", "old bytes", "new bytes"), rows)

    def catalog(self, difference: Mapping[str, Json]) -> None:
        """Write the changes of two catalogs."""
        self.changes("tactics", difference["changes"])

    def changes(self, title: str, changes: Sequence[Mapping[str, Json]]) -> None:
        """Write changes as a table; those of hashes alone are counted unless all are shown."""
        shown = [change for change in changes if self.show_all or not change["identity"]]
        self.hidden_identities += len(changes) - len(shown)
        rows = [
            (
                " / ".join(change["subject"]) or GAP,
                change["pointer"] or "/",
                *(_value(change[side]) if side in change else GAP for side in ("old", "new")),
            )
            for change in shown
        ]
        self.table(title, ("what", "pointer", "old", "new"), rows)

    def table(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
        """Write a titled table, cut after ``MAX_ROWS`` rows unless all are shown."""
        every = list(rows)
        if not every:
            return
        shown = every if self.show_all else every[:MAX_ROWS]
        block = f"{title}\n{table_text(columns, shown)}"
        if len(shown) < len(every):
            block += f"\n{len(every) - len(shown)} more; --all shows them"
        self.blocks.append(block)

    def kernel(self, kernel: Mapping[str, Json], title: str) -> None:
        """Write verdict, instructions, descriptor and metadata of one pair of kernels."""
        names = kernel["old_symbol"]
        if kernel["new_symbol"] != names:
            names = f"{names} -> {kernel['new_symbol']}"
        lines = [f"{title}: {names}: {kernel['verdict']}"]
        if kernel["text"] is not None:
            lines += self._instructions(kernel["text"])
        self.blocks.append("\n".join(lines))
        self.changes("descriptor", kernel["descriptor"])
        self.changes("kernel metadata", kernel["metadata"])

    def _instructions(self, text: Mapping[str, Json]) -> list[str]:
        found = text["instructions"]
        if found is None:
            return [f".text: {text['old_bytes']} -> {text['new_bytes']} bytes; no listing"]
        lines = [
            f"instructions: {found['old']} -> {found['new']}, "
            f"{found['removed']} removed, {found['added']} added"
        ]
        body = []
        for hunk in found["hunks"]:
            body.append("  @@")
            body += [_instruction("-", line, hunk["added"]) for line in hunk["removed"]]
            body += [_instruction("+", line, hunk["removed"]) for line in hunk["added"]]
        if not self.show_all and len(body) > MAX_INSTRUCTIONS:
            left = len(body) - MAX_INSTRUCTIONS
            body = [*body[:MAX_INSTRUCTIONS], f"  {left} more lines; --all shows them"]
        return lines + body

    def _contracts(self, contracts: Sequence[Mapping[str, Json]]) -> None:
        for row in contracts:
            title = f"contract {row['old'] or GAP} -> {row['new'] or GAP}"
            if not row["operations"]:
                self.blocks.append(f"{title} (of no operation on both sides)")
                continue
            names = ", ".join(f'"{name}"' for name in row["operations"][:4])
            more = len(row["operations"]) - 4
            names += f" and {more} more" if more > 0 else ""
            self.changes(f"{title} of {names}", row["changes"])

    def _operations(self, kernels: Sequence[Mapping[str, Json]]) -> None:
        """Write the operations of two engines; those without a known difference are counted."""
        counts = Counter(row["verdict"] for row in kernels)
        title = f"kernels: {', '.join(f'{n} {verdict}' for verdict, n in sorted(counts.items()))}"
        rows = [
            (row["operation"], row["verdict"], row["old_symbol"] or GAP, row["new_symbol"] or GAP)
            for row in kernels
            if self.show_all or not _is_quiet(row)
        ]
        self.table(title, ("operation", "verdict", "old symbol", "new symbol"), rows)
        if kernels and not rows:
            self.blocks.append(title)


def differing(kernels: Iterable[Mapping[str, Json]]) -> list[Mapping[str, Json]]:
    """Return the rows of the kernels that differ, each pair of symbols once."""
    found: dict[tuple[str, str], Mapping[str, Json]] = {}
    for row in kernels:
        if row["difference"]:
            found.setdefault((row["old_symbol"], row["new_symbol"]), row)
    return list(found.values())


def summary(difference: Mapping[str, Json]) -> str:
    """Return one sentence: how many kernels have other code, and how many only another hash."""
    kernels = difference["kernels"]
    if difference["equal"]:
        return "The two packages are equal."
    if not kernels:
        return "Neither package holds a kernel."
    counts = Counter(row["verdict"] for row in kernels)
    changed = len(kernels) - sum(counts[word] for word, _ in SUMMARY_WORDS)
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


def _instruction(sign: str, line: Mapping[str, Json], others: Sequence[Mapping[str, Json]]) -> str:
    """Return one line; with its words where the other side prints the same text."""
    text = f"  {sign} {line['offset']:#06x}  {line['text']}"
    if any(other["text"] == line["text"] for other in others):
        text += f"  // {line['words']}"
    return text


def _is_quiet(row: Mapping[str, Json]) -> bool:
    """Tell whether no difference of a kernel is known."""
    is_same = bool(row["old_symbol"] == row["new_symbol"])
    return row["verdict"] in (("unchanged", "not_built") if is_same else ("unchanged",))


def _files(row: Mapping[str, Json]) -> str:
    if row["old"] is None:
        return "added"
    if row["new"] is None:
        return "removed"
    return "same bytes" if row["old_sha256"] == row["new_sha256"] else "differs"


def _value(value: Json) -> str:
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= MAX_CELL else f"{text[: MAX_CELL - 3]}..."
