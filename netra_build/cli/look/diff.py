"""``netra diff OLD NEW``: how two engines, releases, code objects or tactic catalogs differ."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from netra_build.cli.look.diff_text import (
    WORDS,
    difference_text,
    source_rows,
    summary,
    why_text,
)
from netra_build.cli.options import add_toolchain
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

HELP = "say how two engines, releases, code objects or tactic catalogs differ"
FORMAT = "netra-difference-1"
ENGINE, CODE, CATALOG = "an engine directory", "a code object", "a tactic catalog"
RELEASE = "a release package"
MOST_NOTED = 60
MOST_LINES = 24
"""How many rows of a table, and lines of code, release notes show."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare both sides and the output format."""
    parser.add_argument("old", type=Path, metavar="OLD", help="engine directory or file")
    parser.add_argument("new", type=Path, metavar="NEW", help="the same kind of thing")
    parser.add_argument("--json", action="store_true", help="print every difference as JSON")
    parser.add_argument(
        "--all", action="store_true", help="also print what differs in hashes alone, and long lists"
    )
    parser.add_argument(
        "--markdown", action="store_true", help="of two releases: print release notes"
    )
    add_toolchain(parser, "llvm-objdump")


def run(options: argparse.Namespace) -> int:
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
    compare: dict[str, Callable[[argparse.Namespace], dict[str, Json]]] = {
        ENGINE: _compare_engines,
        CODE: _compare_code,
        CATALOG: _compare_catalogs,
        RELEASE: _compare_releases,
    }
    difference = {"format": FORMAT, **compare[kinds[0]](options)}
    if options.json:
        print(canonical_text(difference), end="")
    elif options.markdown:
        print(notes(difference), end="")
    else:
        print(difference_text(difference, show_all=options.all))
    return EXIT_DONE if difference["equal"] else EXIT_REFUSED


def _kind(path: Path) -> str:
    """Return the kind of file or folder at a path, by its content."""
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


def _compare_engines(options: argparse.Namespace) -> dict[str, Json]:
    old, new = (FolderFiles(path, RealDisk()) for path in (options.old, options.new))
    return engine_difference(old, new, (str(options.old), str(options.new)))


def _compare_releases(options: argparse.Namespace) -> dict[str, Json]:
    sides = []
    for path in (options.old, options.new):
        package = open_package(path, RealDisk())
        record, origin = check_integrity(package, str(path))
        sides.append(PackageSide(package, record, origin, str(path)))
    return package_difference(*sides)


def _compare_code(options: argparse.Namespace) -> dict[str, Json]:
    disk = RealDisk()
    contents = [disk.read_bytes(path) for path in (options.old, options.new)]
    labels = [str(path) for path in (options.old, options.new)]
    # Files that cannot be read are reported before a tool chain is searched.
    plain = [read_code_side(d, None, name) for d, name in zip(contents, labels, strict=True)]
    if plain[0].code.text == plain[1].code.text:
        return code_difference(plain[0], plain[1])
    toolchain = programs_of(options)
    old, new = (
        read_code_side(data, toolchain.disassemble(data, label=name), name)
        for data, name in zip(contents, labels, strict=True)
    )
    return code_difference(old, new)


def _compare_catalogs(options: argparse.Namespace) -> dict[str, Json]:
    old, new = (
        parse_object(RealDisk().read_bytes(path), str(path)) for path in (options.old, options.new)
    )
    return catalog_difference(old, new)


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
        most=MOST_NOTED,
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
