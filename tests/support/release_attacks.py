"""What a release package can be made into by somebody who wants it believed all the same."""

from __future__ import annotations

import hashlib
import io
import json
import random
import tarfile
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import zstandard

from netra_build.release.archive import Package, write_archive

RECORD, PROVENANCE, ENVELOPE = "RELEASE.json", "provenance.json", "provenance.dsse.json"
BILL = "sbom.cdx.json"
NAMESPACE = uuid.UUID("5b1d1d34-6e0c-5c2a-9a3f-0d4a2b7c9e11")
ABOUT = {PROVENANCE, ENVELOPE}
Files = dict[str, bytes]


@dataclass(frozen=True)
class Attack:
    """One altered archive: its kind, what makes its bytes, and the message that must refuse it.

    ``message`` starts after the name of the package. Packing takes long, and is left to who asks.
    """

    kind: str
    make: Callable[[], bytes]
    message: str


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def as_bytes(document: Any) -> bytes:
    return (json.dumps(document, indent=2, sort_keys=True, ensure_ascii=False) + "\n").encode()


def differs(name: str, by: str, before: bytes, after: bytes) -> str:
    """Return the message about a file of other bytes."""
    return (
        f': file "{name}" differs from {by}; expected sha256 {sha256(before)}, got {sha256(after)}'
    )


def packing(top: str, files: Files) -> Callable[[], bytes]:
    """Return what makes an archive of the files."""
    return lambda: write_archive(Package(top, files))


def as_is(data: bytes) -> Callable[[], bytes]:
    """Return what makes bytes that are there already."""
    return lambda: data


def edited(data: bytes, pointer: tuple[Any, ...], value: Any) -> bytes:
    """Return a document of ours with one value exchanged."""
    document = json.loads(data)
    node = document
    for key in pointer[:-1]:
        node = node[key]
    assert node[pointer[-1]] != value
    node[pointer[-1]] = value
    return as_bytes(document)


def resealed(files: Files) -> Files:
    """Return the files with every digest in record and statement made right, without a signature.

    This is what anybody can do who has no key.
    """
    found = {name: data for name, data in files.items() if name != ENVELOPE}
    record, bill = json.loads(found[RECORD]), json.loads(found[BILL])
    apart = (BILL, RECORD, PROVENANCE)
    digests = {name: sha256(data) for name, data in found.items() if name not in apart}
    text = json.dumps(digests, sort_keys=True, separators=(",", ":")) + "\n"
    record["content_sha256"] = sha256(text.encode())
    bill["serialNumber"] = f"urn:uuid:{uuid.uuid5(NAMESPACE, record['content_sha256'])}"
    found[BILL] = as_bytes(bill)
    for name, data in found.items():
        if name not in (RECORD, PROVENANCE):
            record["files"][name] = {"sha256": sha256(data), "size_bytes": len(data)}
    record["files"] = {name: row for name, row in record["files"].items() if name in found}
    found[RECORD] = as_bytes(record)
    return restated(found)


def restated(files: Files) -> Files:
    """Return the files with the digests in the statement made right, without a signature."""
    found = {name: data for name, data in files.items() if name != ENVELOPE}
    statement = json.loads(found[PROVENANCE])
    statement["subject"] = [
        {"name": name, "digest": {"sha256": sha256(data)}}
        for name, data in sorted(found.items())
        if name != PROVENANCE
    ]
    found[PROVENANCE] = as_bytes(statement)
    return found


def flipped(data: bytes, rng: random.Random) -> bytes:
    if not data:
        return b"\0"
    altered = bytearray(data)
    altered[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(altered)


def file_attacks(top: str, files: Files, rng: random.Random) -> Iterator[Attack]:
    """Yield one altered byte in every file, files that are gone, and files that are new."""

    listed = [name for name in sorted(files) if name not in (RECORD, *ABOUT)]
    for name in listed:
        after = flipped(files[name], rng)
        message = differs(name, RECORD, files[name], after)
        yield Attack("byte of a file", packing(top, {**files, name: after}), message)
    for name in rng.sample(listed, 40):
        rest = {other: data for other, data in files.items() if other != name}
        message = f': file "{name}" is missing\nhint: {RECORD} lists it'
        yield Attack("dropped file", packing(top, rest), message)
    for name in ("engine/hsaco/extra.hsaco", "EXTRA", "engine/.hidden", "engine/engine.json.bak"):
        message = f': file "{name}" is not in {RECORD}'
        yield Attack("extra file", packing(top, {**files, name: b"\x7fELF"}), message)


def digest_attacks(top: str, files: Files, rng: random.Random) -> Iterator[Attack]:
    """Yield digests that fit an altered file, in the record alone, and swapped ones."""
    listed = [name for name in sorted(files) if name not in (RECORD, *ABOUT)]
    for name in rng.sample(listed, 12):
        after = flipped(files[name], rng)
        pointer = ("files", name, "sha256")
        record = edited(files[RECORD], pointer, sha256(after))
        data = packing(top, {**files, name: after, RECORD: record})
        message = differs(RECORD, PROVENANCE, files[RECORD], record)
        yield Attack("digest of an altered file", data, message)
    for _ in range(12):
        one, other = sorted(rng.sample(listed, 2))
        record = json.loads(files[RECORD])
        rows = record["files"]
        rows[one], rows[other] = rows[other], rows[one]
        data = packing(top, {**files, RECORD: as_bytes(record)})
        message = (
            f': file "{one}" differs from {RECORD}; expected sha256 {sha256(files[other])},'
            f" got {sha256(files[one])}"
        )
        yield Attack("swapped digests", data, message)
    for name in rng.sample(listed, 12):
        statement = json.loads(files[PROVENANCE])
        row = next(row for row in statement["subject"] if row["name"] == name)
        row["digest"]["sha256"] = "0" * 64
        data = packing(top, {**files, PROVENANCE: as_bytes(statement)})
        message = f'/{ENVELOPE}: signed statement is not "{PROVENANCE}"'
        yield Attack("digest in the statement", data, message)


VERDICTS: list[tuple[tuple[Any, ...], Any]] = [
    (("verdicts", "equivalence"), "differs"),
    (("verdicts", "hardware"), "passed"),
    (("verdicts", "numerics", "scope"), "hardware"),
    (("verdicts", "numerics", "kernels_run"), 99),
    (("kernels", 0, "static_checks"), "not_run"),
    (("kernels", 0, "maturity"), "accepted"),
    (("kernels", 0, "text_sha256"), "0" * 64),
    (("engine_ids", 0), "ne_000000000000000000000000"),
    (("source", "closure_sha256"), "0" * 64),
    (("content_sha256",), "0" * 64),
    (("toolchain", "linker_version"), "1.0"),
    (("recipe",), "recipes/other.yaml"),
]


def verdict_attacks(top: str, files: Files) -> Iterator[Attack]:
    """Yield edited verdicts in a signed package."""
    for pointer, value in VERDICTS:
        record = edited(files[RECORD], pointer, value)
        data = packing(top, {**files, RECORD: record})
        message = differs(RECORD, PROVENANCE, files[RECORD], record)
        yield Attack("edited verdict", data, message)


def archive_attacks(good: bytes, rng: random.Random) -> Iterator[Attack]:
    """Yield archives that are cut, continued or damaged."""
    for _ in range(24):
        data = good[: rng.randrange(200, len(good) - 1)]
        yield Attack("truncated archive", as_is(data), ": archive is cut short")
    for more in (b"\0", b"x" * 600, good):
        yield Attack("trailing data", as_is(good + more), ": archive has bytes after its end")
    last = good[:-1] + bytes([good[-1] ^ 1])
    yield Attack("wrong checksum", as_is(last), ": archive is damaged")
    fact = ": file is no archive of a release (no zstd frame)"
    yield Attack("no archive", as_is(b"PK\3\4"), fact)
    tarred = zstandard.ZstdDecompressor().decompress(good)
    end = f"; expected {len(tarred)}, got {len(tarred) + 512}"
    data = zstandard.ZstdCompressor(level=3).compress(tarred + bytes(512))
    yield Attack("trailing block", as_is(data), f": archive has bytes after its end{end}")


def entry(name: str, kind: bytes = tarfile.REGTYPE, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.mode = kind, link, 0o644
    return info


def entry_attacks(top: str, files: Files) -> Iterator[Attack]:
    """Yield tar archives with one entry too many before the files of the package."""
    root = "write it relative to the library root"
    dots = 'remove the ".." segment'
    cases = [
        (
            "path traversal",
            entry("../../etc/x"),
            f'path "../../etc/x" leaves its root\nhint: {dots}',
        ),
        (
            "path traversal",
            entry(f"{top}/../../x"),
            f'path "{top}/../../x" leaves its root\nhint: {dots}',
        ),
        ("absolute path", entry("/etc/passwd"), f'path "/etc/passwd" is absolute\nhint: {root}'),
        ("dotted path", entry(f"{top}/./x"), f'name "{top}/./x" is not normalised'),
        (
            "symbolic link",
            entry(f"{top}/x", tarfile.SYMTYPE, "/etc/passwd"),
            f'entry "{top}/x" is a symbolic link',
        ),
        (
            "symbolic link",
            entry(f"{top}/engine", tarfile.SYMTYPE, "/tmp"),
            f'entry "{top}/engine" is a symbolic link',
        ),
        (
            "hard link",
            entry(f"{top}/x", tarfile.LNKTYPE, f"{top}/LICENSE"),
            f'entry "{top}/x" is a hard link',
        ),
        (
            "device",
            entry(f"{top}/x", tarfile.CHRTYPE),
            f'entry "{top}/x" is a character device',
        ),
        ("device", entry(f"{top}/x", tarfile.BLKTYPE), f'entry "{top}/x" is a block device'),
        ("pipe", entry(f"{top}/x", tarfile.FIFOTYPE), f'entry "{top}/x" is a pipe'),
        ("duplicate", entry(f"{top}/LICENSE"), f'file "{top}/LICENSE" is there twice'),
    ]
    for kind, info, message in cases:
        yield Attack(kind, as_is(_packed_with(info, top, files)), f": {message}")


def _packed_with(first: tarfile.TarInfo, top: str, files: Files) -> bytes:
    """Return an archive of the files with one more entry before them."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        archive.addfile(first)
        for name, data in files.items():
            member = entry(f"{top}/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return zstandard.ZstdCompressor().compress(stream.getvalue())


def bomb_attacks(top: str) -> Iterator[Attack]:
    """Yield archives that would fill memory."""
    for size, most in ((300_000_000, 256 * 1024 * 1024), (150_000_000, None)):
        data = zstandard.ZstdCompressor().compress(bytes(size))
        bound = most or 200 * len(data)
        fact = "too many bytes" if most else "too many bytes for its size"
        message = f": archive declares {fact}; expected at most {bound}, got {size}"
        yield Attack("decompression bomb", as_is(data), message)
    data = zstandard.ZstdCompressor(write_content_size=False).compress(bytes(10_000_000))
    yield Attack("undeclared size", as_is(data), ": archive does not declare its size")


def renamed_attacks(top: str, files: Files) -> Iterator[Attack]:
    """Yield the right files under the name of another release."""
    other = top.replace("1.2.0", "1.3.0")
    message = f': folder of the archive is named otherwise; expected "{top}", got "{other}"'
    yield Attack("other version", packing(other, files), message)


def all_attacks(top: str, files: Files, good: bytes, rng: random.Random) -> list[Attack]:
    """Return every attack on a signed package."""
    makers: list[Callable[[], Iterator[Attack]]] = [
        lambda: file_attacks(top, files, rng),
        lambda: digest_attacks(top, files, rng),
        lambda: verdict_attacks(top, files),
        lambda: archive_attacks(good, rng),
        lambda: entry_attacks(top, files),
        lambda: bomb_attacks(top),
        lambda: renamed_attacks(top, files),
    ]
    return [attack for make in makers for attack in make()]
