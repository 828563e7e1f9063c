"""Attention kernels: templates, golden sources, catalog and argument tables agree."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
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

TEMPLATES = "kernels/gfx950/templates/attention"
TARGET = {"NETRA_TARGET_GFX": 950, "NETRA_WAVE_SIZE": 64}
BITS = "NETRA_QO_INDPTR_BITS"
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


@dataclass(frozen=True)
class Case:
    """What the contract of a kernel says, apart from its arguments."""

    template: str
    macro: str
    constants: dict[str, int]
    kernarg_bytes: int
    lds_bytes: int
    work_items: int
    group_ids: tuple[bool, bool, bool]
    saturates: bool
    vgprs: int
    sgprs: int


CASES = {
    "attention_splitseq_prepare": Case(
        "splitseq_prepare",
        "NETRA_ATTENTION_SPLITSEQ_PREPARE",
        SPLIT,
        kernarg_bytes=48,
        lds_bytes=0,
        work_items=64,
        group_ids=(True, False, False),
        saturates=False,
        vgprs=6,
        sgprs=22,
    ),
    "attention_splitseq_stage1": Case(
        "splitseq_stage1",
        "NETRA_ATTENTION_SPLITSEQ_STAGE1",
        SPLIT,
        kernarg_bytes=128,
        lds_bytes=10240,
        work_items=256,
        group_ids=(True, True, True),
        saturates=True,
        vgprs=112,
        sgprs=48,
    ),
    "attention_splitseq_stage2": Case(
        "splitseq_stage2",
        "NETRA_ATTENTION_SPLITSEQ_STAGE2",
        SPLIT,
        kernarg_bytes=88,
        lds_bytes=0,
        work_items=256,
        group_ids=(True, True, False),
        saturates=False,
        vgprs=15,
        sgprs=34,
    ),
    "attention_gqa4_fp8kv": Case(
        "gqa4_fp8kv",
        "NETRA_ATTENTION_GQA4_FP8KV",
        GQA4,
        kernarg_bytes=96,
        lds_bytes=18432,
        work_items=256,
        group_ids=(True, True, False),
        saturates=True,
        vgprs=128,
        sgprs=48,
    ),
    "attention_gqa8_fp8kv": Case(
        "gqa8_fp8kv",
        "NETRA_ATTENTION_GQA8_FP8KV",
        GQA8,
        kernarg_bytes=96,
        lds_bytes=34816,
        work_items=512,
        group_ids=(True, True, True),
        saturates=True,
        vgprs=168,
        sgprs=48,
    ),
}
BUILDS = [
    (tactic, bits)
    for tactic in CASES
    for bits in ((32, 64) if tactic == "attention_gqa8_fp8kv" else (0,))
]
FIXED = [(tactic, name) for tactic, case in CASES.items() for name in {**TARGET, **case.constants}]

GOLDEN_FAULTS = (
    ("attention_splitseq_prepare", 0, "s_add_u32 s17, s16, 1", "s_add_u32 s17, s16, 2", "text"),
    ("attention_splitseq_prepare", 0, "next_free_sgpr 22", "next_free_sgpr 31", "descriptor"),
    ("attention_splitseq_stage1", 0, "offset:1280", "offset:1344", "text"),
    ("attention_splitseq_stage1", 0, "fp16_overflow 1", "fp16_overflow 0", "descriptor"),
    ("attention_splitseq_stage2", 0, "{.name: o_head, .offset: 64", "{.name: o_head, .offset: 68",
     "metadata"),
    ("attention_gqa4_fp8kv", 0, "s_cmp_le_i32 s36, -15", "s_cmp_le_i32 s36, -16", "text"),
    ("attention_gqa4_fp8kv", 0, "fixed_size 18432", "fixed_size 16384", "descriptor"),
    ("attention_gqa8_fp8kv", 32, "s_lshl_b32 s36, s2, 2", "s_lshl_b32 s36, s2, 3", "text"),
    ("attention_gqa8_fp8kv", 64, ".vgpr_count: 168", ".vgpr_count: 160", "metadata"),
)  # fmt: skip


def constants_of(tactic: str, bits: int) -> dict[str, int]:
    """Return every constant of an instance."""
    return {**TARGET, **CASES[tactic].constants, **({BITS: bits} if bits else {})}


def closure_of(root: Path, tactic: str) -> Any:
    """Return the include closure of a kernel's template."""
    template = f"{TEMPLATES}/{CASES[tactic].template}.inc"
    return include_closure(template, lambda name: (root / name).read_bytes(), template)


def unit_of(tactic: str, constants: dict[str, int]) -> bytes:
    """Return an instance under the name k."""
    case = CASES[tactic]
    lines = [f"\t.set {name}, {value}" for name, value in constants.items()]
    lines += [f'\t.include "{TEMPLATES}/{case.template}.inc"', f"\t{case.macro} k", ""]
    return "\n".join(lines).encode()


def generated(root: Path, toolchain: Toolchain, tactic: str, bits: int) -> CodeObject:
    """Assemble and link the template's instance."""
    unit = unit_of(tactic, constants_of(tactic, bits))
    files = {**closure_of(root, tactic).data_by_name, "unit.s": unit}
    return read_code_object(toolchain.link([toolchain.assemble_tree(files, "unit.s")]), "k.hsaco")


def golden_text(root: Path, tactic: str, bits: int) -> str:
    """Return a golden source."""
    variant = f"qo{bits}" if bits else ""
    return (root / "golden/gfx950" / tactic / variant / "kernel.s").read_text(encoding="utf-8")


def golden(toolchain: Toolchain, source: str) -> CodeObject:
    """Assemble and link a golden source."""
    return read_code_object(toolchain.link([toolchain.assemble(source.encode())]), "golden.hsaco")


def differing(left: CodeObject, right: CodeObject) -> list[str]:
    """Return the names of the parts in which two code objects differ, names aside."""
    mine, other = left.kernels[0].descriptor, right.kernels[0].descriptor
    parts = (
        ("text", left.text, right.text),
        ("descriptor", mine.normalised(), other.normalised()),
        ("metadata", normalised(dict(left.metadata)), normalised(dict(right.metadata))),
    )
    return [name for name, ours, theirs in parts if ours != theirs]


def errors(root: Path, toolchain: Toolchain, tactic: str, constants: dict[str, int]) -> list[str]:
    """Return the messages of the assembler about an instance."""
    files = {**closure_of(root, tactic).data_by_name, "unit.s": unit_of(tactic, constants)}
    try:
        toolchain.assemble_tree(files, "unit.s")
    except AssemblyFailed as failed:
        return [found.text for found in failed.diagnostics if found.severity == "error"]
    return []


@pytest.mark.parametrize(("tactic", "bits"), BUILDS)
def test_template_and_golden_source_are_equivalent(
    root: Path, toolchain: Toolchain, tactic: str, bits: int
) -> None:
    theirs = golden(toolchain, golden_text(root, tactic, bits))
    assert differing(generated(root, toolchain, tactic, bits), theirs) == []


@pytest.mark.parametrize(("tactic", "bits", "old", "new", "part"), GOLDEN_FAULTS)
def test_a_fault_in_the_golden_source_is_a_difference(
    root: Path, toolchain: Toolchain, tactic: str, bits: int, old: str, new: str, part: str
) -> None:
    source = golden_text(root, tactic, bits)
    assert old in source
    theirs = golden(toolchain, source.replace(old, new, 1))
    assert differing(generated(root, toolchain, tactic, bits), theirs) == [part]


@pytest.mark.parametrize(("tactic", "bits"), BUILDS)
def test_the_flat_unit_gives_the_same_object(
    root: Path, toolchain: Toolchain, tactic: str, bits: int
) -> None:
    closure = closure_of(root, tactic)
    unit = unit_of(tactic, constants_of(tactic, bits))
    raw = toolchain.assemble_tree({**closure.data_by_name, "unit.s": unit}, "unit.s")
    assert toolchain.assemble(flatten(unit, closure)) == raw


@pytest.mark.parametrize(("tactic", "bits"), BUILDS)
def test_the_descriptor_declares_the_contract(
    root: Path, toolchain: Toolchain, tactic: str, bits: int
) -> None:
    case, kernel = CASES[tactic], generated(root, toolchain, tactic, bits).kernels[0]
    descriptor, metadata = kernel.descriptor, kernel.metadata
    assert metadata is not None
    ids = (descriptor.workgroup_id_x, descriptor.workgroup_id_y, descriptor.workgroup_id_z)
    assert ids == case.group_ids
    assert descriptor.kernarg_size == metadata.kernarg_segment_size == case.kernarg_bytes
    assert descriptor.group_segment_fixed_size == case.lds_bytes
    assert metadata.group_segment_fixed_size == case.lds_bytes
    assert metadata.max_flat_workgroup_size == case.work_items
    assert (metadata.vgpr_count, metadata.sgpr_count) == (case.vgprs, case.sgprs)
    assert descriptor.fp16_overflow == case.saturates
    assert descriptor.float_denorm_mode_32 == 3


@pytest.mark.parametrize("tactic", CASES)
def test_the_argument_table_agrees_with_the_code_object(
    root: Path, toolchain: Toolchain, tactic: str
) -> None:
    path = root / "manifests/gfx950/contracts" / f"{tactic}.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    bits = 64 if tactic == "attention_gqa8_fp8kv" else 0
    metadata = generated(root, toolchain, tactic, bits).kernels[0].metadata
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
    assert table["block"] == [CASES[tactic].work_items, 1, 1]
    assert table.get("modes", {}).get("fp16_overflow", 0) == CASES[tactic].saturates


def test_the_catalog_states_the_contracts(root: Path) -> None:
    """Constants are those that the published reader infers from the guards of the closure."""
    catalog = json.loads((root / "manifests/gfx950/tactics/attention.json").read_text("utf-8"))
    line = re.compile(r"^\s*NETRA_REQUIRE_EQ\s+([A-Z0-9_]+)\s*,\s*([0-9]+)\s*$", re.MULTILINE)
    assert [entry["id"] for entry in catalog["tactics"]] == sorted(CASES)
    for entry in catalog["tactics"]:
        case, closure = CASES[entry["id"]], closure_of(root, entry["id"])
        assert entry["template"] == f"{TEMPLATES}/{case.template}.inc"
        assert entry["template_sha256"] == sha256_hex((root / entry["template"]).read_bytes())
        assert entry["source_closure_sha256"] == closure.source_closure_sha256
        assert entry["instantiation_macro"] == case.macro
        assert (entry["kernarg_size"], entry["launch_block"]) == (
            case.kernarg_bytes,
            case.work_items,
        )
        assert entry["metadata_contract"] == {
            "group_segment_fixed_size": case.lds_bytes,
            "kernarg_segment_size": case.kernarg_bytes,
            "max_flat_workgroup_size": case.work_items,
        }
        is_chosen = entry["id"] == "attention_gqa8_fp8kv"
        assert entry["compile_definitions"] == ({BITS: [32, 64]} if is_chosen else {})
        assert entry["maturity"] in ("experiment", "verified")
        assert entry["rank"] == 100
        text = "\n".join(data.decode() for data in closure.data_by_name.values())
        assert {key: int(value) for key, value in line.findall(text)} == {
            **case.constants,
            **TARGET,
        }


@pytest.mark.parametrize(("tactic", "constant"), FIXED)
def test_a_wrong_or_missing_constant_is_refused(
    root: Path, toolchain: Toolchain, tactic: str, constant: str
) -> None:
    constants = constants_of(tactic, 64 if tactic == "attention_gqa8_fp8kv" else 0)
    right = constants.pop(constant)
    missing = errors(root, toolchain, tactic, constants)
    assert missing == [f"{constant} is not set; expected {right}"]
    wrong = errors(root, toolchain, tactic, {**constants, constant: right + 32})
    assert wrong == [f"{constant} has another value; expected {right}, got {right + 32}"]


def test_a_wrong_or_missing_index_width_is_refused(root: Path, toolchain: Toolchain) -> None:
    constants = constants_of("attention_gqa8_fp8kv", 64)
    del constants[BITS]
    missing = errors(root, toolchain, "attention_gqa8_fp8kv", constants)
    assert missing == [f"{BITS} is not set; expected one of 32, 64"]
    wrong = errors(root, toolchain, "attention_gqa8_fp8kv", {**constants, BITS: 16})
    assert wrong == [f"{BITS} has another value; expected one of 32, 64, got 16"]


@pytest.mark.parametrize(("tactic", "bits"), BUILDS)
def test_golden_sources_are_flat(root: Path, tactic: str, bits: int) -> None:
    pattern = r"^\s*(\.(?:include|incbin|macro|rept|rep|irp|irpc|altmacro|if\w*))\b"
    assert re.findall(pattern, golden_text(root, tactic, bits), re.MULTILINE) == []
