"""Questions that cannot be answered, and what is not ours to replace: one line, code 2 or 4."""

from __future__ import annotations

import shutil

import pytest
from project import ENGINE, Project

SILU = "moe_silu_quant_decode_m1"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["engine=qwen36_moe_m2"],
            'recipes: unknown recipe "qwen36_moe_m2"\nhint: did you mean "qwen36_moe_m1"?',
        ),
        (
            ["tactic=moe_gate_up"],
            'tactic: unknown tactic "moe_gate_up"\nhint: did you mean "moe_gate_up_decode_m1"?',
        ),
        (
            ["out=x"],
            "scons: out= needs exactly one of engine=, recipe= and tactic=; expected 1, got 0",
        ),
        (["locked=yes"], "scons: locked= must be 0 or 1; expected 0 or 1, got yes"),
        (["engine="], "scons: engine= has no value"),
        (["seeds=3", f"engine={ENGINE}"], "scons: seeds= is used with check-numerics only"),
        (["golden_root=x"], "scons: golden_root= is used with engine= only"),
        (
            ["check-equivalance"],
            'scons: unknown target "check-equivalance"\nhint: did you mean "check-equivalence"?',
        ),
        (
            [f"engine={ENGINE}", "out=SConstruct"],
            "SConstruct: not a folder\nhint: name a folder with out=",
        ),
        (
            [f"tactic={SILU}", "out=kernels"],
            'kernels: folder holds "gfx950/templates/common/addressing.inc", '
            "which no build of ours has made\nhint: name a new folder or an engine directory",
        ),
        (
            [f"tactic={SILU}", "out=nowhere/../kernels"],
            'kernels: folder holds "gfx950/templates/common/addressing.inc", '
            "which no build of ours has made\nhint: name a new folder or an engine directory",
        ),
        (
            ["engine=qwen36_moe_decode_objects"],
            "recipes/qwen36_moe_decode_objects.yaml: recipe is not of an engine\n"
            "hint: ask with recipe=",
        ),
        (
            [f"engine={ENGINE}", "profile=decode_m2"],
            f'recipes/{ENGINE}.yaml: unknown profile "decode_m2"\nhint: did you mean "decode_m1"?',
        ),
    ],
)
def test_unusable_questions(built: Project, words: list[str], message: str) -> None:
    done = built.scons(*words)
    assert (done.status, done.errors) == (2, f"netra: {message}\n")


def test_a_product_folder_that_is_a_link_is_left_alone(built: Project) -> None:
    mine = built.path("mine")
    mine.mkdir()
    (mine / "notes.txt").write_text("mine")
    folder = built.path(f"build/engines/{ENGINE}")
    shutil.rmtree(folder)
    folder.symlink_to(mine)
    done = built.scons(f"engine={ENGINE}")
    assert (done.status, done.errors) == (
        2,
        f"netra: build/engines/{ENGINE}: folder of a product is a link\n"
        "hint: remove the link, or build into another folder with out=\n",
    )
    assert [path.name for path in mine.iterdir()] == ["notes.txt"]


def test_a_folder_of_somebody_else_in_the_place_of_a_product_is_left_alone(built: Project) -> None:
    folder = built.path(f"build/engines/{ENGINE}")
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    done = built.scons(f"engine={ENGINE}")
    assert (done.status, done.errors) == (
        2,
        f'netra: build/engines/{ENGINE}: folder holds "notes.txt", '
        "which no build of ours has made\n"
        "hint: name a new folder or an engine directory\n",
    )


def test_a_file_in_the_place_of_a_page_is_left_alone(built: Project) -> None:
    mine = built.path(f"pages/{ENGINE}.html")
    mine.parent.mkdir()
    mine.write_text("<!DOCTYPE html>\nmine")
    done = built.scons("report", f"engine={ENGINE}", "out=pages")
    assert (done.status, done.errors) == (
        2,
        f"netra: pages/{ENGINE}.html: file is there, and no build of this folder has made it\n"
        "hint: remove it, or name another folder with out=\n",
    )
    asked = built.netra("report", f"build/engines/{ENGINE}", "--out", str(mine))
    assert asked.errors == (
        f"netra: {mine}: file is there, and is no page\nhint: remove it, or name another\n"
    )
    assert (asked.status, mine.read_text()) == (2, "<!DOCTYPE html>\nmine")


def test_a_page_of_the_command_is_replaced(built: Project) -> None:
    page = built.path(f"pages/{ENGINE}.html")
    assert built.netra("report", f"build/engines/{ENGINE}", "--out", str(page)).status == 0
    before = page.read_bytes()
    for _ in range(2):
        done = built.scons("report", f"engine={ENGINE}", "out=pages")
        assert (done.status, done.errors) == (0, "")
    assert page.read_bytes().startswith(before[:100])


def test_operations_that_a_profile_leaves_without_a_kernel_are_named(built: Project) -> None:
    done = built.scons(f"engine={ENGINE}", "profile=verify_m12", "out=other")
    assert done.status == 0, done.errors
    (note,) = [line for line in done.output.splitlines() if "no kernel" in line]
    assert (
        note == f"netra: {ENGINE}: no kernel under this profile: "
        "moe.gate_up, moe.silu_quant, moe.down_reduce"
    )


def test_a_tool_chain_that_is_not_there(built: Project) -> None:
    done = built.scons(f"engine={ENGINE}", "toolchain=nowhere")
    assert done.status == 4
    assert done.errors.startswith("netra: nowhere: ")
    assert "hint: " in done.errors
