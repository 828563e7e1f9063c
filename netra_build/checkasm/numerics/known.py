"""Tactic ids that have a numeric contract here, without loading what the contracts need."""

from __future__ import annotations

from netra_build.core.members import member_names

TACTICS = frozenset(
    {
        "attention_gqa4_fp8kv",
        "attention_gqa8_fp8kv",
        "attention_splitseq_prepare",
        "attention_splitseq_stage1",
        "attention_splitseq_stage2",
        "dense_m1_fp8_four_wave_lds",
        "dense_m1_fp8_one_wave",
        "gdn_h_m8192_bv16_varlen",
        "gdn_qkvz_conv_m12",
        "gdn_state_replay_m12_fused_exact",
        "gdn_verify_core_m12_packed_pair_interleaved",
        "gdn_verify_precompute_m12",
        "moe_down_reduce_decode_m1",
        "moe_gate_up_decode_m1",
        "moe_silu_quant_decode_m1",
        "router_bf16_verify_m16",
    }
) | frozenset(member_names("netra_build.checkasm.numerics.tactics"))
"""Equal to the keys of ``scenarios.SCENARIOS``; a test compares them."""
