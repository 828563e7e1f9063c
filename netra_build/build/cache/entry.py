"""The entry of one action in the store: what it made, the small outputs in full.

An entry is the BLAKE3 of a JSON document, the document on one line, and then the small outputs one
after the other. The document names the BLAKE3 and the size of each output; one that is not in the
entry is a blob of its own. Making a file costs more than most outputs take to write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.core.canonical_json import Json, parse_object, plain_canonical_bytes
from netra_build.core.digests import DIGEST, blake3_hex
from netra_build.core.disk import MAX_FILE_BYTES
from netra_build.core.errors import BadInput

FORMAT = "netra-store-entry-2"
MAX_DOCUMENT_BYTES = 1024 * 1024
MAX_INNER_BYTES = 64 * 1024
"""Size up to which an output lies in the entry itself."""
MAX_ENTRY_BYTES = 2 * 1024 * 1024
"""Size of a whole entry; outputs that would make it larger lie outside."""
FIRST_FORMAT = "netra-store-entry-1"
"""The document alone: all outputs were blobs."""
ANY_FORMAT = re.compile(r"netra-store-entry-[0-9]{1,9}\Z")
ROW_KEYS = {"blake3", "size_bytes", "is_inner"}


@dataclass(frozen=True)
class StoredEntry:
    """What an entry says: every output by role, either its bytes or the digest of a blob."""

    inner: Mapping[str, bytes]
    blobs: Mapping[str, str]

    @property
    def roles(self) -> frozenset[str]:
        """The roles of all outputs."""
        return frozenset({*self.inner, *self.blobs})


def entry_bytes(
    action: str, outputs: Mapping[str, bytes], digests: Mapping[str, str]
) -> tuple[bytes, tuple[str, ...]] | None:
    """Return an entry's file, and the roles of the outputs that have to be kept as blobs.

    ``digests`` are the BLAKE3 of the outputs. None when there are too many outputs for an entry.
    """
    rows: dict[str, Json] = {}
    inner: list[bytes] = []
    left = MAX_ENTRY_BYTES - MAX_DOCUMENT_BYTES
    for role, data in sorted(outputs.items()):
        is_inner = len(data) <= min(MAX_INNER_BYTES, left)
        if is_inner:
            inner.append(data)
            left -= len(data)
        rows[role] = {"blake3": digests[role], "size_bytes": len(data), "is_inner": is_inner}
    document = plain_canonical_bytes({"format": FORMAT, "action": action, "outputs": rows})
    if len(document) > MAX_DOCUMENT_BYTES - 128:
        return None
    head = blake3_hex(document).encode("ascii") + b"\n"
    apart = tuple(role for role, row in rows.items() if not row["is_inner"])
    return b"".join((head, document, *inner)), apart


def read_entry(data: bytes, action: str) -> StoredEntry | None:
    """Return what an entry's file says, None for one that does not verify."""
    read = _document(data, action)
    if read is None or read[0].get("format") != FORMAT:
        return None
    rows = read[0].get("outputs")
    if not isinstance(rows, dict) or not all(map(_is_row, rows.values())):
        return None
    return _stored(rows, read[1])


def is_of_other_version(data: bytes, action: str) -> bool:
    """Tell whether this is an entry that another version of this package keeps of an action.

    Every version begins with the digest of a document on one line; what comes after the document
    is read by that version alone.
    """
    read = _document(data, action)
    if read is None or (read[0].get("format") == FIRST_FORMAT and read[1]):
        return False
    return names_other_version(read[0].get("format"), ANY_FORMAT, FORMAT)


def names_other_version(found: Json, any_format: re.Pattern[str], ours: str) -> bool:
    """Tell whether a document's format is one of ours, but not the one of this version."""
    return isinstance(found, str) and found != ours and any_format.match(found) is not None


def _document(data: bytes, action: str) -> tuple[dict[str, Json], memoryview] | None:
    """Return the document of an entry and what follows it, None unless its digest is right."""
    head, _, rest = data.partition(b"\n")
    end = rest.find(b"\n") + 1
    document = rest[:end]
    if head != blake3_hex(document).encode("ascii"):
        return None
    try:
        found = parse_object(document, "entry", max_bytes=MAX_DOCUMENT_BYTES)
    except BadInput:
        return None
    return (found, memoryview(rest)[end:]) if found.get("action") == action else None


def _stored(rows: Mapping[str, dict[str, Json]], contents: memoryview) -> StoredEntry | None:
    """Take the inner outputs, in the order of their roles; every byte has to belong to one."""
    inner, blobs, at = {}, {}, 0
    for role, row in sorted(rows.items()):
        if not row["is_inner"]:
            blobs[role] = row["blake3"]
            continue
        data = bytes(contents[at : at + row["size_bytes"]])
        if len(data) != row["size_bytes"] or blake3_hex(data) != row["blake3"]:
            return None
        inner[role] = data
        at += len(data)
    return StoredEntry(inner, blobs) if at == len(contents) else None


def _is_row(row: Json) -> bool:
    if not isinstance(row, dict) or set(row) != ROW_KEYS:
        return False
    digest, size = row["blake3"], row["size_bytes"]
    is_digest = isinstance(digest, str) and DIGEST.match(digest) is not None
    is_size = type(size) is int and 0 <= size <= MAX_FILE_BYTES
    return is_digest and is_size and type(row["is_inner"]) is bool
