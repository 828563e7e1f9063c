"""Differences of two engine directories: operations, contracts, kernels, files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from netra_build.core.canonical_json import Json, parse_object
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput
from netra_build.inspect.diff.code_objects import (
    IDENTICAL,
    CodeSide,
    kernel_difference,
    product_code,
)
from netra_build.inspect.diff.documents import Files, change_rows, file_pairs

MANIFEST = "engine.json"
CONTRACTS = "contracts.json"
COVERED = "netra.json", "files"
"""A part of a document that the rest of the difference covers."""
UNCHANGED, RENAMED = "unchanged", "renamed"
ADDED, REMOVED, NOT_BUILT = "added", "removed", "not_built"
"""Verdicts on a kernel beside those of equivalence; ``renamed``: only the symbol differs."""


def engine_difference(old: Files, new: Files, labels: tuple[str, str]) -> dict[str, Json]:
    """Return everything in which two engine directories differ.

    ``old`` and ``new`` give the bytes of each file by its name in the directory. ``BadInput``
    names the file that cannot be read.
    """
    sides = tuple(_Side(files, label) for files, label in zip((old, new), labels, strict=True))
    documents = {}
    for name in sorted(n for n in old.keys() & new.keys() if n.endswith(".json") and "/" not in n):
        if name != CONTRACTS and old[name] != new[name]:
            documents[name] = change_rows(
                *(
                    {key: v for key, v in side.document(name).items() if (name, key) != COVERED}
                    for side in sides
                )
            )
    files = _file_rows(old, new)
    return {
        "kind": "engine",
        "equal": not files,
        "documents": {name: changes for name, changes in documents.items() if changes},
        "contracts": _contract_rows(*sides),
        "kernels": _kernel_rows(*sides),
        "files": files,
    }


class _Side:
    """One engine directory; documents and code objects are read when needed."""

    def __init__(self, files: Files, label: str) -> None:
        self.files = files
        self.label = label
        self._code: dict[str, CodeSide] = {}
        self._documents: dict[str, dict[str, Json]] = {}

    def document(self, name: str) -> dict[str, Json]:
        """Return a JSON document of the directory."""
        if name not in self.files:
            raise BadInput("file is missing", location=f"{self.label}/{name}")
        if name not in self._documents:
            self._documents[name] = parse_object(self.files[name], f"{self.label}/{name}")
        return self._documents[name]

    def named(self, file: str, key: str, name_key: str) -> dict[str, dict[str, Json]]:
        """Return the objects of a document's list by their names; ``BadInput`` for other forms."""
        items = self.document(file).get(key)
        place = f"{self.label}/{file}#/{key}"
        if not isinstance(items, list):
            raise BadInput("value is no array", location=place)
        result: dict[str, dict[str, Json]] = {}
        for index, item in enumerate(items):
            name = item.get(name_key) if isinstance(item, dict) else None
            if not isinstance(name, str) or name in result:
                raise BadInput("object has no name of its own", location=f"{place}/{index}")
            result[name] = item
        return result

    def code(self, hsaco: Json) -> CodeSide | None:
        """Return a code object of the directory with its listing, or None when it is not built."""
        if not isinstance(hsaco, str) or hsaco not in self.files:
            return None
        if hsaco not in self._code:
            self._code[hsaco] = product_code(self.files, hsaco, f"{self.label}/")
        return self._code[hsaco]


def _contract_rows(old: _Side, new: _Side) -> list[Json]:
    """Return the contracts that changed for an operation, and those of one side only."""
    mine, theirs = (side.named(CONTRACTS, "contracts", "id") for side in (old, new))
    operations: dict[tuple[str, str], list[str]] = {}
    ours, others = (side.named(MANIFEST, "operations", "name") for side in (old, new))
    for name in (name for name in ours if name in others):
        before, after = (side[name].get("contract_id") for side in (ours, others))
        if before in mine and after in theirs and mine[before] != theirs[after]:
            operations.setdefault((str(before), str(after)), []).append(name)
    rows: list[Json] = []
    for (before, after), names in operations.items():
        changes = change_rows(mine[before], theirs[after])
        rows.append({"operations": names, "old": before, "new": after, "changes": changes})
    exchanged = [{pair[side] for pair in operations} for side in (0, 1)]
    rows += _lonely(mine.keys() - theirs.keys() - exchanged[0], "old")
    rows += _lonely(theirs.keys() - mine.keys() - exchanged[1], "new")
    return rows


def _lonely(ids: Iterable[str], side: str) -> list[Json]:
    other = "new" if side == "old" else "old"
    return [{"operations": [], side: one, other: None, "changes": []} for one in sorted(ids)]


def _kernel_rows(old: _Side, new: _Side) -> list[Json]:
    """Return a row for each operation that has a kernel on one side, in order, the old first."""
    mine, theirs = (side.named(MANIFEST, "operations", "name") for side in (old, new))
    compared: dict[str, dict[str, Json]] = {}
    rows: list[Json] = []
    for name in [*mine, *(name for name in theirs if name not in mine)]:
        one, other = mine.get(name, {}), theirs.get(name, {})
        symbols = one.get("kernel_symbol"), other.get("kernel_symbol")
        if symbols == (None, None):
            continue
        key = str((*symbols, one.get("hsaco"), other.get("hsaco")))
        # Many operations share few kernels: each pair of kernels is compared once.
        if key not in compared:
            compared[key] = _kernel_row((old, one), (new, other))
        rows.append({"operation": name, **compared[key]})
    return rows


def _kernel_row(
    old: tuple[_Side, Mapping[str, Json]], new: tuple[_Side, Mapping[str, Json]]
) -> dict[str, Json]:
    symbols = [operation.get("kernel_symbol") for _, operation in (old, new)]
    row: dict[str, Json] = {"old_symbol": symbols[0], "new_symbol": symbols[1], "difference": None}
    if None in symbols:
        return {**row, "verdict": ADDED if symbols[0] is None else REMOVED}
    sides = [side.code(operation.get("hsaco")) for side, operation in (old, new)]
    if sides[0] is None or sides[1] is None:
        return {**row, "verdict": NOT_BUILT}
    pair = [
        (code, code.code.kernel(str(symbol), f"{side.label}/{operation.get('hsaco')}"))
        for code, symbol, (side, operation) in zip(sides, symbols, (old, new), strict=True)
        if code is not None
    ]
    difference = kernel_difference(*pair)
    if difference["verdict"] != IDENTICAL:
        return {**row, "verdict": difference["verdict"], "difference": difference}
    return {**row, "verdict": UNCHANGED if symbols[0] == symbols[1] else RENAMED}


def _file_rows(old: Files, new: Files) -> list[Json]:
    """Return every file that differs, with its digests; renamed ones are matched."""
    return [
        {
            "old": pair.old,
            "new": pair.new,
            "old_sha256": pair.old and sha256_hex(old[pair.old]),
            "new_sha256": pair.new and sha256_hex(new[pair.new]),
        }
        for pair in file_pairs(old, new)
    ]


def catalog_difference(old: Json, new: Json) -> dict[str, Json]:
    """Return everything in which two tactic catalogs differ."""
    changes = change_rows(old, new)
    return {"kind": "tactic catalog", "equal": not changes, "changes": changes}
