"""Sections and symbols of a code object by the general ELF reader, for what is unusual in one."""

from __future__ import annotations

import io
import struct

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import Section as ElfSection
from elftools.elf.sections import SymbolTableSection

from netra_build.asm.objects.plain_tables import MAX_SECTIONS, MAX_SYMBOLS, Section, Symbol, Tables
from netra_build.core.errors import BadInput


def general_tables(data: bytes, location: str) -> Tables:
    """Return sections and dynamic symbols by the general reader, which refuses with a reason."""
    try:
        elf = _bounded_elf(data, location)
        return _sections(elf, data, location), _symbols(elf, location)
    except (ELFError, ConstructError):
        raise BadInput("code object is damaged", location=location) from None


def _bounded_elf(data: bytes, location: str) -> ELFFile:
    (count,) = struct.unpack_from("<H", data, 60)
    if not 0 < count <= MAX_SECTIONS:
        raise BadInput(
            "code object has an unusable number of sections",
            location=location,
            expected=f"1 to {MAX_SECTIONS}",
            got=count,
        )
    return ELFFile(io.BytesIO(data))


def _sections(elf: ELFFile, data: bytes, location: str) -> tuple[Section, ...]:
    """Read all sections; overlapping claims cannot make them hold more than twice the file."""
    result = []
    held = 0
    for entry in elf.iter_sections():
        size, offset = entry["sh_size"], entry["sh_offset"]
        stored = entry["sh_type"] not in ("SHT_NOBITS", "SHT_NULL")
        if stored and offset + size > len(data):
            raise BadInput(f'section "{entry.name}" leaves the file', location=location)
        held += size if stored else 0
        if held > 2 * len(data):
            raise BadInput("sections overlap", location=location)
        result.append(
            Section(
                name=entry.name,
                kind=_plain(entry["sh_type"], "SHT_"),
                address=entry["sh_addr"],
                offset=offset,
                size=size,
                flags=entry["sh_flags"],
                data=data[offset : offset + size] if stored else b"",
            )
        )
    return tuple(result)


def _symbols(elf: ELFFile, location: str) -> tuple[Symbol, ...]:
    table: ElfSection | None = elf.get_section_by_name(".dynsym")
    if not isinstance(table, SymbolTableSection):
        raise BadInput("code object has no dynamic symbol table", location=location)
    if table["sh_entsize"] != 24 or table["sh_size"] // 24 > MAX_SYMBOLS:
        raise BadInput("dynamic symbol table is unusable", location=location)
    return tuple(
        Symbol(
            name=symbol.name,
            address=symbol["st_value"],
            size=symbol["st_size"],
            kind=_plain(symbol["st_info"]["type"], "STT_"),
            binding=_plain(symbol["st_info"]["bind"], "STB_"),
            visibility=_plain(symbol["st_other"]["visibility"], "STV_"),
        )
        for index, symbol in enumerate(table.iter_symbols())
        if index
    )


def _plain(value: object, prefix: str) -> str:
    """Return the ELF reader's constant without prefix, in lower case; unknown ones as numbers."""
    return str(value).removeprefix(prefix).lower()
