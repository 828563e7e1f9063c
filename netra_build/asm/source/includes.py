"""Files that include each other: the walk over them, and how the published format reads them."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from netra_build.core.digests import sha256_hex
from netra_build.core.disk import relative_name
from netra_build.core.errors import BadInput, NetraError

MAX_FILES = 4096
MAX_CLOSURE_BYTES = 64 * 1024 * 1024

Reader = Callable[[str], bytes]
"""Gives the bytes of a root-relative name; raises a ``NetraError`` when it cannot."""

Includes = Callable[[str, bytes], Iterable[tuple[int, str]]]
"""Gives the (line, name as written) of each include in a file of a name and bytes."""

_BLANKS = r"[^\S\n]*"
"""Blanks within one line: ``\\s*`` there would find the same lines, but in quadratic time."""
INCLUDE = re.compile(rf'^{_BLANKS}\.include\s+"([^"]+)"{_BLANKS}$', re.MULTILINE)
REQUIREMENT = re.compile(
    rf"^{_BLANKS}NETRA_REQUIRE_EQ\s+([A-Z0-9_]+)\s*,\s*([0-9]+){_BLANKS}$", re.MULTILINE
)

_DROPPED_PREFIXES = (".file", ".loc", ".cfi_")


@dataclass(frozen=True)
class Requirement:
    """One fixed constant that a template asks for, and where it does."""

    name: str
    value: int
    file: str
    line: int


def walk_includes(
    template: str, read: Reader, location: str, includes: Includes
) -> dict[str, bytes]:
    """Return the closure of ``template``: names to bytes, depth first, each at its first visit.

    Raises ``BadInput``, at the including file and line (for the template at ``location``): a name
    that leaves the root or cannot be read, more than ``MAX_FILES`` files or ``MAX_CLOSURE_BYTES``.
    """
    found: dict[str, bytes] = {}
    held = 0
    waiting = [(template, location)]
    while waiting:
        written, place = waiting.pop()
        name = relative_name(written, place)
        if name in found:
            continue
        found[name] = _read(name, read, place)
        held += len(found[name])
        if len(found) > MAX_FILES or held > MAX_CLOSURE_BYTES:
            raise BadInput(
                "include closure is too large",
                location=place,
                expected=f"at most {MAX_FILES} files of {MAX_CLOSURE_BYTES} bytes",
                got="more",
            )
        rows = list(includes(name, found[name]))
        waiting.extend((written, f"{name}:{line}") for line, written in reversed(rows))
    return found


def _read(name: str, read: Reader, place: str) -> bytes:
    try:
        return read(name)
    except NetraError as error:
        raise BadInput(
            f'included file "{name}" cannot be used: {error.fact}', location=place
        ) from None


def published_text(data: bytes, location: str) -> str:
    """Return a file's text with every line end as one line feed; ``BadInput`` if not UTF-8."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"not valid UTF-8 at byte {error.start}", location=location) from None
    return text.replace("\r\n", "\n").replace("\r", "\n")


def published_includes(text: str) -> Iterator[tuple[int, str]]:
    """Yield (line, path as written) of each include that the published pattern finds."""
    yield from ((line, match[1]) for line, match in _numbered(INCLUDE, text))


def published_requirements(files: Mapping[str, bytes]) -> tuple[Requirement, ...]:
    """Return the guard lines that the published pattern finds, in closure order."""
    return tuple(
        Requirement(match[1], int(match[2]), name, line)
        for name, data in files.items()
        for line, match in _numbered(REQUIREMENT, published_text(data, name))
        if len(match[2]) <= 20
    )


def source_closure_sha256(files: Mapping[str, bytes]) -> str:
    """Return the SHA-256 over each name and content, both with their lengths in front."""
    parts = []
    for name, data in files.items():
        encoded = name.encode("utf-8")
        parts += [_length(len(encoded)), encoded, _length(len(data)), data]
    return sha256_hex(b"".join(parts))


def published_computational_sha256(files: Mapping[str, bytes]) -> str:
    """Return the SHA-256 over each file's index and normalised text."""
    parts = []
    for index, (name, data) in enumerate(files.items()):
        text = _normalised_bytes(data, name)
        parts += [_length(index), _length(len(text)), text]
    return sha256_hex(b"".join(parts))


@lru_cache(maxsize=128)
def _normalised_bytes(data: bytes, name: str) -> bytes:
    """Normalise a file; what many closures share is done once."""
    return normalised_text(published_text(data, name)).encode("utf-8")


def normalised_text(text: str) -> str:
    """Return a file's text without comments, debug sections and debug lines, blanks collapsed.

    Lines end wherever Python's ``splitlines`` ends them, and blanks are Unicode white space.
    """
    kept = []
    in_debug = False
    for line in text.splitlines():
        words = line.split()
        code = " ".join(words)
        if code[:1] == ".":
            if code.startswith(".section"):
                in_debug = len(words) > 1 and words[1].lstrip('"').startswith(".debug")
            elif code.startswith(_DROPPED_PREFIXES):
                continue
        if in_debug:
            continue
        if ";" in code or "//" in code:
            code = code.partition("//")[0].partition(";")[0].rstrip()
        kept.append(code)
    return "\n".join(filter(None, kept)) + "\n"


def _numbered(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield each match with its line, counted from one, in one pass over the text."""
    line, at = 1, 0
    for match in pattern.finditer(text):
        line += text.count("\n", at, match.start(1))
        at = match.start(1)
        yield line, match


def _length(value: int) -> bytes:
    return struct.pack(">Q", value)
