"""Kernels under another name: an assembled object rewritten instead of assembled again.

Units that differ in symbol names only give objects that differ in the string table and in the
metadata note only; linking the rewritten object gives what assembling the other unit gives.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping

import msgpack

from netra_build.asm.objects.elf import (
    AMDGPU_MACHINE,
    ET_REL,
    HEADER_BYTES,
    SHT_NOTE,
    SHT_NULL,
    SHT_SYMTAB,
    SYMBOL_BYTES,
    ElfFile,
    read_elf,
    symbol_names,
)
from netra_build.asm.objects.metadata import NOTE_OWNER, NOTE_TYPE, decode_metadata, split_notes
from netra_build.asm.objects.rewrite import tail_merged, with_names, written
from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput

VALUE_OFFSET = 8
"""Place of the value in an entry of the symbol table."""


def rename_symbols(
    data: bytes,
    new_by_old: Mapping[str, str],
    location: str = "object",
    further: Mapping[str, str] | None = None,
    values: Mapping[str, int] | None = None,
) -> bytes:
    """Return a relocatable object with kernels renamed: symbol, descriptor symbol and metadata.

    ``new_by_old`` maps kernel symbols; each must be there, and no new name may be taken.
    ``further`` maps symbols that the object may not have, and ``values`` are those of constants.
    Raises ``BadInput`` for that and for objects that the assembler would have laid out otherwise.
    """
    elf = read_elf(data, location)
    if elf.header.machine != AMDGPU_MACHINE or elf.header.kind != ET_REL or elf.segments:
        raise BadInput("not an assembled AMDGPU object", location=location)
    table_index = _symbol_table(elf, location)
    strings_index = elf.header.names_index
    contents = {i: elf.content(s) for i, s in enumerate(elf.sections) if s.kind != SHT_NULL}
    symbols = contents[table_index]
    before = symbol_names(symbols, contents.get(strings_index, b""), location)
    there = {old: new for old, new in (further or {}).items() if old in before}
    renamed = {**new_by_old, **there}
    names = _renamed_symbols(before, renamed, location)
    strings, places = tail_merged(
        [s.text for s in elf.sections if s.text] + [name for name in names if name]
    )
    contents[strings_index] = strings
    contents[table_index] = _valued(with_names(symbols, names, places), names, values or {})
    for index, section in enumerate(elf.sections):
        if section.kind == SHT_NOTE:
            contents[index] = _renamed_notes(contents[index], renamed, location)
    sections = [
        s if s.kind == SHT_NULL else s._replace(name=places[s.text] if s.text else 0)
        for s in elf.sections
    ]
    return written(elf.header, bytes(HEADER_BYTES), sections, contents)


def _symbol_table(elf: ElfFile, location: str) -> int:
    """Return the index of the symbol table, which shares its names' table with the sections."""
    found = [i for i, s in enumerate(elf.sections) if s.kind == SHT_SYMTAB]
    if len(found) != 1:
        raise BadInput("object has no symbol table of its own", location=location)
    table = elf.sections[found[0]]
    if table.size % SYMBOL_BYTES or table.link >= len(elf.sections):
        raise BadInput("symbol table is damaged", location=location)
    if table.link != elf.header.names_index:
        raise BadInput("symbols and sections have separate name tables", location=location)
    return found[0]


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


def _valued(symbols: bytes, names: list[str], values: Mapping[str, int]) -> bytes:
    """Return the symbol table with other values of constants, which are absolute symbols."""
    table = bytearray(symbols)
    for index, name in enumerate(names):
        if name in values:
            place = index * SYMBOL_BYTES + VALUE_OFFSET
            struct.pack_into("<Q", table, place, values[name] % 2**64)
    return bytes(table)


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
