"""What the contract of each kernel says, and faults that its proof of equivalence must see."""

from __future__ import annotations

from dataclasses import dataclass, field

TARGET = {"NETRA_TARGET_GFX": 950, "NETRA_WAVE_SIZE": 64}
MOE = {
    "NETRA_HIDDEN_SIZE": 2048,
    "NETRA_INTERMEDIATE_SIZE": 512,
    "NETRA_M": 1,
    "NETRA_SCALE_BLOCK": 128,
    "NETRA_TOPK": 9,
    "NETRA_WEIGHT_LAYOUT_ID": 1,
}
SPLIT = {
    "NETRA_HEAD_DIM": 256,
    "NETRA_KV_HEADS": 2,
    "NETRA_KV_SPLITS_MAX": 129,
    "NETRA_M_MAX": 16,
    "NETRA_QUERY_HEADS": 16,
}
GQA8 = {
    "NETRA_HEAD_DIM": 256,
    "NETRA_KV_HEADS": 2,
    "NETRA_KV_LAYOUT_ID": 1,
    "NETRA_M_MAX": 16,
    "NETRA_QUERY_HEADS": 16,
}
GQA4 = {**GQA8, "NETRA_HEAD_DIM": 128, "NETRA_KV_HEADS": 8, "NETRA_QUERY_HEADS": 32}
HEADS = {
    "NETRA_QK_DIM": 128,
    "NETRA_QK_HEADS": 16,
    "NETRA_TOKENS": 12,
    "NETRA_VALUE_DIM": 128,
    "NETRA_VALUE_HEADS": 32,
}
DENSE = {
    "NETRA_EPILOGUE_ID": 0,
    "NETRA_K": 4096,
    "NETRA_M": 1,
    "NETRA_N": 2048,
    "NETRA_SCALE_BLOCK": 128,
    "NETRA_WEIGHT_LAYOUT_ID": 1,
}
SHARED = {"NETRA_GDN_K0_NO_INTERMEDIATE": 1, "NETRA_GDN_SHARE_QK": 1}


@dataclass(frozen=True)
class Choice:
    """A constant that a build chooses; each value has a golden source of its own."""

    constant: str
    values: tuple[int, ...]
    folder: str
    """Name of the golden source's folder, before the value."""


QO_BITS = Choice("NETRA_QO_INDPTR_BITS", (32, 64), "qo")
WAVES = Choice("NETRA_GDN_WAVES_PER_WORKGROUP", (1, 4, 8), "waves")


@dataclass(frozen=True)
class Case:
    """What the contract of one kernel says, apart from its arguments. Sizes are bytes."""

    catalog: str
    template: str
    macro: str
    constants: dict[str, int]
    kernarg_bytes: int
    lds_bytes: int
    work_items: int
    is_sized_by_choice: bool = False
    """The chosen number of waves is launched; ``work_items`` is then the most."""
    group_ids: int = 1
    """How many of the work-group ids, from x on, the kernel takes."""
    saturates: bool = False
    """Whether conversions to small floats saturate (``fp16_overflow``)."""
    definitions: dict[str, int] = field(default_factory=dict)
    """Constants of the build that have one value alone."""
    choice: Choice | None = None
    takes_dual_symbol: bool = False
    registers: tuple[int, int] | None = None
    """Vector and scalar registers, where the contract bounds them."""
    maturity: str = "verified"
    scope: str = "simulated"
    rank: int = 100


CASES = {
    "moe_gate_up_decode_m1": Case(
        "moe_decode",
        "moe/gate_up_fp8_mfma.inc",
        "NETRA_MOE_GATE_UP_MFMA",
        MOE,
        kernarg_bytes=48,
        lds_bytes=0,
        work_items=64,
        group_ids=2,
        registers=(144, 72),
    ),
    "moe_silu_quant_decode_m1": Case(
        "moe_decode",
        "moe/silu_quant.inc",
        "NETRA_MOE_SILU_QUANT",
        MOE,
        kernarg_bytes=32,
        lds_bytes=0,
        work_items=64,
        registers=(38, 18),
    ),
    "moe_down_reduce_decode_m1": Case(
        "moe_decode",
        "moe/down_reduce_fp8_mfma_2wave.inc",
        "NETRA_MOE_DOWN_REDUCE_MFMA_2WAVE",
        {**MOE, "NETRA_WAVES_PER_WG": 2},
        kernarg_bytes=56,
        lds_bytes=1024,
        work_items=128,
        group_ids=2,
        registers=(160, 98),
    ),
    "attention_splitseq_prepare": Case(
        "attention",
        "attention/splitseq_prepare.inc",
        "NETRA_ATTENTION_SPLITSEQ_PREPARE",
        SPLIT,
        kernarg_bytes=48,
        lds_bytes=0,
        work_items=64,
        registers=(6, 22),
    ),
    "attention_splitseq_stage1": Case(
        "attention",
        "attention/splitseq_stage1.inc",
        "NETRA_ATTENTION_SPLITSEQ_STAGE1",
        SPLIT,
        kernarg_bytes=128,
        lds_bytes=10240,
        work_items=256,
        group_ids=3,
        saturates=True,
        registers=(112, 48),
    ),
    "attention_splitseq_stage2": Case(
        "attention",
        "attention/splitseq_stage2.inc",
        "NETRA_ATTENTION_SPLITSEQ_STAGE2",
        SPLIT,
        kernarg_bytes=88,
        lds_bytes=0,
        work_items=256,
        group_ids=2,
        registers=(15, 34),
    ),
    "attention_gqa4_fp8kv": Case(
        "attention",
        "attention/gqa4_fp8kv.inc",
        "NETRA_ATTENTION_GQA4_FP8KV",
        GQA4,
        kernarg_bytes=96,
        lds_bytes=18432,
        work_items=256,
        group_ids=2,
        saturates=True,
        registers=(128, 48),
    ),
    "attention_gqa8_fp8kv": Case(
        "attention",
        "attention/gqa8_fp8kv.inc",
        "NETRA_ATTENTION_GQA8_FP8KV",
        GQA8,
        kernarg_bytes=96,
        lds_bytes=34816,
        work_items=512,
        group_ids=3,
        saturates=True,
        choice=QO_BITS,
        registers=(168, 48),
    ),
    "router_bf16_verify_m16": Case(
        "router",
        "routing/bf16_gemv.inc",
        "NETRA_ROUTER_BF16_GEMV",
        {"NETRA_K": 2048, "NETRA_M": 16, "NETRA_N": 256},
        kernarg_bytes=24,
        lds_bytes=0,
        work_items=64,
        group_ids=2,
    ),
    "gdn_verify_precompute_m12": Case(
        "gdn",
        "gdn/verify_precompute.inc",
        "NETRA_GDN_VERIFY_PRECOMPUTE",
        HEADS,
        kernarg_bytes=96,
        lds_bytes=0,
        work_items=64,
        definitions={"NETRA_GDN_PRECOMPUTE_VARIANT": 7, "NETRA_GDN_QK_ONLY": 0},
    ),
    "gdn_verify_core_m12_packed_pair_interleaved": Case(
        "gdn",
        "gdn/recurrent_bv16_core.inc",
        "NETRA_GDN_RECURRENT_BV16_CORE",
        HEADS,
        kernarg_bytes=88,
        lds_bytes=2048,
        work_items=512,
        definitions={"NETRA_GDN_CORE_VARIANT": 17, **SHARED},
        choice=WAVES,
        is_sized_by_choice=True,
        takes_dual_symbol=True,
    ),
    "gdn_state_replay_m12_fused_exact": Case(
        "gdn",
        "gdn/recurrent_fused_replay.inc",
        "NETRA_GDN_RECURRENT_FUSED_REPLAY",
        {"NETRA_BATCH_MAX": 128, **HEADS},
        kernarg_bytes=88,
        lds_bytes=2048,
        work_items=512,
        definitions={"NETRA_GDN_CORE_VARIANT": 13, "NETRA_GDN_STATE_REPLAY": 1, **SHARED},
        choice=WAVES,
        is_sized_by_choice=True,
        takes_dual_symbol=True,
    ),
    "gdn_qkvz_conv_m12": Case(
        "gdn",
        "gdn/qkvz_causal_conv.inc",
        "NETRA_GDN_QKVZ_CAUSAL_CONV",
        {"NETRA_K": 2048, "NETRA_N": 12288, "NETRA_TOKENS": 12},
        kernarg_bytes=64,
        lds_bytes=0,
        work_items=256,
        definitions={"NETRA_GDN_QKVZ_GRID_2D": 0},
    ),
    "gdn_h_m8192_bv16_varlen": Case(
        "gdn",
        "gdn/prefill_mfma_bv16.inc",
        "NETRA_GDN_PREFILL_MFMA_BV16",
        {
            "NETRA_BLOCK_V": 16,
            "NETRA_GROUP_HEADS": 16,
            "NETRA_HEADS": 32,
            "NETRA_K": 128,
            "NETRA_M": 8192,
            "NETRA_SCALE_BLOCK": 128,
            "NETRA_V": 128,
        },
        kernarg_bytes=104,
        lds_bytes=22784,
        work_items=256,
        group_ids=2,
    ),
    "dense_m1_fp8_one_wave": Case(
        "dense",
        "dense/m1_fp8_one_wave.inc",
        "NETRA_DENSE_M1_FP8_ONE_WAVE",
        DENSE,
        kernarg_bytes=40,
        lds_bytes=0,
        work_items=64,
        maturity="rejected",
        scope="operator_exact_serving_slower",
    ),
    "dense_m1_fp8_four_wave_lds": Case(
        "dense",
        "dense/m1_fp8_four_wave_lds.inc",
        "NETRA_DENSE_M1_FP8_FOUR_WAVE_LDS",
        DENSE,
        kernarg_bytes=40,
        lds_bytes=128,
        work_items=256,
        maturity="rejected",
        scope="operator_exact_serving_slower",
        rank=110,
    ),
}
BUILDS = [
    (tactic, value)
    for tactic, case in CASES.items()
    for value in (case.choice.values if case.choice else (0,))
]
FIXED = [(t, constant) for t, case in CASES.items() for constant in (*TARGET, *case.constants)]
CHOSEN = [
    (t, constant)
    for t, case in CASES.items()
    for constant in (*case.definitions, *([case.choice.constant] if case.choice else []))
]

GOLDEN_FAULTS = (
    ("moe_gate_up_decode_m1", 0, "\ts_nop 2 ", "\ts_nop 3 ", "text"),
    ("moe_gate_up_decode_m1", 0, "next_free_vgpr 144", "next_free_vgpr 152", "descriptor"),
    (
        "moe_gate_up_decode_m1",
        0,
        "{.name: w13, .offset: 16",
        "{.name: w13, .offset: 24",
        "metadata",
    ),
    ("moe_silu_quant_decode_m1", 0, "row_ror:4", "row_ror:2", "text"),
    ("moe_silu_quant_decode_m1", 0, "denorm_mode_32 3", "denorm_mode_32 0", "descriptor"),
    (
        "moe_silu_quant_decode_m1",
        0,
        ".kernarg_segment_size: 32",
        ".kernarg_segment_size: 28",
        "metadata",
    ),
    ("moe_down_reduce_decode_m1", 0, "v_add_f32 v6, v6, v144", "v_add_f32 v6, v6, v145", "text"),
    ("moe_down_reduce_decode_m1", 0, "fixed_size 1024", "fixed_size 512", "descriptor"),
    ("moe_down_reduce_decode_m1", 0, ".vgpr_count: 160", ".vgpr_count: 128", "metadata"),
    ("attention_splitseq_prepare", 0, "s_add_u32 s17, s16, 1", "s_add_u32 s17, s16, 2", "text"),
    ("attention_splitseq_prepare", 0, "next_free_sgpr 22", "next_free_sgpr 31", "descriptor"),
    ("attention_splitseq_stage1", 0, "offset:1280", "offset:1344", "text"),
    ("attention_splitseq_stage1", 0, "fp16_overflow 1", "fp16_overflow 0", "descriptor"),
    (
        "attention_splitseq_stage2",
        0,
        "{.name: o_head, .offset: 64",
        "{.name: o_head, .offset: 68",
        "metadata",
    ),
    ("attention_gqa4_fp8kv", 0, "s_cmp_le_i32 s36, -15", "s_cmp_le_i32 s36, -16", "text"),
    ("attention_gqa4_fp8kv", 0, "fixed_size 18432", "fixed_size 16384", "descriptor"),
    ("attention_gqa8_fp8kv", 32, "s_lshl_b32 s36, s2, 2", "s_lshl_b32 s36, s2, 3", "text"),
    ("attention_gqa8_fp8kv", 64, ".vgpr_count: 168", ".vgpr_count: 160", "metadata"),
    ("router_bf16_verify_m16", 0, "row_shr:2", "row_shr:1", "text"),
    ("gdn_qkvz_conv_m12", 0, "denorm_mode_32 3", "denorm_mode_32 0", "descriptor"),
    (
        "gdn_verify_precompute_m12",
        0,
        "{.name: kn, .offset: 56",
        "{.name: kn, .offset: 48",
        "metadata",
    ),
    ("gdn_verify_core_m12_packed_pair_interleaved", 8, "s_lshl_b32 s2, s2, 3", "s_nop 0", "text"),
    ("gdn_state_replay_m12_fused_exact", 4, ".vgpr_count: 80", ".vgpr_count: 76", "metadata"),
    ("gdn_h_m8192_bv16_varlen", 0, "fixed_size 22784", "fixed_size 0", "descriptor"),
    ("dense_m1_fp8_one_wave", 0, "s_nop 7", "s_nop 8", "text"),
    ("dense_m1_fp8_four_wave_lds", 0, "next_free_vgpr 26", "next_free_vgpr 34", "descriptor"),
)
"""Tactic, value of the choice, text of the golden source, its replacement, part that differs."""
