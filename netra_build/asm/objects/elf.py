"""ELF files (64-bit, little-endian) as headers, names and contents, read and written whole."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import NamedTuple

from netra_build.core.errors import BadInput

MAGIC = b"\x7fELF"
HEADER_BYTES = 64
SEGMENT_BYTES = 56
SECTION_BYTES = 64
SYMBOL_BYTES = 24
MAX_SECTIONS = 4096
MAX_SEGMENTS = 256
MAX_ALIGN = 64 * 1024
MAX_SYMBOLS = 65536
MAX_NAME_BYTES = 4096

AMDGPU_MACHINE = 224
ET_REL, ET_DYN = 1, 3
SHT_NULL, SHT_SYMTAB, SHT_NOTE, SHT_NOBITS, SHT_DYNSYM = 0, 2, 7, 8, 11
SHT_STRTAB, SHT_RELA, SHT_HASH, SHT_DYNAMIC, SHT_REL = 3, 4, 5, 6, 9
SHT_GNU_HASH = 0x6FFFFFF6
SHF_ALLOC = 2
PT_LOAD = 1

_KIND = MAGIC + b"\2\1\1"
_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SEGMENT = struct.Struct("<IIQQQQQQ")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SECTION_KINDS = (
    *("null", "progbits", "symtab", "strtab", "rela", "hash", "dynamic", "note", "nobits"),
    *("rel", "shlib", "dynsym", "12", "13", "init_array", "fini_array"),
)
"""The words of the ELF standard, by number."""
_ENTRY_BYTES = {SHT_SYMTAB: SYMBOL_BYTES, SHT_DYNSYM: SYMBOL_BYTES, SHT_RELA: 24, SHT_REL: 16}
_LINKED = {
    **dict.fromkeys((SHT_SYMTAB, SHT_DYNSYM, SHT_DYNAMIC), (SHT_STRTAB,)),
    **dict.fromkeys((SHT_HASH, SHT_GNU_HASH), (SHT_SYMTAB, SHT_DYNSYM)),
}
"""Of what kind the section is that one of another kind speaks of."""
_SYMBOL_KINDS = ("notype", "object", "func", "section", "file", "common", "tls")


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

    @classmethod
    def of(cls, data: bytes, location: str) -> ElfHeader:
        """Read the header of a file; ``BadInput`` for another kind of file."""
        if not is_elf64(data) or len(data) < HEADER_BYTES:
            raise BadInput("not a 64-bit little-endian ELF file", location=location)
        header = cls(*_HEADER.unpack_from(data))
        if header.segment_count and header.segment_size != SEGMENT_BYTES:
            raise BadInput("program headers have an unknown size", location=location)
        return header

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


class Section(NamedTuple):
    """One section. Address, offset and size are bytes; ``data`` is empty when none is stored."""

    name: str
    kind: str
    """In the word of the ELF standard, in lower case; a number when that has none."""
    address: int
    offset: int
    size: int
    flags: int
    data: bytes


class Symbol(NamedTuple):
    """One dynamic symbol; the loader sees these only."""

    name: str
    address: int
    size: int
    kind: str


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


def read_headers(data: bytes, location: str) -> ElfFile:
    """Read all headers; ``BadInput`` unless they are whole and of the known sizes.

    What they say of contents may still be wrong.
    """
    return _named(_unnamed(data, location), location)


def read_elf(data: bytes, location: str) -> ElfFile:
    """Read all headers; ``BadInput`` also for contents outside the file and odd alignments."""
    elf = _unnamed(data, location)
    ends = [section.offset + section.stored for section in elf.sections if section.stored]
    ends += [segment.offset + segment.file_size for segment in elf.segments if segment.file_size]
    if max(ends, default=0) > len(data):
        raise BadInput("section or segment leaves the file", location=location)
    if max(section.align for section in elf.sections) > MAX_ALIGN:
        raise BadInput("section has an unusable alignment", location=location)
    return _named(elf, location)


def _unnamed(data: bytes, location: str) -> ElfFile:
    header = ElfHeader.of(data, location)
    if header.section_size != SECTION_BYTES or header.header_size != HEADER_BYTES:
        raise BadInput("section headers have an unknown size", location=location)
    if header.segment_count > MAX_SEGMENTS or not 0 < header.section_count <= MAX_SECTIONS:
        raise BadInput("unusable number of headers", location=location)
    segments_end = header.segments_at + header.segment_count * SEGMENT_BYTES
    sections_end = header.sections_at + header.section_count * SECTION_BYTES
    if max(segments_end, sections_end) > len(data):
        raise BadInput("headers leave the file", location=location)
    segments = segments_in(data[header.segments_at : segments_end])
    sections = _SECTION.iter_unpack(data[header.sections_at : sections_end])
    return ElfFile(data, header, segments, tuple([SectionHeader(*row) for row in sections]))


def segments_in(table: bytes) -> tuple[SegmentHeader, ...]:
    """Return the program headers of a table of whole ones."""
    return tuple([SegmentHeader(*row) for row in _SEGMENT.iter_unpack(table)])


def _named(elf: ElfFile, location: str) -> ElfFile:
    """Return the file with the names of its sections, which stand in one of them."""
    if elf.header.names_index >= len(elf.sections):
        raise BadInput("section names are missing", location=location)
    table = elf.content(elf.sections[elf.header.names_index])
    named = [SectionHeader(*one[:-1], string_at(table, one.name, location)) for one in elf.sections]
    return ElfFile(elf.data, elf.header, elf.segments, tuple(named))


def is_elf64(data: bytes) -> bool:
    """Tell whether a file begins as a 64-bit little-endian ELF file does."""
    return data.startswith(_KIND)


def is_whole(data: bytes) -> bool:
    """Tell whether a file is an ELF file up to its section headers, which LLVM writes last."""
    if not is_elf64(data) or len(data) < HEADER_BYTES:
        return False
    header = ElfHeader(*_HEADER.unpack_from(data))
    if header.sections_at + SECTION_BYTES > len(data):
        return False
    # From 65280 sections on, their number stands where the first header has its size.
    first = SectionHeader(*_SECTION.unpack_from(data, header.sections_at))
    count = header.section_count or first.size
    return header.sections_at + count * SECTION_BYTES <= len(data)


def read_sections(elf: ElfFile, location: str) -> tuple[Section, ...]:
    """Read all sections; overlapping claims cannot make them hold more than twice the file."""
    result = []
    held = 0
    for header in elf.sections:
        name = _decoded(header.text)
        if header.stored and header.offset + header.size > len(elf.data):
            raise BadInput(f'section "{name}" leaves the file', location=location)
        held += header.stored
        if held > 2 * len(elf.data):
            raise BadInput("sections overlap", location=location)
        kind, (_, _, flags, address, offset, size, *_) = _word(_SECTION_KINDS, header.kind), header
        result.append(Section(name, kind, address, offset, size, flags, elf.content(header)))
    return tuple(result)


def refuse_damaged_tables(elf: ElfFile, location: str) -> None:
    """Raise ``BadInput`` for a table whose entries, or whose section of names, are not its own."""
    for section in elf.sections:
        link = elf.sections[section.link].kind if section.link < len(elf.sections) else None
        linked, size = _LINKED.get(section.kind), _ENTRY_BYTES.get(section.kind)
        is_odd = size is not None and (section.entry_size != size or section.size % size != 0)
        if is_odd or (linked and link not in linked) or not _holds_hash(section, elf):
            raise BadInput("code object is damaged", location=location)


def _holds_hash(section: SectionHeader, elf: ElfFile) -> bool:
    """Tell whether the counts at the beginning of a hash table fit into it."""
    data, words = elf.content(section), {SHT_HASH: 2, SHT_GNU_HASH: 4}.get(section.kind, 0)
    if len(data) < 4 * words:
        return False
    counts = struct.unpack_from(f"<{words}I", data)
    if section.kind == SHT_HASH:
        return bool(8 + 4 * sum(counts) <= len(data))
    return not counts or 16 + 4 * counts[0] + 8 * counts[2] <= len(data)


def read_symbols(elf: ElfFile, location: str) -> tuple[Symbol, ...]:
    """Return all dynamic symbols but the first, which is none."""
    tables = [section for section in elf.sections if section.text == ".dynsym"]
    if len(tables) != 1 or (table := tables[0]).kind not in (SHT_SYMTAB, SHT_DYNSYM):
        raise BadInput("code object has no dynamic symbol table", location=location)
    count, rest = divmod(table.size, SYMBOL_BYTES)
    if count > MAX_SYMBOLS:
        raise BadInput("dynamic symbol table is unusable", location=location)
    if table.entry_size != SYMBOL_BYTES or rest or table.link >= len(elf.sections):
        raise BadInput("code object is damaged", location=location)
    strings = elf.content(elf.sections[table.link])
    symbols = []
    for at, info, _, _, address, size in list(_SYMBOL.iter_unpack(elf.content(table)))[1:]:
        name, kind = _decoded(string_at(strings, at, location)), _word(_SYMBOL_KINDS, info & 15)
        symbols.append(Symbol(name, address, size, kind))
    return tuple(symbols)


def _word(words: tuple[str, ...], number: int) -> str:
    return words[number] if number < len(words) else str(number)


def _decoded(name: str) -> str:
    """Return a name of the tables as text; those of ours are UTF-8."""
    return name if name.isascii() else name.encode("latin-1").decode("utf-8", "replace")


def string_at(table: bytes, at: int, location: str) -> str:
    """Return the zero-ended string at a place of a string table; ``BadInput`` outside it."""
    end = table.find(b"\0", at, at + MAX_NAME_BYTES)
    if end < 0:
        raise BadInput("name leaves its string table", location=location)
    return table[at:end].decode("latin-1")


def symbol_names(symbols: bytes, strings: bytes, location: str) -> list[str]:
    """Return every symbol's name in table order."""
    return [
        string_at(strings, struct.unpack_from("<I", symbols, at)[0], location)
        for at in range(0, len(symbols), SYMBOL_BYTES)
    ]
