"""ELF headers as plain numbers, for rewriting code objects byte by byte (64-bit, little-endian)."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from netra_build.core.errors import BadInput

HEADER_BYTES = 64
SEGMENT_BYTES = 56
SECTION_BYTES = 64
SYMBOL_BYTES = 24
MAX_SECTIONS = 4096
MAX_SEGMENTS = 256
MAX_ALIGN = 64 * 1024

AMDGPU_MACHINE = 224
ET_REL, ET_DYN = 1, 3
SHT_NULL, SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA = 0, 1, 2, 3, 4
SHT_HASH, SHT_DYNAMIC, SHT_NOTE, SHT_NOBITS, SHT_DYNSYM = 5, 6, 7, 8, 11
SHT_GNU_HASH = 0x6FFFFFF6
SHF_ALLOC = 2
PT_LOAD = 1

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")


class ElfHeader(NamedTuple):
    """The file header."""

    ident: bytes
    kind: int
    machine: int
    version: int
    entry: int
    segments_at: int
    sections_at: int
    flags: int
    header_size: int
    segment_size: int
    segment_count: int
    section_size: int
    section_count: int
    names_index: int

    def packed(self) -> bytes:
        """Return the header's 64 bytes."""
        return _HEADER.pack(*self)


class SegmentHeader(NamedTuple):
    """One program header. Offsets, addresses and sizes are bytes."""

    kind: int
    flags: int
    offset: int
    address: int
    physical: int
    file_size: int
    memory_size: int
    align: int

    def packed(self) -> bytes:
        """Return the header's 56 bytes."""
        return _SEGMENT.pack(*self)


class SectionHeader(NamedTuple):
    """One section header. ``name`` is the place in the name table; ``text`` the name itself."""

    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    align: int
    entry_size: int
    text: str = ""

    @property
    def stored(self) -> int:
        """Bytes that the section takes in the file."""
        return 0 if self.kind in (SHT_NOBITS, SHT_NULL) else self.size

    def packed(self) -> bytes:
        """Return the header's 64 bytes."""
        return _SECTION.pack(*self[:-1])


@dataclass(frozen=True)
class ElfFile:
    """A whole ELF file: its bytes and its headers."""

    data: bytes
    header: ElfHeader
    segments: tuple[SegmentHeader, ...]
    sections: tuple[SectionHeader, ...]

    def content(self, section: SectionHeader) -> bytes:
        """Return the bytes that a section stores."""
        return self.data[section.offset : section.offset + section.stored]


def read_elf(data: bytes, location: str) -> ElfFile:
    """Read all headers; ``BadInput`` unless they are whole, of the known sizes and in the file."""
    if data[:7] != b"\x7fELF\x02\x01\x01" or len(data) < HEADER_BYTES:
        raise BadInput("not a 64-bit little-endian ELF file", location=location)
    header = ElfHeader(*_HEADER.unpack_from(data))
    if header.segment_count and header.segment_size != SEGMENT_BYTES:
        raise BadInput("program headers have an unknown size", location=location)
    if header.section_size != SECTION_BYTES or header.header_size != HEADER_BYTES:
        raise BadInput("section headers have an unknown size", location=location)
    if header.segment_count > MAX_SEGMENTS or not 0 < header.section_count <= MAX_SECTIONS:
        raise BadInput("unusable number of headers", location=location)
    segments_end = header.segments_at + header.segment_count * SEGMENT_BYTES
    sections_end = header.sections_at + header.section_count * SECTION_BYTES
    if max(segments_end, sections_end) > len(data):
        raise BadInput("headers leave the file", location=location)
    segments = [
        SegmentHeader(*row) for row in _SEGMENT.iter_unpack(data[header.segments_at : segments_end])
    ]
    sections = [
        SectionHeader(*row) for row in _SECTION.iter_unpack(data[header.sections_at : sections_end])
    ]
    ends = [section.offset + section.stored for section in sections if section.stored]
    ends += [segment.offset + segment.file_size for segment in segments if segment.file_size]
    if max(ends, default=0) > len(data):
        raise BadInput("section or segment leaves the file", location=location)
    if max([section.align for section in sections]) > MAX_ALIGN:
        raise BadInput("section has an unusable alignment", location=location)
    named = _named(data, sections, header.names_index, location)
    return ElfFile(data, header, tuple(segments), named)


def is_whole(data: bytes) -> bool:
    """Tell whether a file is an ELF file with all sections that it speaks of, however many."""
    if data[:7] != b"\x7fELF\x02\x01\x01" or len(data) < HEADER_BYTES:
        return False
    header = ElfHeader(*_HEADER.unpack_from(data))
    at = header.sections_at
    if header.section_size != SECTION_BYTES or at + SECTION_BYTES > len(data):
        return False
    # From 65280 sections on, their number stands where the first header has its size.
    count = header.section_count or SectionHeader(*_SECTION.unpack_from(data, at)).size
    if at + count * SECTION_BYTES > len(data):
        return False
    places = range(at, at + count * SECTION_BYTES, SECTION_BYTES)
    sections = (SectionHeader(*_SECTION.unpack_from(data, place)) for place in places)
    return all(one.offset + one.stored <= len(data) for one in sections)


def _named(
    data: bytes, sections: Sequence[SectionHeader], names_index: int, location: str
) -> tuple[SectionHeader, ...]:
    """Return the sections with their names, which stand in one of them."""
    if names_index >= len(sections):
        raise BadInput("section names are missing", location=location)
    names = sections[names_index]
    table = data[names.offset : names.offset + names.stored]
    return tuple(
        [SectionHeader(*one[:-1], string_at(table, one.name, location)) for one in sections]
    )


def string_at(table: bytes, at: int, location: str) -> str:
    """Return the zero-ended string at a place of a string table; ``BadInput`` outside it."""
    end = table.find(b"\0", at, at + 4096)
    if end < 0:
        raise BadInput("name leaves its string table", location=location)
    return table[at:end].decode("latin-1")


def tail_merged(strings: Sequence[str]) -> tuple[bytes, dict[str, int]]:
    """Return a string table as LLVM builds it when it shares endings, and each string's place."""
    encoded = {text: text.encode("latin-1") for text in strings}
    table = bytearray(b"\0")
    places: dict[str, int] = {}
    previous = b""
    for text in sorted(encoded, key=lambda t: encoded[t][::-1], reverse=True):
        raw = encoded[text]
        if previous.endswith(raw):
            places[text] = len(table) - len(raw) - 1
            continue
        places[text] = len(table)
        table += raw + b"\0"
        previous = raw
    return bytes(table), places


def aligned(value: int, align: int, skew: int = 0) -> int:
    """Return the smallest number from ``value`` on that equals ``skew`` modulo ``align``."""
    step = max(align, 1)
    return value + (skew - value) % step
