"""What the resource table counts in a listing, on listings written by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from netra_build.asm.objects.listings import parse_disassembly
from netra_build.checkasm.hazards.kernel_statistics import (
    code_of,
    instruction_mix,
    loop_addresses,
    narrow_runs,
    transfer_bytes,
    transfers,
    waves_per_simd,
    wide_share,
)
from netra_build.cli.author.kernel_minimums import (
    F8F6F4,
    FP8_K32,
    SHAPE_BY_TACTIC,
    Product,
    Shape,
    least,
    matrix_work,
)
from netra_build.cli.author.kernels_table import line_counts, ratio_text
from netra_build.core.errors import BadInput

MFMA = "v_mfma_f32_16x16x128_f8f6f4 v[0:3], v[8:15], v[16:23], v[0:3]"
PV = "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[8:9], v[16:17], v[0:3]"


def listing(*lines: str):
    """Return a disassembly of four bytes an instruction; ``LINE -> N`` branches to number N."""
    text = ["0000000000001000 <k>:"]
    for number, line in enumerate(lines):
        code, _, target = line.partition(" -> ")
        place = f" <k+{4 * int(target):#x}>" if target else ""
        text.append(f"\t{code} // {0x1000 + 4 * number:012X}: 00000000{place}")
    return parse_disassembly("\n".join([*text, ""]))


def runs(*lines: str) -> list[str]:
    return narrow_runs(transfers(listing(*lines).instructions))


def test_every_instruction_up_to_the_end_is_counted_once():
    code = code_of(
        listing(
            "s_load_dwordx2 s[4:5], s[0:1], 0x0",
            "v_lshlrev_b32_e32 v1, 4, v0",
            "s_waitcnt lgkmcnt(0)",
            "global_load_dwordx4 v[4:7], v1, s[4:5]",
            "s_barrier",
            "ds_read_b128 v[8:11], v1",
            MFMA,
            "s_nop 7",
            "s_cbranch_scc1 1 -> 1",
            "s_endpgm",
            "s_nop 0",
        )
    )
    assert len(code) == 10
    assert instruction_mix(code) == {
        "VALU": 1,
        "SALU": 2,
        "MFMA": 1,
        "VMEM": 1,
        "LDS": 1,
        "SMEM": 1,
        "waits": 3,
    }


@pytest.mark.parametrize(
    ("mnemonic", "moved"),
    [
        ("global_load_dwordx4", ("load", 16)),
        ("global_store_short_d16_hi", ("store", 2)),
        ("global_load_ushort", ("load", 2)),
        ("global_load_ubyte", ("load", 1)),
        ("buffer_store_dwordx3", ("store", 12)),
        ("ds_write_b64", ("write", 8)),
        ("ds_read_u16_d16_hi", ("read", 2)),
        ("ds_read_b64_tr_b8", None),
        ("v_add_f32_e32", None),
        ("s_load_dwordx4", None),
    ],
)
def test_the_width_of_a_transfer(mnemonic, moved):
    assert transfer_bytes(mnemonic) == moved


def test_the_wide_share_counts_bytes():
    moved = transfers(
        listing(
            "global_load_dwordx4 v[4:7], v1, s[4:5]",
            "global_load_dwordx2 v[8:9], v1, s[6:7]",
            "ds_write_b64 v2, v[8:9]",
        ).instructions
    )
    assert wide_share(moved) == Fraction(1, 2)
    assert wide_share([]) is None


LOW, HIGH = (
    "global_load_dwordx2 v[4:5], v1, s[4:5]",
    "global_load_dwordx2 v[6:7], v1, s[4:5] offset:8",
)


def test_a_run_in_small_pieces_is_found_in_any_order():
    assert runs(HIGH, LOW) == [LOW, HIGH]
    dwords = [f"global_store_dword v1, v{n}, s[4:5] offset:{4 * n}" for n in range(4)]
    assert runs(*dwords) == dwords
    assert runs("ds_write_b64 v1, v[2:3]", "ds_write_b64 v1, v[4:5] offset:8") == [
        "ds_write_b64 v1, v[2:3]",
        "ds_write_b64 v1, v[4:5] offset:8",
    ]


@pytest.mark.parametrize(
    "lines",
    [
        (LOW,),
        (LOW, HIGH.replace("offset:8", "offset:16")),
        (LOW, HIGH.replace("v1,", "v2,")),
        (LOW, HIGH.replace("s[4:5]", "s[6:7]")),
        (LOW, "v_add_u32_e32 v1, 64, v1", HIGH),
        (LOW, "s_add_u32 s4, s4, 64", HIGH),
        (LOW, "s_mov_b64 exec, 1", HIGH),
        (LOW, "global_store_dwordx2 v1, v[6:7], s[4:5] offset:8"),
        ("global_load_dwordx4 v[4:7], v1, s[4:5]", HIGH.replace("offset:8", "offset:16")),
    ],
)
def test_what_is_no_run_of_sixteen_bytes_is_left_alone(lines):
    assert runs(*lines) == []


def test_a_loop_goes_from_the_target_to_the_branch():
    found = listing(
        "s_nop 0", "s_nop 0", "s_cbranch_scc1 1 -> 1", "s_cbranch_scc0 1 -> 4", "s_endpgm"
    )
    assert loop_addresses(found) == [range(0x1004, 0x1009)]


SHAPE = Shape(
    "made up",
    (
        Product("in", F8F6F4, "2 * 32/16", waves=4, passes=3, is_loop=True),
        Product("out", FP8_K32, "3 + 1"),
    ),
)


def test_matrix_work_is_what_all_waves_run():
    found = listing("s_nop 0", MFMA, MFMA, "s_cbranch_scc1 1 -> 1", PV, PV, PV, PV, PV, "s_endpgm")
    work = matrix_work(found, SHAPE, "k")
    assert (work.issued, work.least) == (2 * 4 * 3 + 5, 4 * 3 + 4)
    assert work.ratio == Fraction(29, 16)


@pytest.mark.parametrize(
    ("lines", "shape", "expected", "got"),
    [
        ((MFMA,), None, "none", F8F6F4),
        ((MFMA, PV), SHAPE, f"{F8F6F4} in a loop, {FP8_K32}", f"{F8F6F4}, {FP8_K32}"),
        (("s_nop 0",), SHAPE, f"{F8F6F4} in a loop, {FP8_K32}", "none"),
    ],
)
def test_matrix_instructions_without_a_formula_are_refused(lines, shape, expected, got):
    with pytest.raises(BadInput) as caught:
        matrix_work(listing(*lines, "s_endpgm"), shape, "k")
    fact = f"k: matrix instructions and formulas differ; expected {expected}, got {got}"
    hint = "hint: netra_build/cli/author/kernel_minimums.py holds the formulas"
    assert str(caught.value) == f"{fact}\n{hint}"


def test_no_matrix_instruction_needs_no_formula():
    assert matrix_work(listing("s_endpgm"), None, "k") is None


@pytest.mark.parametrize(("formula", "value"), [("9 * 512/128", 36), ("2 + 3 * 4", 14), ("8", 8)])
def test_a_formula_has_a_value(formula, value):
    assert least(Product("", "", formula)) == value


@pytest.mark.parametrize("formula", ["1/2", "2 ** 3", "x", "1.5", "abs(1)"])
def test_a_formula_of_anything_else_is_our_own_bug(formula):
    with pytest.raises(ValueError):
        least(Product("", "", formula))


def test_all_formulas_can_be_read():
    products = [product for shape in SHAPE_BY_TACTIC.values() for product in shape.products]
    assert len(products) > 10
    assert all(least(product) > 0 for product in products)


@pytest.mark.parametrize(
    ("vgprs", "sgprs", "lds", "items", "waves"),
    [
        (24, 20, 0, 64, (8, "")),
        (64, 20, 0, 64, (8, "")),
        (65, 20, 0, 64, (7, "VGPRs")),
        (512, 20, 0, 64, (1, "VGPRs")),
        (24, 94, 0, 64, (8, "")),
        (24, 95, 0, 64, (7, "SGPRs")),
        (24, 20, 65536, 256, (2, "LDS")),
        (24, 20, 163840, 1024, (4, "LDS")),
        (168, 20, 0, 64, (3, "VGPRs")),
        (168, 20, 0, 512, (2, "VGPRs")),  # 3 would hold a work-group and a half
    ],
)
def test_the_waves_of_a_simd(vgprs, sgprs, lds, items, waves):
    assert waves_per_simd(vgprs, sgprs, lds, items) == waves


def test_a_ratio_is_rounded_up():
    assert ratio_text(Fraction(1)) == "1.00"
    assert ratio_text(Fraction(1201, 1000)) == "1.21"
    assert ratio_text(Fraction(8, 5)) == "1.60"


def test_comments_and_blanks_are_no_code():
    assert line_counts("// a\n\n\ts_nop 0 // b\n.endm\n") == (4, 2)
