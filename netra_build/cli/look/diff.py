"""``netra diff OLD NEW``: how two engines, releases, code objects or tactic catalogs differ."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from netra_build.cli.look.diff_text import difference_text
from netra_build.cli.look.release_notes import notes
from netra_build.cli.options import add_toolchain
from netra_build.cli.places import programs_of
from netra_build.core.canonical_json import Json, canonical_text, parse_object
from netra_build.core.disk import RealDisk
from netra_build.core.errors import EXIT_DONE, EXIT_REFUSED, BadInput
from netra_build.core.folders import FolderFiles
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
