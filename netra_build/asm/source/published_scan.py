"""The published format's own reading of templates: line patterns over plain text, kept exact.

These scanners see less than the assembler does; ``scan_difference`` tells where.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from netra_build.asm.source.include_walk import Reader, walk_includes
from netra_build.core.digests import sha256_hex
from netra_build.core.errors import BadInput

_BLANKS = r"[^\S\n]*"
"""Blanks within one line: ``\\s*`` there would find the same lines, but in quadratic time."""
INCLUDE = re.compile(rf'^{_BLANKS}\.include\s+"([^"]+)"{_BLANKS}$', re.MULTILINE)
REQUIREMENT = re.compile(
    rf"^{_BLANKS}NETRA_REQUIRE_EQ\s+([A-Z0-9_]+)\s*,\s*([0-9]+){_BLANKS}$", re.MULTILINE
)

_DROPPED_PREFIXES = (".file", ".loc", ".cfi_")
_SPECIAL = (*_DROPPED_PREFIXES, ".section")
"""What a line has to hold for there to be more to it than its blanks and comments."""


@dataclass(frozen=True)
class Requirement:
    """One fixed constant that a template asks for, and where it does."""

    name: str
    value: int
    file: str
    line: int


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


def published_closure(template: str, read: Reader, location: str) -> dict[str, bytes]:
    """Return the closure that the published pattern finds: names to bytes, depth first.

    Conditions, comments and macros are not understood, as the format has it. Raises ``BadInput``
    for what ``walk_includes`` refuses.
    """
    return walk_includes(
        template,
        read,
        location,
        lambda name, data: published_includes(published_text(data, name)),
    )


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
    if not any(word in text for word in _SPECIAL):
        lines = [
            _code(line) if "/" in line or ";" in line else " ".join(line.split())
            for line in text.splitlines()
        ]
        return "\n".join(filter(None, lines)) + "\n"
    kept = []
    in_debug = False
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith(".section"):
            words = stripped.split(None, 1)
            in_debug = len(words) > 1 and words[1].lstrip('"').startswith(".debug")
        if in_debug or stripped.startswith(_DROPPED_PREFIXES):
            continue
        code = _code(stripped)
        if code:
            kept.append(code)
    return "\n".join(kept) + "\n"


def _code(line: str) -> str:
    """Return a line without its comment, its blanks collapsed."""
    return " ".join(line.partition("//")[0].partition(";")[0].split())


def _numbered(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, re.Match[str]]]:
    """Yield each match with its line, counted from one, in one pass over the text."""
    line, at = 1, 0
    for match in pattern.finditer(text):
        line += text.count("\n", at, match.start(1))
        at = match.start(1)
        yield line, match


def _length(value: int) -> bytes:
    return struct.pack(">Q", value)
