"""The safetensors container: named tensors behind a JSON header, read lazily, written in pieces.

Read and written here because the library of that name gives raw bytes only through numpy or as a
copy of the whole file, and writes only what is held in memory. Tests compare both with it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path

from netra_build.core.canonical_json import Json, parse_object
from netra_build.core.errors import BadInput, nearest_hint
from netra_build.tensors.byte_source import ByteSource, FileSource, file_source

MAX_HEADER_BYTES = 64 * 1024 * 1024
MAX_DIMENSIONS = 32
METADATA_KEY = "__metadata__"
TENSOR_KEYS = {"dtype", "shape", "data_offsets"}

DTYPES = (
    *("BOOL", "F4", "F6_E2M3", "F6_E3M2", "U8", "I8", "F8_E5M2", "F8_E4M3", "F8_E8M0"),
    *("F8_E4M3FNUZ", "F8_E5M2FNUZ", "I16", "U16", "F16", "BF16", "I32", "U32", "F32"),
    *("C64", "F64", "I64", "U64"),
)
"""The container's data types; the library puts them into a file from the last to the first."""

BITS_BY_DTYPE = {name: int(re.sub(r"^[A-Z]+|_.*", "", name) or 8) for name in DTYPES}
"""Bits of one element: the number in the name, and 8 of a boolean."""


@dataclass(frozen=True)
class StoredTensor:
    """One tensor: the container's data type name, shape in elements, and its bytes."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    source: ByteSource
    location: str
    """File and name, for messages."""


@dataclass(frozen=True)
class NewTensor:
    """One tensor to write; ``pieces`` is read once and has to give the bytes of the shape."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    pieces: Iterable[bytes]

    @property
    def size_bytes(self) -> int:
        """Return the bytes of all elements; those of less than a byte are packed."""
        return prod(self.shape) * BITS_BY_DTYPE[self.dtype] // 8


@contextmanager
def opened_tensors(path: Path) -> Iterator[dict[str, StoredTensor]]:
    """Open a safetensors file and yield its tensors by name; data is read when asked for.

    Refused with ``BadInput``: a header that is cut short, larger than ``MAX_HEADER_BYTES`` or no
    strict JSON, an unknown data type, offsets that overlap, leave holes or do not fit the shape,
    a file that is shorter or longer than its tensors.
    """
    with file_source(path) as source:
        header, data_start = _read_header(source)
        yield _tensors(source, header, data_start)


def tensor_file_pieces(tensors: Iterable[NewTensor]) -> Iterator[bytes]:
    """Yield the bytes of a safetensors file, in the order that the library writes.

    Raises ``BadInput`` when two tensors share a name or one gives other bytes than its shape has.
    """
    ordered = sorted(tensors, key=_place_in_file)
    yield _header(ordered)
    for tensor in ordered:
        left = tensor.size_bytes
        for piece in tensor.pieces:
            left -= len(piece)
            yield piece
        if left:
            fact, wanted = f'tensor "{tensor.name}" has the wrong size', tensor.size_bytes
            raise BadInput(fact, expected=f"{wanted} bytes", got=wanted - left)


def _place_in_file(tensor: NewTensor) -> tuple[int, str]:
    return -DTYPES.index(tensor.dtype), tensor.name


def _header(tensors: Sequence[NewTensor]) -> bytes:
    document: dict[str, Json] = {}
    at = 0
    for tensor in tensors:
        if tensor.name in document or tensor.name == METADATA_KEY:
            raise BadInput(f'two tensors are named "{tensor.name}"')
        end = at + tensor.size_bytes
        shape = list(tensor.shape)
        document[tensor.name] = {"dtype": tensor.dtype, "shape": shape, "data_offsets": [at, end]}
        at = end
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _read_header(source: FileSource) -> tuple[dict[str, Json], int]:
    location = source.location
    if source.size_bytes < 8:
        raise BadInput("file is no safetensors file: it is cut short", location=location)
    size = int.from_bytes(source.read(0, 8), "little")
    if size > MAX_HEADER_BYTES:
        most = f"at most {MAX_HEADER_BYTES} bytes"
        raise BadInput("header is too large", location=location, expected=most, got=size)
    if 8 + size > source.size_bytes:
        wanted, got = f"{size} bytes", source.size_bytes - 8
        raise BadInput("header is cut short", location=location, expected=wanted, got=got)
    data = source.read(8, size)
    if not data.startswith(b"{"):
        raise BadInput("header is no JSON object", location=location)
    return parse_object(data.rstrip(b" "), f"{location} (header)"), 8 + size


def _tensors(
    source: FileSource, header: Mapping[str, Json], data_start: int
) -> dict[str, StoredTensor]:
    spans = []
    for name, record in header.items():
        place = f'{source.location}: tensor "{name}"'
        if name == METADATA_KEY:
            if not isinstance(record, dict) or not all(isinstance(v, str) for v in record.values()):
                place = f"{source.location} (header)"
                raise BadInput("metadata is no object of strings", location=place)
            continue
        dtype, shape, start, end = _record(record, place)
        held = FileSource(source.handle, data_start + start, end - start, place)
        spans.append((start, end, StoredTensor(name, dtype, shape, held, place)))
    spans.sort(key=lambda span: span[:2])
    at = 0
    for start, end, tensor in spans:
        if start != at:
            fact = f"data offsets {'overlap those before it' if start < at else 'leave a hole'}"
            raise BadInput(fact, location=tensor.location, expected=f"start {at}", got=start)
        at = end
    if data_start + at != source.size_bytes:
        fact, wanted = "file has the wrong size for its tensors", f"{data_start + at} bytes"
        raise BadInput(fact, location=source.location, expected=wanted, got=source.size_bytes)
    return {tensor.name: tensor for _, _, tensor in spans}


def _record(record: Json, location: str) -> tuple[str, tuple[int, ...], int, int]:
    """Return data type, shape and span of one entry of the header."""
    if not isinstance(record, dict) or set(record) != TENSOR_KEYS:
        wanted = ", ".join(f'"{key}"' for key in sorted(TENSOR_KEYS))
        raise BadInput(f"header entry does not hold exactly {wanted}", location=location)
    dtype, shape, offsets = record["dtype"], record["shape"], record["data_offsets"]
    if not isinstance(dtype, str) or dtype not in BITS_BY_DTYPE:
        hint = nearest_hint(dtype, BITS_BY_DTYPE) if isinstance(dtype, str) else ""
        raise BadInput(f"unknown data type {_shown(dtype)}", location=location, hint=hint)
    if not _are_naturals(shape) or len(shape) > MAX_DIMENSIONS:
        raise BadInput("shape is no list of natural numbers", location=location)
    if not _are_naturals(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        raise BadInput("data offsets are no pair of ascending numbers", location=location)
    start, end = offsets
    bits = prod(shape) * BITS_BY_DTYPE[dtype]
    if bits != 8 * (end - start):
        fact, wanted = "data offsets do not fit the shape", f"{bits // 8} bytes"
        raise BadInput(fact, location=location, expected=wanted, got=end - start)
    return dtype, tuple(shape), start, end


def _are_naturals(values: Json) -> bool:
    return isinstance(values, list) and all(
        isinstance(v, int) and not isinstance(v, bool) and 0 <= v < 2**63 for v in values
    )


def _shown(value: Json) -> str:
    return json.dumps(value)[:80] if isinstance(value, str) else f"of type {type(value).__name__}"


def is_same_file(one: Path, other: Path) -> bool:
    """Tell whether two paths lead to one file that exists."""
    try:
        return os.path.samefile(one, other)
    except (OSError, ValueError):
        return False
