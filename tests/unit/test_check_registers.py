"""Register sets as bits: parsing of operands, names, descriptions."""

from __future__ import annotations

import pytest

from netra_build.checkasm.hazards.effects import (
    AGPR_BASE,
    EXEC_MASK,
    M0_MASK,
    SGPR_BASE,
    VCC_MASK,
    describe,
    highest,
    lowest,
    numbers,
    operand_mask,
    register_name,
)


@pytest.mark.parametrize(
    ("text", "mask"),
    [
        ("v0", 1),
        ("v255", 1 << 255),
        ("v[2:5]", 0b111100),
        ("a3", 1 << (AGPR_BASE + 3)),
        ("s[4:5]", 3 << (SGPR_BASE + 4)),
        ("s101", 1 << (SGPR_BASE + 101)),
        ("vcc", VCC_MASK),
        ("exec", EXEC_MASK),
        ("m0", M0_MASK),
        ("-v1", 2),
        ("|v1|", 2),
        ("-|v1|", 2),
        ("neg(v1)", 2),
        ("abs(v[0:1])", 3),
        ("sext(v1)", 2),
        ("src_scc", operand_mask("scc")),
        ("0x10", 0),
        ("1.0", 0),
        ("off", 0),
        ("v256", 0),
        ("s102", 0),
        ("v[5:2]", 0),
        ("v[250:256]", 0),
        ("v9999", 0),
        ("", 0),
        ("v", 0),
    ],
)
def test_operand_names_its_registers(text: str, mask: int) -> None:
    """Registers, tuples, modifiers; literals and impossible registers name none."""
    assert operand_mask(text) == mask


def test_vcc_halves_make_vcc() -> None:
    """Halves are distinct and together the whole."""
    low, high = operand_mask("vcc_lo"), operand_mask("vcc_hi")
    assert low & high == 0
    assert low | high == VCC_MASK


@pytest.mark.parametrize(
    ("texts", "shown"),
    [
        (["v0"], "v0"),
        (["v[0:3]", "v5"], "v[0:3], v5"),
        (["v255", "a0"], "v255, a0"),
        (["a255", "s0"], "a255, s0"),
        (["s[2:3]", "vcc"], "s[2:3], vcc"),
        (["exec", "m0", "v1"], "v1, m0, exec"),
        (["vcc_lo"], "vcc_lo"),
        (["s101", "flat_scratch_lo"], "s101, flat_scratch_lo"),
        (["ttmp[0:1]"], "ttmp0, ttmp1"),
        (["scc"], "scc"),
    ],
)
def test_description_joins_runs_within_one_file(texts: list[str], shown: str) -> None:
    """Runs are joined, register files are not."""
    mask = 0
    for text in texts:
        mask |= operand_mask(text)
    assert describe(mask) == shown


def test_numbers_and_extremes() -> None:
    """Ascending numbers, the lowest, the count up to the highest index."""
    mask = operand_mask("v[2:3]") | operand_mask("a7")
    assert numbers(mask) == (2, 3, AGPR_BASE + 7)
    assert lowest(mask) == 2
    assert highest(mask, 0, 256) == 4
    assert highest(mask, AGPR_BASE, 256) == 8
    assert highest(mask, SGPR_BASE, 102) == 0
    assert register_name(AGPR_BASE + 7) == "a7"
