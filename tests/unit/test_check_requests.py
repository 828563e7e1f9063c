"""A check of a whole library covers every tactic of it, or says what is missing."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from published_forms import library_at

from netra_build.core.disk import RealDisk
from netra_build.core.errors import EvidenceIncomplete
from netra_build.formats.library import Library, open_library
from netra_build.requests import asked_graph

CHECKS = [("equivalence", {}), ("checks", {}), ("numerics", {"seeds": [1]})]
NARROWED = "hint: narrow the check with tactic=, or check-kernels with recipe=FILE.json"


def refusal(library: Library, what: str, options: dict) -> str:
    with pytest.raises(EvidenceIncomplete) as refused:
        asked_graph(library, what, None, options)
    assert refused.value.status == 3
    return str(refused.value)


@pytest.mark.parametrize(("what", "options"), CHECKS)
def test_a_library_without_golden_sources_is_not_checked_vacuously(what, options, tmp_path):
    library = open_library(RealDisk(), library_at(tmp_path / "library"), ())
    line = 'golden/gfx950: "fill" has no golden source'
    assert refusal(library, what, options) == f"{line}\n{NARROWED}"


def copy_of(root: Path, folder: Path) -> Path:
    for name in ("schemas", "manifests", "golden", "kernels", "statements"):
        shutil.copytree(root / name, folder / name)
    return folder


def test_the_tactics_without_a_golden_source_are_counted(root, tmp_path):
    copy = copy_of(root, tmp_path / "copy")
    for name in ("moe_silu_quant_decode_m1", "router_bf16_verify_m16", "dense_m1_fp8_one_wave"):
        shutil.rmtree(copy / "golden/gfx950" / name)
    line = 'golden/gfx950: 2 tactics have no golden source, the first is "moe_silu_quant_decode_m1"'
    library = open_library(RealDisk(), copy, ())
    assert refusal(library, "equivalence", {}) == f"{line}\n{NARROWED}"


def test_the_tactics_without_a_numeric_contract_are_counted(root, tmp_path):
    copy = copy_of(root, tmp_path / "copy")
    shutil.rmtree(copy / "statements")
    fact = '16 tactics have no numeric contract, the first is "attention_gqa4_fp8kv"'
    hint = "hint: state it in statements/gfx950/, or narrow the check with tactic="
    library = open_library(RealDisk(), copy, ())
    assert refusal(library, "numerics", {"seeds": [1]}) == f"statements/gfx950: {fact}\n{hint}"
