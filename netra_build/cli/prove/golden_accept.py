"""``netra golden accept TACTIC --reason TEXT``: record what a golden source assembles to."""

from __future__ import annotations

import argparse
from dataclasses import replace

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.rewrite import strip
from netra_build.asm.source.closure import Closure, flatten
from netra_build.asm.source.lexer import lex
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.cli.options import add_library_root, add_toolchain
from netra_build.cli.places import library_of, toolchain_of
from netra_build.core.canonical_json import pretty_bytes
from netra_build.core.errors import BadInput, nearest_hint
from netra_build.formats.golden import ROOT, GoldenSource, read_golden
from netra_build.formats.library import Library
from netra_build.stages.golden import golden_digests

HELP = "accept TACTIC: record the digests of a golden source after it was edited by hand"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the verb, the tactic and the reason."""
    parser.add_argument("verb", choices=["accept"])
    parser.add_argument("tactic", help="tactic id, without target")
    parser.add_argument("--reason", required=True, help="why the golden source changed; kept")
    parser.add_argument("--variant", default="", help="one variant's folder; default: all")
    parser.add_argument(
        "--constant", action="append", default=[], metavar="NAME=VALUE", help="of a new variant"
    )
    add_library_root(parser)
    add_toolchain(parser)


def run(options: argparse.Namespace) -> int:
    """Write ``expect.json`` beside every golden source of the tactic; print old and new."""
    if not options.reason.strip():
        raise BadInput("the reason is empty", location="netra golden accept")
    library = library_of(options)
    tools = toolchain_of(options, library.root)
    for folder in _folders(library, options.tactic, options.variant):
        before = _recorded(library, folder)
        after = _accept(library, tools, folder, before, options)
        path = library.root / after.expect
        if before is not None and before.digests == after.digests:
            print(f"{after.label}: unchanged")
            continue
        library.disk.write_bytes(path, pretty_bytes(after.document()))
        old = before.digests["text_sha256"][:16] if before else "none"
        print(f"{after.label}: .text {old} -> {after.digests['text_sha256'][:16]}")
    return 0


def _folders(library: Library, tactic: str, variant: str) -> list[str]:
    top = library.root / ROOT
    known = sorted({path.relative_to(top).parts[0] for path in library.disk.files_under(top, ".s")})
    if tactic not in known:
        hint = nearest_hint(tactic, known)
        raise BadInput(f'no golden source of "{tactic}"', location=ROOT, hint=hint)
    paths = library.disk.files_under(top / tactic, "kernel.s")
    folders = [path.parent.relative_to(library.root).as_posix() for path in paths]
    chosen = [folder for folder in folders if not variant or folder.endswith("/" + variant)]
    if not chosen:
        raise BadInput(f'no variant "{variant}" of "{tactic}"', location=ROOT)
    return chosen


def _recorded(library: Library, folder: str) -> GoldenSource | None:
    name = f"{folder}/expect.json"
    return read_golden(library, name) if library.disk.is_file(library.root / name) else None


def _accept(
    library: Library,
    tools: Toolchain,
    folder: str,
    before: GoldenSource | None,
    options: argparse.Namespace,
) -> GoldenSource:
    """Assemble one golden source and return its new record."""
    name = f"{folder}/kernel.s"
    symbol, digests = assembled_golden(library.read(name), name, tools)
    if before is not None:
        history = (*before.history, options.reason)
        return replace(before, symbol=symbol, digests=digests, history=history)
    tactic, _, variant = folder.removeprefix(ROOT + "/").partition("/")
    constants = _constants(options.constant)
    return GoldenSource(tactic, variant, folder, symbol, constants, digests, (options.reason,))


def assembled_golden(source: bytes, name: str, tools: Toolchain) -> tuple[str, dict[str, str]]:
    """Assemble a golden source; return the symbol of its kernel and the digests to record."""
    _refuse_indirection(source, name)
    data = strip(tools.link([tools.assemble(flatten(source, Closure({}, ()), name))]))
    symbols = [kernel.symbol for kernel in read_code_object(data, name).kernels]
    if len(symbols) != 1:
        raise BadInput("not one kernel", location=name, expected=1, got=len(symbols))
    return symbols[0], golden_digests(data, symbols[0], name)


def _refuse_indirection(source: bytes, name: str) -> None:
    """Refuse a golden source that includes files or defines macros: it must be self-contained."""
    for statement in lex(source, name, {}):
        if statement.name in (".include", ".incbin", ".macro"):
            raise BadInput(
                f"golden source uses {statement.name}",
                location=f"{name}:{statement.line}",
                hint="write the instructions out",
            )


def _constants(words: list[str]) -> dict[str, int]:
    constants: dict[str, int] = {}
    for word in words:
        name, _, value = word.partition("=")
        if not value.isdigit():
            raise BadInput(f'"{word}" is not NAME=VALUE', location="netra golden accept")
        constants[name] = int(value)
    return constants
