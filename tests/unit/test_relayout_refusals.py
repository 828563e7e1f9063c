"""``netra repack``: every checkpoint and plan that cannot be laid out is one line and no file."""

from __future__ import annotations

import numpy as np
import pytest
from relayout_project import BF16, FP8, PLAN, ROW, SHUFFLED, SPLIT, Project, step


@pytest.fixture
def project(tmp_path, monkeypatch, capsys) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, capsys)


IN0, IN1 = 'in0.safetensors: tensor "', 'in1.safetensors: tensor "'


def change_tensor(name: str, dtype: type, *shape: int):
    return lambda project: project.tensors.update({name: np.zeros(shape, dtype)})


def change_plan(*path: object, value: object):
    def change(project: Project) -> None:
        place = project.plan
        for key in path[:-1]:
            place = place[key]
        place[path[-1]] = value

    return change


REFUSED = {
    "missing tensor": (
        lambda project: project.tensors.pop("m.z"),
        'layout_plan.json#/bindings/0: checkpoint tensor "m.z" is missing\n'
        'hint: did you mean "m.z_scale"?',
    ),
    "missing scale": (
        lambda project: project.tensors.pop("m.z_scale"),
        'layout_plan.json#/bindings/0/scale: checkpoint tensor "m.z_scale" is missing\n'
        'hint: did you mean "m.qkv_scale"?',
    ),
    "data type": (
        change_tensor("m.z", np.float16, 128, 256),
        f'{IN0}m.z": checkpoint tensor has the wrong data type; expected F8_E4M3, got F16',
    ),
    "data type without a step": (
        change_tensor("out.weight", np.uint8, 32, 64),
        f'{IN1}out.weight": checkpoint tensor has the wrong data type; expected F8_E4M3, got U8',
    ),
    "scale data type": (
        change_tensor("m.z_scale", np.float32, 1, 2),
        f'{IN1}m.z_scale": checkpoint tensor has the wrong data type; expected BF16, got F32',
    ),
    "columns of shards": (
        change_tensor("m.z", FP8, 128, 128),
        f'{IN0}m.z": checkpoint tensor cannot be joined with "m.qkv"; '
        "expected F8_E4M3 [any, 256], got F8_E4M3 [128, 128]",
    ),
    "one dimension": (
        change_tensor("out.weight", FP8, 2048),
        f'{IN1}out.weight": checkpoint tensor has too few dimensions; expected at least 2, got 1',
    ),
    "rows that do not divide": (
        change_tensor("m.z", FP8, 136, 256),
        f'{IN0}m.qkv": number of rows does not divide into tiles; '
        "expected a multiple of 16, got 392",
    ),
    "scales of another grid": (
        change_tensor("m.z_scale", BF16, 2, 2),
        f'{IN1}m.qkv_scale": scales do not fit the 128 x 128 blocks of "in.weight"; '
        "expected [3, 2], got [4, 2]",
    ),
    "format": (
        change_plan("format", value="netra-layout-plan-2"),
        "layout_plan.json#/format: layout plan has an unknown format; "
        'expected "netra-layout-plan-1", got "netra-layout-plan-2"',
    ),
    "no binding": (
        change_plan("bindings", value=[]),
        "layout_plan.json: layout plan binds no tensor",
    ),
    "unknown key": (
        change_plan("bindings", 0, "scales", value={}),
        'layout_plan.json#/bindings/0: unknown key "scales"\nhint: did you mean "scale"?',
    ),
    "output layout": (
        change_plan("bindings", 0, "output_layout", value="row"),
        "layout_plan.json#/bindings/0/output_layout: output layouts cannot be applied",
    ),
    "transform": (
        change_plan("bindings", 0, "steps", 1, "transform", value="aiter_shuffle_16x32"),
        "layout_plan.json#/bindings/0/steps/1/transform: "
        'unknown transform "aiter_shuffle_16x32"\nhint: did you mean "aiter_shuffle_16x16"?',
    ),
    "axis": (
        change_plan("bindings", 0, "steps", 0, "parameters", "axis", value=1),
        "layout_plan.json#/bindings/0/steps/0/parameters/axis: "
        "number is out of range; expected 0 to 0, got 1",
    ),
    "tile": (
        change_plan("bindings", 0, "steps", 1, "parameters", "tile_k", value=32),
        "layout_plan.json#/bindings/0/steps/1/parameters/tile_k: "
        "number is out of range; expected 16 to 16, got 32",
    ),
    "shards": (
        change_plan("bindings", 0, "steps", 0, "parameters", "shards", value=3),
        "layout_plan.json#/bindings/0/checkpoint_tensors: "
        "number of checkpoint tensors does not fit the steps; expected 3, got 2",
    ),
    "no join": (
        change_plan("bindings", 1, "checkpoint_tensors", value=["m.qkv", "m.z"]),
        "layout_plan.json#/bindings/1/checkpoint_tensors: "
        "number of checkpoint tensors does not fit the steps; expected 1, got 2",
    ),
    "step from elsewhere": (
        change_plan("bindings", 0, "steps", 1, "source_layout", value="row"),
        "layout_plan.json#/bindings/0/steps/1/source_layout: step starts from another layout; "
        f'expected "{ROW}", got "row"',
    ),
    "no way to the kernel": (
        change_plan("bindings", 0, "kernel_layout", value="row"),
        "layout_plan.json#/bindings/0/steps: steps end in another layout; "
        f'expected "row", got "{SHUFFLED}"',
    ),
    "order": (
        change_plan(
            *("bindings", 0, "steps"),
            value=[
                step(SPLIT, ROW, "aiter_shuffle_16x16", tile_m=16, tile_k=16),
                step(ROW, SHUFFLED, "concatenate_output_shards", axis=0, shards=2),
            ],
        ),
        "layout_plan.json#/bindings/0/steps: steps stand in an order that cannot be applied",
    ),
    "scale steps": (
        change_plan("bindings", 0, "scale", "steps", value=["widen_bf16_to_fp32_exact"]),
        "layout_plan.json#/bindings/0/scale/steps: steps do not fit the checkpoint tensors and "
        'data types; expected "concatenate_output_scale_shards_axis0", '
        '"widen_bf16_to_fp32_exact", got "widen_bf16_to_fp32_exact"',
    ),
    "narrowing": (
        change_plan(
            *("bindings", 0, "scale"),
            value=PLAN["bindings"][0]["scale"]
            | {"checkpoint_dtype": "fp32", "kernel_dtype": "bf16"},
        ),
        "layout_plan.json#/bindings/0/scale/kernel_dtype: "
        "scales cannot be narrowed from fp32 to bf16",
    ),
    "scale layout": (
        change_plan("bindings", 0, "scale", "kernel_layout", value="group_major"),
        "layout_plan.json#/bindings/0/scale/kernel_layout: scale layouts cannot be changed",
    ),
    "no scale tensor": (
        change_plan("bindings", 0, "scale", "checkpoint_tensors", value=[]),
        "layout_plan.json#/bindings/0/scale/checkpoint_tensors: no checkpoint tensor is named",
    ),
    "no tensor": (
        change_plan("bindings", 1, "checkpoint_tensors", value=[]),
        "layout_plan.json#/bindings/1/checkpoint_tensors: no checkpoint tensor is named",
    ),
    "block": (
        change_plan("bindings", 0, "scale", "block", value=[128]),
        "layout_plan.json#/bindings/0/scale/block: scale block has two sizes; expected 2, got 1",
    ),
    "one name for two": (
        change_plan("bindings", 0, "scale", "tensor", value="in.weight"),
        'two tensors are named "in.weight"',
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_laid_out_is_one_line_and_no_file(project, case):
    change, message = REFUSED[case]
    change(project)
    assert project.repack() == (2, "", f"netra: {message}\n")
    assert not project.has_output()


IN_SHAPES = {
    "shape": (
        lambda tensors: tensors[0].update(shape=[384, 512]),
        '"m.qkv", "m.z": tensor "in.weight" is not the one of the graph; '
        "expected F8_E4M3 [384, 512], got F8_E4M3 [384, 256]",
    ),
    "data type": (
        lambda tensors: tensors[1].update(dtype="bf16"),
        '"m.qkv_scale", "m.z_scale": tensor "in.weight_scale" is not the one of the graph; '
        "expected BF16 [3, 2], got F32 [3, 2]",
    ),
    "missing": (
        lambda tensors: tensors.pop(2),
        'graph.json: the graph has no tensor "out.weight"\nhint: did you mean "in.weight"?',
    ),
}


@pytest.mark.parametrize("case", IN_SHAPES)
def test_an_engine_holds_the_tensors_to_its_graph(project, case):
    change, message = IN_SHAPES[case]
    change(project.graph["tensors"])
    assert project.repack(engine=True) == (2, "", f"netra: {message}\n")
    assert not project.has_output()


def test_inputs_that_share_a_tensor_are_refused(project):
    project.repack()
    words = ["--input", "in0.safetensors", "--input", "in0.safetensors", "--output", "o"]
    assert project.run("repack", "--plan", "layout_plan.json", *words)[::2] == (
        2,
        'netra: in0.safetensors: tensor "m.qkv" is in an earlier input too\n',
    )


def test_a_truncated_checkpoint_is_refused(project):
    project.repack()
    path = project.folder / "in0.safetensors"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])
    words = ["--input", "in0.safetensors", "--input", "in1.safetensors", "--output", "o"]
    assert project.run("repack", "--plan", "layout_plan.json", *words) == (
        2,
        "",
        "netra: in0.safetensors: file has the wrong size for its tensors; "
        f"expected {len(whole)} bytes, got {len(whole) - 1}\n",
    )
    assert not (project.folder / "o").exists()
