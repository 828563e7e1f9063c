"""Reader of ABI records: the kernargs of each tactic, the one place where offsets stand."""

from __future__ import annotations

from netra_build.core.canonical_json import Json
from netra_build.load.fields import Fields
from netra_build.load.library import Library

FORMAT = "netra-kernel-abi-1"
FOLDER = "manifests/gfx950/contracts"
KIND_BY_WORD = {"pointer": "pointer", "u32": "u32_constant"}
SIZE_BY_WORD = {"pointer": 8, "u32": 4}

_KEYS = ("$schema", "format", "tactic", "arguments", "grid", "block", "notes")
_ARGUMENT_KEYS = ("name", "offset", "size", "kind", "access", "dtype", "shape", "notes")


def read_abi(library: Library, tactic: str) -> tuple[dict[str, Json], ...] | None:
    """Return name, kind and offset (bytes) of each kernarg of a tactic id, or None.

    Raises ``BadInput`` when the record names another tactic, an unknown key or kind, or sizes
    and offsets that cannot be.
    """
    name = f"{FOLDER}/{tactic}.json"
    if not library.disk.is_file(library.root / name):
        return None
    fields = Fields(library.read_object(name), library.location(name))
    fields.close(_KEYS)
    fields.word("format", (FORMAT,))
    fields.word("tactic", (tactic,))
    return tuple(_read_argument(entry) for entry in fields.objects("arguments"))


def _read_argument(entry: Fields) -> dict[str, Json]:
    entry.close(_ARGUMENT_KEYS)
    kind = entry.word("kind", KIND_BY_WORD)
    offset = entry.integer("offset", low=0)
    size = entry.integer("size", low=1)
    if size != SIZE_BY_WORD[kind]:
        entry.refuse("size does not fit the kind", "size", expected=SIZE_BY_WORD[kind], got=size)
    return {"name": entry.text("name"), "kind": KIND_BY_WORD[kind], "offset": offset}
