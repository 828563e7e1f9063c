"""Seeded faults: each is refused by the stage that owns it, with its exact words and exit code."""

from __future__ import annotations

import json
import re
import shutil

import pytest
from project import ENGINE, Project, tree_digests

COMMON = "kernels/gfx950/templates/common"
MOE = "kernels/gfx950/templates/moe"
CONTRACTS = "manifests/gfx950/contracts"
MODEL = "manifests/gfx950/models/qwen36_moe_m1.json"
SILU = "moe_silu_quant_decode_m1"
GATE_UP = "moe_gate_up_decode_m1"
DOWN = "moe_down_reduce_decode_m1"


def failure(project: Project, *words: str, status: int = 1) -> str:
    """Return SCons's failure text; the node's name in brackets is cut off."""
    done = project.scons(*words)
    assert done.status == status, done.output + done.errors
    return done.failure.partition("] ")[2] if done.failure.startswith("[") else done.failure


def golden_symbol(tactic: str) -> str:
    """Return the symbol under which a tactic is built on its own."""
    return f"netra_{tactic}_gfx950"


def test_an_unknown_variable_names_the_nearest(built: Project) -> None:
    done = built.scons(f"engin={ENGINE}")
    assert done.status == 2
    assert done.errors == ('netra: scons: unknown variable "engin"\nhint: did you mean "engine"?\n')


def test_a_golden_source_that_was_edited_is_refused_until_it_is_accepted(built: Project) -> None:
    name = f"golden/gfx950/{GATE_UP}/kernel.s"
    built.edit(name, "\ts_endpgm", "\ts_nop 0\n\ts_endpgm")
    expect = json.loads(built.path(f"golden/gfx950/{GATE_UP}/expect.json").read_text())
    text = failure(built, f"engine={ENGINE}")
    assert text.startswith(
        f"golden/gfx950/{GATE_UP}/expect.json: golden source of {GATE_UP} does not give the "
        f"recorded text_sha256; expected {expect['text_sha256']}, got "
    )
    assert text.endswith(
        f"\nhint: after an edit by hand: netra golden accept {GATE_UP} --reason TEXT"
    )
    accepted = built.netra("golden", "accept", GATE_UP, "--reason", "one more wait state")
    assert accepted.status == 0, accepted.errors
    after = json.loads(built.path(f"golden/gfx950/{GATE_UP}/expect.json").read_text())
    assert after["history"][-1] == {"reason": "one more wait state"}
    assert after["history"][:-1] == expect["history"]
    assert failure(built, f"engine={ENGINE}").startswith(
        f"netra: evidence/gfx950/{GATE_UP}.simulated.json: evidence of {GATE_UP} speaks of another"
    )
    assert failure(built, f"tactic={GATE_UP}").startswith(f"hsaco/{golden_symbol(GATE_UP)}.hsaco: ")


def test_a_changed_text_is_refused_by_equivalence(built: Project) -> None:
    built.edit(
        f"{COMMON}/reductions.inc",
        "\tv_max_f32_dpp v[\\value], v[\\value], v[\\value] row_ror",
        "\tv_min_f32_dpp v[\\value], v[\\value], v[\\value] row_ror",
    )
    lines = failure(built, f"tactic={SILU}").splitlines()
    assert lines[0] == (
        f"hsaco/{golden_symbol(SILU)}.hsaco: {SILU} is not equivalent to its golden source; "
        "expected identical, got text_differs"
    )
    assert lines[1].startswith("first differing instruction, number ")
    assert "v_max_f32_dpp" in lines[2]
    assert "v_min_f32_dpp" in lines[3]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "next_free_vgpr NETRA_VGPRS",
            "next_free_vgpr 128",
            "allocated VGPRs of {symbol} differs from the contract; expected 40, got 128",
        ),
        (
            "accum_offset (NETRA_VGPRS+3)/4*4",
            "accum_offset 8",
            "accumulation offset of {symbol} differs from the contract; expected 40, got 8",
        ),
        (
            "float_denorm_mode_32 3",
            "float_denorm_mode_32 0",
            "float_denorm_mode_32 of {symbol} differs from the contract; expected 3, got 0",
        ),
        (
            "system_sgpr_workgroup_id_z (\\group_ids)/3",
            "system_sgpr_workgroup_id_z 1",
            "work-group ids (ABI record) of {symbol} differs from the contract; expected x, got xz",
        ),
    ],
)
def test_a_changed_descriptor_field_is_refused_by_conform(
    built: Project, old: str, new: str, message: str
) -> None:
    built.edit(f"{COMMON}/descriptor.inc", f".amdhsa_{old}", f".amdhsa_{new}")
    symbol = golden_symbol(SILU)
    text = failure(built, f"tactic={SILU}")
    assert text == f"hsaco/{symbol}.hsaco: {message.format(symbol=symbol)}"


def test_changed_lds_is_refused_by_conform(built: Project) -> None:
    built.edit(
        f"{MOE}/silu_quant.inc",
        "DESCRIPTOR \\symbol, NETRA_KERNARG_BYTES, 0",
        "DESCRIPTOR \\symbol, NETRA_KERNARG_BYTES, 2048",
    )
    symbol = golden_symbol(SILU)
    assert failure(built, f"tactic={SILU}") == (
        f"hsaco/{symbol}.hsaco: fixed LDS (descriptor) of {symbol} differs from the contract; "
        "expected 0, got 2048"
    )


def test_a_descriptor_field_outside_the_contract_is_refused_by_equivalence(built: Project) -> None:
    built.edit(
        f"{COMMON}/descriptor.inc",
        ".amdhsa_system_sgpr_workgroup_id_z (\\group_ids)/3",
        ".amdhsa_system_sgpr_workgroup_id_z (\\group_ids)/3\n"
        "\t.amdhsa_exception_fp_ieee_invalid_op 1",
    )
    lines = failure(built, f"tactic={SILU}").splitlines()
    assert lines[0].endswith("expected identical, got descriptor_differs")
    assert lines[1:] == [
        "descriptor field exception_fp_invalid:",
        "  golden     0",
        "  generated  1",
    ]


def test_a_changed_access_of_a_kernarg_is_refused_by_conform(built: Project) -> None:
    built.edit(f"{MOE}/gate_up_fp8_mfma.inc", "hidden_scale, read_only", "hidden_scale, read_write")
    symbol = golden_symbol(GATE_UP)
    assert failure(built, f"tactic={GATE_UP}") == (
        f"hsaco/{symbol}.hsaco: access of kernarg 1 (ABI record) of {symbol} differs from the "
        "contract; expected read_only, got read_write"
    )


def test_a_metadata_field_outside_the_contract_is_refused_by_equivalence(built: Project) -> None:
    built.edit(
        f"{COMMON}/metadata.inc",
        "    .agpr_count: 0\n",
        "    .agpr_count: 0\n    .sgpr_spill_count: 1\n",
    )
    lines = failure(built, f"tactic={GATE_UP}").splitlines()
    assert lines[0] == (
        f"hsaco/{golden_symbol(GATE_UP)}.hsaco: {GATE_UP} is not equivalent to its golden source; "
        "expected identical, got metadata_differs"
    )
    assert lines[1] == "metadata /amdhsa.kernels/0/.sgpr_spill_count:"
    assert lines[2:] == ["  golden     nothing", "  generated  1"]


def test_a_changed_kernarg_offset_in_the_record_is_refused_by_conform(built: Project) -> None:
    path = built.path(f"{CONTRACTS}/{GATE_UP}.json")
    record = json.loads(path.read_text())
    assert record["arguments"][5]["offset"] == 40
    record["arguments"][5]["offset"] = 48
    path.write_text(json.dumps(record))
    name = record["arguments"][5]["name"]
    symbol = golden_symbol(GATE_UP)
    assert failure(built, f"tactic={GATE_UP}") == (
        f'hsaco/{symbol}.hsaco: offset of kernarg 5 "{name}" of {symbol} differs from the '
        "contract; expected 48, got 40"
    )


def test_a_wrong_constant_is_refused_while_assembling(built: Project) -> None:
    built.edit(
        f"{MOE}/silu_quant.inc", "NETRA_REQUIRE_EQ NETRA_TOPK, 9", "NETRA_REQUIRE_EQ NETRA_TOPK, 8"
    )
    path = built.path("manifests/gfx950/tactics/moe_decode.json")
    catalog = json.loads(path.read_text())
    for entry in catalog["tactics"]:
        if entry["id"] == SILU:
            entry["contract_constants"] = {"NETRA_TOPK": 9}
    path.write_text(json.dumps(catalog))
    lines = failure(built, f"tactic={SILU}", status=2).splitlines()
    unit = f"generated/{golden_symbol(SILU)}.s"
    assert re.fullmatch(
        f"{SILU}: {unit}:[0-9]+:2: NETRA_TOPK has another value; expected 8, got 9", lines[0]
    )
    assert [line for line in lines[1:] if "while in macro instantiation" in line]


def test_stale_pins_are_noted_and_refused_when_locked(built: Project) -> None:
    guards = built.path(f"{COMMON}/guards.inc")
    guards.write_text(guards.read_text() + "// a remark\n")
    done = built.scons("-j2", f"engine={ENGINE}")
    assert done.status == 0
    assert f"netra: {ENGINE}: not pinned: {GATE_UP} (netra pin)" in done.output.splitlines()
    locked = built.scons(f"engine={ENGINE}", "locked=1")
    assert locked.status == 1
    assert "is not pinned to its template and closure\nhint: run netra pin" in locked.errors
    assert built.netra("pin", "--check").status == 1
    pinned = built.netra("pin")
    assert pinned.status == 0
    assert pinned.output.splitlines()[-1] == "3 pins rewritten"
    assert built.netra("pin", "--check").status == 0
    assert built.scons(f"engine={ENGINE}", "locked=1").status == 0


def demote(project: Project) -> None:
    """Make the three tactics experiments again."""
    path = project.path("manifests/gfx950/tactics/moe_decode.json")
    catalog = json.loads(path.read_text())
    for entry in catalog["tactics"]:
        entry["maturity"] = "experiment"
    path.write_text(json.dumps(catalog))


def test_without_the_opt_in_an_experiment_is_refused_with_every_candidate(built: Project) -> None:
    demote(built)
    done = built.scons(f"engine={ENGINE}")
    assert done.status == 1
    lines = done.errors.splitlines()
    assert lines[0] == f'netra: recipes/{ENGINE}.yaml: no tactic meets operation "moe.gate_up"'
    assert lines[1] == f"gfx950.{GATE_UP}: experimental tactics are disabled"
    assert lines[-1] == "hint: allow_fallback: true lets framework.moe_gate_up run it"


def test_a_recipe_may_let_the_framework_run_it_and_this_is_said(built: Project) -> None:
    demote(built)
    recipe = built.path(f"recipes/{ENGINE}.yaml")
    recipe.write_text(recipe.read_text() + "allow_fallback: true\n")
    done = built.scons(f"engine={ENGINE}")
    assert done.status == 0, done.errors
    notes = [line for line in done.output.splitlines() if line.startswith("netra: ")]
    assert notes[0] == (
        f"netra: {ENGINE}: fallback: moe.gate_up runs framework.moe_gate_up "
        f"(gfx950.{GATE_UP}: experimental tactics are disabled)"
    )
    assert len(notes) == 4
    assert notes[-1].startswith("netra: ran 7, ")
    assert built.seal()["kernels"] == []


def test_a_guard_that_asks_for_another_constant_takes_the_kernel_away(built: Project) -> None:
    built.edit(
        f"{MOE}/silu_quant.inc",
        "NETRA_REQUIRE_EQ NETRA_SCALE_BLOCK, 128",
        "NETRA_REQUIRE_EQ NETRA_SCALE_BLOCK, 64",
    )
    done = built.scons(f"engine={ENGINE}")
    assert done.status == 1
    assert 'no tactic meets operation "moe.silu_quant"' in done.errors
    assert f"gfx950.{SILU}: NETRA_SCALE_BLOCK mismatch" in done.errors


def test_a_catalog_of_another_version_is_not_skipped(built: Project) -> None:
    built.edit("manifests/gfx950/tactics/moe_decode.json", "tactic-catalog-1", "tactic-catalog-2")
    done = built.scons(f"engine={ENGINE}")
    assert (done.status, done.errors) == (
        2,
        "netra: manifests/gfx950/tactics/moe_decode.json#/format: catalog has an unknown format "
        'version; expected "netra-fixed-tactic-catalog-1", got "netra-fixed-tactic-catalog-2"\n',
    )


def test_the_opt_in_is_recorded(built: Project) -> None:
    demote(built)
    recipe = built.path(f"recipes/{ENGINE}.yaml")
    recipe.write_text(recipe.read_text() + "allow_experimental: true\n")
    assert built.seal()["recipe"]["allow_experimental"] is False
    done = built.scons("-j2", f"engine={ENGINE}")
    assert done.status == 0, done.errors
    assert built.seal()["recipe"]["allow_experimental"] is True
    assert len(built.seal()["kernels"]) == 3


def test_evidence_of_other_bytes_is_refused(built: Project) -> None:
    path = built.path(f"evidence/gfx950/{SILU}.simulated.json")
    record = json.loads(path.read_text())
    text_digest = record["text_sha256"]
    record["text_sha256"] = "0" * 64
    path.write_text(json.dumps(record))
    done = built.scons(f"engine={ENGINE}")
    assert done.status == 1
    assert done.errors == (
        f"netra: evidence/gfx950/{SILU}.simulated.json: evidence of {SILU} speaks of another "
        f".text; expected {text_digest}, got {'0' * 64}\n"
        "hint: run the kernel again and netra evidence add the new report\n"
    )
    path.unlink()
    assert built.scons(f"engine={ENGINE}").status == 3


def test_a_missing_golden_source_is_incomplete_evidence(built: Project) -> None:
    shutil.rmtree(built.path(f"golden/gfx950/{SILU}"))
    done = built.scons(f"engine={ENGINE}")
    assert done.status == 3
    assert f'"{SILU}" has no golden source\n' in done.errors


@pytest.mark.parametrize(
    ("edit", "fact"),
    [
        ({"block": [128, 1, 1]}, "launch block (ABI record)"),
        ({"name": "other"}, "name of kernarg 0 (ABI record)"),
        ({"offset": 4096}, None),
    ],
)
def test_every_field_of_the_abi_record_is_held(
    built: Project, edit: dict[str, object], fact: str | None
) -> None:
    path = built.path(f"{CONTRACTS}/{SILU}.json")
    record = json.loads(path.read_text())
    (record if "block" in edit else record["arguments"][0]).update(edit)
    path.write_text(json.dumps(record))
    done = built.scons(f"tactic={SILU}")
    assert done.status in (1, 2)
    assert (fact or "offset overlaps or is not aligned") in done.errors


def test_a_sealed_engine_is_not_built_in_place(built: Project) -> None:
    before = tree_digests(built.engine())
    done = built.netra("validate", "--engine", str(built.engine()), "--build")
    assert done.status == 2
    assert "engine is sealed: its code objects are built already" in done.errors
    assert tree_digests(built.engine()) == before


def test_an_engine_that_is_not_whole_is_not_validated(built: Project) -> None:
    (built.engine() / ".netra-unfinished.json").write_text("{}")
    done = built.netra("validate", "--engine", str(built.engine()))
    assert done.status == 2
    assert "folder is not whole: a build of it was cut off or failed" in done.errors
