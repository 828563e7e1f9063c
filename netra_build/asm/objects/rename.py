"""Kernels under another name: an assembled object rewritten instead of assembled again.

Units that differ in symbol names only give objects that differ in the string table and in the
metadata note only; linking the rewritten object gives what assembling the other unit gives.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

import msgpack

from netra_build.asm.objects.elf_layout import (
    AMDGPU_MACHINE,
    ET_REL,
    HEADER_BYTES,
    SHT_NOTE,
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
from netra_build.asm.objects.metadata import NOTE_OWNER, NOTE_TYPE, decode_metadata, split_notes
from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput


def rename_symbols(
    data: bytes,
    new_by_old: Mapping[str, str],
    location: str = "object",
    further: Mapping[str, str] | None = None,
) -> bytes:
    """Return a relocatable object with kernels renamed: symbol, descriptor symbol and metadata.

    ``new_by_old`` maps kernel symbols; each must be there, and no new name may be taken.
    ``further`` maps other symbols, which the assembler may have dropped. Raises ``BadInput`` for
    that and for objects that the assembler would have laid out otherwise.
    """
    elf = read_elf(data, location)
    if elf.header.machine != AMDGPU_MACHINE or elf.header.kind != ET_REL or elf.segments:
        raise BadInput("not an assembled AMDGPU object", location=location)
    table_index, table = _symbol_table(elf, location)
    if table.link != elf.header.names_index:
        raise BadInput("symbols and sections have separate name tables", location=location)
    contents = {i: elf.content(s) for i, s in enumerate(elf.sections)}
    before = _symbol_names(contents[table_index], contents[table.link], location)
    there = {old: new for old, new in (further or {}).items() if old in before}
    names = _renamed_symbols(before, {**new_by_old, **there}, location)
    strings, places = tail_merged(
        [s.text for s in elf.sections if s.text] + [name for name in names if name]
    )
    places[""] = 0
    contents[table.link] = strings
    contents[table_index] = _with_names(contents[table_index], [places[name] for name in names])
    for index, section in enumerate(elf.sections):
        if section.kind == SHT_NOTE:
            contents[index] = _renamed_notes(contents[index], new_by_old, location)
    sections = [s if s.kind == SHT_NULL else s._replace(name=places[s.text]) for s in elf.sections]
    return _written(elf, sections, contents)


def _symbol_table(elf: ElfFile, location: str) -> tuple[int, SectionHeader]:
    found = [(i, s) for i, s in enumerate(elf.sections) if s.kind == SHT_SYMTAB]
    if len(found) != 1:
        raise BadInput("object has no symbol table of its own", location=location)
    index, table = found[0]
    if table.size % SYMBOL_BYTES or table.link >= len(elf.sections):
        raise BadInput("symbol table is damaged", location=location)
    return index, table


def _symbol_names(symbols: bytes, strings: bytes, location: str) -> list[str]:
    """Return every symbol's name in table order."""
    return [
        string_at(strings, struct.unpack_from("<I", symbols, at)[0], location)
        for at in range(0, len(symbols), SYMBOL_BYTES)
    ]


def _renamed_symbols(before: list[str], new_by_old: Mapping[str, str], location: str) -> list[str]:
    """Return every symbol's name after renaming, in table order."""
    wanted = dict(new_by_old)
    wanted.update({f"{old}.kd": f"{new}.kd" for old, new in new_by_old.items()})
    for missing in sorted(set(new_by_old) - set(before)):
        raise BadInput(f'object has no symbol "{missing}"', location=location)
    after = [wanted.get(name, name) for name in before]
    taken = sorted(set(wanted.values()) & (set(before) - set(wanted)))
    if taken or len(set(wanted.values())) != len(wanted):
        name = taken[0] if taken else "more than one"
        raise BadInput(f'new symbol name is taken: "{name}"', location=location)
    return after


def _with_names(symbols: bytes, places: list[int]) -> bytes:
    result = bytearray(symbols)
    for index, place in enumerate(places):
        struct.pack_into("<I", result, index * SYMBOL_BYTES, place)
    return bytes(result)


def _renamed_notes(section: bytes, new_by_old: Mapping[str, str], location: str) -> bytes:
    result = b""
    for note in split_notes(section, location):
        if note.owner + b"\0" != NOTE_OWNER or note.kind != NOTE_TYPE:
            raise BadInput(f"note type {note.kind} cannot be rewritten", location=location)
        document = decode_metadata(note.data, location)
        if msgpack.packb(document) != note.data:
            raise BadInput("metadata is encoded in an unknown way", location=location)
        _rename_kernels(document, new_by_old)
        encoded = msgpack.packb(document)
        head = struct.pack("<3I", len(NOTE_OWNER), len(encoded), NOTE_TYPE)
        result += head + NOTE_OWNER.ljust(8, b"\0") + encoded + bytes(-len(encoded) % 4)
    return result


def _rename_kernels(document: dict[str, Json], new_by_old: Mapping[str, str]) -> None:
    kernels = document.get("amdhsa.kernels")
    for kernel in kernels if isinstance(kernels, list) else []:
        if not isinstance(kernel, dict):
            continue
        for key, suffix in ((".name", ""), (".symbol", ".kd")):
            stated = kernel.get(key)
            if isinstance(stated, str) and stated.removesuffix(suffix) in new_by_old:
                kernel[key] = new_by_old[stated.removesuffix(suffix)] + suffix


def _written(elf: ElfFile, sections: list[SectionHeader], contents: Mapping[int, bytes]) -> bytes:
    """Lay the sections out again in their old order, then the section headers."""
    order = sorted(
        (i for i, s in enumerate(sections) if s.kind != SHT_NULL),
        key=lambda i: (sections[i].offset, i),
    )
    result = bytearray(HEADER_BYTES)
    for index in order:
        section = sections[index]
        offset = aligned(len(result), section.align)
        size = len(contents[index]) if section.stored or contents[index] else section.size
        sections[index] = section._replace(offset=offset, size=size)
        if contents[index]:
            result += bytes(offset - len(result)) + contents[index]
    headers_at = aligned(len(result), 8)
    result += bytes(headers_at - len(result))
    for section in sections:
        result += section.packed()
    header = elf.header._replace(sections_at=headers_at)
    result[:HEADER_BYTES] = header.packed()
    return bytes(result)
