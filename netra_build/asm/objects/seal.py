"""Sealing: a code object without symbol table, comment and other sections that no loader reads.

Two tool chains of one LLVM version, and two spellings of a constant's name, then give the same
file. The result is what ``llvm-objcopy --strip-all --remove-section=.comment`` writes.
"""

from __future__ import annotations

from netra_build.asm.objects.elf_layout import (
    AMDGPU_MACHINE,
    ET_DYN,
    PT_LOAD,
    SHF_ALLOC,
    SHT_NOBITS,
    SHT_NULL,
    ElfFile,
    SectionHeader,
    aligned,
    read_elf,
    tail_merged,
)
from netra_build.core.errors import BadInput


def seal(data: bytes, location: str = "code object") -> bytes:
    """Return the sealed form of a linked code object; sealing twice changes nothing.

    Segments keep their bytes, offsets and addresses. Raises ``BadInput`` for what is no linked
    AMDGPU code object and for layouts that the linker does not make.
    """
    elf = read_elf(data, location)
    if elf.header.machine != AMDGPU_MACHINE or elf.header.kind != ET_DYN:
        raise BadInput("not a linked AMDGPU code object", location=location)
    end = _segments_end(elf, location)
    kept = _kept_sections(elf, location)
    names_position = kept.index(elf.header.names_index)
    table, places = tail_merged(
        [elf.sections[i].text for i in kept if elf.sections[i].kind != SHT_NULL]
    )
    new_index = {old: new for new, old in enumerate(kept)}
    sections = []
    for old in kept:
        section = elf.sections[old]
        if old == elf.header.names_index:
            align = max(section.align, 1)
            section = section._replace(offset=aligned(end, align), size=len(table))
        if section.kind != SHT_NULL:
            link = _renumbered(section, new_index, location)
            section = section._replace(name=places[section.text], link=link)
        sections.append(section)
    return _written(elf, end, table, sections, names_position)


def _segments_end(elf: ElfFile, location: str) -> int:
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
                raise BadInput(
                    f'section "{section.text}" is stored in a segment but not loaded',
                    location=location,
                )
            continue
        kept.append(index)
    return kept


def _is_loaded(elf: ElfFile, section: SectionHeader) -> bool:
    for segment in elf.segments:
        if segment.kind != PT_LOAD:
            continue
        start = section.address - segment.address
        if section.kind == SHT_NOBITS:
            if 0 <= start <= segment.memory_size - section.size:
                return True
        elif (
            0 <= start <= segment.file_size - section.size
            and section.offset == segment.offset + start
        ):
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
        raise BadInput(
            f'section "{section.text}" needs a section that sealing removes', location=location
        )
    return new_index[section.link]


def _written(
    elf: ElfFile, end: int, table: bytes, sections: list[SectionHeader], names_position: int
) -> bytes:
    """Put the file together: headers, segments in place, section names, section headers."""
    names_at = sections[names_position].offset
    headers_at = aligned(names_at + len(table), 8)
    result = bytearray(headers_at)
    for segment in elf.segments:
        span = slice(segment.offset, segment.offset + segment.file_size)
        result[span] = elf.data[span]
    result[names_at : names_at + len(table)] = table
    header = elf.header._replace(
        sections_at=headers_at,
        section_count=len(sections),
        names_index=names_position,
    )
    result[: len(header.packed())] = header.packed()
    return bytes(result) + b"".join(section.packed() for section in sections)
