"""What the files of a store are called and what they say; all of it is checked when it is read.

A blob is its bytes. A record is a JSON document with its kind and key. An entry of an action is the
BLAKE3 of a JSON document, the document on one line, and then the small outputs one after the other.
The document names the BLAKE3 and the size of each output; one that is not in the entry is a blob of
its own. Making a file costs more than most outputs take to write.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from netra_build.core.canonical_json import Json, parse_object, plain_canonical_bytes
from netra_build.core.digests import DIGEST, blake3_hex
from netra_build.core.disk import MAX_FILE_BYTES
from netra_build.core.errors import BadInput

ENTRY_FORMAT = "netra-store-entry-2"
MAX_DOCUMENT_BYTES = 1024 * 1024
MAX_INNER_BYTES = 64 * 1024
"""Size up to which an output lies in the entry itself."""
MAX_ENTRY_BYTES = 2 * 1024 * 1024
"""Size of a whole entry; outputs that would make it larger lie outside."""
ROW_KEYS = {"blake3", "size_bytes", "is_inner"}

RECORD_FORMAT = "netra-store-record-1"
MAX_RECORD_BYTES = 32 * 1024 * 1024
KIND = re.compile(r"[a-z][a-z0-9-]{0,31}\Z")
ANSWER = "answer"
"""Kind of the records that hold answers to questions about tools."""
TRACE, TRACE_FORMAT = "request", "netra-trace-6"
"""Kind and format of the records that hold what decided about a finished request."""


def blob_name(digest: str) -> str:
    """Return where a blob lies."""
    return f"blobs/{digest[:2]}/{digest}"


def entry_name(action: str) -> str:
    """Return where the entry of an action lies; ``ValueError`` for what is no digest."""
    if not DIGEST.match(action):
        raise ValueError(f"not an action digest: {action}")
    return f"actions/{action[:2]}/{action}"


def record_prefix(kind: str, key: str) -> str:
    """Return where the records of a key lie, but for the digest of their bytes at the end."""
    if not KIND.match(kind):
        raise ValueError(f"not a kind of records: {kind}")
    digest = blake3_hex(key.encode("utf-8", "surrogatepass"))
    return f"records/{kind}/{digest[:2]}/{digest}."


def entry_bytes(action: str, outputs: Mapping[str, bytes]) -> tuple[bytes, dict[str, bytes]] | None:
    """Return an entry's file, and by its BLAKE3 each output that has to be kept as a blob.

    None when there are too many outputs for an entry.
    """
    rows: dict[str, Json] = {}
    inner, apart, left = [], {}, MAX_ENTRY_BYTES - MAX_DOCUMENT_BYTES
    for role, data in sorted(outputs.items()):
        digest, is_inner = blake3_hex(data), len(data) <= min(MAX_INNER_BYTES, left)
        rows[role] = {"blake3": digest, "size_bytes": len(data), "is_inner": is_inner}
        if is_inner:
            inner.append(data)
            left -= len(data)
        else:
            apart[digest] = data
    document = plain_canonical_bytes({"format": ENTRY_FORMAT, "action": action, "outputs": rows})
    if len(document) > MAX_DOCUMENT_BYTES - 128:
        return None
    return b"".join((blake3_hex(document).encode(), b"\n", document, *inner)), apart


def read_entry(data: bytes, action: str) -> dict[str, bytes | str] | None:
    """Return each output by role: its bytes, or the digest of a blob. None for damage."""
    read = entry_document(data, action)
    if read is None or read[0].get("format") != ENTRY_FORMAT:
        return None
    rows, contents = read[0].get("outputs"), read[1]
    if not isinstance(rows, dict) or not all(map(_is_row, rows.values())):
        return None
    found: dict[str, bytes | str] = {}
    at = 0
    for role, row in sorted(rows.items()):
        found[role] = row["blake3"]
        if row["is_inner"]:
            found[role] = inner = bytes(contents[at : at + row["size_bytes"]])
            at += row["size_bytes"]
            if blake3_hex(inner) != row["blake3"]:
                return None
    return found if at == len(contents) else None


def record_bytes(kind: str, key: str, document: Json) -> bytes:
    """Return a record's file."""
    wrapped: Json = {"format": RECORD_FORMAT, "kind": kind, "key": key, "document": document}
    return plain_canonical_bytes(wrapped)


def read_record(data: bytes, name: str) -> dict[str, Json] | None:
    """Return the kind, key and document of a record's file, None for a damaged one."""
    try:
        record = parse_object(data, "record", max_bytes=MAX_RECORD_BYTES)
    except BadInput:
        return None
    kind, key = record.get("kind"), record.get("key")
    if record.get("format") != RECORD_FORMAT or "document" not in record:
        return None
    if not isinstance(kind, str) or not isinstance(key, str) or not KIND.match(kind):
        return None
    return record if name == record_prefix(kind, key) + blake3_hex(data) else None


def entry_document(data: bytes, action: str) -> tuple[dict[str, Json], memoryview] | None:
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


def _is_row(row: Json) -> bool:
    if not isinstance(row, dict) or set(row) != ROW_KEYS:
        return False
    digest, size = row["blake3"], row["size_bytes"]
    is_digest = isinstance(digest, str) and DIGEST.match(digest) is not None
    is_size = type(size) is int and 0 <= size <= MAX_FILE_BYTES
    return is_digest and is_size and type(row["is_inner"]) is bool
