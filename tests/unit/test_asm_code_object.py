"""Code objects: sections, symbols, kernels; damage of every kind gives one line."""

from __future__ import annotations

import base64
import io
import struct
from pathlib import Path

import pytest
from elftools.common.exceptions import ELFError
from elftools.construct import ConstructError
from elftools.elf.elffile import ELFFile

from netra_build.asm.objects.code_object import Symbol, read_code_object
from netra_build.core.errors import BadInput

SAMPLES = Path(__file__).parent / "asm_samples"
SECTIONS_AT, SECTION_COUNT = 0xA08, 14


def sample(name: str) -> bytes:
    return base64.b64decode((SAMPLES / f"{name}.base64").read_text())


LINKED = sample("two_kernels.hsaco")


def changed(offset: int, layout: str, *values: int) -> bytes:
    data = bytearray(LINKED)
    struct.pack_into(layout, data, offset, *values)
    return bytes(data)


def fault(data: bytes) -> str:
    with pytest.raises(BadInput) as caught:
        read_code_object(data, "k.hsaco")
    return str(caught.value)


def test_a_linked_object_is_read():
    code = read_code_object(LINKED, "k")
    assert code.data == LINKED
    assert (code.machine, code.e_flags, code.os_abi, code.abi_version) == (224, 0x54F, 64, 4)
    assert code.target == "amdgcn-amd-amdhsa--gfx950"
    assert [s.name for s in code.sections[:4]] == ["", ".note", ".dynsym", ".gnu.hash"]
    assert (code.text_address, len(code.text)) == (0x1700, 0x108)
    assert code.text[:4] == bytes.fromhex("000106c0")
    assert code.symbols == (
        Symbol("sample_first", 0x1700, 40, "func"),
        Symbol("sample_second", 0x1800, 8, "func"),
        Symbol("sample_first.kd", 0x640, 64, "object"),
        Symbol("sample_second.kd", 0x680, 64, "object"),
    )
    assert code.metadata["amdhsa.version"] == [1, 2]


def test_kernels_join_symbol_descriptor_code_and_metadata():
    first, second = read_code_object(LINKED, "k").kernels
    assert (first.symbol, first.descriptor_address, first.entry_address) == (
        "sample_first",
        0x640,
        0x1700,
    )
    assert (len(first.code), second.code.hex()) == (40, "010080bf000081bf")
    assert first.descriptor.entry_byte_offset == 0x1700 - 0x640
    assert first.metadata is not None
    assert [a.name for a in first.metadata.arguments] == ["output", "rows"]
    assert second.metadata is not None
    assert second.metadata.required_workgroup_size == (64, 1, 1)


def test_a_sealed_object_reads_the_same_kernels():
    assert read_code_object(sample("two_kernels.sealed"), "s").kernels == (
        read_code_object(LINKED, "k").kernels
    )


def test_sections_and_kernels_are_found_by_name():
    code = read_code_object(LINKED, "k")
    found = code.section(".rodata")
    assert found is not None
    assert (found.kind, found.address, found.size) == ("progbits", 0x640, 128)
    assert code.section(".data") is None
    assert code.kernel("sample_second", "k").entry_address == 0x1800
    with pytest.raises(BadInput) as caught:
        code.kernel("other", "k")
    assert str(caught.value) == (
        'k: code object has no kernel "other"; it has "sample_first", "sample_second"'
    )


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", "not a 64-bit little-endian ELF file"),
        (b"\x7fELF\x01\x01\x01" + bytes(90), "not a 64-bit little-endian ELF file"),
        (LINKED[:40], "code object is cut short"),
        (LINKED[:300], "code object is damaged"),
        (changed(18, "<H", 62), "ELF file is for another machine; expected 224, got 62"),
        (
            sample("two_kernels.o"),
            "code object is not linked; expected ELF type 3, got 1\n"
            "hint: link it with ld.lld -shared",
        ),
        (
            changed(60, "<H", 0),
            "code object has an unusable number of sections; expected 1 to 1024, got 0",
        ),
        (changed(SECTIONS_AT + 7 * 64 + 32, "<Q", 1 << 62), 'section ".text" leaves the file'),
        (changed(SECTIONS_AT + 7 * 64 + 24, "<Q", 1 << 63), 'section ".text" leaves the file'),
        (changed(SECTIONS_AT + 2 * 64 + 56, "<Q", 0), "code object is damaged"),
        (changed(SECTIONS_AT + 2 * 64, "<I", 0), "code object has no dynamic symbol table"),
        (
            changed(SECTIONS_AT + 1 * 64 + 4, "<I", 1),
            "code object has the wrong number of metadata notes; expected 1, got 0",
        ),
        (
            changed(0x640 + 16, "<q", 0x10C4),
            'descriptor of "sample_first" does not lead to its entry; expected 0x1700, got 0x1704',
        ),
        (
            changed(0x4F0 + 24 + 4, "<B", 0x11),
            'kernel "sample_first" has no function symbol',
        ),
        (
            changed(0x4F0 + 24 + 16, "<Q", 1 << 40),
            'code of "sample_first" lies in no section',
        ),
        (
            changed(0x4F0 + 72 + 8, "<Q", 0x100000),
            'descriptor "sample_first.kd" lies in no section',
        ),
        (
            changed(0x4F0 + 96 + 4, "<B", 0x12),
            'metadata names "sample_second.kd", which is no symbol',
        ),
    ],
)
def test_each_fault_has_its_line(data, line):
    assert fault(data) == f"k.hsaco: {line}"


def test_overlapping_sections_cannot_multiply_the_file():
    data = bytearray(LINKED)
    for index in range(1, SECTION_COUNT):
        struct.pack_into("<I", data, SECTIONS_AT + index * 64 + 4, 1)
        struct.pack_into("<2Q", data, SECTIONS_AT + index * 64 + 24, 0, len(LINKED))
    assert fault(bytes(data)) == "k.hsaco: sections overlap"


def test_too_many_symbols_are_refused():
    data = bytearray(LINKED)
    struct.pack_into("<2Q", data, SECTIONS_AT + 2 * 64 + 24, len(data), 65537 * 24)
    assert fault(bytes(data) + bytes(65537 * 24)) == ("k.hsaco: dynamic symbol table is unusable")


def general_reading(data: bytes) -> tuple[list[object], list[object]]:
    """Return what a general ELF reader says of sections and dynamic symbols."""
    elf = ELFFile(io.BytesIO(data))
    sections = [
        (s.name, s["sh_addr"], s["sh_offset"], s["sh_size"], s["sh_flags"])
        for s in elf.iter_sections()
    ]
    table = next(s for s in elf.iter_sections() if s.name == ".dynsym")
    symbols = [(s.name, s["st_value"], s["st_size"]) for s in table.iter_symbols()]
    return sections, symbols[1:]


def test_sections_and_symbols_are_those_that_a_general_reader_finds(rng):
    read = 0
    for number in range(600):
        data = bytearray(LINKED)
        for _ in range(rng.randrange(1, 4) if number else 0):
            data[rng.choice([rng.randrange(64), rng.randrange(SECTIONS_AT, len(data))])] ^= (
                1 << rng.randrange(8)
            )
        try:
            code = read_code_object(bytes(data), "k")
            expected = general_reading(bytes(data))
        except (BadInput, ELFError, ConstructError, AttributeError, AssertionError):
            continue
        sections = [(s.name, s.address, s.offset, s.size, s.flags) for s in code.sections]
        symbols = [(s.name, s.address, s.size) for s in code.symbols]
        assert (sections, symbols) == expected
        read += 1
    assert read > 50


def test_damage_anywhere_gives_one_line_or_a_reading(rng):
    lines = []
    for _ in range(300):
        data = bytearray(LINKED)
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            read_code_object(bytes(data), "k")
        except BadInput as error:
            lines.append(error.line())
    assert len(lines) > 50
    assert all(line.startswith("k") and "\n" not in line for line in lines)


def test_every_truncation_gives_one_line():
    for size in range(0, len(LINKED), 7):
        assert fault(LINKED[:size]).startswith("k.hsaco: ")


@pytest.mark.parametrize(
    ("offset", "value", "message"),
    [
        (8, 1, "code object has an unknown version; expected EI_ABIVERSION 2 to 4, got 1"),
        (8, 5, "code object has an unknown version; expected EI_ABIVERSION 2 to 4, got 5"),
        (
            48,
            0x4C,
            'ELF flags and metadata name different targets; expected "amdgcn-amd-amdhsa--gfx942", '
            'got "amdgcn-amd-amdhsa--gfx950"',
        ),
        (
            49,
            0x0B,
            'ELF flags and metadata name different targets; expected "amdgcn-amd-amdhsa--gfx950'
            ':sramecc-:xnack+", got "amdgcn-amd-amdhsa--gfx950"',
        ),
    ],
)
def test_another_version_or_target_is_refused(offset: int, value: int, message: str) -> None:
    """The version by its byte, the target by what ELF flags and metadata say."""
    assert fault(changed(offset, "<B", value)) == f"k.hsaco: {message}"


def test_an_object_for_another_processor_is_read_only_when_it_is_asked_for() -> None:
    """Flags and metadata agree on it: every command but the static check refuses it."""
    other = changed(48, "<B", 0x4C).replace(b"amdhsa--gfx950", b"amdhsa--gfx942")
    expected = 'code object is for another processor; expected "gfx950", got "gfx942"'
    assert fault(other) == f"k.hsaco: {expected}"
    assert read_code_object(other, "k", ("gfx942",)).target == "amdgcn-amd-amdhsa--gfx942"


def test_the_version_of_an_object_is_told() -> None:
    """By the number that the assembler takes."""
    assert read_code_object(changed(8, "<B", 3), "k").version == 5
