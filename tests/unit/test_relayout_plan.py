"""``netra repack``: a checkpoint by a layout plan, bare bytes, and everything that is refused."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from netra_build.choose.layout import binding_record, layout_document
from netra_build.commands.main import main
from netra_build.load.layout_plan import read_layout_plan

FP8, BF16 = ml_dtypes.float8_e4m3fn, ml_dtypes.bfloat16
ROW, SHUFFLED = "checkpoint_row_major_fp8_block128", "aiter_shuffle_16x16_fp8_block128"
SPLIT = "checkpoint_split_output_row_major_fp8_block128"


def step(source: str, target: str, transform: str, **parameters: int) -> dict:
    scope = "real_checkpoint_hook_unvalidated"
    return {
        "source_layout": source,
        "target_layout": target,
        "transform": transform,
        "parameters": parameters,
        "validated_scope": scope,
    }


JOIN = step(SPLIT, ROW, "concatenate_output_shards", axis=0, shards=2)
SHUFFLE = step(ROW, SHUFFLED, "aiter_shuffle_16x16", tile_m=16, tile_k=16)

PLAN = {
    "format": "netra-layout-plan-1",
    "bindings": [
        {
            "tensor": "in.weight",
            "checkpoint_layout": SPLIT,
            "kernel_layout": SHUFFLED,
            "output_layout": None,
            "steps": [JOIN, SHUFFLE],
            "checkpoint_tensors": ["m.qkv", "m.z"],
            "scale": {
                "tensor": "in.weight_scale",
                "checkpoint_tensors": ["m.qkv_scale", "m.z_scale"],
                "checkpoint_dtype": "bf16",
                "kernel_dtype": "fp32",
                "block": [128, 128],
                "checkpoint_layout": "row_major_block_grid",
                "kernel_layout": "row_major_block_grid",
                "steps": ["concatenate_output_scale_shards_axis0", "widen_bf16_to_fp32_exact"],
            },
        },
        {
            "tensor": "out.weight",
            "checkpoint_layout": SHUFFLED,
            "kernel_layout": SHUFFLED,
            "output_layout": None,
            "steps": [],
        },
    ],
}
GRAPH = {
    "tensors": [
        {"name": "in.weight", "dtype": "fp8_e4m3", "shape": [384, 256]},
        {"name": "in.weight_scale", "dtype": "fp32", "shape": [3, 2]},
        {"name": "out.weight", "dtype": "fp8_e4m3", "shape": [32, 64]},
    ]
}


def checkpoint() -> dict[str, np.ndarray]:
    """Return the tensors that the plan names, and one more."""
    rng = np.random.default_rng(7)

    def weights(*shape: int) -> np.ndarray:
        return rng.integers(0, 256, shape, dtype=np.uint8).view(FP8)

    def scales(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape).astype(BF16)

    return {
        "m.qkv": weights(256, 256),
        "m.z": weights(128, 256),
        "m.qkv_scale": scales(2, 2),
        "m.z_scale": scales(1, 2),
        "out.weight": weights(32, 64),
        "norm.weight": scales(64),
    }


def shuffled(array: np.ndarray) -> bytes:
    rows, columns = array.shape[-2:]
    tiles = array.view(np.uint8).reshape(-1, rows // 16, 16, columns // 32, 2, 16)
    return tiles.transpose(0, 1, 3, 4, 2, 5).tobytes()


class Project:
    """A folder with a checkpoint in two files and a plan; ``repack`` runs the command there."""

    def __init__(self, folder: Path, capsys: pytest.CaptureFixture) -> None:
        self.folder, self.capsys = folder, capsys
        self.plan = copy.deepcopy(PLAN)
        self.graph = copy.deepcopy(GRAPH)
        self.tensors = checkpoint()

    def repack(self, *words: str, engine: bool = False) -> tuple[int, str, str]:
        names = list(self.tensors)
        for number, part in enumerate((names[:2], names[2:])):
            some = {name: self.tensors[name] for name in part}
            safetensors.numpy.save_file(some, self.folder / f"in{number}.safetensors")
        (self.folder / "layout_plan.json").write_text(json.dumps(self.plan))
        (self.folder / "graph.json").write_text(json.dumps(self.graph))
        what = ["--engine", "."] if engine else ["--plan", "layout_plan.json"]
        inputs = ["--input", "in0.safetensors", "--input", "in1.safetensors"]
        return self.run("repack", *what, *inputs, "--output", "out.safetensors", *words)

    def run(self, *words: str) -> tuple[int, str, str]:
        status = main(list(words))
        captured = self.capsys.readouterr()
        return status, captured.out, captured.err

    def has_output(self) -> bool:
        return any("out.safetensors" in item.name for item in self.folder.iterdir())


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
    plan = read_layout_plan(json.loads(json.dumps(layout_document(bindings))), "x")
    assert [binding.weight.tensor for binding in plan] == [f"w{i}" for i in range(len(records))]
    assert plan[4].weight.steps == ("concatenate_output_shards", "aiter_shuffle_16x16")
    assert [b.scale.steps if b.scale else None for b in plan] == [
        *(None, None, None, ("widen_bf16_to_fp32_exact",)),
        ("concatenate_output_scale_shards_axis0", "widen_bf16_to_fp32_exact"),
        (),
    ]


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


def bare(project: Project, *words: str) -> tuple[int, str, str]:
    return project.run("repack", "--input", "a", "--output", "b", *words)


def test_bare_bytes_are_transformed(project):
    data = np.arange(16 * 64, dtype=np.uint16).astype(np.uint8).reshape(16, 64)
    for transform, expected, shape in (
        ("identity", data.tobytes(), "16 x 64"),
        ("transpose_bytes", data.T.tobytes(), "64 x 16"),
        ("aiter_shuffle_16x16", shuffled(data), "16 x 64"),
    ):
        (project.folder / "a").write_bytes(data.tobytes())
        words = ("--rows", "16", "--columns", "64", "--transform", transform)
        assert bare(project, *words) == (0, f"b: 1024 bytes, {shape}\n", "")
        assert (project.folder / "b").read_bytes() == expected


def test_bare_bytes_of_experts_and_wider_elements(project):
    scales = np.random.default_rng(3).standard_normal((2, 6, 5)).astype(np.float32)
    (project.folder / "a").write_bytes(scales.tobytes())
    words = ("--rows", "6", "--columns", "5", "--experts", "2", "--json")
    status, printed, _ = bare(project, *words, "--transform", "scales_to_group_major")
    assert (status, json.loads(printed)) == (
        0,
        {
            "output": "b",
            "transform": "scales_to_group_major",
            "experts": 2,
            "rows": 5,
            "columns": 6,
            "size_bytes": 240,
        },
    )
    assert (project.folder / "b").read_bytes() == scales.transpose(0, 2, 1).tobytes()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ["--transform", "identity", "--rows", "2", "--columns", "3"],
            "a: data has the wrong size for its shape; expected 2 x 3 x 1 = 6 bytes, got 5",
        ),
        (
            ["--transform", "identity", "--rows", "2"],
            "netra repack: --transform needs --columns",
        ),
        (
            ["--transform", "identity", "--input", "a"],
            "netra repack: --transform takes one --input",
        ),
        (["--plan", "p", "--rows", "2"], "netra repack: --rows needs --transform"),
        (["--plan", "p"], "p: file is missing"),
        (["--engine", "p"], "p/layout_plan.json: file is missing"),
        (
            ["--transform", "identity", "--rows", "0"],
            'netra repack: argument --rows: "0" is no number from 1 on\n'
            "hint: netra repack -h shows the options",
        ),
        (["--transform", "identity", "--output", "a"], "a: output is also an input"),
    ],
)
def test_options_that_do_not_fit_are_refused(project, words, message):
    (project.folder / "a").write_bytes(b"abcde")
    assert bare(project, *words) == (2, "", f"netra: {message}\n")
    assert not (project.folder / "b").exists()
