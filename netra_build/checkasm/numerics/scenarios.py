"""Every tactic that can be launched against its statement here, with its cases."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from netra_build.checkasm.numerics import scenarios_attention as attention
from netra_build.checkasm.numerics import scenarios_flat as flat
from netra_build.checkasm.numerics import scenarios_gdn as gdn
from netra_build.checkasm.numerics import scenarios_gdn_gates as gates
from netra_build.checkasm.numerics import scenarios_moe as moe
from netra_build.checkasm.numerics import scenarios_splitseq as splitseq
from netra_build.checkasm.numerics import tactics
from netra_build.checkasm.numerics.scenario import Entry, Scenario
from netra_build.core.errors import BadInput
from netra_build.core.members import load_member, member_names
from netra_build.core.nearest import nearest_hint

T = TypeVar("T")

WAVES = "NETRA_GDN_WAVES_PER_WORKGROUP"


_ADDED = tactics.__name__
_ONE: Mapping[str, Mapping[str, int]] = {"": {}}
_BY_INDEX: Mapping[str, Mapping[str, int]] = {f"qo{n}": {attention.BITS: n} for n in (32, 64)}
_BY_WAVES: Mapping[str, Mapping[str, int]] = {f"waves{n}": {WAVES: n} for n in (1, 4, 8)}

SCENARIOS: Mapping[str, Entry] = {
    "moe_gate_up_decode_m1": Entry(moe.decode, moe.MOE_CASES, _ONE),
    "moe_silu_quant_decode_m1": Entry(moe.decode, moe.MOE_CASES, _ONE),
    "moe_down_reduce_decode_m1": Entry(moe.decode, moe.MOE_CASES, _ONE),
    "attention_splitseq_prepare": Entry(splitseq.prepare_launch, splitseq.PREPARE_CASES, _ONE),
    "attention_splitseq_stage1": Entry(splitseq.stage1_launch, splitseq.STAGE1_CASES, _ONE),
    "attention_splitseq_stage2": Entry(splitseq.stage2_launch, splitseq.STAGE2_CASES, _ONE),
    "attention_gqa4_fp8kv": Entry(attention.extend, attention.EXTEND_CASES, _ONE),
    "attention_gqa8_fp8kv": Entry(attention.extend, attention.EXTEND_CASES, _BY_INDEX),
    "router_bf16_verify_m16": Entry(flat.router, flat.ROUTER_CASES, _ONE),
    flat.ONE_WAVE: Entry(flat.dense, flat.CODE_CASES, _ONE),
    flat.FOUR_WAVES: Entry(flat.dense, flat.CODE_CASES, _ONE),
    "gdn_verify_precompute_m12": Entry(gates.precompute, gates.PRECOMPUTE_CASES, _ONE),
    "gdn_verify_core_m12_packed_pair_interleaved": Entry(gdn.core, gdn.RECURRENT_CASES, _BY_WAVES),
    "gdn_state_replay_m12_fused_exact": Entry(gdn.replay, gdn.REPLAY_CASES, _BY_WAVES),
    "gdn_qkvz_conv_m12": Entry(gdn.conv, gdn.CONV_CASES, _ONE),
    "gdn_h_m8192_bv16_varlen": Entry(gdn.prefill_h, gdn.PREFILL_CASES, _ONE),
    **{name: load_member(_ADDED, name).ENTRY for name in member_names(_ADDED)},
}


def scenario(tactic: str, variant: str = "", case: str = "random", seed: int = 1) -> Scenario:
    """Return one launch; the same words always give the same bytes.

    ``variant`` names a specialization (``waves4``). ``BadInput`` names the nearest known word.
    """
    entry = _known(SCENARIOS, tactic, "tactic", "reference")
    specialization = _known(entry.specializations, variant, "variant", tactic)
    if case not in entry.cases:
        hint = nearest_hint(case, entry.cases)
        raise BadInput(f'unknown input case "{case}"', location=tactic, hint=hint)
    return entry.make(tactic, specialization, case, seed)


def _known(table: Mapping[str, T], name: str, what: str, location: str) -> T:
    if name not in table:
        hint = nearest_hint(name, table)
        raise BadInput(f'unknown {what} "{name}"', location=location, hint=hint)
    return table[name]
