"""Renaming kernels in an assembled object; equality with direct assembly is an asm test."""

from __future__ import annotations

import base64
import struct
from pathlib import Path

import pytest

from netra_build.asm.objects.elf import read_elf, string_at
from netra_build.asm.objects.metadata import decode_metadata, split_notes
from netra_build.asm.objects.rename import rename_symbols
from netra_build.core.errors import BadInput

SAMPLES = Path(__file__).parent / "asm_samples"


def sample(name: str) -> bytes:
    return base64.b64decode((SAMPLES / f"{name}.base64").read_text())


OBJECT = sample("two_kernels.o")


def names_in(data: bytes) -> set[str]:
    elf = read_elf(data, "o")
    (table,) = [s for s in elf.sections if s.kind == 2]
    strings = elf.content(elf.sections[table.link])
    raw = elf.content(table)
    return {
        string_at(strings, struct.unpack_from("<I", raw, at)[0], "o")
        for at in range(0, len(raw), 24)
    }


def kernels_in(data: bytes) -> list[tuple[str, str]]:
    elf = read_elf(data, "o")
    (note,) = [elf.content(s) for s in elf.sections if s.text == ".note"]
    (only,) = split_notes(note, "o")
    document = decode_metadata(only.data, "o")
    return [(k[".name"], k[".symbol"]) for k in document["amdhsa.kernels"]]


def test_no_change_gives_the_same_bytes():
    assert rename_symbols(OBJECT, {}) == OBJECT


def test_symbols_and_metadata_take_the_new_name():
    new = "other_" + "x" * 300
    data = rename_symbols(OBJECT, {"sample_first": new})
    assert {new, f"{new}.kd", "sample_second", "sample_second.kd"} <= names_in(data)
    assert "sample_first" not in names_in(data)
    assert kernels_in(data) == [(new, f"{new}.kd"), ("sample_second", "sample_second.kd")]
    before, after = read_elf(OBJECT, "a"), read_elf(data, "b")
    for old, kept in zip(before.sections, after.sections, strict=True):
        if old.text not in (".note", ".strtab", ".symtab"):
            assert before.content(old) == after.content(kept)


def test_two_names_can_change_places():
    swap = {"sample_first": "sample_second", "sample_second": "sample_first"}
    data = rename_symbols(OBJECT, swap)
    assert kernels_in(data) == [
        ("sample_second", "sample_second.kd"),
        ("sample_first", "sample_first.kd"),
    ]
    assert rename_symbols(data, swap) == OBJECT


@pytest.mark.parametrize(
    ("data", "names", "fact"),
    [
        (OBJECT, {"absent": "x"}, 'object has no symbol "absent"'),
        (
            OBJECT,
            {"sample_first": "sample_second"},
            'new symbol name is taken: "sample_second"',
        ),
        (
            OBJECT,
            {"sample_first": "x", "sample_second": "x"},
            'new symbol name is taken: "more than one"',
        ),
        (
            OBJECT,
            {"sample_first": "SAMPLE_CONSTANT"},
            'new symbol name is taken: "SAMPLE_CONSTANT"',
        ),
        (sample("two_kernels.hsaco"), {}, "not an assembled AMDGPU object"),
        (b"", {}, "not a 64-bit little-endian ELF file"),
    ],
)
def test_each_refusal_has_its_line(data, names, fact):
    with pytest.raises(BadInput) as caught:
        rename_symbols(data, names, "k.o")
    assert str(caught.value) == f"k.o: {fact}"


def test_damage_anywhere_gives_one_line_or_a_file(rng):
    lines, sizes = [], [0]
    for _ in range(300):
        data = bytearray(OBJECT)
        for _ in range(rng.randrange(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            sizes.append(len(rename_symbols(bytes(data), {"sample_first": "other"}, "k")))
        except BadInput as error:
            lines.append(error.line())
    assert len(lines) > 50
    assert all(line.startswith("k") and "\n" not in line for line in lines)
    assert max(sizes) < 1024 * 1024
