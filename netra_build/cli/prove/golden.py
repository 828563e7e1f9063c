"""``netra golden``, ``evidence`` and ``promote``: what is recorded of kernels and their sources."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Any

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.rewrite import strip
from netra_build.asm.source.closure import Closure, flatten
from netra_build.asm.source.lexer import lex
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.cli.options import LIBRARY, TOOLCHAIN, command, option
from netra_build.cli.places import library_of, toolchain_at
from netra_build.core.canonical_json import pretty_bytes
from netra_build.core.digests import sha256_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, EvidenceIncomplete, Refused, nearest_hint
from netra_build.formats.golden import (
    EVIDENCE_FOLDER,
    HARDWARE,
    ROOT,
    SIMULATED,
    Evidence,
    GoldenSource,
    evidence_of,
    golden_sources,
    read_evidence,
    read_golden,
    require_evidence,
)
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import FORMAT_CATALOG, TARGET
from netra_build.stages.golden import golden_digests


@command(
    "accept TACTIC: record the digests of a golden source after it was edited by hand",
    option("verb", choices=["accept"]),
    option("tactic", help="tactic id, without target"),
    option("--reason", required=True, help="why the golden source changed; kept"),
    option("--variant", default="", help="one variant's folder; default: all"),
    option(
        "--constant", action="append", default=[], metavar="NAME=VALUE", help="of a new variant"
    ),
    LIBRARY,
    TOOLCHAIN,
)
def golden_command(options: argparse.Namespace) -> int:
    """Write ``expect.json`` beside every golden source of the tactic; print old and new."""
    if not options.reason.strip():
        raise BadInput("the reason is empty", location="netra golden accept")
    library = library_of(options)
    tools = toolchain_at(options.toolchain)
    for folder in _folders(library, options.tactic, options.variant):
        expect = f"{folder}/expect.json"
        is_known = library.disk.is_file(library.root / expect)
        before = read_golden(library, expect) if is_known else None
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


def _accept(
    library: Library,
    tools: Toolchain,
    folder: str,
    before: GoldenSource | None,
    options: argparse.Namespace,
) -> GoldenSource:
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


@command(
    "add FILE: keep a numeric report, or evidence that you bring from hardware",
    option("verb", choices=["add"]),
    option("file", nargs="+", help="netra-numerics-1 report or netra-evidence-1 record"),
    LIBRARY,
)
def evidence_command(options: argparse.Namespace) -> int:
    """Check every file against the golden digests, then write all records."""
    library = library_of(options)
    disk = RealDisk()
    found = [read_evidence(disk.read_bytes(Path(name)), name) for name in options.file]
    for name, evidence in zip(options.file, found, strict=True):
        golden = golden_of(library, evidence, name)
        expected, got = golden.digests["text_sha256"], evidence.text_sha256
        if got != expected:
            fact = f"evidence of {golden.label} speaks of another .text"
            raise Refused(fact, location=name, expected=expected, got=got)
    for evidence in found:
        name = f"{EVIDENCE_FOLDER}/{evidence.file_name}"
        disk.write_bytes(library.root / name, pretty_bytes(evidence.document()))
        print(f"{evidence.label}: {evidence.scope}, {evidence.launches} launches -> {name}")
    return 0


def golden_of(library: Library, evidence: Evidence, location: str) -> GoldenSource:
    """Return the golden source that evidence names; ``BadInput`` when there is none."""
    sources = golden_sources(library, evidence.tactic)
    for source in sources:
        if source.variant == evidence.variant:
            return source
    known = [source.label for source in sources]
    raise BadInput(
        f'no golden source "{evidence.label}"',
        location=location,
        hint=nearest_hint(evidence.label, known),
    )


NEXT = {"experiment": "verified", "verified": "accepted"}


@command(
    "raise a tactic's maturity as far as its evidence allows",
    option("tactic", nargs="+", help="tactic id, without target"),
    LIBRARY,
)
def promote_command(options: argparse.Namespace) -> int:
    """Rewrite the catalogs of all tactics named, or none."""
    library = library_of(options)
    documents: dict[str, dict[str, Any]] = {}
    lines = [promote(library, tactic, documents) for tactic in options.tactic]
    for name, document in documents.items():
        library.disk.write_bytes(library.root / name, pretty_bytes(document))
    print("\n".join(lines))
    return 0


def promote(library: Library, tactic: str, documents: dict[str, dict[str, Any]]) -> str:
    """Raise one tactic by one step in ``documents`` (by file name); return what was done."""
    name, entry = _find(library, tactic, documents)
    maturity = entry["maturity"]
    if maturity not in NEXT:
        raise Refused(f'"{tactic}" is {maturity}', location=name, hint="there is no step above")
    raised = NEXT[maturity]
    sources = golden_sources(library, tactic)
    if not sources:
        raise EvidenceIncomplete(f'"{tactic}" has no golden source', location=name)
    for source in sources:
        require_evidence(library, source, raised)
    scope = HARDWARE if raised == "accepted" else SIMULATED
    files = [f"{EVIDENCE_FOLDER}/{e.file_name}" for s in sources for e in evidence_of(library, s)]
    digests = [sha256_hex(library.read(file)) for file in sorted(files)]
    entry["maturity"], entry["acceptance_scope"] = raised, scope
    entry["evidence_set"] = tactic
    documents[name].setdefault("evidence_sets", {})[tactic] = {
        "evidence_root": EVIDENCE_FOLDER,
        "lock_name": f"{tactic}.{scope}",
        "lock_sha256": digests[0] if len(digests) == 1 else sha256_hex("\n".join(digests).encode()),
    }
    return f"{tactic}: {maturity} -> {raised} ({scope})"


def _find(
    library: Library, tactic: str, documents: dict[str, dict[str, Any]]
) -> tuple[str, dict[str, Any]]:
    """Return the catalog file of a tactic and its entry in ``documents``."""
    known = []
    for name in library.json_names(f"manifests/{TARGET}/tactics"):
        document = documents.get(name) or library.read_object(name)
        if document.get("format") != FORMAT_CATALOG:
            continue
        for entry in document["tactics"]:
            known.append(entry["id"])
            if entry["id"] == tactic:
                documents[name] = document
                return name, entry
    raise BadInput(
        f'unknown tactic "{tactic}"', location="netra promote", hint=nearest_hint(tactic, known)
    )
