"""Read the tactic catalogs of a kernel library and derive what their templates decide."""

from __future__ import annotations

from functools import lru_cache

from netra_build.core.canonical_json import Json, parse_object
from netra_build.core.errors import BadInput, NetraError
from netra_build.formats.catalogs.entry import Defaults, EntryReader
from netra_build.formats.catalogs.tactic import Catalog, CatalogFault, FixedTactic
from netra_build.formats.fields import Fields
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import FORMAT_CATALOG, TARGET, WAVE_SIZE

FOLDER = f"manifests/{TARGET}/tactics"
REMEMBERED = 64
"""Catalogs whose tactic ids are kept for the next plan, by name and content."""

CATALOG_KEYS = (
    "$schema format catalog_version target wave_size default_rank default_evidence_set "
    "evidence_sets policy tactics"
)


def load_catalog(library: Library, *, derive_pins: bool = False) -> Catalog:
    """Return every tactic of the library in (operation, rank, name) order.

    An entry that cannot be used becomes a fault of the result. A file that is no usable catalog
    raises ``BadInput``. With ``derive_pins`` template and closure digests that differ from the
    files are replaced and the tactic says so; otherwise they are faults.
    """
    reader = EntryReader(library, derive_pins)
    tactics: dict[str, FixedTactic] = {}
    faults: list[CatalogFault] = []
    places: dict[str, str] = {}
    for name in library.json_names(FOLDER):
        document = library.read_object(name)
        if document.get("format") != FORMAT_CATALOG:
            _refuse_other_version(document, library.location(name))
            continue
        fields = Fields(document, library.location(name))
        defaults = _read_head(fields)
        for entry in fields.objects("tactics"):
            key = f"{TARGET}.{entry.text('id')}"
            if key in places:
                entry.refuse(
                    f'tactic "{key}" is defined twice', "id", hint=f"the other one is {places[key]}"
                )
            places[key] = entry.place()
            try:
                tactics[key] = reader.read(entry, key, defaults)
            except NetraError as error:
                faults.append(_fault(key, entry, error))
    order = sorted(tactics.values(), key=lambda one: (one.operation, one.rank, one.name))
    return Catalog(tuple(order), tuple(faults), reader.closures.source_by_name)


def tactic_ids(library: Library) -> frozenset[str]:
    """Return the ids of all entries of the catalogs, those that cannot be used included."""
    names = library.json_names(FOLDER)
    return frozenset().union(*(_ids(library.read(name), library.location(name)) for name in names))


@lru_cache(REMEMBERED)
def _ids(data: bytes, location: str) -> frozenset[str]:
    document = parse_object(data, location)
    if document.get("format") != FORMAT_CATALOG:
        return frozenset()
    return frozenset(entry.text("id") for entry in Fields(document, location).objects("tactics"))


def _refuse_other_version(document: dict[str, Json], location: str) -> None:
    """Refuse an empty catalog and one of another version; other kinds are no catalogs."""
    kind, found = FORMAT_CATALOG.rpartition("-")[0], document.get("format")
    if not document:
        raise BadInput("catalog is empty", location=location)
    if isinstance(found, str) and found.startswith(kind):
        raise BadInput(
            "catalog has an unknown format version",
            location=f"{location}#/format",
            expected=f'"{FORMAT_CATALOG}"',
            got=f'"{found[:80]}"',
        )


def _fault(key: str, entry: Fields, error: NetraError) -> CatalogFault:
    operation = entry.value.get("operation")
    return CatalogFault(key, operation if isinstance(operation, str) else None, error)


def _read_head(fields: Fields) -> Defaults:
    """Check the catalog's own keys and return its defaults."""
    fields.close(CATALOG_KEYS)
    fields.hold("target", TARGET, "catalog is for another target")
    fields.hold("wave_size", WAVE_SIZE, "catalog is for another wave size")
    fields.child("policy", {})
    refs: dict[str, tuple[str, str]] = {}
    sets = fields.child("evidence_sets")
    for name in sets.value:
        item = sets.child(name)
        item.close("lock_name lock_sha256 evidence_root")
        lock = f"{item.text('lock_name')} sha256:{item.digest('lock_sha256')}"
        refs[name] = (item.text("evidence_root"), lock)
    rank = fields.integer("default_rank", low=-(2**31)) if fields.has("default_rank") else None
    return Defaults(refs, fields.optional_text("default_evidence_set"), rank)
