"""Differences of two releases: what changed, why, and which kernels run other code.

A kernel with equal ``.text``, descriptor and metadata and another name or file only has a new
hash. The causes are the sources, tools, Python and libraries of the provenance statements.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from netra_build.core.canonical_json import Json, lower, parse_object
from netra_build.core.digests import sha256_hex
from netra_build.formats.vocabulary import ENGINE
from netra_build.inspect.diff.code_objects import (
    IDENTICAL,
    code_difference,
    product_code,
    read_code_side,
)
from netra_build.inspect.diff.documents import Files, change_rows, file_pairs
from netra_build.inspect.diff.engines import (
    ADDED,
    REMOVED,
    RENAMED,
    UNCHANGED,
    engine_difference,
)
from netra_build.inspect.diff.sequence import hunks
from netra_build.release.archive import Package
from netra_build.release.kernels import KernelRow, kernel_rows
from netra_build.release.layout import RECORD, SBOM, WRITTEN_LAST
from netra_build.release.origin import Origin, kind_of_source, product_files

KIND = "release package"
SOURCE_SUFFIXES = (".s", ".inc")
MAX_LINES = 20
_CONSTANT = re.compile(r"^\s*\.set\s+(\w+)\s*,\s*(.*?)\s*$", re.MULTILINE | re.ASCII)


@dataclass(frozen=True)
class PackageSide:
    """One package with its record and origin, and what it is called in messages."""

    package: Package
    record: Mapping[str, Json]
    origin: Origin
    label: str

    @property
    def product(self) -> dict[str, bytes]:
        """The files of the product by their names inside it."""
        return product_files(self.origin.asked, self.package.files)

    def rows(self) -> dict[str, KernelRow]:
        """Return the kernels by symbol, and by code object and symbol.

        Several code objects may hold kernels of one symbol; an engine never does.
        """
        kind, place = self.origin.asked.kind, f"{self.label}/{self.origin.asked.folder}"
        rows = kernel_rows(kind, self.product, place)
        by_symbol = {row.symbol: row for row in rows}
        return by_symbol | {f"{row.hsaco} {row.symbol}": row for row in rows}


def package_difference(old: PackageSide, new: PackageSide) -> dict[str, Json]:
    """Return everything in which two packages differ; ``BadInput`` for a file that is unreadable.

    Both are of one kind, engines or code objects; of two kinds only the head is compared.
    """
    sides = (old, new)
    is_engine = all(side.origin.asked.kind == ENGINE for side in sides)
    labels = f"{old.label}/{old.origin.asked.folder}", f"{new.label}/{new.origin.asked.folder}"
    engine = engine_difference(old.product, new.product, labels) if is_engine else None
    kernels = engine["kernels"] if engine is not None else _object_rows(old, new)
    causes = _causes(old.origin, new.origin)
    _explain(kernels, sides, causes, [] if engine is None else engine["contracts"])
    return {
        "kind": KIND,
        "equal": old.package == new.package,
        "name": [side.origin.asked.name for side in sides],
        "version": [side.origin.asked.version for side in sides],
        "product": [side.origin.asked.kind for side in sides],
        "ids": [list(side.record.get("engine_ids") or ()) for side in sides],
        "causes": causes,
        "kernels": kernels,
        "documents": {} if engine is None else engine["documents"],
        "contracts": [] if engine is None else engine["contracts"],
        "verdicts": change_rows(*(lower(side.record.get("verdicts")) for side in sides)),
        "files": [pair._asdict() for pair in file_pairs(old.package.files, new.package.files)],
        "sizes": _sizes(sides),
    }


def _causes(old: Origin, new: Origin) -> dict[str, Json]:
    sources = []
    for digests, other in ((old.sources, new.sources), (old.objects, new.objects)):
        sides = ({n: d.encode() for n, d in side.items()} for side in (digests, other))
        for pair in file_pairs(*sides):
            name = pair.new or pair.old or ""
            is_source = digests is old.sources
            role = kind_of_source(name, "other") if is_source else "code object of the user"
            sources.append({**pair._asdict(), "role": role})
    return {
        "sources": sources,
        "toolchain": change_rows(dict(old.toolchain), dict(new.toolchain)),
        "environment": change_rows(lower(old.environment), lower(new.environment)),
        "asked": change_rows(_asked(old), _asked(new)),
    }


def _asked(origin: Origin) -> dict[str, Json]:
    asked = lower(origin.asked)
    return {key: value for key, value in asked.items() if key not in ("name", "version")}


def _object_rows(old: PackageSide, new: PackageSide) -> list[dict[str, Json]]:
    """Return a row for each kernel of two sets of code objects, matched by the objects' names."""
    mine, theirs = (
        {name: data for name, data in side.product.items() if name.endswith(".hsaco")}
        for side in (old, new)
    )
    rows: list[dict[str, Json]] = []
    for name in sorted({*mine, *theirs}):
        if name not in mine or name not in theirs:
            side = old if name in mine else new
            code = read_code_side(side.product[name], None, f"{side.label}/{name}").code
            symbols = [kernel.symbol for kernel in code.kernels]
            rows += _lone_rows(name, symbols, is_old=name in mine)
            continue
        sides = (product_code(side.product, name, f"{side.label}/") for side in (old, new))
        found = code_difference(*sides)
        for kernel in found["kernels"]:
            is_equal = kernel["verdict"] == IDENTICAL
            is_same = kernel["old_symbol"] == kernel["new_symbol"]
            verdict = (UNCHANGED if is_same else RENAMED) if is_equal else kernel["verdict"]
            names = {key: kernel[key] for key in ("old_symbol", "new_symbol")}
            difference = None if is_equal else kernel
            rows.append({"operation": name, **names, "verdict": verdict, "difference": difference})
        rows += _lone_rows(name, found["removed"], is_old=True)
        rows += _lone_rows(name, found["added"], is_old=False)
    return rows


def _lone_rows(name: str, symbols: Iterable[str], *, is_old: bool) -> list[dict[str, Json]]:
    return [
        {
            "operation": name,
            "old_symbol": symbol if is_old else None,
            "new_symbol": None if is_old else symbol,
            "verdict": REMOVED if is_old else ADDED,
            "difference": None,
        }
        for symbol in symbols
    ]


def _explain(
    kernels: Iterable[dict[str, Json]],
    sides: tuple[PackageSide, PackageSide],
    causes: Mapping[str, Json],
    contracts: Iterable[Mapping[str, Json]],
) -> None:
    """Add to each changed kernel the causes that reach it, by kind and name."""
    rows = [side.rows() for side in sides]
    changed = {pair["old"] or pair["new"] for pair in causes["sources"]}
    changed |= {pair["new"] for pair in causes["sources"] if pair["new"]}
    exchanged = {name: row["changes"] for row in contracts for name in row["operations"]}
    # Our own code is the cause when it changed and nothing else explains a kernel.
    is_ours = any(c["pointer"].startswith("/netra_build") for c in causes["environment"])
    compiler = [["netra-build", "its own code"]] if is_ours else []
    for kernel in kernels:
        kernel["why"] = []
        if kernel["verdict"] == UNCHANGED:
            continue
        old, new = (
            rows[side].get(f"{kernel['operation']} {symbol}") or rows[side].get(str(symbol))
            for side, symbol in enumerate((kernel["old_symbol"], kernel["new_symbol"]))
        )
        why = list(_reasons(old, new, sides, changed))
        for change in exchanged.get(str(kernel["operation"]), []):
            if not change["identity"]:
                why.append(["contract", change["pointer"]])
        for change in causes["toolchain"]:
            if change["pointer"].endswith("_version"):
                why.append(["tool chain", f"{change.get('old')} -> {change.get('new')}"])
        kernel["why"] = why or compiler


def _reasons(
    old: KernelRow | None,
    new: KernelRow | None,
    sides: tuple[PackageSide, PackageSide],
    changed: set[str],
) -> Iterable[list[str]]:
    if old is None or new is None:
        return
    if old.tactic != new.tactic:
        yield ["tactic", f"{old.tactic} -> {new.tactic}"]
    for name in sorted({*old.includes, *new.includes}):
        if name in changed or (name in old.includes) != (name in new.includes):
            yield ["source", name]
    before, after = (
        dict(_CONSTANT.findall(side.product.get(row.source, b"").decode("utf-8", "replace")))
        for side, row in zip(sides, (old, new), strict=True)
    )
    for name in sorted({*before, *after}):
        if before.get(name) != after.get(name):
            yield ["constant", f"{name} {before.get(name, 'none')} -> {after.get(name, 'none')}"]


def _sizes(sides: Iterable[PackageSide]) -> dict[str, Json]:
    """Return bytes of all files and of the code objects, and the number of files, of each side."""
    files = [side.package.files for side in sides]
    code = [[data for name, data in each.items() if name.endswith(".hsaco")] for each in files]
    return {
        "files": [len(each) for each in files],
        "bytes": [sum(map(len, each.values())) for each in files],
        "code_bytes": [sum(map(len, each)) for each in code],
    }


def release_difference(old: Files, new: Files, folder: str) -> dict[str, Json]:
    """Return everything in which two packages of one release differ.

    ``folder`` is that of the product in them. Code objects are compared by section, descriptor
    field, metadata key and instruction; documents by pointer; sources by line. Files whose names
    differ in a hash alone are compared with each other.
    """
    pairs = file_pairs(old, new)
    changed = [(p.old, p.new) for p in pairs if p.old is not None and p.new is not None]
    return {
        "kind": "release",
        "equal": not pairs,
        "files": [pair._asdict() for pair in pairs],
        "code": [
            {"name": n, "difference": code_difference(product_code(old, n), product_code(new, m))}
            for n, m in changed
            if n.endswith(".hsaco")
        ],
        "documents": {
            name: change_rows(parse_object(old[name], name), parse_object(new[other], name))
            for name, other in changed
            if _is_document(name, folder)
        },
        "lines": {
            name: _lines(old[name], new[other])
            for name, other in changed
            if name.endswith(SOURCE_SUFFIXES) and old[name] != new[other]
        },
    }


def origin_difference(old: Origin, sources: Files, environment: Json) -> dict[str, Json]:
    """Return which recorded sources have changed, and how Python and its libraries differ."""
    digests = {name: sha256_hex(data).encode() for name, data in sources.items()}
    recorded = {name: digest.encode() for name, digest in old.sources.items()}
    return {
        "sources": [pair._asdict() for pair in file_pairs(recorded, digests)],
        "environment": change_rows(lower(old.environment), lower(environment)),
    }


def _is_document(name: str, folder: str) -> bool:
    """Tell whether the changes inside a file are reported, not only that it changed."""
    if name in (SBOM, *WRITTEN_LAST):
        return name == RECORD
    return name.endswith(".json") and "/" not in name.removeprefix(folder)


def _lines(old: bytes, new: bytes) -> list[Json]:
    """Return the lines of a source that differ, with their numbers, at most ``MAX_LINES``."""
    mine, theirs = (data.decode("utf-8", "backslashreplace").split("\n") for data in (old, new))
    rows: list[Json] = []
    for hunk in hunks(mine, theirs):
        rows += [["-", i + 1, mine[i]] for i in hunk.old]
        rows += [["+", i + 1, theirs[i]] for i in hunk.new]
    return rows[:MAX_LINES]
