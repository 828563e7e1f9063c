"""Linked code objects rewritten as ``llvm-objcopy`` does it; segments keep every byte.

``strip`` drops what no loader reads: two tool chains of one LLVM version, and two spellings of a
constant's name, then give the same file. ``rewrite`` drops nothing: the published layout dumps
``.text`` with a program that rewrites the object in place, so its string tables are in that
program's order.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence

from netra_build.asm.objects.elf import (
    AMDGPU_MACHINE,
    ET_DYN,
    HEADER_BYTES,
    PT_LOAD,
    SHF_ALLOC,
    SHT_NOBITS,
    SHT_NULL,
    SHT_SYMTAB,
    SYMBOL_BYTES,
    ElfFile,
    ElfHeader,
    SectionHeader,
    read_elf,
    symbol_names,
)
from netra_build.core.errors import BadInput


def strip(data: bytes, location: str = "code object") -> bytes:
    """Return what ``llvm-objcopy --strip-all --remove-section=.comment`` makes of a code object.

    Stripping twice changes nothing. Raises ``BadInput`` for what is no linked AMDGPU code object
    and for layouts that the linker does not make.
    """
    elf = read_elf(data, location)
    if elf.header.machine != AMDGPU_MACHINE or elf.header.kind != ET_DYN:
        raise BadInput("not a linked AMDGPU code object", location=location)
    end = _packed_end(elf, location)
    kept = _kept_sections(elf, location)
    table, places = tail_merged([elf.sections[i].text for i in kept if elf.sections[i].kind])
    new_index = {old: new for new, old in enumerate(kept)}
    sections = []
    for section in map(elf.sections.__getitem__, kept):
        if section.kind != SHT_NULL:
            link = _renumbered(section, new_index, location)
            section = section._replace(name=places[section.text], link=link)
        sections.append(section)
    start = bytearray(end)
    for segment in elf.segments:
        span = slice(segment.offset, segment.offset + segment.file_size)
        start[span] = elf.data[span]
    names_index = new_index[elf.header.names_index]
    header = elf.header._replace(names_index=names_index)
    return written(header, bytes(start), sections, {names_index: table})


def rewrite(data: bytes, location: str = "code object") -> bytes:
    """Return the object with its string tables built anew; doing it twice changes nothing.

    Raises ``BadInput`` for what is not laid out as the linker does it.
    """
    elf = read_elf(data, location)
    names, places = tail_merged([s.text for s in elf.sections if s.kind != SHT_NULL])
    contents = {
        index: elf.content(section)
        for index, section in enumerate(elf.sections)
        if section.kind != SHT_NULL and not section.flags & SHF_ALLOC
    }
    for index, content in {elf.header.names_index: names, **_symbols(elf, location)}.items():
        if index in contents:
            contents[index] = content
    loads = [segment for segment in elf.segments if segment.kind == PT_LOAD]
    if not loads:
        raise BadInput("code object has no segment", location=location)
    end = max(segment.offset + segment.file_size for segment in loads)
    sections = [s if s.kind == SHT_NULL else s._replace(name=places[s.text]) for s in elf.sections]
    return written(elf.header, elf.data[:end], sections, contents)


def _symbols(elf: ElfFile, location: str) -> dict[int, bytes]:
    """Return the new contents of the symbol table and of its string table, by section index."""
    found = [(i, s) for i, s in enumerate(elf.sections) if s.kind == SHT_SYMTAB]
    if not found:
        return {}
    (index, section), *others = found
    is_linked = 0 < section.link < len(elf.sections) and section.link != elf.header.names_index
    if others or not is_linked or section.size % SYMBOL_BYTES:
        raise BadInput("code object has an unusable symbol table", location=location)
    symbols, strings = elf.content(section), elf.content(elf.sections[section.link])
    names = symbol_names(symbols, strings, location)
    table, places = tail_merged([name for name in names if name])
    return {index: with_names(symbols, names, places), section.link: table}


def _packed_end(elf: ElfFile, location: str) -> int:
    """Return where the last segment's bytes end; refuse segments that a rewrite would move."""
    end = elf.header.segments_at + len(elf.segments) * elf.header.segment_size
    reached = 0
    loads = sorted((s for s in elf.segments if s.kind == PT_LOAD), key=lambda s: s.offset)
    if not loads or loads[0].offset or loads[0].file_size < end:
        raise BadInput("first segment does not hold the headers", location=location)
    for segment in loads:
        if segment.offset != aligned(reached, segment.align, segment.address):
            raise BadInput("segments are not packed", location=location)
        reached = segment.offset + segment.file_size
    for segment in elf.segments:
        if segment.offset + segment.file_size > reached:
            raise BadInput("segment lies outside the loaded ones", location=location)
    return reached


def _kept_sections(elf: ElfFile, location: str) -> list[int]:
    """Return the indices of the sections that stay: loaded ones and the section names."""
    kept = []
    for index, section in enumerate(elf.sections):
        is_names = index == elf.header.names_index
        if section.kind == SHT_NULL:
            if index or is_names:
                raise BadInput("section without a kind", location=location)
        elif section.flags & SHF_ALLOC:
            if is_names or not _is_loaded(elf, section):
                raise BadInput(f'section "{section.text}" lies in no segment', location=location)
        elif not is_names:
            if section.address or _is_stored_in_segment(elf, section):
                fact = f'section "{section.text}" is stored in a segment but not loaded'
                raise BadInput(fact, location=location)
            continue
        kept.append(index)
    return kept


def _is_loaded(elf: ElfFile, section: SectionHeader) -> bool:
    for segment in elf.segments:
        start = section.address - segment.address
        is_stored = section.kind != SHT_NOBITS
        size = segment.file_size if is_stored else segment.memory_size
        is_in_place = not is_stored or section.offset == segment.offset + start
        if segment.kind == PT_LOAD and 0 <= start <= size - section.size and is_in_place:
            return True
    return False


def _is_stored_in_segment(elf: ElfFile, section: SectionHeader) -> bool:
    return any(
        section.offset < segment.offset + segment.file_size
        and segment.offset < section.offset + section.stored
        for segment in elf.segments
    )


def _renumbered(section: SectionHeader, new_index: dict[int, int], location: str) -> int:
    if not section.link:
        return 0
    if section.link not in new_index:
        fact = f'section "{section.text}" needs a section that sealing removes'
        raise BadInput(fact, location=location)
    return new_index[section.link]


def with_names(symbols: bytes, names: Sequence[str], place_by_name: Mapping[str, int]) -> bytes:
    """Return a symbol table whose symbols have their names at other places."""
    result = bytearray(symbols)
    for index, name in enumerate(names):
        struct.pack_into("<I", result, index * SYMBOL_BYTES, place_by_name[name] if name else 0)
    return bytes(result)


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


def written(
    header: ElfHeader,
    start: bytes,
    sections: Sequence[SectionHeader],
    contents: Mapping[int, bytes],
) -> bytes:
    """Return the file that begins with ``start``, where what is not in ``contents`` stays.

    ``contents`` (by section index) are laid out behind it in the order of their former places, the
    section headers last. ``header`` is renewed at the front.
    """
    result, placed = bytearray(start), list(sections)
    for index in sorted(contents, key=lambda i: (sections[i].offset, i)):
        section, content = sections[index], contents[index]
        result += bytes(aligned(len(result), section.align) - len(result))
        size = section.size if section.kind == SHT_NOBITS else len(content)
        placed[index] = section._replace(offset=len(result), size=size)
        result += content
    result += bytes(aligned(len(result), 8) - len(result))
    header = header._replace(sections_at=len(result), section_count=len(sections))
    result[:HEADER_BYTES] = header.packed()
    return bytes(result) + b"".join(section.packed() for section in placed)
