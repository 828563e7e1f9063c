"""Sealing and the ELF layout under it; the expected file was written by llvm-objcopy."""

from __future__ import annotations

import base64
import struct
from pathlib import Path

import pytest

from netra_build.asm.objects.elf import read_elf, string_at
from netra_build.asm.objects.rewrite import aligned, rewrite, strip, tail_merged
from netra_build.core.errors import BadInput

SAMPLES = Path(__file__).parent / "asm_samples"
SECTIONS_AT, SECTION_COUNT, SEGMENTS_AT = 0xA08, 14, 64


def sample(name: str) -> bytes:
    return base64.b64decode((SAMPLES / f"{name}.base64").read_text())


LINKED = sample("two_kernels.hsaco")
SEALED = sample("two_kernels.sealed")


def changed(offset: int, layout: str, *values: int) -> bytes:
    data = bytearray(LINKED)
    struct.pack_into(layout, data, offset, *values)
    return bytes(data)


def test_sealing_writes_what_objcopy_writes():
    assert strip(LINKED) == SEALED
    assert strip(SEALED) == SEALED


def test_rewriting_keeps_every_section_and_comes_to_rest():
    once = rewrite(LINKED)
    assert rewrite(once) == once
    before, after = read_elf(LINKED, "a"), read_elf(once, "b")
    assert [s.text for s in after.sections] == [s.text for s in before.sections]
    assert strip(once) == SEALED


def test_what_the_loader_reads_stays_and_names_go():
    before, after = read_elf(LINKED, "a"), read_elf(strip(LINKED), "b")
    assert after.segments == before.segments
    for segment in before.segments[1:]:
        span = slice(segment.offset, segment.offset + segment.file_size)
        if segment.offset:
            assert after.data[span] == before.data[span]
    assert [s.text for s in after.sections] == [
        s.text for s in before.sections if s.text not in (".comment", ".symtab", ".strtab")
    ]
    assert b"SAMPLE_CONSTANT" in LINKED
    assert b"SAMPLE_CONSTANT" not in after.data
    assert b"LLD" not in after.data


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b"\x7fELF", "not a 64-bit little-endian ELF file"),
        (sample("two_kernels.o"), "not a linked AMDGPU code object"),
        (changed(18, "<H", 62), "not a linked AMDGPU code object"),
        (changed(54, "<H", 57), "program headers have an unknown size"),
        (changed(58, "<H", 63), "section headers have an unknown size"),
        (changed(60, "<H", 0xFFF0), "unusable number of headers"),
        (changed(40, "<Q", 1 << 63), "headers leave the file"),
        (changed(62, "<H", 99), "section names are missing"),
        (changed(SECTIONS_AT + 64, "<I", 0xFFFFFF), "name leaves its string table"),
        (changed(SECTIONS_AT + 64 + 48, "<Q", 1 << 40), "section has an unusable alignment"),
        (
            changed(SECTIONS_AT + 7 * 64 + 32, "<Q", 1 << 62),
            "section or segment leaves the file",
        ),
        (changed(SEGMENTS_AT + 56, "<I", 4), "first segment does not hold the headers"),
        (changed(SEGMENTS_AT + 2 * 56 + 16, "<Q", 0x1780), "segments are not packed"),
        (changed(SECTIONS_AT + 7 * 64 + 16, "<Q", 0), 'section ".text" lies in no segment'),
        (
            changed(SECTIONS_AT + 7 * 64 + 8, "<Q", 0),
            'section ".text" is stored in a segment but not loaded',
        ),
        (
            changed(SECTIONS_AT + 2 * 64 + 40, "<I", 11),
            'section ".dynsym" needs a section that sealing removes',
        ),
        (changed(SECTIONS_AT + 7 * 64 + 4, "<I", 0), "section without a kind"),
    ],
)
def test_each_unknown_layout_is_refused(data, fact):
    with pytest.raises(BadInput) as caught:
        strip(data, "k.hsaco")
    assert str(caught.value) == f"k.hsaco: {fact}"


def test_a_segment_outside_the_loaded_ones_is_refused():
    note = SEGMENTS_AT + 7 * 56
    data = bytearray(changed(note + 8, "<Q", len(LINKED) - 16))
    struct.pack_into("<Q", data, note + 32, 16)
    with pytest.raises(BadInput) as caught:
        strip(bytes(data), "k.hsaco")
    assert str(caught.value) == "k.hsaco: segment lies outside the loaded ones"


@pytest.mark.parametrize("write", [strip, rewrite])
def test_damage_anywhere_gives_one_line_or_a_file(rng, write):
    lines, sizes = [], [0]
    for _ in range(300):
        data = bytearray(LINKED)
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            sizes.append(len(write(bytes(data), "k")))
        except BadInput as error:
            lines.append(error.line())
    assert len(lines) > 50
    assert all(line.startswith("k") and "\n" not in line for line in lines)
    assert max(sizes) < 1024 * 1024


def test_strings_share_their_endings():
    table, places = tail_merged(["text", "rela.text", "dynstr", "str", "x"])
    assert places["text"] == places["rela.text"] + 5
    assert places["str"] == places["dynstr"] + 3
    for text, place in places.items():
        assert string_at(table, place, "t") == text
    assert len(table) == 1 + len("rela.text\0") + len("dynstr\0") + len("x\0")


def test_alignment_with_a_skew():
    assert aligned(0x5C0, 0x1000, 0x1600) == 0x600
    assert aligned(8, 8) == 8
    assert aligned(9, 8) == 16
    assert aligned(7, 0) == 7
