"""Catalogs, argument tables and templates state the same contracts."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kernel_cases import CASES, TARGET
from kernel_sources import TEMPLATES, closure_of, first_choice, generated

from netra_build.asm.tools.toolchain import Toolchain

CATALOGS = ("attention", "dense", "gdn", "moe_decode", "router")
REQUIREMENT = re.compile(r"^\s*NETRA_REQUIRE_EQ\s+([A-Z0-9_]+)\s*,\s*([0-9]+)\s*$", re.MULTILINE)
KINDS = {"global_buffer": "pointer", "by_value": "u32"}
ACCESS = {"read_only": "read", "write_only": "write", "read_write": "read_write", None: "value"}


def entries(root: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every catalog entry behind the name of its catalog."""
    for name in CATALOGS:
        path = root / f"manifests/gfx950/tactics/{name}.json"
        for entry in json.loads(path.read_text(encoding="utf-8"))["tactics"]:
            yield name, entry


def test_every_tactic_is_in_its_catalog(root: Path) -> None:
    folder = root / "manifests/gfx950/tactics"
    assert sorted(path.stem for path in folder.glob("*.json")) == list(CATALOGS)
    found = sorted((entry["id"], name) for name, entry in entries(root))
    assert found == sorted((tactic, case.catalog) for tactic, case in CASES.items())


@pytest.mark.parametrize("tactic", CASES)
def test_the_catalog_states_the_contract(root: Path, tactic: str) -> None:
    (entry,) = [entry for _, entry in entries(root) if entry["id"] == tactic]
    case = CASES[tactic]
    assert entry["template"] == f"{TEMPLATES}/{case.template}"
    assert entry["instantiation_macro"] == case.macro
    assert entry["kernarg_size"] == case.kernarg_bytes
    by_choice = {"constant": case.choice.constant, "multiplier": 64} if case.choice else None
    assert entry["launch_block"] == (by_choice if case.is_sized_by_choice else case.work_items)
    assert entry["metadata_contract"] == {
        "group_segment_fixed_size": case.lds_bytes,
        "kernarg_segment_size": case.kernarg_bytes,
        "max_flat_workgroup_size": case.work_items,
    }
    chosen = {case.choice.constant: list(case.choice.values)} if case.choice else {}
    assert entry["compile_definitions"] == {**case.definitions, **chosen}
    assert (entry["maturity"], entry["acceptance_scope"]) == (case.maturity, case.scope)
    assert entry["rank"] == case.rank


@pytest.mark.parametrize("tactic", CASES)
def test_the_catalog_pins_the_sources(root: Path, tactic: str) -> None:
    (entry,) = [entry for _, entry in entries(root) if entry["id"] == tactic]
    digest = hashlib.sha256()
    for name, data in closure_of(root, tactic).data_by_name.items():
        for part in (name.encode(), data):
            digest.update(len(part).to_bytes(8, "big") + part)
    assert entry["source_closure_sha256"] == digest.hexdigest()
    template = (root / entry["template"]).read_bytes()
    assert entry["template_sha256"] == hashlib.sha256(template).hexdigest()


@pytest.mark.parametrize("tactic", CASES)
def test_the_published_scanner_finds_the_contract_constants(root: Path, tactic: str) -> None:
    text = "\n".join(data.decode() for data in closure_of(root, tactic).data_by_name.values())
    found = {name: int(value) for name, value in REQUIREMENT.findall(text)}
    assert found == {**CASES[tactic].constants, **TARGET}


@pytest.mark.parametrize("tactic", CASES)
def test_the_argument_table_agrees_with_the_code_object(
    root: Path, toolchain: Toolchain, tactic: str
) -> None:
    path = root / "manifests/gfx950/contracts" / f"{tactic}.json"
    table = json.loads(path.read_text(encoding="utf-8"))
    metadata = generated(root, toolchain, tactic, first_choice(tactic)).kernels[0].metadata
    assert metadata is not None
    assert [
        (a["name"], a["offset"], a["size"], a["kind"], a["access"]) for a in table["arguments"]
    ] == [
        (a.name, a.offset, a.size, KINDS[a.value_kind], ACCESS[a.actual_access])
        for a in metadata.arguments
    ]
    case = CASES[tactic]
    assert table["block"] == ["64 * waves" if case.is_sized_by_choice else case.work_items, 1, 1]
    assert table.get("modes", {}).get("fp16_overflow", 0) == case.saturates
