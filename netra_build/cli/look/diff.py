"""``netra diff OLD NEW``: how two engines, releases, code objects or tactic catalogs differ."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from netra_build.cli.look.diff_text import (
    WORDS,
    difference_text,
    differing,
    source_rows,
    summary,
    why_text,
)
from netra_build.cli.options import DISASSEMBLER, at_path, command, flag
from netra_build.cli.places import programs_of
from netra_build.core.canonical_json import Json, canonical_text, parse_object
from netra_build.core.disk import RealDisk
from netra_build.core.errors import EXIT_DONE, EXIT_REFUSED, BadInput
from netra_build.core.folders import FolderFiles
from netra_build.core.texts import texts_in
from netra_build.formats.vocabulary import FORMAT_CATALOG
from netra_build.inspect.diff.code_objects import code_difference, read_code_side
from netra_build.inspect.diff.engines import MANIFEST, catalog_difference, engine_difference
from netra_build.inspect.diff.package import PackageSide, package_difference
from netra_build.inspect.validate.package import check_integrity
from netra_build.release.oci import LAYOUT, is_package, open_package

FORMAT = "netra-difference-1"
ENGINE, CODE, CATALOG = "an engine directory", "a code object", "a tactic catalog"
RELEASE = "a release package"
MOST_NOTED = 60
MOST_LINES = 24
"""How many rows of a table, and lines of code, release notes show."""


@command(
    "say how two engines, releases, code objects or tactic catalogs differ",
    at_path("old", "engine directory or file", metavar="OLD"),
    at_path("new", "the same kind of thing", metavar="NEW"),
    flag("--json", "print every difference as JSON"),
    flag("--all", "also print what differs in hashes alone, and long lists"),
    flag("--markdown", "of two releases: print release notes"),
    DISASSEMBLER,
)
def diff_command(options: argparse.Namespace) -> int:
    """Print the difference; 0 when there is none, else 1."""
    kinds = [_kind(path) for path in (options.old, options.new)]
    if kinds[0] != kinds[1]:
        raise BadInput(
            "the two things are of different kinds",
            location="netra diff",
            expected=f'{kinds[0]}, as "{options.old}" is',
            got=kinds[1],
        )
    if options.markdown and kinds[0] != RELEASE:
        raise BadInput(
            "--markdown is for two releases",
            location="netra diff",
            expected=RELEASE,
            got=kinds[0],
        )
    difference = {"format": FORMAT, **_compared(kinds[0], (options.old, options.new), options)}
    if options.json:
        print(canonical_text(difference), end="")
    elif options.markdown:
        print(notes(difference), end="")
    else:
        print(difference_text(difference, show_all=options.all))
    return EXIT_DONE if difference["equal"] else EXIT_REFUSED


def _kind(path: Path) -> str:
    disk = RealDisk()
    if disk.is_folder(path):
        if disk.is_file(path / LAYOUT):
            return RELEASE
        if not disk.is_file(path / MANIFEST):
            raise BadInput(f'folder holds no "{MANIFEST}"', location=str(path))
        return ENGINE
    data = disk.read_bytes(path)
    if data.startswith(b"\x7fELF"):
        return CODE
    if is_package(data):
        return RELEASE
    hint = f"netra diff takes {ENGINE}, {RELEASE}, {CODE} or {CATALOG}"
    if not data.lstrip().startswith(b"{"):
        raise BadInput("file is neither a code object nor JSON", location=str(path), hint=hint)
    found = parse_object(data, str(path)).get("format")
    if found != FORMAT_CATALOG:
        raise BadInput(
            "JSON file is no tactic catalog",
            location=f"{path}#/format",
            expected=f'"{FORMAT_CATALOG}"',
            got=f'"{found}"'[:80] if isinstance(found, str) else "no string",
            hint=hint,
        )
    return CATALOG


def _compared(kind: str, paths: tuple[Path, Path], options: argparse.Namespace) -> dict[str, Json]:
    disk, labels = RealDisk(), (str(paths[0]), str(paths[1]))
    if kind == ENGINE:
        old, new = (FolderFiles(path, disk) for path in paths)
        return engine_difference(old, new, labels)
    if kind == RELEASE:
        packages = [open_package(path, disk) for path in paths]
        sides = (
            PackageSide(package, *check_integrity(package, label), label)
            for package, label in zip(packages, labels, strict=True)
        )
        return package_difference(*sides)
    contents = [disk.read_bytes(path) for path in paths]
    if kind == CATALOG:
        return catalog_difference(*map(parse_object, contents, labels))
    # Files that cannot be read are reported before a tool chain is searched.
    sides_of_code = [
        read_code_side(d, None, name) for d, name in zip(contents, labels, strict=True)
    ]
    if sides_of_code[0].code.text != sides_of_code[1].code.text:
        toolchain = programs_of(options)
        sides_of_code = [
            read_code_side(data, toolchain.disassemble(data, label=name), name)
            for data, name in zip(contents, labels, strict=True)
        ]
    return code_difference(*sides_of_code)


def notes(difference: Mapping[str, Json]) -> str:
    """Return release notes in Markdown, with a final newline."""
    texts = texts_in(Path(__file__).parent)
    texts.filters |= {"span": _span, "plain": _plain, "why_text": why_text}
    texts.filters |= {"hunk_lines": _hunk_lines}
    names = difference["name"]
    texts_differ = (r for r in difference["kernels"] if r["difference"] and r["difference"]["text"])
    return texts.get_template("release_notes.md").render(
        all=difference,
        title=names[1] if names[0] == names[1] else f"{names[0]} to {names[1]}",
        summary=summary(difference),
        kernels=[row for row in difference["kernels"] if row["verdict"] != "unchanged"],
        texts=[(r["new_symbol"], r["difference"]["text"]) for r in differing(texts_differ)],
        sources=source_rows(difference),
        words=WORDS,
        most=MOST_NOTED,
    )


def _hunk_lines(found: Sequence[Mapping[str, Json]]) -> list[str]:
    """Return instructions as an indented block, which their text cannot end."""
    lines = [
        f"    {sign} {line['offset']:#06x}  {_visible(line['text'])}"
        for hunk in found
        for sign, side in (("-", "removed"), ("+", "added"))
        for line in hunk[side]
    ]
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], *([f"    {more} more lines"] if more > 0 else [])]


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
