"""Executable layouts: hand-worked examples, the published formula, round trips, refusals."""

from __future__ import annotations

import random
import tracemalloc
from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from netra_build.core.errors import BadInput
from netra_build.tensors import relayout
from netra_build.tensors.byte_source import Joined, pieces_of
from netra_build.tensors.relayout import TRANSFORMS, Matrix


@dataclass(frozen=True)
class MemorySource:
    """Bytes that are held already."""

    data: bytes

    @property
    def size_bytes(self) -> int:
        return len(self.data)

    def read(self, offset: int, size: int) -> bytes:
        return self.data[offset : offset + size]


def apply(name: str, data: bytes, matrix: Matrix) -> bytes:
    return b"".join(TRANSFORMS[name].apply(MemorySource(data), matrix, "x.bin"))


def refusal(name: str, data: bytes, matrix: Matrix) -> str:
    with pytest.raises(BadInput) as caught:
        apply(name, data, matrix)
    return str(caught.value)


@pytest.mark.parametrize(("rows", "columns", "experts"), [(16, 32, 1), (48, 96, 1), (32, 64, 3)])
def test_shuffle_puts_every_byte_where_the_contract_says(rng, rows, columns, experts):
    data = rng.randbytes(experts * rows * columns)
    shuffled = apply("aiter_shuffle_16x16", data, Matrix(rows, columns, 1, experts))
    for e in range(experts):
        base = e * rows * columns
        for n in range(rows):
            for k in range(columns):
                offset = (n // 16) * 16 * columns + (k // 32) * 512
                offset += ((k % 32) // 16) * 256 + (n % 16) * 16 + k % 16
                assert shuffled[base + offset] == data[base + n * columns + k], (e, n, k)


def test_shuffle_agrees_with_the_reference_by_axes(rng):
    rows, columns = 64, 256
    data = rng.randbytes(rows * columns)
    axes = np.frombuffer(data, np.uint8).reshape(rows // 16, 16, columns // 32, 2, 16)
    expected = axes.transpose(0, 2, 3, 1, 4).tobytes()
    assert apply("aiter_shuffle_16x16", data, Matrix(rows, columns)) == expected


def test_one_tile_of_the_shuffle_by_hand():
    row = lambda n: bytes([n] * 16 + [100 + n] * 16)  # noqa: E731
    data = b"".join(row(n) for n in range(16))
    left = b"".join(bytes([n] * 16) for n in range(16))
    right = b"".join(bytes([100 + n] * 16) for n in range(16))
    assert apply("aiter_shuffle_16x16", data, Matrix(16, 32)) == left + right
    assert apply("aiter_unshuffle_16x16", left + right, Matrix(16, 32)) == data


def test_small_transposes_by_hand():
    assert apply("transpose_bytes", b"abcdef", Matrix(2, 3)) == b"adbecf"
    assert apply("transpose_bytes", b"abcdefghijkl", Matrix(2, 3, 1, 2)) == b"adbecfgjhkil"
    scales = b"AAAABBBBCCCCDDDDEEEEFFFF"
    turned = b"AAAADDDDBBBBEEEECCCCFFFF"
    assert apply("scales_to_group_major", scales, Matrix(2, 3, 4)) == turned
    assert apply("scales_to_row_major", turned, Matrix(3, 2, 4)) == scales


def test_widening_by_hand():
    one, minus_two = b"\x80\x3f", b"\x00\xc0"
    wide = b"\x00\x00\x80\x3f\x00\x00\x00\xc0"
    assert np.frombuffer(wide, "<f4").tolist() == [1.0, -2.0]
    assert apply("widen_bf16_to_fp32_exact", one + minus_two, Matrix(1, 2, 2)) == wide
    assert apply("narrow_fp32_to_bf16_exact", wide, Matrix(1, 2, 4)) == one + minus_two


def test_widening_keeps_every_bf16_value():
    every = np.arange(65536, dtype=np.uint16)
    wide = apply("widen_bf16_to_fp32_exact", every.tobytes(), Matrix(256, 256, 2))
    assert np.frombuffer(wide, np.uint32).tolist() == [value << 16 for value in range(65536)]


def test_narrowing_never_rounds():
    data = bytearray(4 * 300_000)
    data[4 * 299_998] = 1
    assert refusal("narrow_fp32_to_bf16_exact", bytes(data), Matrix(1, 300_000, 4)) == (
        "x.bin: fp32 element 299998 is no bf16 value\n"
        "hint: scales are widened exactly, never narrowed"
    )


@dataclass(frozen=True)
class Case:
    """A transform with a matrix that it takes."""

    name: str
    matrix: Matrix


def cases() -> st.SearchStrategy[Case]:
    """Return any transform with any small matrix that it takes."""

    def of(name: str) -> st.SearchStrategy[Case]:
        tiles = "shuffle" in name
        rows = st.integers(1, 3).map(lambda n: n * 16) if tiles else st.integers(1, 70)
        columns = st.integers(1, 4).map(lambda n: n * 32) if tiles else st.integers(1, 140)
        item = TRANSFORMS[name].item_bytes
        return st.builds(
            lambda r, c, e: Case(name, Matrix(r, c, item, e)), rows, columns, st.integers(1, 3)
        )

    return st.sampled_from(sorted(TRANSFORMS)).flatmap(of)


@given(case=cases(), seed=st.integers(0, 2**32))
def test_every_transform_is_undone_by_its_inverse(case, seed):
    transform = TRANSFORMS[case.name]
    data = random.Random(seed).randbytes(case.matrix.size_bytes)
    if case.name == "narrow_fp32_to_bf16_exact":
        data = b"".join(b"\0\0" + data[at + 2 : at + 4] for at in range(0, len(data), 4))
    after = transform.after(case.matrix)
    made = apply(case.name, data, case.matrix)
    assert len(made) == after.size_bytes
    assert apply(transform.inverse, made, after) == data


@given(case=cases(), seed=st.integers(0, 2**32))
def test_a_transform_changes_the_place_of_elements_only(case, seed):
    size = case.matrix.item_bytes
    if TRANSFORMS[case.name].widens:
        return
    data = random.Random(seed).randbytes(case.matrix.size_bytes)
    made = apply(case.name, data, case.matrix)
    items = lambda raw: sorted(raw[at : at + size] for at in range(0, len(raw), size))  # noqa: E731
    assert items(made) == items(data)


def shrink(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every bound so small that a small matrix meets it."""
    monkeypatch.setattr(relayout, "BAND_COLUMNS", 64)
    monkeypatch.setattr(relayout, "BAND_BYTES", 96)
    monkeypatch.setattr(relayout, "STEP_BYTES", 40)
    monkeypatch.setattr(relayout, "NARROW_COLUMNS", 3)


@pytest.mark.parametrize("short_row", [0, 1 << 12])
@pytest.mark.parametrize(
    ("rows", "columns", "item"),
    [(3, 40, 1), (7, 5, 4), (200, 3, 1), (100, 2, 8), (5, 9, 2), (1, 1, 1)],
)
def test_bands_do_not_change_a_transpose(monkeypatch, rng, rows, columns, item, short_row):
    shrink(monkeypatch)
    monkeypatch.setattr(relayout, "SHORT_ROW_BYTES", short_row)
    data = rng.randbytes(2 * rows * columns * item)
    expected = np.frombuffer(data, f"u{item}").reshape(2, rows, columns).transpose(0, 2, 1)
    made = apply("transpose_bytes", data, Matrix(rows, columns, item, 2))
    assert made == expected.tobytes()


def test_bands_do_not_change_the_shuffle(monkeypatch, rng):
    matrix, data = Matrix(32, 160), rng.randbytes(32 * 160)
    whole = apply("aiter_shuffle_16x16", data, matrix)
    shrink(monkeypatch)
    assert apply("aiter_shuffle_16x16", data, matrix) == whole
    assert apply("aiter_unshuffle_16x16", whole, matrix) == data


class Zeros:
    """A source that holds nothing and gives zeros."""

    def __init__(self, size_bytes: int) -> None:
        self.size_bytes = size_bytes

    def read(self, offset: int, size: int) -> bytes:
        assert 0 <= offset <= offset + size <= self.size_bytes
        return bytes(size)


@pytest.mark.parametrize(
    ("name", "matrix"),
    [
        ("aiter_shuffle_16x16", Matrix(16384, 8192)),
        ("aiter_shuffle_16x16", Matrix(16, 1 << 23)),
        ("aiter_unshuffle_16x16", Matrix(16, 1 << 22)),
        ("transpose_bytes", Matrix(6001, 20011)),
        ("scales_to_group_major", Matrix(700_001, 40, 4)),
        ("widen_bf16_to_fp32_exact", Matrix(1, 1 << 26, 2)),
        ("narrow_fp32_to_bf16_exact", Matrix(1, 1 << 25, 4)),
    ],
)
def test_memory_is_bounded(name, matrix):
    """100 MB and more pass through less than 64 MiB."""
    tracemalloc.start()
    try:
        pieces = TRANSFORMS[name].apply(Zeros(matrix.size_bytes), matrix, "x.bin")
        made = sum(map(len, pieces))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert made == TRANSFORMS[name].after(matrix).size_bytes
    assert peak < 64 << 20


SIZE = "x.bin: data has the wrong size for its shape"
TILES = "x.bin: number of columns does not divide into tiles"


@pytest.mark.parametrize(
    ("name", "size", "matrix", "message"),
    [
        (
            "identity",
            5,
            Matrix(2, 3),
            SIZE + "; expected 2 x 3 x 1 = 6 bytes, got 5",
        ),
        (
            "transpose_bytes",
            13,
            Matrix(2, 3, 1, 2),
            SIZE + "; expected 2 x 2 x 3 x 1 = 12 bytes, got 13",
        ),
        (
            "aiter_shuffle_16x16",
            512 - 32,
            Matrix(15, 32),
            TILES.replace("columns", "rows") + "; expected a multiple of 16, got 15",
        ),
        (
            "aiter_shuffle_16x16",
            16 * 48,
            Matrix(16, 48),
            TILES + "; expected a multiple of 32, got 48",
        ),
        (
            "aiter_unshuffle_16x16",
            0,
            Matrix(0, 32),
            TILES.replace("columns", "rows") + "; expected a multiple of 16, got 0",
        ),
        (
            "aiter_shuffle_16x16",
            1024,
            Matrix(16, 32, 2),
            "x.bin: elements have the wrong size; expected 1 bytes, got 2",
        ),
        (
            "aiter_unshuffle_16x16",
            513,
            Matrix(16, 32),
            SIZE + "; expected 16 x 32 x 1 = 512 bytes, got 513",
        ),
        (
            "widen_bf16_to_fp32_exact",
            4,
            Matrix(1, 1, 4),
            "x.bin: elements have the wrong size; expected 2 bytes, got 4",
        ),
        (
            "narrow_fp32_to_bf16_exact",
            2,
            Matrix(1, 1, 2),
            "x.bin: elements have the wrong size; expected 4 bytes, got 2",
        ),
        (
            "transpose_bytes",
            3,
            Matrix(1, 1, 3),
            "x.bin: elements have the wrong size; expected 8 bytes, got 3",
        ),
    ],
)
def test_what_does_not_fit_is_refused_before_a_byte_is_made(name, size, matrix, message):
    with pytest.raises(BadInput) as caught:
        TRANSFORMS[name].apply(Zeros(size), matrix, "x.bin")
    assert str(caught.value) == message


def test_shards_are_joined(rng):
    one, two = rng.randbytes(24), rng.randbytes(6)
    joined = Joined([MemorySource(one), MemorySource(two)])
    expected = one + two
    assert joined.size_bytes == 30
    assert b"".join(pieces_of(joined)) == expected
    reads = [(at, size) for at in range(30) for size in range(31 - at)]
    assert all(joined.read(at, size) == expected[at : at + size] for at, size in reads)


def test_shards_of_no_bytes_are_skipped():
    joined = Joined([MemorySource(b""), MemorySource(b"ab"), MemorySource(b"")])
    assert joined.read(0, 2) == b"ab"
