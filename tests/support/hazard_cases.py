"""Dependent pairs for the wait-state table, each as machine IR for llc and as assembly for us."""

from __future__ import annotations

from dataclasses import dataclass

from netra_build.checkasm.hazards.hazard_table import ROWS, Row

X = "implicit $exec"
MX = "implicit $mode, implicit $exec"


@dataclass(frozen=True)
class Case:
    """One dependent pair: machine IR and assembly of producer and consumer, states of the table.

    ``gfx950`` and ``gfx942`` are those of llc.
    """

    name: str
    mir: tuple[str, str]
    asm: tuple[str, str]
    states: int
    gfx942: int | None
    gfx950: int = 0
    source: str = "LLVM"


def v(first: int, count: int = 1) -> str:
    """Return the machine IR name of consecutive VGPRs."""
    return "$" + "_".join(f"vgpr{number}" for number in range(first, first + count))


def s(first: int, count: int = 1) -> str:
    """Return the machine IR name of consecutive SGPRs."""
    return "$" + "_".join(f"sgpr{number}" for number in range(first, first + count))


def va(first: int, count: int) -> str:
    """Return the assembler's name of consecutive VGPRs."""
    return f"v[{first}:{first + count - 1}]" if count > 1 else f"v{first}"


MOV = (f"{v(0)} = V_MOV_B32_e32 {v(60)}, {X}", "v_mov_b32 v0, v60")
READ = (f"{v(61)} = V_MOV_B32_e32 {v(0)}, {X}", "v_mov_b32 v61, v0")
STORE = (
    f"GLOBAL_STORE_DWORD {v(62, 2)}, {v(0)}, 0, 0, {X}",
    "global_store_dword v[62:63], v0, off",
)
ADD = (f"{v(61)} = V_ADD_F32_e32 {v(0)}, {v(60)}, {MX}", "v_add_f32 v61, v0, v60")
CMPX = (
    f"V_CMPX_EQ_I32_e32 {v(0)}, {v(1)}, implicit-def $exec, implicit-def $vcc, {X}",
    "v_cmpx_eq_i32 vcc, v0, v1",
)
SWAP = (
    f"{v(0)}, {v(3)} = V_PERMLANE32_SWAP_B32_e32 {v(0)}, {v(3)}, {X}",
    "v_permlane32_swap_b32 v0, v3",
)
SWAP16 = (
    f"{v(3)}, {v(0)} = V_PERMLANE16_SWAP_B32_e32 {v(3)}, {v(0)}, {X}",
    "v_permlane16_swap_b32 v3, v0",
)
DPP = (
    f"{v(9)} = V_MOV_B32_dpp {v(9)}, {v(0)}, 273, 15, 15, 0, {X}",
    "v_mov_b32_dpp v9, v0 row_shr:1 row_mask:0xf bank_mask:0xf",
)
OLD_DPP = (
    f"{v(0)} = V_MOV_B32_dpp {v(0)}, {v(9)}, 273, 15, 15, 0, {X}",
    "v_mov_b32_dpp v0, v9 row_shr:1 row_mask:0xf bank_mask:0xf",
)
RFL = (f"{s(4)} = V_READFIRSTLANE_B32 {v(5)}, {X}", "v_readfirstlane_b32 s4, v5")
EXP = (f"{v(0)} = V_EXP_F32_e32 {v(1)}, {MX}", "v_exp_f32 v0, v1")
CVT_HIGH = (
    f"{v(0)} = V_CVT_PK_FP8_F32_e64 8, {v(1)}, 0, {v(2)}, {v(0)}, 0, {MX}",
    "v_cvt_pk_fp8_f32 v0, v1, v2 op_sel:[0,0,1]",
)
CVT_LOW = (
    f"{v(0)} = V_CVT_PK_FP8_F32_e64 0, {v(1)}, 0, {v(2)}, {v(0)}, 0, {MX}",
    "v_cvt_pk_fp8_f32 v0, v1, v2",
)
SCALE_HIGH = (
    f"{v(0)} = V_CVT_SCALEF32_PK_FP8_F32_e64 8, {v(1)}, 0, {v(2)}, 0, {v(3)}, {v(0)}, 0, {MX}",
    "v_cvt_scalef32_pk_fp8_f32 v0, v1, v2, v3 op_sel:[0,0,0,1]",
)
SDWA = (
    f"{v(0)} = V_ADD_U16_sdwa 0, {v(1)}, 0, {v(2)}, 0, 4, 0, 6, 6, {X}",
    "v_add_u16_sdwa v0, v1, v2 dst_sel:WORD_0 dst_unused:UNUSED_PAD src0_sel:DWORD src1_sel:DWORD",
)
DOT = (
    f"{v(0)} = V_DOT2C_F32_F16_e32 {v(1)}, {v(2)}, {v(0)}, {MX}",
    "v_dot2c_f32_f16 v0, v1, v2",
)
DOT_SOURCE = (
    f"{v(9)} = V_DOT2C_F32_F16_e32 {v(0)}, {v(2)}, {v(9)}, {MX}",
    "v_dot2c_f32_f16 v9, v0, v2",
)
OVERWRITE = MOV
LOAD = (f"{v(0)} = GLOBAL_LOAD_DWORD {v(62, 2)}, 0, 0, {X}", "global_load_dword v0, v[62:63], off")
WIDE_STORE = (
    f"GLOBAL_STORE_DWORDX4 {v(62, 2)}, {v(0, 4)}, 0, 0, {X}",
    "global_store_dwordx4 v[62:63], v[0:3], off",
)
SGPR_STORE = (
    f"BUFFER_STORE_DWORDX4_OFFEN_exact {v(0, 4)}, {v(60)}, {s(8, 4)}, {s(4)}, 0, 0, 0, {X}",
    "buffer_store_dwordx4 v[0:3], v60, s[8:11], s4 offen",
)
SETREG = (
    "S_SETREG_B32 $sgpr0, 1, implicit-def $mode, implicit $mode",
    "s_setreg_b32 hwreg(HW_REG_MODE, 0, 1), s0",
)
TRAPS = (SETREG[0].replace("0, 1", "0, 3"), SETREG[1].replace("MODE", "TRAPSTS"))
GETREG = ("$sgpr1 = S_GETREG_B32 1, implicit $mode", "s_getreg_b32 s1, hwreg(HW_REG_MODE, 0, 1)")
SET_M0 = ("$m0 = S_MOV_B32 3", "s_mov_b32 m0, 3")
VCMP = (f"V_CMP_EQ_U32_e32 {v(0)}, {v(1)}, implicit-def $vcc, {X}", "v_cmp_eq_u32 vcc, v0, v1")


def mfma(opcode: str, asm: str, d: int, a: int, b: int, c: int, sizes: tuple[int, int]) -> tuple:
    """Return a matrix instruction with ``sizes`` = registers of the result and of A and B."""
    size, narrow = sizes
    flags = "0, 0" if "F8F6F4" in opcode else "0, 0, 0"
    return (
        f"{v(d, size)} = {opcode} {v(a, narrow)}, {v(b, narrow)}, {v(c, size)}, {flags}, {MX}",
        f"{asm} {va(d, size)}, {va(a, narrow)}, {va(b, narrow)}, {va(c, size)}",
    )


KINDS = {
    "xdl2": ("V_MFMA_F32_4X4X4BF16_1K_vgprcd_e64", "v_mfma_f32_4x4x4_16b_bf16", (4, 2)),
    "xdl4": ("V_MFMA_F32_16X16X32_FP8_FP8_vgprcd_e64", "v_mfma_f32_16x16x32_fp8_fp8", (4, 2)),
    "xdl8": ("V_MFMA_F32_32X32X16_FP8_FP8_vgprcd_e64", "v_mfma_f32_32x32x16_fp8_fp8", (16, 2)),
    "xdl16": ("V_MFMA_F32_32X32X4BF16_1K_vgprcd_e64", "v_mfma_f32_32x32x4_2b_bf16", (32, 2)),
    "sgemm2": ("V_MFMA_F32_4X4X1F32_vgprcd_e64", "v_mfma_f32_4x4x1_16b_f32", (4, 1)),
    "sgemm8": ("V_MFMA_F32_16X16X4F32_vgprcd_e64", "v_mfma_f32_16x16x4_f32", (4, 1)),
    "sgemm16": ("V_MFMA_F32_32X32X2F32_vgprcd_e64", "v_mfma_f32_32x32x2_f32", (16, 1)),
    "dgemm4": ("V_MFMA_F64_4X4X4F64_vgprcd_e64", "v_mfma_f64_4x4x4_4b_f64", (2, 2)),
    "dgemm16": ("V_MFMA_F64_16X16X4F64_vgprcd_e64", "v_mfma_f64_16x16x4_f64", (8, 2)),
}
SAME_SIZE = {
    "xdl": (
        *(KINDS["xdl2"], KINDS["xdl4"]),
        ("V_MFMA_F32_32X32X8F16_vgprcd_e64", "v_mfma_f32_32x32x8_f16", (16, 2)),
        ("V_MFMA_F32_32X32X4F16_vgprcd_e64", "v_mfma_f32_32x32x4_2b_f16", (32, 2)),
    ),
    "sgemm": (
        *(KINDS["sgemm2"], KINDS["sgemm8"], KINDS["sgemm16"]),
        ("V_MFMA_F32_16X16X1F32_vgprcd_e64", "v_mfma_f32_16x16x1_4b_f32", (16, 1)),
        ("V_MFMA_F32_32X32X1F32_vgprcd_e64", "v_mfma_f32_32x32x1_2b_f32", (32, 1)),
    ),
}
NAMED_BY_SPECIFICATION = {
    "bf16-16x16x32": ("V_MFMA_F32_16X16X32_BF16_vgprcd_e64", "v_mfma_f32_16x16x32_bf16", (4, 4), 8),
    "bf16-32x32x16": (
        "V_MFMA_F32_32X32X16_BF16_vgprcd_e64",
        "v_mfma_f32_32x32x16_bf16",
        (16, 4),
        12,
    ),
    "f8f6f4-16x16x128": (
        "V_MFMA_F32_16X16X128_F8F6F4_f8_f8_vgprcd_e64",
        "v_mfma_f32_16x16x128_f8f6f4",
        (4, 8),
        12,
    ),
    "f8f6f4-32x32x64": (
        "V_MFMA_F32_32X32X64_F8F6F4_f8_f8_vgprcd_e64",
        "v_mfma_f32_32x32x64_f8f6f4",
        (16, 8),
        20,
    ),
}
MATRIX = mfma(*KINDS["xdl4"][:2], 40, 0, 50, 40, (4, 2))
MATRIX_APART = mfma(*KINDS["xdl4"][:2], 40, 50, 52, 40, (4, 2))
MATRIX_WRITE = mfma(*KINDS["xdl4"][:2], 0, 50, 52, 40, (4, 2))

PAIRS = (
    ("valu-vgpr-to-matrix", MOV, MATRIX),
    ("valu-vgpr-to-dpp", MOV, DPP),
    ("valu-vgpr-to-dpp", MOV, OLD_DPP),
    ("valu-vgpr-to-permlane", MOV, SWAP),
    ("valu-vgpr-to-permlane", SWAP, SWAP16),
    (
        "valu-vgpr-to-readlane",
        MOV,
        (f"{s(3)} = V_READLANE_B32 {v(0)}, 2", "v_readlane_b32 s3, v0, 2"),
    ),
    (
        "valu-vgpr-to-readlane",
        MOV,
        (f"{s(3)} = V_READFIRSTLANE_B32 {v(0)}, {X}", "v_readfirstlane_b32 s3, v0"),
    ),
    ("valu-exec-to-dpp", CMPX, DPP),
    ("valu-exec-to-permlane", CMPX, SWAP),
    ("valu-exec-to-matrix", CMPX, MATRIX_APART),
    (
        "valu-exec-to-operand",
        CMPX,
        (f"{v(6)} = V_MOV_B32_e32 $exec_lo, {X}", "v_mov_b32 v6, exec_lo"),
    ),
    ("valu-exec-to-lane", CMPX, RFL),
    (
        "valu-exec-to-lane",
        CMPX,
        (f"{v(9)} = V_WRITELANE_B32 0, 3, {v(9)}", "v_writelane_b32 v9, 0, 3"),
    ),
    ("valu-sgpr-to-valu", RFL, (f"{v(6)} = V_MOV_B32_e32 {s(4)}, {X}", "v_mov_b32 v6, s4")),
    (
        "valu-sgpr-to-valu",
        VCMP,
        (
            f"{v(6)} = V_CNDMASK_B32_e32 {v(2)}, {v(3)}, implicit $vcc, {X}",
            "v_cndmask_b32 v6, v2, v3, vcc",
        ),
    ),
    (
        "valu-sgpr-to-vmem",
        RFL,
        (
            f"{v(6)} = GLOBAL_LOAD_DWORD_SADDR {s(4, 2)}, {v(7)}, 0, 0, {X}",
            "global_load_dword v6, v7, s[4:5]",
        ),
    ),
    (
        "valu-sgpr-to-vmem",
        RFL,
        (
            f"{v(6)} = BUFFER_LOAD_DWORD_OFFEN {v(7)}, {s(8, 4)}, {s(4)}, 0, 0, 0, {X}",
            "buffer_load_dword v6, v7, s[8:11], s4 offen",
        ),
    ),
    (
        "valu-sgpr-to-lane-select",
        RFL,
        (f"{s(3)} = V_READLANE_B32 {v(7)}, {s(4)}", "v_readlane_b32 s3, v7, s4"),
    ),
    (
        "valu-vcc-to-div-fmas",
        VCMP,
        (
            f"{v(6)} = V_DIV_FMAS_F32_e64 0, {v(2)}, 0, {v(3)}, 0, {v(4)}, 0, 0, "
            f"implicit $vcc, {MX}",
            "v_div_fmas_f32 v6, v2, v3, v4",
        ),
    ),
    ("transcendental-to-valu", EXP, ADD),
    ("partial-write-to-valu", CVT_HIGH, READ),
    ("partial-write-to-valu", SCALE_HIGH, READ),
    ("partial-write-to-valu", SDWA, READ),
    ("partial-write-to-valu", CVT_HIGH, CVT_LOW),
    ("partial-write-to-valu-write", CVT_HIGH, OVERWRITE),
    ("dot-to-other-read", DOT, READ),
    ("dot-to-other-read", DOT, STORE),
    ("dot-to-other-write", DOT, OVERWRITE),
    ("dot-to-other-write", DOT, LOAD),
    ("dot-to-same-source", DOT, DOT_SOURCE),
    ("wide-store-to-valu-write", WIDE_STORE, OVERWRITE),
    ("wide-store-to-matrix-write", WIDE_STORE, MATRIX_WRITE),
    ("setreg-to-getreg", SETREG, GETREG),
    ("setreg-to-setreg", SETREG, SETREG),
    ("setreg-trapsts-to-rfe", TRAPS, ("S_RFE_B64 $sgpr2_sgpr3", "s_rfe_b64 s[2:3]")),
    ("buffer-store-sgpr-offset-to-valu-write", SGPR_STORE, OVERWRITE),
    ("buffer-store-sgpr-offset-to-matrix-write", SGPR_STORE, MATRIX_WRITE),
    (
        "salu-m0-to-use",
        SET_M0,
        (
            f"BUFFER_LOAD_DWORD_LDS_OFFEN {v(7)}, {s(8, 4)}, 0, 0, 0, 0, {X}, implicit $m0",
            "buffer_load_dword v7, s[8:11], 0 offen lds",
        ),
    ),
    (
        "salu-m0-to-use",
        SET_M0,
        ("S_SENDMSG 1, implicit $exec, implicit $m0", "s_sendmsg sendmsg(MSG_INTERRUPT)"),
    ),
)

FREE_PAIRS = (
    ("transcendental-to-store", EXP, STORE),
    (
        "transcendental-to-transcendental",
        EXP,
        (f"{v(2)} = V_EXP_F32_e32 {v(0)}, {MX}", "v_exp_f32 v2, v0"),
    ),
    ("low-convert-to-valu", CVT_LOW, READ),
    ("low-convert-to-high-convert", CVT_LOW, CVT_HIGH),
    ("high-convert-to-store", CVT_HIGH, STORE),
    (
        "narrow-store-overwrite",
        (
            f"GLOBAL_STORE_DWORDX2 {v(62, 2)}, {v(0, 2)}, 0, 0, {X}",
            "global_store_dwordx2 v[62:63], v[0:1], off",
        ),
        OVERWRITE,
    ),
    (
        "local-store-overwrite",
        (f"DS_WRITE_B128_gfx9 {v(60)}, {v(0, 4)}, 0, 0, {X}", "ds_write_b128 v60, v[0:3]"),
        OVERWRITE,
    ),
    ("matrix-source-overwrite", MATRIX, OVERWRITE),
    (
        "matrix-same-accumulator",
        mfma(*KINDS["xdl4"][:2], 0, 50, 52, 0, (4, 2)),
        mfma(*KINDS["xdl4"][:2], 0, 54, 56, 0, (4, 2)),
    ),
    ("scalar-exec-to-dpp", ("$exec = S_MOV_B64 -1", "s_mov_b64 exec, -1"), DPP),
    ("cmpx-to-valu", CMPX, (f"{v(6)} = V_MOV_B32_e32 {v(7)}, {X}", "v_mov_b32 v6, v7")),
    ("dot-to-same-accumulator", DOT, DOT),
    (
        "setreg-to-other-getreg",
        SETREG,
        ("$sgpr1 = S_GETREG_B32 2, implicit $mode", "s_getreg_b32 s1, hwreg(HW_REG_STATUS, 0, 1)"),
    ),
)


def kind_pairs() -> list[tuple[str, tuple, tuple]]:
    """Return the pairs of every matrix kind, as far as the table has the row."""
    known = {row.id for row in ROWS}
    pairs = []
    for kind, (opcode, asm, sizes) in KINDS.items():
        size = sizes[0]
        make = mfma(opcode, asm, 0, 200, 210, 100, sizes)
        consumers = {
            f"{kind}-to-vector-read": READ,
            f"{kind}-to-vector-write": OVERWRITE,
            f"{kind}-to-valu-read": READ,
            f"{kind}-to-memory-read": STORE,
            f"{kind}-to-matrix-ab": MATRIX,
            f"{kind}-to-same-accumulator": mfma(opcode, asm, 220, 200, 210, 0, sizes)
            if size <= 8
            else None,
            f"{kind}-accumulator-overwrite": None,
        }
        for family, other in (("xdl", "xdl4"), ("sgemm", "sgemm8"), ("dgemm", "dgemm4")):
            name, text, shape = KINDS[other]
            at = 2 if size > shape[0] or size == shape[0] > 2 else 0
            consumers[f"{kind}-to-{family}-accumulator"] = mfma(
                name, text, 220, 200, 210, at, shape
            )
        pairs += [(row, make, other) for row, other in consumers.items() if other and row in known]
        over = (f"{v(100)} = V_MOV_B32_e32 {v(60)}, {X}", "v_mov_b32 v100, v60")
        for family, others in SAME_SIZE.items():
            other = next((one for one in others if one[2][0] == size and one[1] != asm), None)
            if other and f"{kind}-to-{family}-opcode" in known:
                consumer = mfma(*other[:2], 220, 200, 210, 0, other[2])
                pairs.append((f"{kind}-to-{family}-opcode", make, consumer))
        if f"{kind}-accumulator-overwrite" in known:
            pairs.append((f"{kind}-accumulator-overwrite", make, over))
    return pairs


GFX942 = {
    "xdl2-to-xdl-accumulator": 3,
    "dgemm16-to-valu-read": 11,
    "dgemm16-to-matrix-ab": 11,
    "dgemm16-to-dgemm-accumulator": 9,
    "dgemm16-to-sgemm-accumulator": 9,
}
"""Rows for which gfx942 needs other states than gfx950, beside those of long XDL results."""


def gfx942_states(row: Row) -> int | None:
    """Return the states that gfx942 needs, None where it has no such instructions."""
    if row.consumer.startswith("permlane"):
        return None
    if row.source != "LLVM":
        return llc_states(row)
    is_long = row.producer in ("xdl4_result", "xdl8_result", "xdl16_result")
    return GFX942.get(row.id, row.states - is_long)


def llc_states(row: Row) -> int:
    """Return what llc asks for: of rows that it lacks, only what any short result needs."""
    if row.source == "LLVM":
        return row.states
    return 2 if row.producer in ("xdl2_result", "sgemm2_result") else 0


def all_cases() -> list[Case]:
    """Return one case per pair: of the table, of the specification, and those that are free."""
    row_by_id = {row.id: row for row in ROWS}
    cases = []
    for number, (row_id, producer, consumer) in enumerate([*PAIRS, *kind_pairs()]):
        row = row_by_id[row_id]
        mir, asm = (producer[0], consumer[0]), (producer[1], consumer[1])
        old, states = gfx942_states(row), llc_states(row)
        cases.append(Case(f"{row_id}.{number}", mir, asm, row.states, old, states, row.source))
    for name, (opcode, text, sizes, states) in NAMED_BY_SPECIFICATION.items():
        make = mfma(opcode, text, 0, 200, 210, 100, sizes)
        for number, use in enumerate((READ, STORE, OVERWRITE, LOAD, MATRIX)):
            mir, asm = (make[0], use[0]), (make[1], use[1])
            cases.append(Case(f"{name}.{number}", mir, asm, states, None, states))
    for name, producer, consumer in FREE_PAIRS:
        mir, asm = (producer[0], consumer[0]), (producer[1], consumer[1])
        cases.append(Case(f"free-{name}.0", mir, asm, 0, 0))
    return cases
