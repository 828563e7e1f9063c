"""The short way to sections and symbols says what the general reader says, or nothing."""

from __future__ import annotations

import base64
import random
import struct
from pathlib import Path

import pytest

from netra_build.asm.objects.general_tables import general_tables
from netra_build.asm.objects.plain_tables import plain_tables

SAMPLE = Path(__file__).parent / "asm_samples" / "two_kernels.hsaco.base64"
LINKED = base64.b64decode(SAMPLE.read_text())
SECTIONS_AT = 0xA08
DYNSYM = SECTIONS_AT + 2 * 64


def test_both_ways_agree_on_what_a_linker_writes() -> None:
    found = plain_tables(LINKED, 1024, 65536)
    assert found is not None
    assert found == general_tables(LINKED, "k")
    assert [symbol.name for symbol in found[1]][:2] == ["sample_first", "sample_second"]


@pytest.mark.parametrize(
    ("at", "layout", "value"),
    [
        (60, "<H", 0),
        (SECTIONS_AT + 4, "<I", 99),
        (DYNSYM + 40, "<I", 0),
        (DYNSYM + 32, "<Q", 25),
        (DYNSYM + 56, "<Q", 0),
        (DYNSYM + 64 + 40, "<I", 0),
    ],
    ids=["count", "kind", "link", "size", "entry size", "hash link"],
)
def test_what_is_unusual_is_left_to_the_general_reader(at: int, layout: str, value: int) -> None:
    data = bytearray(LINKED)
    struct.pack_into(layout, data, at, value)
    assert plain_tables(bytes(data), 1024, 65536) is None


def test_bounds_are_kept() -> None:
    assert plain_tables(LINKED, 13, 65536) is None
    assert plain_tables(LINKED, 1024, 4) is None


def test_flipped_bits_are_read_as_the_general_reader_does(rng: random.Random) -> None:
    read = 0
    for _ in range(600):
        data = bytearray(LINKED)
        for _ in range(rng.randrange(1, 4)):
            data[rng.choice([rng.randrange(64), rng.randrange(SECTIONS_AT, len(data))])] ^= (
                1 << rng.randrange(8)
            )
        found = plain_tables(bytes(data), 1024, 65536)
        if found is not None:
            assert found == general_tables(bytes(data), "k")
            read += 1
    assert read > 50
