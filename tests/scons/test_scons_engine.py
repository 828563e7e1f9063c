"""From a clean copy to an engine directory, and what a second run has to do."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

from project import ENGINE, Project, tree_digests

COMMON = "kernels/gfx950/templates/common"
SILU = "moe_silu_quant_decode_m1"
DOCUMENTS = [
    "contracts.json",
    "engine.json",
    "explain.json",
    "graph.json",
    "graph_recipe.json",
    "layout_plan.json",
    "memory_plan.json",
    "netra.json",
    "symbols.json",
    "validation_plan.json",
]
VIEWS = [
    ".checks.json",
    ".dis",
    ".equivalence.json",
    ".golden.dis",
    ".golden.metadata.txt",
    ".golden.text",
    ".json",
    ".metadata.txt",
    ".numerics.json",
    ".text",
]


def symbols(project: Project) -> list[str]:
    """Return the kernel symbols that the engine names."""
    return json.loads((project.engine() / "symbols.json").read_text())["selected"]


def test_the_engine_directory_is_whole(built_once: Project) -> None:
    engine = built_once.engine()
    expected = set(DOCUMENTS)
    for symbol in symbols(built_once):
        expected |= {f"generated/{symbol}.s", f"generated/golden/{symbol}.s"}
        expected |= {f"hsaco/{symbol}.hsaco"} | {f"metadata/{symbol}{view}" for view in VIEWS}
    found = set(tree_digests(engine))
    includes = {name for name in found if name.startswith("generated/includes/kernels/")}
    assert len(symbols(built_once)) == 3
    assert f"generated/includes/{COMMON}/guards.inc" in includes
    assert found - includes == expected


def test_all_verdicts_are_good(built_once: Project) -> None:
    seal = built_once.seal()
    assert [kernel["equivalence"] for kernel in seal["kernels"]] == ["identical"] * 3
    assert [kernel["conformity"] for kernel in seal["kernels"]] == ["passed"] * 3
    assert [kernel["static_checks"] for kernel in seal["kernels"]] == ["passed"] * 3
    assert [kernel["numerics"]["verdict"] for kernel in seal["kernels"]] == ["passed"] * 3
    assert {kernel["numerics"]["scope"] for kernel in seal["kernels"]} == {"simulated"}
    for symbol in symbols(built_once):
        path = built_once.engine() / f"metadata/{symbol}.equivalence.json"
        assert json.loads(path.read_text())["verdict"] == "identical"


def test_the_seal_names_every_other_file_with_its_digest(built_once: Project) -> None:
    listed = {name: entry["sha256"] for name, entry in built_once.seal()["files"].items()}
    found = tree_digests(built_once.engine())
    del found["netra.json"]
    assert listed == found


def test_every_kernel_operation_names_the_digest_of_its_code_object(built_once: Project) -> None:
    found = tree_digests(built_once.engine())
    engine = json.loads((built_once.engine() / "engine.json").read_text())
    kernels = [operation for operation in engine["operations"] if operation["kernel_symbol"]]
    assert len(kernels) == 3
    for operation in kernels:
        assert operation["hsaco_sha256"] == found[operation["hsaco"]]


def test_a_second_run_does_nothing(built: Project) -> None:
    assert built.scons(f"engine={ENGINE}").actions == []


def test_a_touched_file_does_nothing(built: Project) -> None:
    for path in built.path("kernels").rglob("*.inc"):
        os.utime(path)
    assert built.scons(f"engine={ENGINE}").actions == []


def test_a_comment_starts_no_assembler_and_changes_the_closure_digests(built: Project) -> None:
    before, objects = built.seal(), tree_digests(built.engine() / "hsaco")
    guards = built.path(f"{COMMON}/guards.inc")
    guards.write_text(guards.read_text() + "// a remark\n")
    done = built.scons("-j2", f"engine={ENGINE}")
    assert done.status == 0, done.errors
    assert set(done.actions) <= {
        "CLOSE",
        "COPY",
        "INST",
        "EMIT",
        "ENGINE",
        "VALID",
        "SEALED",
    }
    after = built.seal()
    for one, other in zip(before["kernels"], after["kernels"], strict=True):
        assert one["source_closure_sha256"] != other["source_closure_sha256"]
        assert one["computational_identity"] == other["computational_identity"]
    assert tree_digests(built.engine() / "hsaco") == objects
    assert after["not_pinned"] == sorted(
        ["moe_down_reduce_decode_m1", "moe_gate_up_decode_m1", SILU]
    )


def change_silu(project: Project) -> None:
    """Change one instruction of the primitive that only the SiLU kernel uses."""
    project.edit(
        f"{COMMON}/reductions.inc",
        "\tv_max_f32_dpp v[\\value], v[\\value], v[\\value] row_ror",
        "\tv_min_f32_dpp v[\\value], v[\\value], v[\\value] row_ror",
    )


def test_a_changed_instruction_reruns_its_kernel_and_is_shown(built: Project) -> None:
    before = tree_digests(built.engine())
    change_silu(built)
    done = built.scons("check-equivalence")
    assert done.status == 1
    tool_lines = [line for line in done.action_lines if line.split()[0] in ("ASM", "LINK", "DIS")]
    assert {line.split()[1] for line in tool_lines} == {SILU}
    listing = (built.engine() / "metadata").glob("netra_moe_silu_quant*.golden.dis")
    assert "v_max_f32_dpp" in next(listing).read_text()
    table = done.output.splitlines()
    start = table.index(f"{SILU}: text_differs")
    assert table[start + 1].startswith("first differing instruction, number ")
    assert "v_max_f32_dpp" in table[start + 2]
    assert "golden" in table[start + 2]
    assert "v_min_f32_dpp" in table[start + 3]
    assert "generated" in table[start + 3]
    assert "3 compared, 1 differing" in table

    change_back = built.scons(f"engine={ENGINE}")
    assert change_back.status == 1
    assert not (built.engine() / "netra.json").exists()
    built.edit(f"{COMMON}/reductions.inc", "v_min_f32_dpp", "v_max_f32_dpp")
    assert built.scons("check-equivalence").status == 0
    assert built.scons(f"engine={ENGINE}").status == 0
    assert tree_digests(built.engine()) == before


def test_an_output_that_is_gone_is_made_again(built: Project) -> None:
    before = tree_digests(built.engine())
    for path in (built.engine() / "metadata").glob("*.dis"):
        path.unlink()
    assert built.scons(f"engine={ENGINE}").status == 0
    assert tree_digests(built.engine()) == before


def test_files_of_a_former_recipe_are_removed(built: Project) -> None:
    recipe = built.path(f"recipes/{ENGINE}.yaml")
    recipe.write_text(recipe.read_text().replace("qwen36_moe_m1.json", "qwen36_moe_m1_golden.json"))
    assert built.scons(f"engine={ENGINE}").status == 0
    found = tree_digests(built.engine())
    assert sorted(found) == DOCUMENTS


def test_out_names_the_folder(built: Project, tmp_path: Path) -> None:
    done = built.scons(f"engine={ENGINE}", f"out={tmp_path}/elsewhere")
    assert done.status == 0, done.errors
    assert tree_digests(tmp_path / "elsewhere") == tree_digests(built.engine())


def test_clean_removes_the_engine(built: Project) -> None:
    assert built.scons("-c", f"engine={ENGINE}").status == 0
    assert [path for path in built.engine().rglob("*") if path.is_file()] == []


def test_every_parameter_that_changes_is_explained(built: Project) -> None:
    recipe = built.path(f"recipes/{ENGINE}.yaml")
    recipe.write_text(recipe.read_text() + f"checkpoint_hash: '{'7' * 64}'\n")
    done = built.scons("--debug=explain", f"engine={ENGINE}")
    lines = [line.strip() for line in done.output.splitlines()]
    name = "document.checkpoint_hash"
    assert f'parameter "{name}" changed null -> "{"7" * 64}"' in lines
    assert "rebuilding `build/engines/qwen36_moe_m1/engine.json' because:" in " ".join(lines)
    assert set(done.actions) <= {"EMIT", "ENGINE", "VALID", "SEALED"}


def test_verbose_shows_files_parameters_and_whole_commands(built: Project) -> None:
    for path in built.path("build/work/engines").rglob("*.o"):
        path.unlink()
    done = built.scons(f"engine={ENGINE}", "verbose=1")
    assert done.actions.count("ASM") == 3
    lines = [line.strip() for line in done.output.splitlines() if "-filetype=obj" in line]
    assert len(lines) == 3
    flags = "-triple=amdgcn-amd-amdhsa -mcpu=gfx950 -filetype=obj -o unit.o -- unit.s"
    assert all(line.startswith("/") and line.endswith(f"llvm-mc {flags}") for line in lines)


def alter(path: Path) -> None:
    """Change one byte of a file."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def test_altered_outputs_are_made_again(
    built: Project, sample: Callable[[list, int], list]
) -> None:
    """SCons alone would call them up to date, or go on from their bytes."""
    before = tree_digests(built.engine())
    names = ["engine.json", "memory_plan.json", "validation_plan.json", "netra.json"]
    first = sorted(path.name for path in (built.engine() / "hsaco").iterdir())[0]
    stem = first.removesuffix(".hsaco")
    names += [f"hsaco/{first}", f"generated/{stem}.s", f"generated/golden/{stem}.s"]
    names += [f"metadata/{stem}{view}" for view in (".numerics.json", ".equivalence.json", ".text")]
    for name in sample(names, 4):
        alter(built.engine() / name)
        done = built.scons(f"engine={ENGINE}")
        assert done.status == 0, (name, done.errors)
        assert done.actions != []
        assert tree_digests(built.engine()) == before, name
    assert built.scons(f"engine={ENGINE}").actions == []


def test_altered_work_files_are_made_again(
    built: Project, sample: Callable[[list, int], list]
) -> None:
    before = tree_digests(built.engine())
    work = built.path("build/work")
    suffixes = [".flat.s", ".o", ".linked.hsaco", ".conform.json", ".closure.json"]
    for suffix in sample(suffixes, 2):
        path = sorted((work / "engines" / ENGINE).glob(f"*{suffix}"))[0]
        path.write_bytes(path.read_bytes()[:10])
        done = built.scons(f"engine={ENGINE}")
        assert done.status == 0, (suffix, done.errors)
        assert tree_digests(built.engine()) == before, suffix


def test_a_lost_seal_is_written_again(built: Project) -> None:
    before = tree_digests(built.engine())
    (built.engine() / "netra.json").unlink()
    assert built.scons(f"engine={ENGINE}").status == 0
    assert tree_digests(built.engine()) == before
