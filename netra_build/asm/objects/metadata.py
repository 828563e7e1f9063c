"""The code object metadata: the message-pack note that lists kernels, arguments and sizes."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any

import msgpack

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput

NOTE_OWNER = b"AMDGPU\0"
NOTE_TYPE = 32
MAX_METADATA_BYTES = 4 * 1024 * 1024
MAX_ENTRIES = 8192
MAX_DEPTH = 16
WAVE_SIZE = 64

_PLAIN_KINDS = frozenset({str, int, bool, type(None)})
_KINDS = _PLAIN_KINDS | {float, dict, list}


@dataclass(frozen=True)
class Note:
    """One ELF note: owner without its final NUL, type and data."""

    owner: bytes
    kind: int
    data: bytes


@dataclass(frozen=True)
class ArgumentMetadata:
    """One kernarg as the note states it. Offset and size are bytes."""

    offset: int
    size: int
    value_kind: str
    name: str | None = None
    type_name: str | None = None
    address_space: str | None = None
    access: str | None = None
    actual_access: str | None = None


@dataclass(frozen=True)
class KernelMetadata:
    """One kernel as the note states it. Sizes are bytes, counts are registers."""

    name: str
    symbol: str
    """The descriptor's symbol, which ends in ``.kd``."""
    arguments: tuple[ArgumentMetadata, ...]
    kernarg_segment_size: int
    kernarg_segment_align: int
    group_segment_fixed_size: int
    private_segment_fixed_size: int
    wavefront_size: int
    sgpr_count: int
    vgpr_count: int
    max_flat_workgroup_size: int
    agpr_count: int | None = None
    sgpr_spill_count: int | None = None
    vgpr_spill_count: int | None = None
    uses_dynamic_stack: bool | None = None
    required_workgroup_size: tuple[int, ...] | None = None


_PLAIN_FIELDS = {int: "a natural number", str: "a string", bool: "a boolean"}
_FIELDS: dict[type, tuple[tuple[str, type, bool], ...]] = {
    record: tuple(
        (field.name, kind, "None" not in str(field.type))
        for field in fields(record)
        for kind in _PLAIN_FIELDS
        if str(field.type).removesuffix(" | None") == kind.__name__
    )
    for record in (KernelMetadata, ArgumentMetadata)
}
"""The fields of each record that are read as they are: name, type, and whether they are needed."""


def split_notes(section: bytes, location: str) -> Iterator[Note]:
    """Yield the notes of one note section; ``BadInput`` when a length leaves the section."""
    at = 0
    while at < len(section):
        if at + 12 > len(section):
            raise BadInput("note header is cut short", location=location)
        name_size, data_size, kind = struct.unpack_from("<3I", section, at)
        name_at = at + 12
        data_at = name_at + (name_size + 3) // 4 * 4
        if data_at + data_size > len(section):
            raise BadInput("note leaves its section", location=location)
        name = section[name_at : name_at + name_size].rstrip(b"\0")
        yield Note(name, kind, section[data_at : data_at + data_size])
        at = data_at + (data_size + 3) // 4 * 4


def decode_metadata(data: bytes, location: str) -> dict[str, Json]:
    """Decode the note's message-pack document into plain JSON values.

    Refused with ``BadInput``: anything but one map with string keys, duplicate keys, binary and
    extension values, NaN and infinities, deep nesting, more than ``MAX_ENTRIES`` entries in one
    map or array, text after the document.
    """
    if len(data) > MAX_METADATA_BYTES:
        raise BadInput(
            "code object metadata is too large",
            location=location,
            expected=f"at most {MAX_METADATA_BYTES} bytes",
            got=len(data),
        )
    try:
        document = msgpack.unpackb(
            data,
            raw=False,
            strict_map_key=True,
            object_pairs_hook=_unique_pairs,
            max_array_len=MAX_ENTRIES,
            max_map_len=MAX_ENTRIES,
        )
        _refuse_odd_values(document, 0)
    except _Unusable as error:
        raise BadInput(f"code object metadata {error}", location=location) from None
    except (ValueError, msgpack.UnpackException, RecursionError):
        raise BadInput(
            "code object metadata is not valid message-pack", location=location
        ) from None
    if not isinstance(document, dict):
        raise BadInput("code object metadata is not a map", location=location)
    return document


def read_kernels(document: dict[str, Json], location: str) -> tuple[KernelMetadata, ...]:
    """Return the kernels of a decoded note; ``BadInput`` on a missing or mistyped value."""
    entries = document.get("amdhsa.kernels", [])
    if not isinstance(entries, list):
        raise BadInput('metadata key "amdhsa.kernels" is not a list', location=location)
    return tuple(
        _read_kernel(entry, f"{location}#/amdhsa.kernels/{index}")
        for index, entry in enumerate(entries)
    )


def normalised(document: dict[str, Json]) -> dict[str, Json]:
    """Return the whole note without each kernel's ``.name`` and ``.symbol``."""
    result = dict(document)
    entries = document.get("amdhsa.kernels")
    if isinstance(entries, list):
        result["amdhsa.kernels"] = [
            {k: v for k, v in entry.items() if k not in (".name", ".symbol")}
            if isinstance(entry, dict)
            else entry
            for entry in entries
        ]
    return result


def resources(metadata: KernelMetadata, threads: int) -> dict[str, int | str]:
    """Return the resource record of the published format, section 10; sizes in bytes."""
    record: dict[str, int | str] = {
        "target": "gfx950",
        "wave_size": WAVE_SIZE,
        "kernarg_size": metadata.kernarg_segment_size,
        "threads": threads,
        "max_threads": metadata.max_flat_workgroup_size,
        "lds_bytes": metadata.group_segment_fixed_size,
        "vgpr_count": metadata.vgpr_count,
        "sgpr_count": metadata.sgpr_count,
        "private_segment_fixed_size": metadata.private_segment_fixed_size,
    }
    if metadata.agpr_count is not None:
        record["agpr_count"] = metadata.agpr_count
    return record


class _Unusable(Exception):
    """Carries the second half of a fact about the document."""


def _unique_pairs(pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _Unusable("holds one key twice")
    return result


def _refuse_odd_values(value: Any, depth: int) -> None:
    """Go through a document of the reader, which makes values of exactly these types."""
    if depth > MAX_DEPTH:
        raise _Unusable(f"is nested deeper than {MAX_DEPTH} levels")
    kind = type(value)
    items: Iterable[Any] = value.values() if kind is dict else value if kind is list else ()
    if kind is dict and not all(type(key) is str for key in value):
        raise _Unusable("holds a key that is not a string")
    if kind is float and not math.isfinite(value):
        raise _Unusable("holds a number that is not finite")
    if kind not in _KINDS:
        raise _Unusable("holds a value that JSON cannot express")
    for item in items:
        if type(item) not in _PLAIN_KINDS:
            _refuse_odd_values(item, depth + 1)
        elif depth == MAX_DEPTH:
            raise _Unusable(f"is nested deeper than {MAX_DEPTH} levels")


def _read_kernel(value: Json, location: str) -> KernelMetadata:
    entry = _map(value, location)
    sizes, arguments = (_list(entry, key, location) for key in (".reqd_workgroup_size", ".args"))
    if any(isinstance(size, bool) or not isinstance(size, int) for size in sizes):
        raise BadInput(
            'metadata key ".reqd_workgroup_size" holds a value that is no integer',
            location=location,
        )
    places = [f"{location}/.args/{index}" for index in range(len(arguments))]
    return KernelMetadata(
        **_values(KernelMetadata, entry, location),
        arguments=tuple(map(_read_argument, arguments, places)),
        required_workgroup_size=tuple(sizes) or None,
    )


def _read_argument(value: Json, location: str) -> ArgumentMetadata:
    return ArgumentMetadata(**_values(ArgumentMetadata, _map(value, location), location))


def _values(record: type, entry: dict[str, Json], location: str) -> dict[str, Any]:
    """Return the plain fields of a record, each from the key of its name."""
    found = {}
    for name, kind, is_required in _FIELDS[record]:
        key, value = f".{name}", entry.get(f".{name}")
        if value is not None and (
            type(value) is not kind or (isinstance(value, int) and value < 0)
        ):
            raise BadInput(f'metadata key "{key}" is not {_PLAIN_FIELDS[kind]}', location=location)
        if value is None and is_required:
            raise BadInput(f'metadata key "{key}" is missing', location=location)
        found[name] = value
    return found


def _map(value: Json, location: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise BadInput("metadata entry is not a map", location=location)
    return value


def _list(entry: dict[str, Json], key: str, location: str) -> list[Json]:
    found = entry.get(key, [])
    if not isinstance(found, list):
        raise BadInput(f'metadata key "{key}" is not a list', location=location)
    return found
