"""A small engine by hand around the two sample kernels, for the tests of report and release."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
from pathlib import Path
from typing import Any

from netra_build.checkasm.mutate.document import KernelScore, Record
from netra_build.core.canonical_json import stable_hash

SAMPLES = Path(__file__).resolve().parent.parent / "unit" / "asm_samples"
OBJECT = base64.b64decode((SAMPLES / "two_kernels.sealed.base64").read_bytes())
LISTING = (SAMPLES / "two_kernels.dis").read_bytes()
TEXT_SHA256 = "6c0856e10167515baacd8c06f23460a32f5e60005ab8ef2b3841820c2120880c"
OTHER_SHA256 = "f" * 64
UP_SCORED = Record({"up": KernelScore(8, 8, 51, 60, 1, {"numerics": 49}, ())}, ())
ENGINE_ID = "ne_" + "1" * 24

EQUIVALENCE = {
    "generated_text_sha256": TEXT_SHA256,
    "text_byte_identical": True,
    "verdict": "identical",
}
CHECKS = {"counts": {"error": 0, "note": 0, "warning": 0}, "findings": []}
NUMERICS = {
    "runs": [
        {"label": "up/random/1", "elements": 2000, "differing": 0, "wave_instructions": 9},
        {"label": "up/zeros/1", "elements": 48, "differing": 0, "wave_instructions": 9},
    ],
    "scope": "simulated",
    "symbol": "sample_first",
    "tactic": "up",
    "text_sha256": TEXT_SHA256,
    "variant": "",
    "verdict": "passed",
}
SECOND = {**NUMERICS, "symbol": "sample_second", "tactic": "down", "variant": "wide"}

LAUNCH = {"grid": [4, 1, 1], "block": [64, 1, 1]}
UP = {
    "index": 0,
    "name": "up",
    "execution": "kernel",
    "kernel_symbol": "sample_first",
    "hsaco": "hsaco/two.hsaco",
    "tactic": "gfx950.up",
    "fallback": "framework.up",
    "launch": LAUNCH,
}
HOST = {
    "index": 1,
    "name": "host",
    "execution": "fallback",
    "kernel_symbol": None,
    "fallback": "framework.host",
}
CANDIDATE = {
    "symbol": "two",
    "tactic": "gfx950.up",
    "maturity": "verified",
    "selected": True,
    "source": "generated/two.s",
    "template": "generated/includes/leaf.inc",
    "template_files": {
        "generated/includes/common.inc": "a",
        "generated/includes/leaf.inc": "b",
    },
}


def documents() -> dict[str, Any]:
    """Return the files of the engine without its seal; JSON documents as values."""
    files = {
        "engine.json": {
            "engine_id": ENGINE_ID,
            "target": "gfx950",
            "compiler": {"name": "netra-build", "version": "0.1.0", "source_hash": "c" * 64},
            "model_configuration_hash": "d" * 64,
            "checkpoint_hash": None,
            "workspace_bytes": 128,
            "profiles": [{"name": "decode_m1"}],
            "operations": [UP, HOST],
        },
        "explain.json": {
            "operations": [
                {"name": "up", "candidates": [{"selected": True, "tactic": "gfx950.up"}]},
                {
                    "name": "host",
                    "candidates": [
                        {"tactic": "gfx950.up", "reasons": ["operation mismatch"]},
                        {"tactic": "gfx950.host", "reasons": ["rows too many", "no pin"]},
                    ],
                },
            ]
        },
        "validation_plan.json": {"candidates": [CANDIDATE], "hardware": "not_run"},
        "hsaco/two.hsaco": OBJECT,
        "generated/two.s": b"text\n",
        "generated/golden/two.s": b"golden\n",
        "generated/includes/common.inc": b"// common\n",
        "generated/includes/leaf.inc": b"// leaf\n",
        "metadata/two.dis": LISTING,
        "metadata/two.equivalence.json": EQUIVALENCE,
        "metadata/two.checks.json": CHECKS,
        "metadata/two.0.numerics.json": NUMERICS,
        "metadata/two.1.numerics.json": SECOND,
    }
    return copy.deepcopy(files)


def encoded(files: dict[str, Any]) -> dict[str, bytes]:
    """Return the files as bytes."""
    return {
        name: item if isinstance(item, bytes) else json.dumps(item).encode()
        for name, item in files.items()
    }


def sealed(files: dict[str, Any], name: str = "sample") -> dict[str, bytes]:
    """Return the files as bytes with a seal over them."""
    made = encoded(copy.deepcopy(files))
    seal: dict[str, Any] = {
        "format": "netra-engine-seal-1",
        "engine_id": ENGINE_ID,
        "recipe": {"name": name, "model": "manifests/m.json", "golden": "required"},
        "toolchain": {
            "assembler": "llvm-mc",
            "assembler_version": "22.1.8",
            "assembler_digest": "e" * 64,
        },
        "kernels": [
            {
                "symbol": "two",
                "source_closure_sha256": "0" * 64,
                "computational_identity": "9" * 64,
            }
        ],
        "not_pinned": [],
        "files": {n: {"sha256": hashlib.sha256(data).hexdigest()} for n, data in made.items()},
    }
    seal["seal_sha256"] = stable_hash(seal)
    return {**made, "netra.json": json.dumps(seal).encode()}
