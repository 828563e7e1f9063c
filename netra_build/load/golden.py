"""Reader of golden records: which golden sources a library keeps, by tactic."""

from __future__ import annotations

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput
from netra_build.load.library import Library
from netra_build.records.golden import FORMAT, GoldenSource

ROOT = "golden/gfx950"
_DIGESTS = ("text_sha256", "descriptor_sha256", "metadata_sha256")
_KEYS = {"format", "tactic", "symbol", "specialization", "history", *_DIGESTS}


def golden_sources(library: Library, tactic: str) -> tuple[GoldenSource, ...]:
    """Return the golden sources of one tactic id, by variant; none if it keeps none."""
    folder = f"{ROOT}/{tactic}"
    found = library.disk.files_under(library.root / folder, "expect.json")
    names = [path.relative_to(library.root).as_posix() for path in found]
    return tuple(read_golden(library, name) for name in names if name.count("/") <= 4)


def read_golden(library: Library, name: str) -> GoldenSource:
    """Return the record in the file ``name``; raise ``BadInput`` when it is not one."""
    document = library.read_object(name)
    location = library.location(name)
    _refuse_keys(document, location)
    folder = name.removesuffix("/expect.json")
    parts = folder.removeprefix(ROOT + "/").split("/")
    if document["tactic"] != parts[0]:
        raise BadInput(
            "golden record is of another tactic",
            location=f"{location}#/tactic",
            expected=f'"{parts[0]}"',
            got=f'"{document["tactic"]}"',
        )
    return GoldenSource(
        tactic=parts[0],
        variant="/".join(parts[1:]),
        folder=folder,
        symbol=document["symbol"],
        specialization=document["specialization"],
        digests={key: document[key] for key in _DIGESTS},
        history=tuple(entry["reason"] for entry in document["history"]),
    )


def match_golden(
    sources: tuple[GoldenSource, ...], specialization: dict[str, int]
) -> GoldenSource | None:
    """Return the source whose constants are the ones asked for, or None."""
    for source in sources:
        if dict(source.specialization) == specialization:
            return source
    return None


def _refuse_keys(document: dict[str, Json], location: str) -> None:
    if document.get("format") != FORMAT:
        raise BadInput(
            "not a golden record", location=location, expected=FORMAT, got=document.get("format")
        )
    if set(document) != _KEYS:
        odd = sorted(set(document) ^ _KEYS)[0]
        word = "unknown" if odd in document else "missing"
        raise BadInput(f'{word} key "{odd}"', location=location)
    if not isinstance(document["symbol"], str) or not isinstance(document["tactic"], str):
        raise BadInput("symbol and tactic must be texts", location=location)
    values = document["specialization"]
    if not isinstance(values, dict) or any(type(v) is not int for v in values.values()):
        raise BadInput("specialization must map names to integers", location=location)
    history = document["history"]
    if not isinstance(history, list) or any(
        not isinstance(entry, dict) or not isinstance(entry.get("reason"), str) for entry in history
    ):
        raise BadInput("history must be a list of reasons", location=location)
