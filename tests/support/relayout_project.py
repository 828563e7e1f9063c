"""A checkpoint, its layout plan and graph, and a folder to repack it in."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors.numpy

from netra_build.cli.main import main

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
