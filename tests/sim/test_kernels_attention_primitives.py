"""Each primitive of the attention family, assembled alone, against numpy."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ml_dtypes import bfloat16, float8_e4m3fn

from netra_build.asm.source.closure import flatten, include_closure

FOLDER = "kernels/gfx950/templates/attention"
LANES = np.arange(64)
G, C = LANES // 16, LANES % 16
LOG2E = np.float32(1.4426950408889634)
NUMERIC = ("softmax", "products", "split_extent")
"""Files whose primitives are all tested here; the listings of the others are elsewhere."""

NAMES = """
.set NETRA_V_LANE, 3
.set NETRA_V_COLUMN, 40
.set NETRA_V_GROUP4, 41
.set NETRA_V_TEMP, 42
.set NETRA_V_FRAGMENT, 44
"""


def bits(values: Any) -> np.ndarray:
    """Return FP32 numbers as the words that registers hold."""
    return np.asarray(values, np.float32).view(np.uint32)


def floats(words: np.ndarray) -> np.ndarray:
    """Return register words as FP32 numbers."""
    return np.ascontiguousarray(words).view(np.float32)


def pair(number: float) -> int:
    """Return the word of an FP32 number."""
    return int(bits(number))


@pytest.fixture(scope="module")
def run(root: Path, bench: Any, case: Any) -> Any:
    """Return ``run(file, text, vectors, scalars, results, **options)``: register words after."""

    def launch(
        name: str,
        text: str,
        vectors: dict[int, Any],
        results: list[int],
        scalars: dict[int, int] | None = None,
        **options: Any,
    ) -> list[np.ndarray]:
        unit = f'\t.include "{FOLDER}/{name}.inc"\n'.encode()
        closure = include_closure(
            f"{FOLDER}/{name}.inc", lambda path: (root / path).read_bytes(), name
        )
        macros = flatten(unit, closure).decode()
        whole = case(macros + NAMES + text, vectors, scalars or {}, results)
        found: list[np.ndarray] = bench.run([whole], **options)[0]
        return found

    return launch


@pytest.fixture
def draw(seed: int) -> np.random.Generator:
    """Return a generator."""
    return np.random.default_rng(seed)


def test_a_column_is_reduced_over_its_four_lanes(run: Any, draw: np.random.Generator) -> None:
    x = draw.standard_normal(64).astype(np.float32)
    rows = x.reshape(4, 16)
    for operation, expected in (
        ("max", rows.max(axis=0)),
        ("add", (rows[0] + rows[1]) + (rows[2] + rows[3])),
    ):
        text = f"NETRA_COLUMN_F32 {operation}, 20, 21"
        (found,) = run("softmax", text, {20: bits(x)}, [20])
        assert (floats(found) == expected[C]).all()


def test_scores_are_scaled_and_rescaled(run: Any, draw: np.random.Generator) -> None:
    x = draw.standard_normal((4, 64)).astype(np.float32)
    vectors = {20 + i: bits(x[i]) for i in range(4)}
    scalars = {10: pair(0.3), 11: pair(0.3)}
    found = run("softmax", "NETRA_SCALE_F32 20, 4, 10", vectors, [20, 21, 22, 23], scalars)
    assert (floats(np.stack(found)) == x * np.float32(0.3)).all()
    factor = draw.standard_normal(64).astype(np.float32)
    vectors |= {30: bits(factor), 31: bits(np.full(64, np.nan))}
    found = run("softmax", "NETRA_RESCALE_F32 20, 4, 30", vectors, [20, 21, 22, 23])
    assert (floats(np.stack(found)) == x * factor).all()


@pytest.mark.parametrize("visible", ["lt", "ge", "le"])
def test_hidden_keys_become_minus_infinity(
    run: Any, draw: np.random.Generator, visible: str
) -> None:
    x = draw.standard_normal((8, 64)).astype(np.float32)
    limit = draw.integers(-3, 22, 64)
    vectors = {20 + i: bits(x[i]) for i in range(8)}
    vectors |= {30: limit, 31: bits(np.full(64, -np.inf))}
    text = f"NETRA_HIDE_KEYS {visible}, 20, 2, 30, 31, 10"
    found = floats(np.stack(run("softmax", text, vectors, list(range(20, 28)))))
    number = np.array([16 * (i // 4) + i % 4 for i in range(8)])[:, None]
    stays = {"lt": number < limit, "ge": number >= limit, "le": number <= limit}[visible]
    assert (found == np.where(stays, x, -np.inf)).all()


@pytest.mark.parametrize("count", [4, 8, 16])
def test_the_softmax_of_a_tile(run: Any, draw: np.random.Generator, count: int) -> None:
    """The maximum of the column, its factor, the weights and the lane's denominator."""
    x = (draw.standard_normal((count, 64)) * 3).astype(np.float32)
    m = np.repeat(draw.standard_normal(16).astype(np.float32)[None], 4, axis=0).reshape(64)
    total = draw.uniform(1, 9, 64).astype(np.float32)
    vectors = {20 + i: bits(x[i]) for i in range(min(count, 12))}
    text = "".join(f"v_mov_b32 v{20 + i}, v{20 + i % 4}\n" for i in range(12, count))
    x[12:] = x[np.arange(12, count) % 4]
    vectors |= {50: bits(m), 51: bits(total)}
    text += f"""
    NETRA_SOFTMAX_MAXIMUM 50, 52, 20, {count}, 54
    NETRA_SOFTMAX_WEIGHTS 20, {count}, 50, 10
    v_mov_b32 v56, v20
    v_mov_b32 v57, v{19 + count}
    NETRA_SOFTMAX_DENOMINATOR 50, 52, 20, {count}
    """
    scalars = {10: pair(LOG2E), 11: pair(LOG2E)}
    results = [floats(r) for r in run("softmax", text, vectors, [50, 51, 52, 56, 57], scalars)]
    new = np.maximum(m, x.max(axis=0).reshape(4, 16).max(axis=0)[C])
    factor = np.exp((m - new).astype(np.float64))
    weights = np.exp((x - new).astype(np.float64))
    assert (results[0] == new).all()
    for found, expected in (
        (results[1], total * factor + weights.sum(axis=0)),
        (results[2], factor),
        (results[3], weights[0]),
        (results[4], weights[-1]),
    ):
        assert np.allclose(found, expected, rtol=2e-6, atol=0)


def test_quotients_are_correctly_rounded(run: Any, draw: np.random.Generator) -> None:
    x = draw.standard_normal((4, 64)).astype(np.float32)
    divisor = draw.uniform(1, 4096, 64).astype(np.float32)
    vectors = {20 + i: bits(x[i]) for i in range(4)}
    vectors |= {50: bits(np.zeros(64)), 51: bits(divisor), 53: bits(np.zeros(64))}
    vectors[52] = bits((1 / divisor.astype(np.float64)).astype(np.float32))
    text = "NETRA_SOFTMAX_DIVIDE 20, 4, 50, 52, 30, 34"
    found = floats(np.stack(run("softmax", text, vectors, [20, 21, 22, 23])))
    exact = (x.astype(np.float64) / divisor.astype(np.float64)).astype(np.float32)
    assert (found == exact).all()


@pytest.mark.parametrize(
    ("keys", "splits", "extent"),
    [
        (1, 1, 32),
        (1, 129, 32),
        (32, 1, 32),
        (33, 1, 64),
        (64, 2, 32),
        (65, 2, 64),
        (4096, 129, 32),
        (4129, 129, 64),
        (2**25, 1, 2**25),
        (2**25, 129, 260128),
        (99 * 129, 129, 128),
        (96 * 127, 127, 96),
    ],
)
def test_the_extent_of_a_split(run: Any, keys: int, splits: int, extent: int) -> None:
    text = "NETRA_SPLIT_EXTENT 12, 10, 11, 13, 14, 20\nv_mov_b32 v30, s12"
    (found,) = run("split_extent", text, {}, [30], {10: keys, 11: splits})
    assert set(found.tolist()) == {extent}
    assert extent == math.ceil(math.ceil(keys / splits) / 32) * 32


def codes(draw: np.random.Generator, *shape: int) -> np.ndarray:
    """Return FP8 codes of small numbers."""
    return draw.standard_normal(shape).astype(float8_e4m3fn).view(np.uint8)


def product_faults(
    run: Any, macro: str, rows: np.ndarray, columns: np.ndarray, operands: tuple[np.ndarray, ...]
) -> int:
    """Return how many elements of start + rows * columns^T differ; operands [lane, bytes]."""
    start = np.arange(256, dtype=np.float32).reshape(16, 16) / 8
    vectors = {50 + r: bits(start[4 * G + r, C]) for r in range(4)}
    text = ""
    for base, operand in zip((20, 30), operands, strict=True):
        words = np.ascontiguousarray(operand).view(np.uint32).T
        vectors |= {base + i: word for i, word in enumerate(words)}
        if len(words) == 4:
            text += "".join(f"v_mov_b32 v{base + 4 + i}, v{base + i}\n" for i in range(4))
    text += f"s_nop 1\n{macro} 50, 20, 30\ns_nop 15"
    found = floats(np.stack(run("products", text, vectors, [50, 51, 52, 53])))
    whole = (rows.astype(np.float64) @ columns.astype(np.float64).T + start).astype(np.float32)
    return int((found != np.stack([whole[4 * G + r, C] for r in range(4)])).sum())


def test_products_of_fp8(run: Any, draw: np.random.Generator) -> None:
    """For 16x16x128 the second half of an operand (k >= 64) repeats the first."""
    halves = [codes(draw, 16, 64) for _ in range(2)]
    k = 16 * G[:, None] + np.arange(16)
    rows, columns = (np.concatenate([h, h], axis=1).view(float8_e4m3fn) for h in halves)
    operands = tuple(h[C[:, None], k] for h in halves)
    assert product_faults(run, "NETRA_ADD_PRODUCT_FP8_K128", rows, columns, operands) == 0
    small = [codes(draw, 16, 32) for _ in range(2)]
    k = 8 * G[:, None] + np.arange(8)
    rows, columns = (s.view(float8_e4m3fn) for s in small)
    operands = tuple(s[C[:, None], k] for s in small)
    assert product_faults(run, "NETRA_ADD_PRODUCT_FP8_K32", rows, columns, operands) == 0


def test_products_of_bf16(run: Any, draw: np.random.Generator) -> None:
    rows = draw.standard_normal((16, 16)).astype(bfloat16)
    columns = draw.standard_normal((16, 16)).astype(bfloat16)
    k = 4 * G[:, None] + np.arange(4)
    a = np.ascontiguousarray(rows[C[:, None], k]).view(np.uint32).T
    b = np.ascontiguousarray(columns[C[:, None], k]).view(np.uint32).T
    vectors = {20: a[0], 21: a[1], 30: b[0], 31: b[1]}
    text = "NETRA_ZERO_VGPRS 50, 4\ns_nop 1\nNETRA_ADD_PRODUCT_BF16_K16 50, 20, 30\ns_nop 15"
    found = floats(np.stack(run("products", text, vectors, [50, 51, 52, 53])))
    whole = (rows.astype(np.float64) @ columns.astype(np.float64).T).astype(np.float32)
    assert (found == np.stack([whole[4 * G + r, C] for r in range(4)])).all()


def test_queries_are_rounded_and_saturated(run: Any, draw: np.random.Generator) -> None:
    queries = (draw.standard_normal((64, 4)) * 300).astype(bfloat16)
    words = np.ascontiguousarray(queries).view(np.uint32).T
    text = "NETRA_ROUND_QUERIES_TO_FP8 30, 20, 16"
    vectors = {20 + i: words[i % 2] for i in range(2)}
    (found,) = run("products", text, vectors | {22: words[0]}, [30], overflow=1)
    wide = np.clip(queries.astype(np.float32), -448, 448)
    expected = np.ascontiguousarray(wide.astype(float8_e4m3fn).view(np.uint8)).view(np.uint32)
    assert (np.abs(queries.astype(np.float32)) > 448).any()
    assert (found == expected[:, 0]).all()


def test_queries_are_loaded_in_the_operand_order(run: Any, draw: np.random.Generator) -> None:
    """Eight BF16 at byte 0, 16, 128, 144 of the lane's address; the buffer is the bench's own."""
    text = """
    v_lshlrev_b32 v20, 2, v30
    v_mov_b32 v21, 0
    v_lshl_add_u64 v[20:21], v[20:21], 0, s[2:3]
    NETRA_LOAD_QUERIES_BF16 22, 20, 128
    s_waitcnt vmcnt(0)
    """
    lanes = draw.integers(0, 2**32, 64)
    # The first input of the bench lies at the start of its buffer, 4 bytes a lane.
    found = run("products", text, {31: lanes, 30: LANES * 0}, [22, 25, 26, 30, 34])
    assert [int(word[0]) for word in found[:3]] == [int(lanes[0]), int(lanes[3]), int(lanes[4])]
    assert (found[3] == lanes[32]).all()
    assert (found[4] == lanes[36]).all()


def test_the_lane_map_of_a_tile(run: Any) -> None:
    text = """
    NETRA_TILE_LANE_MAP 10
    v_mov_b32 v46, s10
    s_movk_i32 s11, 80
    NETRA_TRANSPOSED_ADDRESS 47, 11
    NETRA_STAGED_ADDRESS 48, 49, 4, 11
    """
    rows = (LANES // 4) % 16
    found = run("fp8_tile", text, {3: LANES + 128, 49: rows}, [40, 41, 44, 45, 46, 47, 48])
    transposed = (4 * G + (C // 2) % 4 + 16 * (C // 8)) * 80 + 8 * (C % 2)
    expected = [C, 4 * G, 16 * G, 0 * G, 0 * G + 2, transposed, rows * 80 + 16 * (C % 4)]
    for word, wanted in zip(found, expected, strict=True):
        assert (word == wanted).all()


def test_every_numeric_primitive_has_a_test(root: Path) -> None:
    used = Path(__file__).read_text(encoding="utf-8")
    for name in NUMERIC:
        text = (root / FOLDER / f"{name}.inc").read_text(encoding="utf-8")
        for macro in re.findall(r"^\.macro (NETRA_\w+)", text, re.MULTILINE):
            assert re.search(rf"{macro}\b", used), macro
