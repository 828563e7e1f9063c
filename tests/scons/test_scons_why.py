"""Why a file was made: real edits in a real build, whole answers compared."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from blake3 import blake3
from project import ENGINE, MadeOnce, Project
from workshop import entries

from netra_build.build.record.reasons import Reason
from netra_build.build.record.run_record import RunRecord
from netra_build.core.disk import RealDisk

RECIPE = "qwen36_moe_decode_objects"
TACTIC = "moe_silu_quant_decode_m1"
NAME = "qwen36_moe_silu_mul_quant_fp8_gfx950"
HSACO = f"build/recipes/{RECIPE}/hsaco/{NAME}.hsaco"
WORK = f"recipes/{RECIPE}/{NAME}"
CLOSE = f"CLOSE {TACTIC} -> {WORK}.closure.json and 1 more"
CATALOG = "manifests/gfx950/tactics/moe_decode.json"
REDUCTIONS = "kernels/gfx950/templates/common/reductions.inc"
GUARDS = "kernels/gfx950/templates/common/guards.inc"


@pytest.fixture(scope="module")
def objects_once(built_once: Project, made_once: MadeOnce) -> Project:
    """Return a project whose code objects are built, with a constant that nothing reads."""

    def make(folder: Path) -> None:
        project = Project.copy_to(folder / "project", built_once.folder)
        set_constant(project, 2048)
        done = project.scons("-j2", f"recipe={RECIPE}")
        assert done.status == 0, done.errors

    return Project(made_once("objects", make) / "project")


@pytest.fixture
def objects(objects_once: Project, tmp_path: Path) -> Project:
    """Return a private copy of the built project."""
    shutil.copytree(objects_once.folder, tmp_path / "p", copy_function=shutil.copy2, symlinks=True)
    return Project(tmp_path / "p")


def set_constant(project: Project, value: int) -> None:
    """Give the kernel a constant of this value, in its catalog and where the recipe chooses it."""
    path = project.path(CATALOG)
    catalog = json.loads(path.read_text())
    entry = next(tactic for tactic in catalog["tactics"] if tactic["id"] == TACTIC)
    entry["compile_definitions"] = {"NETRA_MOE_REMARK": value}
    path.write_text(json.dumps(catalog, indent=2, sort_keys=True) + "\n")
    recipe = project.path(f"recipes/{RECIPE}.yaml")
    symbol = f"        symbol: {NAME}\n"
    chosen = re.compile(re.escape(symbol) + r"(        definitions: .*\n)?")
    line = f"        definitions: {{NETRA_MOE_REMARK: {value}}}\n"
    recipe.write_text(chosen.sub(symbol + line, recipe.read_text()))


def runs_of(project: Project, build: int) -> list[tuple[str, str, tuple[Reason, ...]]]:
    """Return stage and line of every action that ran in a build, with its reasons."""
    record = RunRecord(project.path("build/work/runs.json"), RealDisk())
    ran = [entry for entry in entries(record) if build in entry.runs]
    return [(entry.stage, entry.line, entry.runs[build].reasons) for entry in ran]


def b3(project: Project, name: str) -> str:
    """Return how the digest of a file is shown."""
    return f"b3:{blake3(project.path(name).read_bytes()).hexdigest()[:12]}"


def work(project: Project, suffix: str) -> str:
    """Return how the digest of an intermediate file of the kernel is shown."""
    return b3(project, f"build/work/{WORK}{suffix}")


def ahead(project: Project, target: str = "", *words: str) -> list[str]:
    """Return what ``scons why=TARGET`` prints; nothing is built by it."""
    done = project.scons("-Q", f"recipe={RECIPE}", f"why={target}", *words)
    assert (done.status, done.errors) == (0, "")
    return done.output.splitlines()


def build(project: Project, status: int = 0) -> None:
    """Build the code objects."""
    done = project.scons("-j2", f"recipe={RECIPE}")
    assert done.status == status, done.errors


def why(project: Project, target: str) -> list[str]:
    """Return what ``netra why TARGET`` prints."""
    done = project.netra("why", target)
    assert (done.status, done.errors) == (0, "")
    return done.output.splitlines()


def test_nothing_would_run_after_a_build(objects: Project) -> None:
    [line] = ahead(objects)
    assert line.startswith("netra: 0 would run, 0 may run, ")
    assert ahead(objects, NAME) == [
        f"{HSACO}: up to date",
        f"  STRIP {TACTIC} -> hsaco/{NAME}.hsaco ran in build 1 because",
        "    first build",
    ]


def test_a_constant_in_a_catalog(objects: Project) -> None:
    set_constant(objects, 4096)
    source = f"build/recipes/{RECIPE}/generated/{NAME}.s"
    answer = ahead(objects, source)
    assert answer[0] == f"{source}: would run"
    assert answer[3] == f"  INST {TACTIC} -> generated/{NAME}.s would run now because"
    assert '    parameter "constants.NETRA_MOE_REMARK" changed 2048 -> 4096' in answer[4:]
    old = b3(objects, source)
    build(objects)
    # The flat unit has no remarks in it, but every constant: it ends in the object's bytes.
    flat = f"build/work/{WORK}.flat.s"
    answer = why(objects, flat)
    assert answer[:4] == [
        f"{flat}: up to date",
        f"  {CLOSE} ran in build 2 because",
        f'    input "generated/{NAME}.s" changed {old} -> {b3(objects, source)}',
        f"      INST {TACTIC} -> generated/{NAME}.s ran in build 2 because",
    ]
    assert '        parameter "constants.NETRA_MOE_REMARK" changed 2048 -> 4096' in answer[4:]


def test_a_remark_in_an_include_runs_what_reads_it_and_changes_no_code_object(
    objects: Project,
) -> None:
    old = b3(objects, GUARDS)
    objects.path(GUARDS).write_text(objects.path(GUARDS).read_text() + "// a remark\n")
    change = f'input "{GUARDS}" changed {old} -> {b3(objects, GUARDS)}'
    assert ahead(objects, HSACO) == [
        f"{HSACO}: may run",
        f"  STRIP {TACTIC} -> hsaco/{NAME}.hsaco ran in build 1 because",
        "    first build",
        f"  STRIP {TACTIC} -> hsaco/{NAME}.hsaco may run now because",
        f'    input "{WORK}.linked.hsaco" will be made again first',
        f"      LINK {TACTIC} -> {WORK}.linked.hsaco may run now because",
        f'        input "{WORK}.o" will be made again first',
        f"          ASM {TACTIC} -> {WORK}.o may run now because",
        f'            input "{WORK}.flat.s" will be made again first',
        f"              {CLOSE} would run now because",
        f"                {change}",
    ]
    build(objects)
    assert why(objects, f"{NAME}.flat.s") == [
        f"build/work/{WORK}.flat.s: up to date",
        f"  {CLOSE} ran in build 1 because",
        "    first build",
        f"  {CLOSE} ran with the same bytes in build 2 because",
        f"    {change}",
    ]
    assert why(objects, TACTIC) == [
        f"{HSACO}: up to date",
        f"  STRIP {TACTIC} -> hsaco/{NAME}.hsaco ran in build 1 because",
        "    first build",
    ]


def test_an_instruction_in_an_include_is_followed_to_the_code_object(objects: Project) -> None:
    suffixes = (".flat.s", ".o", ".linked.hsaco")
    before = [b3(objects, REDUCTIONS), *(work(objects, suffix) for suffix in suffixes)]
    old = "\tv_max_f32_dpp v[\\value], v[\\value], v[\\value] row_ror"
    objects.edit(REDUCTIONS, old, old.replace("v_max", "v_min"))
    build(objects, status=1)  # it is not equivalent to its golden source any more
    after = [b3(objects, REDUCTIONS), *(work(objects, suffix) for suffix in suffixes)]
    source, flat, made, linked = (
        f"changed {one} -> {other}" for one, other in zip(before, after, strict=True)
    )
    assert why(objects, HSACO) == [
        f"{HSACO}: up to date",
        f"  STRIP {TACTIC} -> hsaco/{NAME}.hsaco ran in build 2 because",
        f'    input "{WORK}.linked.hsaco" {linked}',
        f"      LINK {TACTIC} -> {WORK}.linked.hsaco ran in build 2 because",
        f'        input "{WORK}.o" {made}',
        f"          ASM {TACTIC} -> {WORK}.o ran in build 2 because",
        f'            input "{WORK}.flat.s" {flat}',
        f"              {CLOSE} ran in build 2 because",
        f'                input "{REDUCTIONS}" {source}',
    ]


def test_a_tool_of_another_version(objects: Project, toolchain, tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    tools.mkdir()
    for program in (toolchain.linker, toolchain.disassembler):
        (tools / program.path.name).symlink_to(program.path)
    real, version = toolchain.assembler.path, toolchain.version
    wrapper = tools / "llvm-mc"
    wrapper.write_text(f'#!/bin/sh\n{real} "$@" | sed "s/version {version}/version 99.1.0/"\n')
    wrapper.chmod(0o755)
    digests = toolchain.identity()["assembler_digest"]
    made = f"build/work/{WORK}.o"
    answer = ahead(objects, made, f"toolchain={tools}")
    assert answer[:4] == [
        f"{made}: would run",
        f"  ASM {TACTIC} -> {WORK}.o ran in build 1 because",
        "    first build",
        f"  ASM {TACTIC} -> {WORK}.o would run now because",
    ]
    assert answer[4].startswith(f'    tool "assembler_digest" changed b3:{digests[:12]} -> b3:')
    assert answer[5:] == [f'    tool "assembler_version" changed {version} -> 99.1.0']


def test_the_code_of_a_stage(objects: Project) -> None:
    module = "netra_build/stages/read_object.py"
    old = b3(objects, module)
    objects.path(module).write_text(objects.path(module).read_text() + "# a remark\n")
    change = f"module netra_build.stages.read_object {old} -> {b3(objects, module)}"
    assert ahead(objects, HSACO)[3:] == [
        f"  STRIP {TACTIC} -> hsaco/{NAME}.hsaco would run now because",
        f"    code of the stage changed: {change}",
    ]


def test_an_output_that_was_altered_and_one_that_is_gone(objects: Project) -> None:
    old, new = b3(objects, HSACO), f"b3:{blake3(b'other').hexdigest()[:12]}"
    objects.path(HSACO).write_bytes(b"other")
    made = f"build/work/{WORK}.o"
    objects.path(made).unlink()
    assert ahead(objects, HSACO)[3:] == [
        f"  STRIP {TACTIC} -> hsaco/{NAME}.hsaco would run now because",
        f'    output "hsaco/{NAME}.hsaco" was altered {old} -> {new}',
        f'    input "{WORK}.linked.hsaco" will be made again first',
        f"      LINK {TACTIC} -> {WORK}.linked.hsaco may run now because",
        f'        input "{WORK}.o" will be made again first',
        f"          ASM {TACTIC} -> {WORK}.o would run now because",
        f'            output "{WORK}.o" is missing',
    ]
    build(objects)
    assert why(objects, HSACO)[3:] == [
        f"  STRIP {TACTIC} -> hsaco/{NAME}.hsaco ran with the same bytes in build 2 because",
        f'    output "hsaco/{NAME}.hsaco" was altered {old} -> {new}',
    ]


def test_records_that_are_lost(objects: Project) -> None:
    objects.path("build/work/outputs.json").unlink()
    build(objects)
    assert why(objects, HSACO)[3:] == [
        f"  STRIP {TACTIC} -> hsaco/{NAME}.hsaco ran with the same bytes in build 2 because",
        "    the build tool lost its own record of it",
    ]
    objects.path("build/work/runs.json").unlink()
    assert ahead(objects, HSACO) == [f"{HSACO}: up to date", "  no record of how it was made"]
    gone = objects.netra("why", HSACO)
    assert (gone.status, gone.errors) == (
        2,
        "netra: build: no build is on record here\n"
        "hint: build something first, or name the build folder with --build\n",
    )


def test_what_the_store_gave_is_said(objects: Project, tmp_path: Path) -> None:
    """The store of the first build answers for the second, and the reason stays the reason."""
    words, store = ("-j2", "--max-drift=-1", f"recipe={RECIPE}"), str(tmp_path / "store")
    objects.path(HSACO).unlink()
    assert objects.scons(*words, f"store={store}").status == 0
    objects.path(HSACO).unlink()
    assert objects.scons(*words, f"store={store}").status == 0
    assert why(objects, HSACO)[3:] == [
        f"  STRIP {TACTIC} -> hsaco/{NAME}.hsaco restored with the same bytes in build 3 because",
        f'    output "hsaco/{NAME}.hsaco" is missing',
    ]


def test_words_that_name_nothing(objects: Project) -> None:
    done = objects.scons("-Q", f"recipe={RECIPE}", f"why={TACTIC[:-1]}0")
    assert (done.status, done.errors) == (
        2,
        f'netra: why: nothing that was asked for makes "{TACTIC[:-1]}0"\n'
        f'hint: did you mean "{TACTIC}"?\n',
    )
    done = objects.netra("why", GUARDS)
    assert (done.status, done.errors) == (
        2,
        f'netra: why: "{GUARDS}" is a source, nothing makes it\n'
        "hint: name a file that is made from it\n",
    )


def test_what_was_restored_whole_is_up_to_date(objects: Project, tmp_path: Path) -> None:
    """No action ran, so that the record of runs still tells of the edit that was taken back."""
    words = (f"recipe={RECIPE}", f"store={tmp_path / 'store'}")
    template = objects.path("kernels/gfx950/templates/moe/silu_quant.inc")
    original = template.read_bytes()
    objects.path("build/work/runs.json").unlink()
    shutil.rmtree(objects.path("build/.netra-finished"))
    objects.path(HSACO).unlink()
    assert objects.scons(*words).status == 0
    template.write_bytes(original + b"// a remark\n")
    assert objects.scons(*words).status == 0
    template.write_bytes(original)
    done = objects.scons(*words)
    assert "from the store" in done.output
    asked = objects.scons(*words, "why=")
    assert asked.output.splitlines()[-1].startswith("netra: 0 would run, 0 may run, ")
    assert "not on record" not in asked.output


@pytest.mark.parametrize("jobs", ["-j1", "-j4"])
def test_after_an_undone_edit_no_reason_speaks_of_it(
    objects: Project, tmp_path: Path, jobs: str
) -> None:
    """Edit, build, undo, build: the next reasons are those of the state that was restored."""
    words = (jobs, f"recipe={RECIPE}", f"store={tmp_path / 'store'}")
    result = f"build/recipes/{RECIPE}/build-result.json"
    template = objects.path("kernels/gfx950/templates/moe/silu_quant.inc")
    original = template.read_bytes()
    shutil.rmtree(objects.path("build/.netra-finished"))
    objects.path(HSACO).unlink()
    assert objects.scons(*words).status == 0
    template.write_bytes(original + b"// undone\n")
    assert objects.scons(*words).status == 0
    assert why(objects, result)[1].endswith(" ran in build 3 because")
    template.write_bytes(original)
    assert "from the store" in objects.scons(*words).output
    assert why(objects, result) == [f"{result}: up to date", "  no record of how it was made"]
    kept = f"build/work/{WORK}.o"
    assert why(objects, kept)[1] == f"  ASM {TACTIC} -> {WORK}.o ran in build 1 because"
    assert " not made" not in objects.netra("graph", RECIPE).output
    template.write_bytes(original + b"// stays\n")
    assert ahead(objects, "")[-1] == "netra: 2 would run, 11 may run, 43 up to date"
    assert objects.scons(*words).status == 0
    runs = objects.netra("why", result, "--json")
    made = json.loads(runs.output)["files"][0]["made"]
    assert made["what"].endswith(" ran in build 4 because")
    assert [reason["cause"] for reason in made["because"]] == ["no_record"]
    ran = runs_of(objects, 4)
    assert {(stage, reason.cause.value) for stage, _, reasons in ran for reason in reasons} == {
        ("close", "no_record"),
        ("copy", "no_record"),
        ("describe", "no_record"),
        ("result", "no_record"),
    }


def test_after_an_undone_edit_that_gave_other_names_no_reason_speaks_of_it(
    built: Project, tmp_path: Path
) -> None:
    """A symbol holds a digest of what its sources compute: each edit makes files of other names."""
    words = (f"engine={ENGINE}", f"store={tmp_path / 'store'}")
    template = built.path("kernels/gfx950/templates/moe/silu_quant.inc")
    original = template.read_text()

    def edit(wait: int) -> None:
        """Add an instruction; the kernel is then not equivalent to its golden source."""
        before, first, after = original.partition("\ts_cmp_ge_u32 ")
        template.write_text(f"{before}\ts_nop {wait}\n{first}{after}")

    def names() -> set[str]:
        folder = built.path(f"build/engines/{ENGINE}/generated")
        return {path.stem for path in folder.glob("netra_moe_silu_quant_*.s")}

    shutil.rmtree(built.path("build/.netra-finished"))
    built.path(f"build/engines/{ENGINE}/symbols.json").unlink()
    assert built.scons("-j2", *words).status == 0
    before = names()
    edit(1)
    assert built.scons("-j2", *words).status == 1
    undone = names()
    template.write_text(original)
    assert "from the store" in built.scons("-j2", *words).output
    assert names() == before
    assert undone.isdisjoint(before)
    edit(2)
    other = Project(tmp_path / "other")
    shutil.copytree(built.folder, other.folder, copy_function=shutil.copy2, symlinks=True)
    assert built.scons("-j1", "-k", *words[:1], "store=0").status == 1
    assert other.scons("-j4", "-k", *words[:1], "store=0").status == 1
    made, made_there = runs_of(built, 4), runs_of(other, 4)
    assert made_there == made
    assert {stage for stage, *_ in made} > {"instantiate", "close", "assemble", "strip"}
    (undone_name,) = undone
    assert undone_name not in str(made)
