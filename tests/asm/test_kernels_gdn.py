"""Router, GDN and dense kernels: templates, golden sources, catalogs and argument tables agree."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from netra_build.asm.closure import include_closure
from netra_build.asm.code_object import CodeObject, read_code_object
from netra_build.asm.diagnostics import AssemblyFailed
from netra_build.asm.flatten import flatten
from netra_build.asm.metadata import normalised
from netra_build.asm.toolchain import Toolchain
from netra_build.core.digests import sha256_hex

TEMPLATES = "kernels/gfx950/templates"
TARGET = {"NETRA_TARGET_GFX": 950, "NETRA_WAVE_SIZE": 64}
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
WAVES = "NETRA_GDN_WAVES_PER_WORKGROUP"


@dataclass(frozen=True)
class Case:
    """What the contract of a kernel says, apart from its arguments."""

    template: str
    macro: str
    constants: dict[str, int]
    kernarg_bytes: int
    lds_bytes: int
    work_items: int
    group_ids: int = 1
    definitions: dict[str, int] = field(default_factory=dict)
    waves: tuple[int, ...] = ()
    """Waves of a work-group that a build may choose; none where there is no choice."""


CASES = {
    "router_bf16_verify_m16": Case(
        "routing/bf16_gemv.inc",
        "NETRA_ROUTER_BF16_GEMV",
        {"NETRA_K": 2048, "NETRA_M": 16, "NETRA_N": 256},
        kernarg_bytes=24,
        lds_bytes=0,
        work_items=64,
        group_ids=2,
    ),
    "gdn_verify_precompute_m12": Case(
        "gdn/verify_precompute.inc",
        "NETRA_GDN_VERIFY_PRECOMPUTE",
        HEADS,
        kernarg_bytes=96,
        lds_bytes=0,
        work_items=64,
        definitions={"NETRA_GDN_PRECOMPUTE_VARIANT": 7, "NETRA_GDN_QK_ONLY": 0},
    ),
    "gdn_verify_core_m12_packed_pair_interleaved": Case(
        "gdn/recurrent_bv16_core.inc",
        "NETRA_GDN_RECURRENT_BV16_CORE",
        HEADS,
        kernarg_bytes=88,
        lds_bytes=2048,
        work_items=512,
        definitions={"NETRA_GDN_CORE_VARIANT": 17, **SHARED},
        waves=(1, 4, 8),
    ),
    "gdn_state_replay_m12_fused_exact": Case(
        "gdn/recurrent_fused_replay.inc",
        "NETRA_GDN_RECURRENT_FUSED_REPLAY",
        {"NETRA_BATCH_MAX": 128, **HEADS},
        kernarg_bytes=88,
        lds_bytes=2048,
        work_items=512,
        definitions={"NETRA_GDN_CORE_VARIANT": 13, "NETRA_GDN_STATE_REPLAY": 1, **SHARED},
        waves=(1, 4, 8),
    ),
    "gdn_qkvz_conv_m12": Case(
        "gdn/qkvz_causal_conv.inc",
        "NETRA_GDN_QKVZ_CAUSAL_CONV",
        {"NETRA_K": 2048, "NETRA_N": 12288, "NETRA_TOKENS": 12},
        kernarg_bytes=64,
        lds_bytes=0,
        work_items=256,
        definitions={"NETRA_GDN_QKVZ_GRID_2D": 0},
    ),
    "gdn_h_m8192_bv16_varlen": Case(
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
        "dense/m1_fp8_one_wave.inc",
        "NETRA_DENSE_M1_FP8_ONE_WAVE",
        DENSE,
        kernarg_bytes=40,
        lds_bytes=0,
        work_items=64,
    ),
    "dense_m1_fp8_four_wave_lds": Case(
        "dense/m1_fp8_four_wave_lds.inc",
        "NETRA_DENSE_M1_FP8_FOUR_WAVE_LDS",
        DENSE,
        kernarg_bytes=40,
        lds_bytes=128,
        work_items=256,
    ),
}
BUILDS = [(tactic, waves) for tactic, case in CASES.items() for waves in case.waves or (0,)]
FIXED = [(t, c) for t, case in CASES.items() for c in (*TARGET, *case.constants)]
CHOSEN = [
    (t, c) for t, case in CASES.items() for c in (*case.definitions, *([WAVES] * bool(case.waves)))
]
CATALOGS = ("router", "gdn", "dense")
GOLDEN_FAULTS = (
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


def constants_of(tactic: str, waves: int) -> dict[str, int]:
    """Return every constant of an instance."""
    case = CASES[tactic]
    chosen = {WAVES: waves} if case.waves else {}
    return {**TARGET, **case.constants, **case.definitions, **chosen}


def closure_of(root: Path, tactic: str) -> Any:
    """Return the include closure of a kernel's template."""
    template = f"{TEMPLATES}/{CASES[tactic].template}"
    return include_closure(template, lambda name: (root / name).read_bytes(), template)


def unit_of(tactic: str, constants: dict[str, int], symbol: str = "k") -> bytes:
    """Return an instance under any name, with a second symbol where the macro takes one."""
    case = CASES[tactic]
    lines = [f"\t.set {name}, {value}" for name, value in constants.items()]
    symbols = f"{symbol}, {symbol}_dual" if case.waves else symbol
    lines += [f'\t.include "{TEMPLATES}/{case.template}"', f"\t{case.macro} {symbols}", ""]
    return "\n".join(lines).encode()


def generated(root: Path, toolchain: Toolchain, tactic: str, waves: int) -> CodeObject:
    """Assemble and link the template's instance."""
    unit = unit_of(tactic, constants_of(tactic, waves))
    files = {**closure_of(root, tactic).data_by_name, "unit.s": unit}
    return read_code_object(toolchain.link([toolchain.assemble_tree(files, "unit.s")]), "k.hsaco")


def golden_text(root: Path, tactic: str, waves: int) -> str:
    """Return a golden source."""
    variant = f"waves{waves}" if waves else ""
    return (root / "golden/gfx950" / tactic / variant / "kernel.s").read_text(encoding="utf-8")


def golden(toolchain: Toolchain, source: str) -> CodeObject:
    """Assemble and link a golden source."""
    return read_code_object(toolchain.link([toolchain.assemble(source.encode())]), "golden.hsaco")


def differing(left: CodeObject, right: CodeObject) -> list[str]:
    """Return the names of the parts in which two code objects differ, names aside."""
    parts = (
        ("text", left.text, right.text),
        (
            "descriptor",
            left.kernels[0].descriptor.normalised(),
            right.kernels[0].descriptor.normalised(),
        ),
        ("metadata", normalised(dict(left.metadata)), normalised(dict(right.metadata))),
    )
    return [name for name, mine, other in parts if mine != other]


def errors(root: Path, toolchain: Toolchain, tactic: str, constants: dict[str, int]) -> list[str]:
    """Return the messages of the assembler about an instance."""
    files = {**closure_of(root, tactic).data_by_name, "unit.s": unit_of(tactic, constants)}
    try:
        toolchain.assemble_tree(files, "unit.s")
    except AssemblyFailed as failed:
        return [found.text for found in failed.diagnostics if found.severity == "error"]
    return []


@pytest.mark.parametrize(("tactic", "waves"), BUILDS)
def test_template_and_golden_source_are_equivalent(
    root: Path, toolchain: Toolchain, tactic: str, waves: int
) -> None:
    theirs = golden(toolchain, golden_text(root, tactic, waves))
    assert differing(generated(root, toolchain, tactic, waves), theirs) == []


@pytest.mark.parametrize(("tactic", "waves", "old", "new", "part"), GOLDEN_FAULTS)
def test_a_fault_in_the_golden_source_is_a_difference(
    root: Path, toolchain: Toolchain, tactic: str, waves: int, old: str, new: str, part: str
) -> None:
    source = golden_text(root, tactic, waves)
    assert old in source
    theirs = golden(toolchain, source.replace(old, new, 1))
    assert differing(generated(root, toolchain, tactic, waves), theirs) == [part]


@pytest.mark.parametrize(("tactic", "waves"), BUILDS)
def test_the_flat_unit_gives_the_same_object(
    root: Path, toolchain: Toolchain, tactic: str, waves: int
) -> None:
    closure = closure_of(root, tactic)
    unit = unit_of(tactic, constants_of(tactic, waves))
    raw = toolchain.assemble_tree({**closure.data_by_name, "unit.s": unit}, "unit.s")
    assert toolchain.assemble(flatten(unit, closure)) == raw


@pytest.mark.parametrize(("tactic", "waves"), BUILDS)
def test_the_descriptor_declares_the_contract(
    root: Path, toolchain: Toolchain, tactic: str, waves: int
) -> None:
    case, kernel = CASES[tactic], generated(root, toolchain, tactic, waves).kernels[0]
    descriptor, metadata = kernel.descriptor, kernel.metadata
    assert metadata is not None
    assert descriptor.workgroup_id_x
    assert (descriptor.workgroup_id_y, descriptor.workgroup_id_z) == (case.group_ids == 2, False)
    assert descriptor.kernarg_size == metadata.kernarg_segment_size == case.kernarg_bytes
    assert descriptor.group_segment_fixed_size == case.lds_bytes
    assert metadata.group_segment_fixed_size == case.lds_bytes
    assert metadata.max_flat_workgroup_size == case.work_items
    assert descriptor.float_denorm_mode_32 == 3


@pytest.mark.parametrize("tactic", CASES)
def test_the_argument_table_agrees_with_the_code_object(
    root: Path, toolchain: Toolchain, tactic: str
) -> None:
    path = root / "manifests/gfx950/contracts" / f"{tactic}.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    waves = (CASES[tactic].waves or (0,))[0]
    metadata = generated(root, toolchain, tactic, waves).kernels[0].metadata
    assert metadata is not None
    kinds = {"global_buffer": "pointer", "by_value": "u32"}
    access = {"read_only": "read", "write_only": "write", "read_write": "read_write", None: "value"}
    found = [
        (a.name, a.offset, a.size, kinds[a.value_kind], access[a.actual_access])
        for a in metadata.arguments
    ]
    assert found == [
        (a["name"], a["offset"], a["size"], a["kind"], a["access"]) for a in table["arguments"]
    ]


@pytest.mark.parametrize("name", CATALOGS)
def test_the_catalogs_state_the_contracts(root: Path, name: str) -> None:
    """Constants are those that the published reader infers from the guards of the closure."""
    catalog = json.loads((root / f"manifests/gfx950/tactics/{name}.json").read_text("utf-8"))
    line = re.compile(r"^\s*NETRA_REQUIRE_EQ\s+([A-Z0-9_]+)\s*,\s*([0-9]+)\s*$", re.MULTILINE)
    for entry in catalog["tactics"]:
        case, closure = CASES[entry["id"]], closure_of(root, entry["id"])
        assert entry["template_sha256"] == sha256_hex((root / entry["template"]).read_bytes())
        assert entry["source_closure_sha256"] == closure.source_closure_sha256
        assert entry["instantiation_macro"] == case.macro
        assert entry["kernarg_size"] == case.kernarg_bytes
        assert entry["metadata_contract"]["group_segment_fixed_size"] == case.lds_bytes
        assert entry["metadata_contract"]["max_flat_workgroup_size"] == case.work_items
        chosen = {WAVES: list(case.waves)} if case.waves else {}
        assert entry["compile_definitions"] == {**case.definitions, **chosen}
        text = "\n".join(data.decode() for data in closure.data_by_name.values())
        found = {key: int(value) for key, value in line.findall(text)}
        assert found == {**case.constants, **TARGET}


def test_every_tactic_is_in_a_catalog(root: Path) -> None:
    found: dict[str, str] = {}
    for name in CATALOGS:
        catalog = json.loads((root / f"manifests/gfx950/tactics/{name}.json").read_text("utf-8"))
        found |= {entry["id"]: entry["maturity"] for entry in catalog["tactics"]}
    assert set(found) == set(CASES)
    rejected = {tactic for tactic, maturity in found.items() if maturity == "rejected"}
    assert rejected == {"dense_m1_fp8_one_wave", "dense_m1_fp8_four_wave_lds"}


@pytest.mark.parametrize(("tactic", "constant"), FIXED)
def test_a_wrong_or_missing_constant_is_refused(
    root: Path, toolchain: Toolchain, tactic: str, constant: str
) -> None:
    constants = constants_of(tactic, (CASES[tactic].waves or (0,))[0])
    right = constants.pop(constant)
    missing = errors(root, toolchain, tactic, constants)
    assert missing == [f"{constant} is not set; expected {right}"]
    wrong = errors(root, toolchain, tactic, {**constants, constant: right + 32})
    assert wrong == [f"{constant} has another value; expected {right}, got {right + 32}"]


@pytest.mark.parametrize(("tactic", "constant"), CHOSEN)
def test_a_wrong_or_missing_choice_is_refused(
    root: Path, toolchain: Toolchain, tactic: str, constant: str
) -> None:
    constants = constants_of(tactic, (CASES[tactic].waves or (0,))[0])
    right = constants.pop(constant)
    choices = "1, 4, 8" if constant == WAVES else str(right)
    missing = errors(root, toolchain, tactic, constants)
    assert missing == [f"{constant} is not set; expected one of {choices}"]
    wrong = errors(root, toolchain, tactic, {**constants, constant: 2})
    assert wrong == [f"{constant} has another value; expected one of {choices}, got 2"]
