"""``RELEASE.json``: the content of a release, what was proven of it, the digest of every file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from netra_build.core.canonical_json import Json, parse_object, pretty_bytes, stable_hash
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput, Refused
from netra_build.formats.vocabulary import ENGINE, TARGET
from netra_build.release.kernels import (
    FAILED,
    NOT_RUN,
    PASSED,
    RESULT,
    SEAL,
    KernelRow,
    kernel_rows,
    read_as_ours,
    toolchain_of,
)
from netra_build.release.layout import FORMAT, PROVENANCE, RECORD, SBOM, WRITTEN_LAST
from netra_build.release.origin import Asked, Origin, product_files

IDENTICAL = "identical"
SIMULATED = "simulated"
"""The only scope of numerics that a release can state."""

PROVENANCE_FORMAT = "https://slsa.dev/provenance/v1"
SBOM_FORMAT = "CycloneDX 1.6"
LOCK_HINT = "a release is of an engine that is pinned, whole, proven and checked"


def content_sha256(content: Mapping[str, bytes]) -> str:
    """Return the digest over names and bytes of a package, without the files that contain it."""
    apart = (SBOM, *WRITTEN_LAST)
    return stable_hash({n: sha256_hex(data) for n, data in content.items() if n not in apart})


def release_record(
    content: Mapping[str, bytes], origin: Origin, archive: Mapping[str, Json]
) -> dict[str, Json]:
    """Return the record of a release.

    ``content`` is every file of the package that does not depend on the record: the product, the
    licence, the bill of materials; ``archive`` the settings of the compressor. Raises ``BadInput``
    for a product whose documents have another form than ours.
    """
    asked = origin.asked
    files = product_files(asked, content)
    rows = kernel_rows(asked.kind, files, asked.folder)
    return {
        "format": FORMAT,
        "name": asked.name,
        "version": asked.version,
        "kind": asked.kind,
        "target": TARGET,
        "recipe": asked.recipe,
        "formats": _formats(files),
        "engine_ids": _of_engine(asked.kind, files, "engine.json", lambda d: [d["engine_id"]]),
        "toolchain": toolchain_of(asked.kind, files, asked.folder),
        "source": {"files": len(origin.sources), "closure_sha256": origin.closure_sha256},
        "verdicts": _verdicts(rows),
        "kernels": [row.document() for row in rows],
        "not_pinned": _of_engine(asked.kind, files, SEAL, lambda d: list(d["not_pinned"])),
        "archive": dict(archive),
        "content_sha256": content_sha256(content),
        "files": {
            name: {"sha256": sha256_hex(data), "size_bytes": len(data)}
            for name, data in sorted(content.items())
            if name not in WRITTEN_LAST
        },
    }


def record_bytes(record: Mapping[str, Json]) -> bytes:
    """Return a record as it is written."""
    return pretty_bytes(record)


def read_record(files: Mapping[str, bytes], location: str) -> dict[str, Json]:
    """Return the record of a package; ``BadInput`` when there is none, or of another format."""
    if RECORD not in files:
        raise BadInput(f'package holds no "{RECORD}"', location=location)
    place = f"{location}/{RECORD}"
    record = parse_object(files[RECORD], place)
    if record.get("format") != FORMAT:
        raise BadInput("record has another format", location=place, expected=FORMAT, got="another")
    if files[RECORD] != record_bytes(record):
        raise BadInput("record is not written canonically", location=place)
    return record


def refuse_unready(
    content: Mapping[str, bytes], origin: Origin, record: Mapping[str, Json]
) -> None:
    """Raise ``Refused`` with the first condition of a release that is not met.

    These are: tactics that are not pinned, an incomplete product, kernels that are not identical
    to their golden sources, static checks or numerics that failed.
    """
    asked = origin.asked
    files = product_files(asked, content)
    for name in record["not_pinned"]:
        _refuse(asked, f'tactic "{name}" is not pinned', "netra pin renews its pins")
    _refuse_parts(asked, files)
    for row in record["kernels"]:
        symbol, numerics = row["symbol"], row["numerics"]
        if row["equivalence"] != IDENTICAL:
            _refuse(asked, f'kernel "{symbol}" is not identical to a golden source', LOCK_HINT)
        if row["static_checks"] != PASSED or row["conformity"] != PASSED:
            _refuse(asked, f'kernel "{symbol}" did not pass the static checks', LOCK_HINT)
        if numerics["verdict"] not in (PASSED, NOT_RUN):
            _refuse(asked, f'kernel "{symbol}" did not pass its numeric contract', LOCK_HINT)
        if numerics["verdict"] == PASSED and numerics["scope"] != SIMULATED:
            _refuse(asked, f'kernel "{symbol}" has numerics of another scope', LOCK_HINT)


def _refuse(asked: Asked, fact: str, hint: str) -> None:
    raise Refused(fact, location=asked.recipe, hint=hint)


def _refuse_parts(asked: Asked, files: Mapping[str, bytes]) -> None:
    """Raise ``Refused`` unless the product holds exactly what its seal lists, unaltered."""
    seal = SEAL if asked.kind == ENGINE else RESULT
    listed = parse_object(files[seal], seal)["files"] if seal in files else {}
    digests = {n: row["sha256"] if isinstance(row, dict) else row for n, row in listed.items()}
    actual = {name: sha256_hex(data) for name, data in files.items() if name != seal}
    differing = sorted(n for n in {*digests, *actual} if digests.get(n) != actual.get(n))
    if differing or seal not in files:
        _refuse(asked, f'product is not whole: "{(*differing, seal)[0]}"', "build it again")
    for name in _loaded(asked.kind, files):
        if name not in files:
            _refuse(
                asked,
                f'product is not whole: it lacks the code object "{name}"',
                "golden_root= names the folder that holds it",
            )


def _loaded(kind: str, files: Mapping[str, bytes]) -> Iterable[str]:
    """Return the code objects that the engine manifest names."""
    if kind != ENGINE:
        return []
    operations = parse_object(files["engine.json"], "engine.json")["operations"]
    return sorted({row["hsaco"] for row in operations if row.get("hsaco")})


def _formats(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return the format of every document that states one."""
    formats = {RECORD: FORMAT, SBOM: SBOM_FORMAT, PROVENANCE: PROVENANCE_FORMAT}
    for name in sorted(files):
        if name.endswith(".json") and "/" not in name:
            document = parse_object(files[name], name)
            found = document.get("format_version", document.get("format"))
            if isinstance(found, str):
                formats[name] = found
    return formats


def _of_engine(
    kind: str, files: Mapping[str, bytes], name: str, found: Callable[[Json], list[str]]
) -> list[str]:
    """Return what is found in a document of an engine; nothing in that of another product."""
    with read_as_ours(name):
        return found(parse_object(files[name], name)) if kind == ENGINE else []


def _verdicts(rows: Sequence[KernelRow]) -> dict[str, Json]:
    """Return the joint verdicts on all kernels, and what was never run."""
    verdicts = [row.verdicts for row in rows]
    with read_as_ours("kernels"):
        return {
            "equivalence": _joined([v["equivalence"] for v in verdicts], IDENTICAL, "differs"),
            "static_checks": _joined([v["static_checks"] for v in verdicts], PASSED, FAILED),
            "numerics": {
                "verdict": _joined([v["numerics"]["verdict"] for v in verdicts], PASSED, FAILED),
                "scope": SIMULATED,
                "kernels_run": sum(v["numerics"]["verdict"] != NOT_RUN for v in verdicts),
                "kernels": len(rows),
            },
            "hardware": NOT_RUN,
        }


def _joined(words: Sequence[str], good: str, bad: str) -> str:
    """Return ``good`` when all are, ``not_run`` when the others were not run, else ``bad``."""
    others = {word for word in words if word != good}
    if not others:
        return good if words else NOT_RUN
    return NOT_RUN if others == {NOT_RUN} else bad
