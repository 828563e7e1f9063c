"""The three decode MoE kernels: template and golden source give the same machine code."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from netra_build.asm.closure import include_closure
from netra_build.asm.code_object import CodeObject, read_code_object
from netra_build.asm.flatten import flatten
from netra_build.asm.metadata import normalised
from netra_build.asm.toolchain import Toolchain

TEMPLATES = "kernels/gfx950/templates"
SHAPE = {
    "NETRA_HIDDEN_SIZE": 2048,
    "NETRA_INTERMEDIATE_SIZE": 512,
    "NETRA_M": 1,
    "NETRA_SCALE_BLOCK": 128,
    "NETRA_TOPK": 9,
    "NETRA_WEIGHT_LAYOUT_ID": 1,
}


@dataclass(frozen=True)
class Case:
    """What is known of a kernel from its contract."""

    template: str
    macro: str
    constants: dict[str, int]
    kernarg_bytes: int
    lds_bytes: int
    work_items: int
    vgprs: int
    sgprs: int
    group_ids: tuple[bool, bool, bool]
    arguments: tuple[tuple[str, int], ...]


CASES = {
    "moe_gate_up_decode_m1": Case(
        template="moe/gate_up_fp8_mfma.inc",
        macro="NETRA_MOE_GATE_UP_MFMA",
        constants=SHAPE,
        kernarg_bytes=48,
        lds_bytes=0,
        work_items=64,
        vgprs=144,
        sgprs=72,
        group_ids=(True, True, False),
        arguments=(
            ("hidden", 0),
            ("hidden_scale", 8),
            ("w13", 16),
            ("w13_scale", 24),
            ("topk_ids", 32),
            ("out", 40),
        ),
    ),
    "moe_silu_quant_decode_m1": Case(
        template="moe/silu_quant.inc",
        macro="NETRA_MOE_SILU_QUANT",
        constants=SHAPE,
        kernarg_bytes=32,
        lds_bytes=0,
        work_items=64,
        vgprs=38,
        sgprs=18,
        group_ids=(True, False, False),
        arguments=(("in", 0), ("out", 8), ("scale", 16), ("rows", 24)),
    ),
    "moe_down_reduce_decode_m1": Case(
        template="moe/down_reduce_fp8_mfma_2wave.inc",
        macro="NETRA_MOE_DOWN_REDUCE_MFMA_2WAVE",
        constants={**SHAPE, "NETRA_WAVES_PER_WG": 2},
        kernarg_bytes=56,
        lds_bytes=1024,
        work_items=128,
        vgprs=160,
        sgprs=98,
        group_ids=(True, True, False),
        arguments=(
            ("act", 0),
            ("act_scale", 8),
            ("w2", 16),
            ("w2_scale", 24),
            ("topk_weights", 32),
            ("topk_ids", 40),
            ("out", 48),
        ),
    ),
}
KERNELS = tuple(CASES)

GOLDEN_FAULTS = (
    ("moe_gate_up_decode_m1", "\ts_nop 2 ", "\ts_nop 3 ", "text"),
    ("moe_gate_up_decode_m1", "next_free_vgpr 144", "next_free_vgpr 152", "descriptor"),
    ("moe_gate_up_decode_m1", "{.name: w13, .offset: 16", "{.name: w13, .offset: 24", "metadata"),
    ("moe_silu_quant_decode_m1", "row_ror:4", "row_ror:2", "text"),
    ("moe_silu_quant_decode_m1", "denorm_mode_32 3", "denorm_mode_32 0", "descriptor"),
    (
        "moe_silu_quant_decode_m1",
        ".kernarg_segment_size: 32",
        ".kernarg_segment_size: 28",
        "metadata",
    ),
    ("moe_down_reduce_decode_m1", "v_add_f32 v6, v6, v144", "v_add_f32 v6, v6, v145", "text"),
    ("moe_down_reduce_decode_m1", "fixed_size 1024", "fixed_size 512", "descriptor"),
    ("moe_down_reduce_decode_m1", ".vgpr_count: 160", ".vgpr_count: 128", "metadata"),
)


def unit_of(tactic: str, symbol: str) -> bytes:
    """Return the instance of a kernel under any name."""
    case = CASES[tactic]
    constants = {"NETRA_TARGET_GFX": 950, "NETRA_WAVE_SIZE": 64, **case.constants}
    lines = [f"\t.set {name}, {value}" for name, value in constants.items()]
    lines += [f'\t.include "{TEMPLATES}/{case.template}"', f"\t{case.macro} {symbol}", ""]
    return "\n".join(lines).encode()


def closure_files(root: Path, tactic: str) -> dict[str, bytes]:
    """Return the include closure of a kernel's template, names to bytes."""
    template = f"{TEMPLATES}/{CASES[tactic].template}"
    closure = include_closure(template, lambda name: (root / name).read_bytes(), template)
    return dict(closure.data_by_name)


def generated(root: Path, toolchain: Toolchain, tactic: str, symbol: str) -> CodeObject:
    """Assemble and link the template's instance."""
    files = {**closure_files(root, tactic), "unit.s": unit_of(tactic, symbol)}
    linked = toolchain.link([toolchain.assemble_tree(files, "unit.s")])
    return read_code_object(linked, f"{symbol}.hsaco")


def golden(toolchain: Toolchain, source: str) -> CodeObject:
    """Assemble and link a golden source."""
    return read_code_object(toolchain.link([toolchain.assemble(source.encode())]), "golden.hsaco")


def golden_text(root: Path, tactic: str) -> str:
    """Return a golden source."""
    return (root / "golden/gfx950" / tactic / "kernel.s").read_text(encoding="utf-8")


def parts(code: CodeObject) -> dict[str, object]:
    """Return the three parts that equivalence compares, free of names."""
    return {
        "text": code.text,
        "descriptor": code.kernels[0].descriptor.normalised(),
        "metadata": normalised(dict(code.metadata)),
    }


def differing(left: CodeObject, right: CodeObject) -> list[str]:
    """Return the names of the parts in which two code objects differ."""
    other = parts(right)
    return [name for name, part in parts(left).items() if part != other[name]]


@pytest.mark.parametrize("tactic", KERNELS)
def test_template_and_golden_source_are_equivalent(
    root: Path, toolchain: Toolchain, tactic: str
) -> None:
    ours = generated(root, toolchain, tactic, "any_other_name")
    theirs = golden(toolchain, golden_text(root, tactic))
    assert theirs.kernels[0].symbol == f"netra_{tactic}_gfx950"
    assert differing(ours, theirs) == []


@pytest.mark.parametrize(("tactic", "old", "new", "part"), GOLDEN_FAULTS)
def test_a_fault_in_the_golden_source_is_a_difference(
    root: Path, toolchain: Toolchain, tactic: str, old: str, new: str, part: str
) -> None:
    source = golden_text(root, tactic)
    assert old in source
    ours = generated(root, toolchain, tactic, f"netra_{tactic}_gfx950")
    assert differing(ours, golden(toolchain, source.replace(old, new, 1))) == [part]


@pytest.mark.parametrize("tactic", KERNELS)
def test_the_whole_object_differs_by_names_alone(
    root: Path, toolchain: Toolchain, tactic: str
) -> None:
    """Under the golden's name also the loaded symbols and their addresses are the same."""
    ours = generated(root, toolchain, tactic, f"netra_{tactic}_gfx950")
    theirs = golden(toolchain, golden_text(root, tactic))
    for name in (".text", ".rodata", ".note", ".dynsym", ".dynstr", ".hash"):
        mine, other = ours.section(name), theirs.section(name)
        assert mine is not None
        assert mine == other, name


@pytest.mark.parametrize("tactic", KERNELS)
def test_the_flat_unit_gives_the_same_object(root: Path, toolchain: Toolchain, tactic: str) -> None:
    template = f"{TEMPLATES}/{CASES[tactic].template}"
    closure = include_closure(template, lambda name: (root / name).read_bytes(), template)
    unit = unit_of(tactic, "flat")
    raw = toolchain.assemble_tree({**closure.data_by_name, "unit.s": unit}, "unit.s")
    assert toolchain.assemble(flatten(unit, closure)) == raw


@pytest.mark.parametrize("tactic", KERNELS)
def test_the_descriptor_declares_the_contract(
    root: Path, toolchain: Toolchain, tactic: str
) -> None:
    case = CASES[tactic]
    kernel = generated(root, toolchain, tactic, "k").kernels[0]
    descriptor, metadata = kernel.descriptor, kernel.metadata
    assert metadata is not None
    ids = (
        descriptor.workgroup_id_x,
        descriptor.workgroup_id_y,
        descriptor.workgroup_id_z,
    )
    assert ids == case.group_ids
    assert descriptor.kernarg_size == metadata.kernarg_segment_size == case.kernarg_bytes
    assert descriptor.group_segment_fixed_size == case.lds_bytes
    assert metadata.group_segment_fixed_size == case.lds_bytes
    assert metadata.max_flat_workgroup_size == case.work_items
    assert (metadata.vgpr_count, metadata.sgpr_count) == (case.vgprs, case.sgprs)
    assert metadata.agpr_count == 0
    assert descriptor.accum_offset == -(-case.vgprs // 4) * 4
    assert descriptor.float_denorm_mode_32 == 3
    assert (descriptor.ieee_mode, descriptor.dx10_clamp, descriptor.fp16_overflow) == (
        True,
        True,
        False,
    )
    arguments = tuple((argument.name, argument.offset) for argument in metadata.arguments)
    assert arguments == case.arguments


@pytest.mark.parametrize("tactic", KERNELS)
def test_the_argument_table_agrees_with_the_code_object(
    root: Path, toolchain: Toolchain, tactic: str
) -> None:
    path = root / "manifests/gfx950/contracts" / f"{tactic}.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    metadata = generated(root, toolchain, tactic, "k").kernels[0].metadata
    assert metadata is not None
    kinds = {"global_buffer": "pointer", "by_value": "u32"}
    access = {"read_only": "read", "write_only": "write", None: "value"}
    found = [
        (a.name, a.offset, a.size, kinds[a.value_kind], access[a.actual_access])
        for a in metadata.arguments
    ]
    listed = [
        (a["name"], a["offset"], a["size"], a["kind"], a["access"]) for a in table["arguments"]
    ]
    assert listed == found
    assert table["block"] == [CASES[tactic].work_items, 1, 1]


@pytest.mark.parametrize("tactic", KERNELS)
def test_golden_sources_are_flat(root: Path, tactic: str) -> None:
    assert flat_faults(golden_text(root, tactic)) == []


def test_a_golden_source_with_a_directive_that_writes_code_is_seen() -> None:
    source = '\ts_nop 0\n  .include "x.inc"\n\t.macro M a\n.rept 2\n // .irp in a comment\n'
    assert flat_faults(source) == [".include", ".macro", ".rept"]


def flat_faults(source: str) -> list[str]:
    """Return the directives of a source that read files or write code."""
    pattern = r"^\s*(\.(?:include|incbin|macro|rept|rep|irp|irpc|altmacro|if\w*))\b"
    return re.findall(pattern, source, re.MULTILINE)


@pytest.mark.parametrize("tactic", KERNELS)
def test_the_catalog_pins_the_sources(root: Path, tactic: str) -> None:
    catalog = json.loads((root / "manifests/gfx950/tactics/moe_decode.json").read_text("utf-8"))
    entry = next(entry for entry in catalog["tactics"] if entry["id"] == tactic)
    case, files = CASES[tactic], closure_files(root, tactic)
    digest = hashlib.sha256()
    for name, data in files.items():
        for part in (name.encode(), data):
            digest.update(len(part).to_bytes(8, "big") + part)
    assert entry["template"] == next(iter(files)) == f"{TEMPLATES}/{case.template}"
    assert entry["template_sha256"] == hashlib.sha256(files[entry["template"]]).hexdigest()
    assert entry["source_closure_sha256"] == digest.hexdigest()
    assert entry["instantiation_macro"] == case.macro
    assert entry["kernarg_size"] == case.kernarg_bytes
    assert entry["launch_block"] == case.work_items
    assert entry["metadata_contract"] == {
        "group_segment_fixed_size": case.lds_bytes,
        "kernarg_segment_size": case.kernarg_bytes,
        "max_flat_workgroup_size": case.work_items,
    }
    assert (entry["maturity"], entry["acceptance_scope"]) == ("verified", "simulated")
    assert entry["rank"] == 100


@pytest.mark.parametrize("tactic", KERNELS)
def test_the_published_scanner_finds_the_contract_constants(root: Path, tactic: str) -> None:
    line = re.compile(r"^\s*NETRA_REQUIRE_EQ\s+([A-Z0-9_]+)\s*,\s*([0-9]+)\s*$", re.MULTILINE)
    text = "\n".join(data.decode() for data in closure_files(root, tactic).values())
    found = {name: int(value) for name, value in line.findall(text)}
    target = {"NETRA_TARGET_GFX": 950, "NETRA_WAVE_SIZE": 64}
    assert found == {**CASES[tactic].constants, **target}


def test_families_include_common_and_themselves_alone(root: Path) -> None:
    found = {
        path.relative_to(root / TEMPLATES): re.findall(
            r'^\s*\.include "kernels/gfx950/templates/([a-z]+)/[a-z0-9_]+\.inc"$',
            path.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
        for path in (root / TEMPLATES).rglob("*.inc")
    }
    assert len(found) > 10
    for path, folders in found.items():
        assert set(folders) <= {"common", path.parts[0]}, path
        text = (root / TEMPLATES / path).read_text(encoding="utf-8")
        assert text.count(".include") == len(folders), path


def test_sources_name_no_model_and_are_tidy(root: Path) -> None:
    """No model names, no debug directives, no trailing blanks, tabs at line starts alone."""
    folders = ("kernels", "golden", "manifests/gfx950/contracts")
    paths = [p for folder in folders for p in sorted((root / folder).rglob("*.*")) if p.is_file()]
    assert len(paths) > 15
    for path in paths:
        assert untidy(path.read_text(encoding="utf-8")) == [], path


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("// qwen36\n", "qwen"),
        ("\t.loc 1 2\n", "\t.loc"),
        ("s_nop 0 \n", " \n"),
        ("a\tb\n", "a\tb"),
        (" \ts_nop 0\n", " \t"),
        ("s_nop 0", "no final newline"),
    ],
)
def test_untidy_sources_are_seen(text: str, fault: str) -> None:
    assert untidy(text) == [fault]


def untidy(text: str) -> list[str]:
    """Return what a source should not hold."""
    pattern = r"(?i)qwen|gemma|llama|^\s*\.(?:file|loc|cfi_\w+)\b|\.debug_|[ \t]+\n|\S\t\S?|^ +\t"
    found = re.findall(pattern, text, re.MULTILINE)
    return found + ([] if text.endswith("\n") else ["no final newline"])
