"""``netra repack``: a checkpoint laid out by a plan."""

from __future__ import annotations

import copy
import json

import numpy as np
import pytest
import safetensors
from relayout_project import FP8, ROW, SHUFFLE, SHUFFLED, SPLIT, Project, shuffled

from netra_build.formats.layout_plan import read_layout_plan
from netra_build.plan.dense import binding_record


@pytest.fixture
def project(tmp_path, monkeypatch, capsys) -> Project:
    monkeypatch.chdir(tmp_path)
    return Project(tmp_path, capsys)


@pytest.mark.parametrize("engine", [False, True])
def test_a_checkpoint_is_laid_out(project, engine):
    status, printed, errors = project.repack("--json", engine=engine)
    assert (status, errors) == (0, "")
    given = project.tensors
    weight = np.concatenate([given["m.qkv"], given["m.z"]])
    scale = np.concatenate([given["m.qkv_scale"], given["m.z_scale"]]).astype(np.float32)
    made = dict(safetensors.deserialize((project.folder / "out.safetensors").read_bytes()))
    assert {n: (t["dtype"], t["shape"], bytes(t["data"])) for n, t in made.items()} == {
        "in.weight": ("F8_E4M3", [384, 256], shuffled(weight)),
        "in.weight_scale": ("F32", [3, 2], scale.tobytes()),
        "out.weight": ("F8_E4M3", [32, 64], given["out.weight"].tobytes()),
    }
    report = json.loads(printed)
    assert report["size_bytes"] == (project.folder / "out.safetensors").stat().st_size
    assert report["tensors"][1] == {
        "tensor": "in.weight_scale",
        "dtype": "F32",
        "shape": [3, 2],
        "checkpoint_tensors": ["m.qkv_scale", "m.z_scale"],
        "steps": ["concatenate_output_scale_shards_axis0", "widen_bf16_to_fp32_exact"],
    }


def test_the_output_is_the_same_each_time_and_in_any_order_of_inputs(project):
    assert project.repack()[0] == 0
    first = (project.folder / "out.safetensors").read_bytes()
    project.tensors = dict(reversed(project.tensors.items()))
    project.plan["bindings"].reverse()
    assert project.repack()[0] == 0
    assert (project.folder / "out.safetensors").read_bytes() == first


def test_the_text_report_names_every_tensor(project):
    _, printed, _ = project.repack()
    lines = printed.splitlines()
    assert lines[1].split() == [
        *("in.weight", "F8_E4M3", "384", "x", "256"),
        *("concatenate_output_shards,", "aiter_shuffle_16x16", "m.qkv,", "m.z"),
    ]
    assert lines[3].split() == ["out.weight", "F8_E4M3", "32", "x", "64", "identity", "out.weight"]
    size = (project.folder / "out.safetensors").stat().st_size
    assert lines[4] == f"out.safetensors: 3 tensors, {size} bytes"


def test_experts_are_shuffled_one_by_one(project):
    experts = np.random.default_rng(1).integers(0, 256, (3, 32, 64), dtype=np.uint8).view(FP8)
    project.tensors["out.weight"] = experts
    project.plan["bindings"][1] |= {"checkpoint_layout": ROW, "steps": [SHUFFLE]}
    assert project.repack()[0] == 0
    made = dict(safetensors.deserialize((project.folder / "out.safetensors").read_bytes()))
    assert made["out.weight"]["shape"] == [3, 32, 64]
    assert bytes(made["out.weight"]["data"]) == b"".join(shuffled(one) for one in experts)


def test_a_shared_weight_is_laid_out_once(project):
    project.plan["bindings"].append(copy.deepcopy(project.plan["bindings"][0]))
    assert project.repack()[0] == 0
    project.plan["bindings"][2]["scale"]["tensor"] = "other_scale"
    assert project.repack()[::2] == (
        2,
        'netra: layout_plan.json#/bindings/2/tensor: another binding makes "in.weight" too\n',
    )


def test_every_plan_of_the_compiler_can_be_read():
    def record(checkpoint_layout: str, **more: object) -> dict:
        return {"checkpoint_layout": checkpoint_layout, "weight_layout": SHUFFLED, **more}

    scale = {
        "checkpoint_scale_dtype": "bf16",
        "kernel_scale_dtype": "fp32",
        "weight_scale_block": [128, 128],
        "checkpoint_scale_tensors": ["s"],
    }
    two = {"checkpoint_tensors": ["a", "b"], **scale, "checkpoint_scale_tensors": ["s", "t"]}
    records = [record(SHUFFLED), record(ROW), record("row"), record(ROW, **scale)]
    records += [record(SPLIT, **two), record(ROW, **{**scale, "kernel_scale_dtype": "bf16"})]
    bindings = [binding_record(f"w{i}", f"w{i}.scale", item, "x") for i, item in enumerate(records)]
    document = {"format": "netra-layout-plan-1", "bindings": bindings}
    plan = read_layout_plan(json.loads(json.dumps(document)), "x")
    assert [binding.weight.tensor for binding in plan] == [f"w{i}" for i in range(len(records))]
    assert plan[4].weight.steps == ("concatenate_output_shards", "aiter_shuffle_16x16")
    assert [b.scale.steps if b.scale else None for b in plan] == [
        *(None, None, None, ("widen_bf16_to_fp32_exact",)),
        ("concatenate_output_scale_shards_axis0", "widen_bf16_to_fp32_exact"),
        (),
    ]
