"""What a general ELF reader finds damaged in headers and tables is no code object for us."""

from __future__ import annotations

import io
import random
import struct
from pathlib import Path

from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.core.errors import BadInput

FLIPS = 1500
LINKED = ("SHT_HASH", "SHT_GNU_HASH", "SHT_DYNAMIC", "SHT_DYNSYM", "SHT_SYMTAB")


def places_of(data: bytes) -> list[int]:
    """Return the places of all headers, and of the tables that the section headers name."""
    segments_at, sections_at = struct.unpack_from("<2Q", data, 32)
    segments, _, sections = struct.unpack_from("<3H", data, 56)
    found = [*range(64), *range(segments_at, segments_at + 56 * segments)]
    for at in range(sections_at, sections_at + 64 * sections, 64):
        found += range(at, at + 64)
        _, kind, _, _, offset, size = struct.unpack_from("<IIQQQQ", data, at)
        if kind in (2, 3, 5, 6, 11, 0x6FFFFFF6):
            found += range(offset, offset + size)
    return found


def is_read(data: bytes) -> bool:
    """Tell whether pyelftools can list all sections and symbols."""
    try:
        for section in ELFFile(io.BytesIO(data)).iter_sections():
            if section["sh_type"] in ("SHT_DYNSYM", "SHT_SYMTAB"):
                list(section.iter_symbols())
    except (ELFError, ConstructError, ValueError, TypeError, AttributeError, AssertionError):
        return False
    return True


def refusal(data: bytes) -> str:
    """Return why a code object is not read, nothing when it is."""
    try:
        read_code_object(data, "k")
    except BadInput as error:
        return error.line()
    return ""


def test_flipped_bits_that_a_general_reader_refuses_are_refused(
    root: Path, toolchain: Toolchain
) -> None:
    unit = (root / "golden/gfx950/moe_silu_quant_decode_m1/kernel.s").read_bytes()
    data = toolchain.link([toolchain.assemble(unit)])
    assert (is_read(data), refusal(data)) == (True, "")
    places, numbers, lax, refused = places_of(data), random.Random(7), [], 0
    for _ in range(FLIPS):
        at, bit = numbers.choice(places), 1 << numbers.randrange(8)
        flipped = data[:at] + bytes([data[at] ^ bit]) + data[at + 1 :]
        if not is_read(flipped):
            refused += 1
            lax += [] if refusal(flipped) else [(at, bit)]
    assert refused > FLIPS // 20
    assert lax == []


def test_a_table_that_leads_to_another_kind_of_section_is_damaged(
    root: Path, toolchain: Toolchain
) -> None:
    unit = (root / "golden/gfx950/moe_silu_quant_decode_m1/kernel.s").read_bytes()
    data = toolchain.link([toolchain.assemble(unit)])
    sections_at = struct.unpack_from("<Q", data, 40)[0]
    kinds = [one["sh_type"] for one in ELFFile(io.BytesIO(data)).iter_sections()]
    linked = [index for index, kind in enumerate(kinds) if kind in LINKED]
    assert len(linked) >= 4
    for index in linked:
        damaged = bytearray(data)
        struct.pack_into("<I", damaged, sections_at + 64 * index + 40, kinds.index("SHT_PROGBITS"))
        assert refusal(bytes(damaged)) == "k: code object is damaged"
