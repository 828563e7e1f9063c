"""Rewriting a linked code object as ``llvm-objcopy`` does when it copies without a change.

The published layout dumps ``.text`` with a program that rewrites the object in place, so its
code objects carry string tables in that program's order. Segments keep every byte.
"""

from __future__ import annotations

import struct

from netra_build.asm.objects.elf_layout import (
    PT_LOAD,
    SHF_ALLOC,
    SHT_NULL,
    SHT_SYMTAB,
    SYMBOL_BYTES,
    ElfFile,
    SectionHeader,
    aligned,
    read_elf,
    string_at,
    tail_merged,
)
from netra_build.core.errors import BadInput


def rewrite(data: bytes, location: str = "code object") -> bytes:
    """Return the object with its string tables built anew; doing it twice changes nothing.

    Raises ``BadInput`` for what is not laid out as the linker does it.
    """
    elf = read_elf(data, location)
    names, place_by_name = tail_merged([s.text for s in elf.sections if s.kind != SHT_NULL])
    contents = {elf.header.names_index: names, **_symbol_tables(elf, location)}
    end = _segments_end(elf, location)
    order = [
        i for i, s in enumerate(elf.sections) if s.kind != SHT_NULL and not s.flags & SHF_ALLOC
    ]
    order.sort(key=lambda index: elf.sections[index].offset)
    sections = list(elf.sections)
    tail = bytearray()
    for index in order:
        section = sections[index]
        content = contents.get(index, elf.content(section))
        offset = aligned(end + len(tail), section.align)
        tail += bytes(offset - end - len(tail)) + content
        sections[index] = section._replace(offset=offset, size=len(content))
    renamed = [
        s if s.kind == SHT_NULL else s._replace(name=place_by_name[s.text]) for s in sections
    ]
    return _written(elf, end, bytes(tail), renamed)


def _segments_end(elf: ElfFile, location: str) -> int:
    loads = [segment for segment in elf.segments if segment.kind == PT_LOAD]
    if not loads:
        raise BadInput("code object has no segment", location=location)
    return max(segment.offset + segment.file_size for segment in loads)


def _symbol_tables(elf: ElfFile, location: str) -> dict[int, bytes]:
    """Return the new contents of the symbol table and of its string table, by section index."""
    found = [(i, s) for i, s in enumerate(elf.sections) if s.kind == SHT_SYMTAB]
    if not found:
        return {}
    index, section = found[0]
    if len(found) > 1 or not 0 < section.link < len(elf.sections):
        raise BadInput("code object has an unusable symbol table", location=location)
    symbols, strings = elf.content(section), elf.content(elf.sections[section.link])
    count, rest = divmod(len(symbols), SYMBOL_BYTES)
    if rest or section.link == elf.header.names_index:
        raise BadInput("code object has an unusable symbol table", location=location)
    starts = [struct.unpack_from("<I", symbols, SYMBOL_BYTES * i)[0] for i in range(count)]
    texts = [string_at(strings, start, location) for start in starts]
    table, place_by_text = tail_merged([text for text in texts if text])
    result = bytearray(symbols)
    for position, text in enumerate(texts):
        place = place_by_text[text] if text else 0
        struct.pack_into("<I", result, SYMBOL_BYTES * position, place)
    return {index: bytes(result), section.link: table}


def _written(elf: ElfFile, end: int, tail: bytes, sections: list[SectionHeader]) -> bytes:
    headers_at = aligned(end + len(tail), 8)
    header = elf.header._replace(sections_at=headers_at)
    packed = header.packed()
    body = packed + elf.data[len(packed) : end] + tail
    table = b"".join(section.packed() for section in sections)
    return body + bytes(headers_at - len(body)) + table
