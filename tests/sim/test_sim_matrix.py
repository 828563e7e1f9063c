"""Matrix instructions against exact sums of products, element by element, for every shape."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest

DTYPES = {
    "bf16": ml_dtypes.bfloat16,
    "f16": np.dtype(np.float16),
    "f32": np.dtype(np.float32),
    "fp8": ml_dtypes.float8_e4m3fn,
    "bf8": ml_dtypes.float8_e5m2,
    "fp6": ml_dtypes.float6_e2m3fn,
    "bf6": ml_dtypes.float6_e3m2fn,
    "fp4": ml_dtypes.float4_e2m1fn,
    "i8": np.dtype(np.int8),
}
BITS = {"bf16": 16, "f16": 16, "f32": 32, "fp8": 8, "bf8": 8, "fp6": 6, "bf6": 6, "fp4": 4, "i8": 8}
ROWS_OF_SELECTOR = ("fp8", "bf8", "fp6", "bf6", "fp4")


def values_of(kind: str, codes: np.ndarray) -> np.ndarray:
    """Return the float64 (or integer) values of codes by ml_dtypes."""
    dtype = np.dtype(DTYPES[kind])
    width = np.dtype(f"u{dtype.itemsize}")
    numbers = codes.astype(width).view(dtype)
    return numbers.astype(np.int64 if kind == "i8" else np.float64)


def lane_words(codes: list[int], bits: int) -> list[int]:
    """Pack one lane's codes into registers, lowest code first."""
    whole = sum(int(code) << bits * at for at, code in enumerate(codes))
    return [whole >> 32 * at & 0xFFFFFFFF for at in range(len(codes) * bits // 32)]


def registers_of(matrix: np.ndarray, bits: int, place) -> list[list[int]]:
    """Lay codes [size, k] into registers; ``place(lane, i)`` gives row and k of element i."""
    count = matrix.size // 64
    lanes = [lane_words([matrix[place(lane, i)] for i in range(count)], bits) for lane in range(64)]
    return [list(column) for column in zip(*lanes, strict=True)]


def result_place(size: int, register: int, lane: int) -> tuple[int, int]:
    """Row and column of one result element of a 16x16 or 32x32 product."""
    if size == 16:
        return 4 * (lane // 16) + register, lane % 16
    return 8 * (register // 4) + 4 * (lane // 32) + register % 4, lane % 32


def rounded(value: Fraction) -> float:
    """Return the float32 nearest to an exact sum, by comparing neighbours."""
    guess = np.float32(value.numerator / value.denominator)
    near = (
        guess,
        np.nextafter(guess, np.float32(-np.inf)),
        np.nextafter(guess, np.float32(np.inf)),
    )
    return float(
        min(near, key=lambda c: (abs(Fraction(float(c)) - value), int(c.view(np.uint32)) & 1))
    )


def finite_codes(rng: np.random.Generator, kind: str, shape: tuple[int, int]) -> np.ndarray:
    if kind in ("bf16", "f16", "f32"):
        spread = rng.standard_normal(shape) * 2.0 ** rng.integers(-6, 6, shape)
        numbers = spread.astype(DTYPES[kind])
        return numbers.view(f"u{numbers.dtype.itemsize}").astype(np.int64)
    codes = rng.integers(0, 1 << BITS[kind], shape)
    if kind != "i8":
        codes[~np.isfinite(values_of(kind, codes))] = 0
    return codes


def check(bench, case, text, size, kinds, matrices, places, count, scales=(1, 1), extra=None):
    """Run one product and compare each element with the exact sum, rounded once."""
    rng = np.random.default_rng(5)
    accumulator = rng.standard_normal((size, size)).astype(np.float32)
    vectors = {}
    for first, kind, matrix, place in zip((8, 24), kinds, matrices, places, strict=True):
        for at, words in enumerate(registers_of(matrix, BITS[kind], place)):
            vectors[first + at] = words
    for register in range(count):
        vectors[60 + register] = [
            int(accumulator[result_place(size, register, lane)].view(np.uint32))
            for lane in range(64)
        ]
    batches = list(vectors.items())
    body = f"{text}\ns_nop 15\ns_nop 3"
    found = run_in_parts(bench, case, batches, body, count, extra or {})
    a, b = (values_of(kind, m) for kind, m in zip(kinds, matrices, strict=True))
    a, b = a * scales[0], b * scales[1]
    for register in range(0, count, 3):
        for lane in range(0, 64, 7):
            row, column = result_place(size, register, lane)
            products = zip(a[row].tolist(), b[column].tolist(), strict=True)
            exact = sum(Fraction(x) * Fraction(y) for x, y in products)
            exact += Fraction(float(accumulator[row, column]))
            assert found[register].view(np.float32)[lane] == rounded(exact), (row, column)


def run_in_parts(bench, case, batches, body, count, extra):
    """Load up to 48 registers from a buffer of their own, run, and return the results."""
    names = [register for register, _ in batches] + list(extra)
    data = np.zeros((len(names) + count, 64), np.uint32)
    for at, (_, words) in enumerate(batches):
        data[at] = words
    for at, words in enumerate(extra.values()):
        data[len(batches) + at] = words
    lines = ["s_load_dwordx2 s[2:3], s[0:1], 0x0", "v_lshlrev_b32 v0, 2, v0"]
    lines.append("s_waitcnt lgkmcnt(0)")
    for at, register in enumerate(names):
        lines += [f"v_add_u32 v1, {256 * at}, v0", f"global_load_dword v{register}, v1, s[2:3]"]
    lines += ["s_waitcnt vmcnt(0)", body]
    for register in range(count):
        lines += [
            f"v_add_u32 v1, {256 * (len(names) + register)}, v0",
            f"global_store_dword v1, v{60 + register}, s[2:3]",
        ]
    outcome = bench.launch("\n".join(lines), {"data": data})
    assert bench.lines(outcome) == []
    return outcome.outputs["data"][len(names) :]


def straight(size: int, per_lane: int):
    """Element i of lane (group, row) is k = group * per_lane + i."""
    return lambda lane, i: (lane % size, lane // size * per_lane + i)


PLAIN = [
    (f"{size}x{size}x{k}", kind, size, k)
    for size, depths in ((16, (16, 32)), (32, (8, 16)))
    for k in depths
    for kind in ("bf16", "f16")
]
PLAIN += [("16x16x4", "f32", 16, 4), ("32x32x2", "f32", 32, 2)]


@pytest.mark.parametrize(("shape", "kind", "size", "k"), PLAIN)
def test_products_of_one_operand_type(bench, case, shape, kind, size, k):
    rng = np.random.default_rng(3)
    matrices = [finite_codes(rng, kind, (size, k)) for _ in range(2)]
    per_lane = size * k // 64
    registers = per_lane * BITS[kind] // 32
    count = size * size // 64

    def span(first: int, length: int) -> str:
        return f"v[{first}:{first + length - 1}]" if length > 1 else f"v{first}"

    text = (
        f"v_mfma_f32_{shape}_{kind} {span(60, count)}, {span(8, registers)}, "
        f"{span(24, registers)}, {span(60, count)}"
    )
    place = straight(size, per_lane)
    check(bench, case, text, size, (kind, kind), matrices, (place, place), count)


@pytest.mark.parametrize("first", ["fp8", "bf8"])
@pytest.mark.parametrize("second", ["fp8", "bf8"])
@pytest.mark.parametrize(("size", "k"), [(16, 32), (32, 16)])
def test_products_of_eight_bit_floats(bench, case, size, k, first, second):
    rng = np.random.default_rng(4)
    matrices = [finite_codes(rng, kind, (size, k)) for kind in (first, second)]
    count = size * size // 64
    text = (
        f"v_mfma_f32_{size}x{size}x{k}_{first}_{second} v[60:{59 + count}], v[8:9], v[24:25], "
        f"v[60:{59 + count}]"
    )
    place = straight(size, 8)
    check(bench, case, text, size, (first, second), matrices, (place, place), count)


def selected_place(size: int, kind: str):
    """Eight-bit formats hold two runs of 16 k, narrower ones a single run of 32."""
    groups = 64 // size
    if BITS[kind] == 8:
        return lambda lane, i: (lane % size, i // 16 * 16 * groups + lane // size * 16 + i % 16)
    return straight(size, 32)


SELECTED = [(16, 128), (32, 64)]
PAIRS = [("fp8", "fp8"), ("bf8", "fp8"), ("fp6", "fp4"), ("fp4", "bf6"), ("fp8", "fp4")]


def selected_text(name: str, size: int, k: int, kinds: tuple[str, str], tail: str = "") -> str:
    count = size * size // 64
    widths = [BITS[kind] for kind in kinds]
    selectors = [ROWS_OF_SELECTOR.index(kind) for kind in kinds]
    return (
        f"{name}_{size}x{size}x{k}_f8f6f4 v[60:{59 + count}], v[8:{7 + widths[0]}], "
        f"v[24:{23 + widths[1]}], v[60:{59 + count}]{tail} cbsz:{selectors[0]} blgp:{selectors[1]}"
    )


@pytest.mark.parametrize("kinds", PAIRS)
@pytest.mark.parametrize(("size", "k"), SELECTED)
def test_products_of_selected_formats(bench, case, size, k, kinds):
    rng = np.random.default_rng(6)
    matrices = [finite_codes(rng, kind, (size, k)) for kind in kinds]
    places = [selected_place(size, kind) for kind in kinds]
    text = selected_text("v_mfma_f32", size, k, kinds)
    check(bench, case, text, size, kinds, matrices, places, size * size // 64)


@pytest.mark.parametrize("kinds", [("fp8", "fp8"), ("fp4", "fp6")])
@pytest.mark.parametrize(("size", "k"), SELECTED)
def test_block_scales(bench, case, size, k, kinds):
    """Block b of row i takes its scale from lane size * b + i; op_sel picks the byte."""
    rng = np.random.default_rng(8)
    matrices = [finite_codes(rng, kind, (size, k)) for kind in kinds]
    places = [selected_place(size, kind) for kind in kinds]
    exponents = [rng.integers(117, 138, (size, k // 32)) for _ in range(2)]
    extra = {}
    for register, shift, table in ((2, 0, exponents[0]), (3, 8, exponents[1])):
        extra[register] = [
            (int(table[lane % size, lane // size]) << shift) | 0x55000000 for lane in range(64)
        ]
    scales = [np.repeat(2.0 ** (table - 127.0), 32, axis=1) for table in exponents]
    tail = ", v2, v3 op_sel:[0,1,0]"
    text = selected_text("v_mfma_scale_f32", size, k, kinds, tail)
    check(bench, case, text, size, kinds, matrices, places, size * size // 64, scales, extra)


@pytest.mark.parametrize(("size", "k"), [(16, 32), (16, 64), (32, 16), (32, 32)])
def test_integer_products(bench, case, size, k):
    rng = np.random.default_rng(9)
    matrices = [rng.integers(0, 256, (size, k)) for _ in range(2)]
    per_lane, count = size * k // 64, size * size // 64
    place = straight(size, per_lane)
    batches = []
    for first, matrix in zip((8, 24), matrices, strict=True):
        batches += [(first + i, w) for i, w in enumerate(registers_of(matrix, 8, place))]
    last = per_lane // 4 - 1
    text = (
        f"v_mfma_i32_{size}x{size}x{k}_i8 v[60:{59 + count}], v[8:{8 + last}], "
        f"v[24:{24 + last}], 5\ns_nop 15\ns_nop 3"
    )
    found = run_in_parts(bench, case, batches, text, count, {})
    a, b = (values_of("i8", matrix) for matrix in matrices)
    expected = a @ b.T + 5
    for register in range(count):
        for lane in range(64):
            wanted = int(expected[result_place(size, register, lane)]) & 0xFFFFFFFF
            assert int(found[register][lane]) == wanted


def test_small_tiles_are_independent_blocks(bench, case):
    """4x4x4: block b lies in lanes 4 b to 4 b + 3; register r of a lane is row r."""
    rng = np.random.default_rng(10)
    a, b = (finite_codes(rng, "bf16", (64, 4)) for _ in range(2))
    batches = []
    for first, matrix in ((8, a), (24, b)):
        words = [lane_words(list(matrix[lane]), 16) for lane in range(64)]
        batches += [(first + at, list(w)) for at, w in enumerate(zip(*words, strict=True))]
    text = "v_mfma_f32_4x4x4_16b_bf16 v[60:63], v[8:9], v[24:25], 0\ns_nop 15"
    found = run_in_parts(bench, case, batches, text, 4, {})
    x, y = values_of("bf16", a), values_of("bf16", b)
    for register in range(4):
        for lane in range(64):
            row = lane // 4 * 4 + register
            terms = zip(x[row].tolist(), y[lane].tolist(), strict=True)
            exact = sum(Fraction(p) * Fraction(q) for p, q in terms)
            assert found[register].view(np.float32)[lane] == rounded(exact)


def test_exec_does_not_matter_and_one_rounding_is_kept(bench, case):
    """2**24 + 1 + 1 is exact in one rounding, but not in two."""
    one, big = 0x3F80, 0x4B80
    first = [big | one << 16 if lane < 16 else 0 for lane in range(64)]
    vectors = {8: first, 9: [one] * 16 + [0] * 48, 24: [one | one << 16] * 16 + [0] * 48}
    vectors |= {25: [one] * 16 + [0] * 48}
    text = (
        "s_mov_b64 exec, 1\n"
        "v_mfma_f32_16x16x16_bf16 v[40:43], v[8:9], v[24:25], 0\ns_nop 15\ns_mov_b64 exec, -1"
    )
    (result,) = bench.run([case(text, vectors, results=(40, 41, 42, 43))])
    for register in result:
        assert register.view(np.float32).tolist() == [2.0**24 + 2] * 64


def test_infinite_and_undefined_elements(bench, case):
    inf, nan, one = 0x7F80, 0x7FC1, 0x3F80
    first = [{0: inf, 1: nan, 2: 0xFF80}.get(lane, one) for lane in range(16)] + [0] * 48
    vectors = {8: first, 9: [0] * 64, 24: [one] * 16 + [0] * 48, 25: [0] * 64}
    text = "v_mfma_f32_16x16x16_bf16 v[40:43], v[8:9], v[24:25], 0\ns_nop 15"
    (result,) = bench.run([case(text, vectors, results=(40, 41, 42, 43))])
    found = [f"{register[0]:08x}" for register in result]
    assert found == ["7f800000", "7fc00000", "ff800000", "3f800000"]
