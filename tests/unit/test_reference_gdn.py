"""The router and GDN statements against a second one: exact fractions, one element at a time."""

from __future__ import annotations

from contextlib import nullcontext
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from kernel_statements import entry_of, named_in, scenario, stated_in
from weight_layout import shuffle_n16k16

from netra_build.checkasm.numerics.arithmetic import exponential, second_nearest, tree64, xor16
from netra_build.checkasm.numerics.formats import from_bf16, from_e4m3, to_bf16
from netra_build.checkasm.numerics.scenario import Bound, Scenario, junk
from netra_build.core.errors import BadInput

EPSILON, SOFTPLUS_LIMIT, convolve, gates, normalise = named_in(
    "gdn_inputs", "EPSILON", "SOFTPLUS_LIMIT", "convolve", "gates", "normalise"
)
prefill = stated_in("gdn_prefill").prefill
verify = stated_in("gdn_recurrence").verify
dense_projection, router_projection = named_in(
    "projections", "dense_projection", "router_projection"
)


def rounded(exact: Fraction, digits: int = 24) -> Fraction:
    """Round to a binary number of so many digits with float32's exponents, ties to even."""
    if exact == 0:
        return Fraction(0)
    power = max(abs(exact).numerator.bit_length() - exact.denominator.bit_length(), -127) + 1
    while power > -125 and abs(exact) < Fraction(2) ** (power - 1):
        power -= 1
    unit = Fraction(2) ** (max(power, -125) - digits)
    return round(exact / unit) * unit


def number(x: object) -> Fraction:
    """Return a float as a fraction."""
    return Fraction(float(x))  # type: ignore[arg-type]


def bf16(*shape: int, seed: int = 7, scale: float = 1.0) -> np.ndarray:
    """Return random bf16 bits."""
    rng = np.random.default_rng(seed)
    return to_bf16((rng.standard_normal(shape) * scale).astype(np.float32))


def tree(lanes: list[Fraction]) -> Fraction:
    """Add 64 numbers in the order of a wave: folding halves of rows of 16, then the rows."""
    rows = []
    for first in range(0, 64, 16):
        row = lanes[first : first + 16]
        for distance in (8, 4, 2, 1):
            row = [
                rounded(x + (row[i - distance] if i >= distance else 0)) for i, x in enumerate(row)
            ]
        rows.append(row[15])
    return rounded(rounded(rows[2] + rows[3]) + rounded(rows[0] + rows[1]))


def butterfly(lanes: list[Fraction]) -> Fraction:
    """Add 16 numbers as pairs at distance 8, 4, 2, 1."""
    while len(lanes) > 1:
        half = len(lanes) // 2
        lanes = [rounded(lanes[i] + lanes[i + half]) for i in range(half)]
    return lanes[0]


def test_a_wave_is_added_by_halves_of_rows() -> None:
    rng = np.random.default_rng(3)
    lanes = (rng.standard_normal((5, 64)) * np.exp2(rng.integers(-12, 12, (5, 64)))).astype("f4")
    for row, found in zip(lanes, tree64(lanes), strict=True):
        assert number(found) == tree([number(x) for x in row])


def test_sixteen_lanes_are_added_as_a_butterfly() -> None:
    rng = np.random.default_rng(4)
    lanes = (rng.standard_normal((5, 16)) * np.exp2(rng.integers(-12, 12, (5, 16)))).astype("f4")
    for row, found in zip(lanes, xor16(lanes), strict=True):
        assert number(found) == butterfly([number(x) for x in row])


def test_the_router_adds_two_chains_a_chunk() -> None:
    hidden, weight = bf16(1, 2048), bf16(1, 2048, seed=8)
    a, b = ([number(x) for x in from_bf16(bits[0])] for bits in (hidden, weight))
    lanes = [Fraction(0)] * 64
    for first in range(0, 2048, 8):
        chains = []
        for odd in (0, 1):
            total = rounded(a[first + odd] * b[first + odd])
            for k in range(first + odd + 2, first + 8, 2):
                total = rounded(a[k] * b[k] + total)
            chains.append(total)
        lane = first // 8 % 64
        lanes[lane] = rounded(rounded(chains[0] + chains[1]) + lanes[lane])
    found = from_bf16(router_projection(hidden, weight))
    assert number(found[0, 0]) == rounded(tree(lanes), 8)


def test_the_dense_projection_scales_block_by_block() -> None:
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 126, (16, 256), dtype=np.uint8)
    row = rng.integers(0, 126, 256, dtype=np.uint8)
    scales = rng.random(2).astype(np.float32)
    weight_scales = rng.random((1, 2)).astype(np.float32)
    found = from_bf16(dense_projection(row, scales, shuffle_n16k16(codes), weight_scales))
    for column in range(16):
        total = Fraction(0)
        for block in range(2):
            span = slice(128 * block, 128 * block + 128)
            pairs = zip(from_e4m3(codes[column, span]), from_e4m3(row[span]), strict=True)
            dot = rounded(sum((number(w) * number(x) for w, x in pairs), Fraction(0)))
            product = rounded(number(scales[block]) * dot)
            total = rounded(total + rounded(number(weight_scales[0, block]) * product))
        assert number(found[column]) == rounded(total, 8)


def exp_decimal(x: Fraction) -> Fraction:
    """Return e to a power with 40 digits."""
    with localcontext() as context:
        context.prec = 40
        return Fraction((Decimal(x.numerator) / Decimal(x.denominator)).exp())


@pytest.mark.parametrize("x", [0.0, -0.5, 1.0, -86.0, -88.5, -100.0, 30.0])
def test_the_exponential_is_near_the_true_one(x: float) -> None:
    found = number(exponential(np.array([x], np.float32))[0])
    true = exp_decimal(Fraction(x))
    assert abs(found - true) <= true * Fraction(abs(x) + 2) / 2**24 + Fraction(1, 2**149)


def test_a_row_is_normalised_by_the_root_of_its_lane_sum() -> None:
    bits = bf16(1, 128)
    values = [number(x) for x in from_bf16(bits[0])]
    lanes = [
        rounded(rounded(values[2 * i] ** 2) + rounded(values[2 * i + 1] ** 2)) for i in range(64)
    ]
    total = rounded(tree(lanes) + number(EPSILON))
    with localcontext() as context:
        context.prec = 40
        root = Fraction((Decimal(total.numerator) / Decimal(total.denominator)).sqrt())
    norm = rounded(root)
    found = normalise(bits)[0]
    assert [number(x) for x in found] == [rounded(x / norm) for x in values]


def exact_gates(
    a_log: np.ndarray, a: np.ndarray, dt_bias: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return decay and beta [tokens, heads], exact up to one rounding, and -log(decay).

    decay = exp(-exp(a_log)*softplus(a + dt_bias)), beta = 1/(1 + exp(-b)); softplus(x) is x
    above 20. Shapes as those of ``gates``, which stays near these numbers: see ``gate_distance``.
    """
    x = (from_bf16(a) + from_bf16(dt_bias)).astype(np.float64)
    low = np.log1p(np.exp(np.minimum(x, SOFTPLUS_LIMIT)))
    softplus = np.where(x <= SOFTPLUS_LIMIT, low, x)
    rate = np.exp(a_log.astype(np.float64)) * softplus
    wide = from_bf16(b).astype(np.float64)
    with np.errstate(under="ignore", over="ignore"):
        decay = np.exp(-rate).astype(np.float32)
        beta = (1 / (1 + np.exp(-wide))).astype(np.float32)
    return decay, beta, rate


def gate_distance(
    rate: np.ndarray, a_log: np.ndarray, x: np.ndarray, b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return how far decay and beta may be from the exact numbers, relative to these.

    Each plain instruction is half to one unit of FP32 off; the exponentials multiply that by
    their arguments. ``rate`` is -log(decay), ``x`` a + dt_bias.
    """
    decay = rate * (np.abs(x) + np.abs(a_log) + 16) + rate + 8
    return decay * 2.0**-24, (np.abs(b).astype(np.float64) + 8) * 2.0**-24


def test_the_gates_follow_their_definitions() -> None:
    a_log, dt_bias = np.array([-1.5, 2.0], np.float32), to_bf16(np.array([0.5, 30.0], np.float32))
    a = to_bf16(np.array([[-0.25, -3.0]], np.float32))
    b = to_bf16(np.array([[2.0, -90.0]], np.float32))
    decay, beta, _ = exact_gates(a_log, a, dt_bias, b)
    softplus = (exp_decimal(Fraction(1, 4)), Fraction(27))
    with localcontext() as context:
        context.prec = 40
        low = Fraction((1 + Decimal(float(softplus[0]))).ln())
    rates = (exp_decimal(Fraction(-3, 2)) * low, exp_decimal(Fraction(2)) * softplus[1])
    for found, rate in zip(decay[0], rates, strict=True):
        true = exp_decimal(-rate)
        assert abs(number(found) - true) <= true / 2**22 + Fraction(1, 2**149)
    for found, x in zip(beta[0], (Fraction(2), Fraction(-90)), strict=True):
        true = 1 / (1 + exp_decimal(-x))
        assert abs(number(found) - true) <= true / 2**22 + Fraction(1, 2**149)


@pytest.mark.parametrize("is_second", [False, True])
def test_rounded_gates_stay_near_the_exact_ones(is_second: bool) -> None:
    rng = np.random.default_rng(11)
    a_log = rng.uniform(-8, 3, 32).astype(np.float32)
    dt_bias = to_bf16(rng.uniform(-4, 4, 32).astype(np.float32))
    a, b = (to_bf16((rng.standard_normal((400, 32)) * 6).astype(np.float32)) for _ in range(2))
    decay, beta, rate = exact_gates(a_log, a, dt_bias, b)
    with second_nearest() if is_second else nullcontext():
        ours = gates(a_log, a, dt_bias, b)
    x = from_bf16(a).astype(np.float64) + from_bf16(dt_bias)
    for found, exact, allowed in zip(
        ours, (decay, beta), gate_distance(rate, a_log, x, from_bf16(b)), strict=True
    ):
        apart = np.abs(found.astype(np.float64) - exact)
        assert (apart <= allowed * exact + 2.0**-148).all()
        assert (apart > 0).any()


def dot_8(variant: int, side: str, row: int, p: list[Fraction], c: list[Fraction]) -> Fraction:
    """Add a lane's 8 products in the order of a variant and side."""
    if variant == 17:
        chains = []
        for odd in (0, 1):
            total = rounded(p[odd] * c[odd])
            for k in range(odd + 2, 8, 2):
                total = rounded(p[k] * c[k] + total)
            chains.append(total)
        return rounded(chains[0] + chains[1])
    if side == "k":
        total = rounded(p[0] * c[0])
        for k in range(1, 8):
            total = rounded(total + rounded(p[k] * c[k]))
        return total
    first, second = (1, 0) if row // 4 % 2 else (0, 1)
    total = rounded(p[second] * c[second] + rounded(p[first] * c[first]))
    for k in range(2, 8):
        total = rounded(p[k] * c[k] + total)
    return total


@pytest.mark.parametrize("variant", [13, 17])
@pytest.mark.parametrize("row", [0, 5, 127])
def test_the_recurrence_rounds_as_written(variant: int, row: int) -> None:
    rng = np.random.default_rng(row)
    state, qn, kn, v = (
        (rng.standard_normal(shape) / 4).astype(np.float32)
        for shape in ((1, 128, 128), (2, 1, 128), (2, 1, 128), (2, 1, 128))
    )
    decay, beta = rng.random((2, 1)).astype(np.float32), rng.random((2, 1)).astype(np.float32)
    outputs, final = verify(state, qn, kn, v, decay, beta, variant)
    mine = [number(x) for x in state[0, row]]

    def dot(side: str, vector: np.ndarray) -> Fraction:
        c = [number(x) for x in vector]
        parts = [
            dot_8(variant, side, row, mine[at : at + 8], c[at : at + 8]) for at in range(0, 128, 8)
        ]
        return butterfly(parts)

    for t in range(2):
        mine = [rounded(x * number(decay[t, 0])) for x in mine]
        u = rounded(rounded(number(v[t, 0, row]) - dot("k", kn[t, 0])) * number(beta[t, 0]))
        mine = [rounded(number(k) * u + x) for k, x in zip(kn[t, 0], mine, strict=True)]
        out = number(from_bf16(outputs[t])[0, row])
        assert out == rounded(dot("q", qn[t, 0]), 8)
    assert [number(x) for x in final[0, row]] == mine


def test_the_convolution_rounds_products_and_keeps_its_history() -> None:
    x, weight, history = (from_bf16(bf16(*shape)) for shape in ((2, 1), (1, 4), (1, 3)))
    outputs, windows = convolve(x, weight, history)
    inputs = [number(value) for value in (*history[0], *x[:, 0])]
    w = [number(value) for value in weight[0]]
    for t in range(2):
        p = [rounded(inputs[t + j] * w[j], 8) for j in range(4)]
        total = rounded(rounded(rounded(p[0] + p[1]) + p[2]) + p[3])
        power = number(exponential(np.array([-float(total)], np.float32))[0])
        silu = rounded(rounded(total / rounded(1 + power)), 8)
        assert number(from_bf16(outputs[t])[0]) == silu
        assert [number(y) for y in from_bf16(windows[t])[0]] == inputs[t + 1 : t + 4]


def test_the_prefill_recurrence_goes_chunk_by_chunk() -> None:
    """Each chunk starts from the state before it; absent tokens change nothing."""
    rng = np.random.default_rng(11)
    k, v, w = (from_bf16(bf16(66, 128, seed=n, scale=0.1)) for n in (1, 2, 3))
    g = -rng.random(66).astype(np.float32)
    start = from_bf16(bf16(128, 128, seed=4, scale=0.1))
    states, corrected, final = prefill(k, v, w, g, start)
    assert len(states) == 2
    wide = start.astype(np.float64)
    for part in (slice(0, 64), slice(64, 66)):
        x = v[part] - w[part].astype(np.float64) @ wide.T
        assert np.abs(from_bf16(corrected[part]) - x).max() < 2e-2
        factor = np.where(g[part][-1] <= g[part], np.exp(g[part][-1] - g[part]), 0)
        wide = wide * np.exp(g[part][-1]) + (x * factor[:, None]).T @ k[part]
    assert np.abs(final - wide).max() < 1e-2
    assert np.array_equal(states[0], to_bf16(start))


def one_output(expected: np.ndarray, bound: Bound | None) -> Scenario:
    """Return a scenario with one output and nothing else."""
    bounds = {} if bound is None else {"out": bound}
    return Scenario("x", "x", {}, {}, (1, 1, 1), (64, 1, 1), {"out": expected}, bounds)


def test_a_bound_allows_ulps_or_a_distance() -> None:
    wanted = np.array([1.0, 1e-20, 2.0], np.float32)
    got = np.nextafter(wanted, np.float32(4)).astype(np.float32)
    got[1] = 3e-20
    assert [c.differing for c in one_output(wanted, None).compare({"out": got})] == [3]
    near = Bound(0, np.array([1e-6, 0, 0]))
    assert [c.differing for c in one_output(wanted, near).compare({"out": got})] == [2]
    both = Bound(1, 1e-19)
    assert [c.is_equal for c in one_output(wanted, both).compare({"out": got})] == [True]


def test_scenarios_repeat_and_differ_by_seed() -> None:
    first, again, other = (
        scenario("router_bf16_verify_m16", "", "random", seed) for seed in (1, 1, 3)
    )
    assert first.label == "router_bf16_verify_m16/random/1"
    assert np.array_equal(first.values["hidden"], again.values["hidden"])
    assert not np.array_equal(first.values["hidden"], other.values["hidden"][:2])


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("router_bf16_verify_m17", "", "random"),
            'no numeric contract for "router_bf16_verify_m17"'
            '\nhint: did you mean "router_bf16_verify_m16"?',
        ),
        (
            ("gdn_state_replay_m12_fused_exact", "wave4", "random"),
            'gdn_state_replay_m12_fused_exact: unknown variant "wave4"'
            '\nhint: did you mean "waves4"?',
        ),
        (
            ("gdn_qkvz_conv_m12", "", "randon"),
            'gdn_qkvz_conv_m12: unknown input case "randon"\nhint: did you mean "random"?',
        ),
    ],
)
def test_unknown_words_are_refused(words: tuple[str, str, str], message: str) -> None:
    with pytest.raises(BadInput) as refused:
        scenario(*words)
    assert str(refused.value) == message


def test_every_scenario_names_its_kernargs_and_outputs() -> None:
    for tactic in ("router_bf16_verify_m16", "gdn_verify_precompute_m12", "gdn_qkvz_conv_m12"):
        launch = scenario(tactic, "", entry_of(tactic).cases[0])
        assert set(launch.expected) <= set(launch.values)
    assert junk("uint16", 2).tolist() == [0xA5A5, 0xA5A5]
