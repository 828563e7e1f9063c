"""Sections and dynamic symbols of a code object as linkers write it, read without a general reader.

What is unusual in any way is left to the general reader, which finds the words for what is wrong.
"""

from __future__ import annotations

import struct
from itertools import repeat
from typing import NamedTuple

from netra_build.asm.objects.elf_layout import (
    SHT_DYNAMIC,
    SHT_DYNSYM,
    SHT_GNU_HASH,
    SHT_HASH,
    SHT_NOBITS,
    SHT_NOTE,
    SHT_NULL,
    SHT_PROGBITS,
    SHT_RELA,
    SHT_STRTAB,
    SHT_SYMTAB,
    SYMBOL_BYTES,
    ElfFile,
    SectionHeader,
    read_elf,
)
from netra_build.core.errors import NetraError

MAX_SECTIONS = 1024
MAX_SYMBOLS = 65536

_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION_BYTES = 24
_KINDS = {
    SHT_NULL: "null",
    SHT_PROGBITS: "progbits",
    SHT_SYMTAB: "symtab",
    SHT_STRTAB: "strtab",
    SHT_RELA: "rela",
    SHT_HASH: "hash",
    SHT_DYNAMIC: "dynamic",
    SHT_NOTE: "note",
    SHT_NOBITS: "nobits",
    SHT_DYNSYM: "dynsym",
    SHT_GNU_HASH: "gnu_hash",
}
_SYMBOL_TABLES = (SHT_SYMTAB, SHT_DYNSYM)
_LINKED = {
    SHT_SYMTAB: (SHT_STRTAB,),
    SHT_DYNSYM: (SHT_STRTAB,),
    SHT_DYNAMIC: (SHT_STRTAB,),
    SHT_HASH: _SYMBOL_TABLES,
    SHT_GNU_HASH: _SYMBOL_TABLES,
}
"""Of what kind the section is that one of another kind speaks of."""

_TYPES = {0: "notype", 1: "object", 2: "func", 3: "section"}
_BINDINGS = {0: "local", 1: "global", 2: "weak"}
_VISIBILITIES = {0: "default", 1: "internal", 2: "hidden", 3: "protected"}


class Section(NamedTuple):
    """One section. Address, offset and size are bytes; ``data`` is empty when none is stored."""

    name: str
    kind: str
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
    binding: str
    visibility: str


Tables = tuple[tuple[Section, ...], tuple[Symbol, ...]]


def plain_tables(data: bytes, max_sections: int, max_symbols: int) -> Tables | None:
    """Return sections and dynamic symbols, or None for a file that is unusual or damaged."""
    try:
        elf = read_elf(data, "")
    except NetraError:
        return None
    names = [section.text for section in elf.sections]
    if len(names) > max_sections or len(set(names)) != len(names):
        return None
    if sum(section.stored for section in elf.sections) > 2 * len(data):
        return None
    contents = [elf.content(section) for section in elf.sections]
    if not all(map(_is_plain, repeat(elf), elf.sections, contents)):
        return None
    symbols = _symbols(elf, max_symbols)
    return (tuple(map(_section, elf.sections, contents)), symbols) if symbols else None


def _is_plain(elf: ElfFile, section: SectionHeader, data: bytes) -> bool:
    """Tell whether a section is of a known kind and its tables lie inside it."""
    if section.kind not in _KINDS or not section.text.isascii():
        return False
    if section.kind in _LINKED:
        linked = elf.sections[section.link] if section.link < len(elf.sections) else None
        if linked is None or linked.kind not in _LINKED[section.kind]:
            return False
    if section.kind in _SYMBOL_TABLES:
        return section.entry_size == SYMBOL_BYTES and len(data) % SYMBOL_BYTES == 0
    if section.kind == SHT_RELA:
        return section.entry_size == _RELOCATION_BYTES
    if section.kind == SHT_HASH:
        return len(data) >= 8 and 8 + 4 * sum(struct.unpack_from("<2I", data)) <= len(data)
    if section.kind == SHT_GNU_HASH:
        if len(data) < 16:
            return False
        buckets, _, bloom, _ = struct.unpack_from("<4I", data)
        return bool(16 + 8 * bloom + 4 * buckets <= len(data))
    return True


def _section(section: SectionHeader, data: bytes) -> Section:
    return Section(
        section.text,
        _KINDS[section.kind],
        section.address,
        section.offset,
        section.size,
        section.flags,
        data,
    )


def _symbols(elf: ElfFile, most: int) -> tuple[Symbol, ...] | None:
    """Return all symbols but the first, which is none; None when one is unusual."""
    tables = [section for section in elf.sections if section.text == ".dynsym"]
    if len(tables) != 1 or tables[0].kind != SHT_DYNSYM:
        return None
    table, names = elf.content(tables[0]), elf.sections[tables[0].link]
    if len(table) // SYMBOL_BYTES > most:
        return None
    texts = elf.content(names)
    found = [_symbol(texts, row) for row in list(_SYMBOL.iter_unpack(table))[1:]]
    known = tuple(symbol for symbol in found if symbol is not None)
    return known if len(known) == len(found) else None


def _symbol(texts: bytes, row: tuple[int, ...]) -> Symbol | None:
    at, info, other, _, address, size = row
    end = texts.find(b"\0", at)
    name = texts[at:end] if 0 <= at < end else b""
    kind, binding = _TYPES.get(info & 15), _BINDINGS.get(info >> 4)
    visibility = _VISIBILITIES.get(other)
    if not name.isascii() or not name or kind is None or binding is None or visibility is None:
        return None
    return Symbol(name.decode("ascii"), address, size, kind, binding, visibility)
