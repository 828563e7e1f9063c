"""Our schemas: sound, closed, and fitting every file that is read or written."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from netra_build.formats.library import CONTRACT_SCHEMA, MARKER_FILES

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data/conformance"
SCHEMAS = {
    path.name.removesuffix(".schema.json"): json.loads(path.read_text())
    for path in sorted((ROOT / "schemas").glob("*.schema.json"))
}
DOCUMENTS = {
    "engine.json": "netra-engine",
    "contracts.json": "netra-contract-set",
    "graph.json": "netra-graph",
    "graph_recipe.json": "netra-graph-recipe",
    "memory_plan.json": "netra-memory-plan",
    "layout_plan.json": "netra-layout-plan",
    "symbols.json": "netra-symbols",
    "validation_plan.json": "netra-validation-plan",
    "explain.json": "netra-explain",
}
SUBSET = {
    "$schema",
    "$ref",
    "$defs",
    "title",
    "oneOf",
    "type",
    "const",
    "enum",
    "required",
    "properties",
    "additionalProperties",
    "minItems",
    "maxItems",
    "prefixItems",
    "items",
    "minLength",
    "pattern",
    "minimum",
    "maximum",
}


def files() -> Iterator[tuple[Path, str]]:
    """Yield every file of the project and of the vectors with the name of its schema."""
    for folder in sorted(DATA.glob("expected*/*__*")):
        for name, schema in DOCUMENTS.items():
            if (folder / name).is_file():
                yield folder / name, schema
        for path in sorted(folder.glob("metadata/*.json")):
            yield path, "netra-object-record"
    groups = [
        (ROOT, "manifests/gfx950/profiles/*.json", "netra-profile"),
        (ROOT, "manifests/gfx950/tactics/*.json", "netra-tactic-catalog"),
        (ROOT, "manifests/gfx950/models/*.json", "netra-model"),
        (ROOT, "manifests/gfx950/contracts/*.json", "netra-kernel-abi"),
        (ROOT, "golden/gfx950/**/expect.json", "netra-golden"),
        (DATA, "library/manifests/gfx950/profiles/*.json", "netra-profile"),
        (DATA, "library/manifests/gfx950/tactics/synthetic*.json", "netra-tactic-catalog"),
        (DATA, "models/g*.json", "netra-model"),
        (DATA, "recipes/*.json", "netra-deployment"),
        (DATA, "expected/recipes/*/build-result.json", "netra-build-result"),
        (ROOT, "recipes/*.yaml", "netra-recipe"),
    ]
    for base, pattern, schema in groups:
        for path in sorted(base.glob(pattern)):
            yield path, schema


def read(path: Path) -> Any:
    """Return a JSON or YAML document."""
    if path.suffix == ".yaml":
        return json.loads(json.dumps(yaml.safe_load(path.read_text())))
    return json.loads(path.read_bytes())


def closed_faults(schema: Any, pointer: str = "") -> list[str]:
    """Return every object rule with properties that lets unknown keys through."""
    if isinstance(schema, list):
        parts = [(str(i), item) for i, item in enumerate(schema)]
    elif isinstance(schema, dict):
        parts = list(schema.items())
    else:
        return []
    found = [fault for key, item in parts for fault in closed_faults(item, f"{pointer}/{key}")]
    is_open = isinstance(schema, dict) and schema.get("type") == "object"
    if is_open and "properties" in schema and schema.get("additionalProperties") is not False:
        found.append(pointer)
    return found


def subset_faults(schema: Any, pointer: str = "") -> list[str]:
    """Return every keyword that the reader of library roots does not know."""
    found = [f"{pointer}/{key}" for key in schema if key not in SUBSET]
    for key in ("properties", "$defs"):
        for name, item in schema.get(key, {}).items():
            found += subset_faults(item, f"{pointer}/{key}/{name}")
    for key in ("oneOf", "prefixItems"):
        for index, item in enumerate(schema.get(key, [])):
            found += subset_faults(item, f"{pointer}/{key}/{index}")
    return found + (subset_faults(schema["items"], f"{pointer}/items") if "items" in schema else [])


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_sound(name):
    Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMAS[name]["title"]


DENSE = {"/properties/dense_operations/items", "/properties/layer_dense_operations/items"}


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_closed(name):
    """Only dense specifications are open: the published format allows further keys there."""
    allowed = DENSE if name == "netra-model" else set()
    assert set(closed_faults(SCHEMAS[name])) == allowed


@pytest.mark.parametrize("path", [*MARKER_FILES, CONTRACT_SCHEMA])
def test_a_root_marker_stays_in_the_subset(path):
    assert subset_faults(json.loads((ROOT / path).read_text())) == []


def test_the_checks_notice_a_seeded_fault():
    opened = {"type": "object", "properties": {"a": {"type": "object", "properties": {}}}}
    assert closed_faults(opened) == ["/properties/a", ""]
    assert subset_faults({"properties": {"a": {"anyOf": []}}}) == ["/properties/a/anyOf"]


@pytest.mark.parametrize("schema", SCHEMAS)
def test_every_file_fits_its_schema(schema):
    validator = Draft202012Validator(SCHEMAS[schema])
    for path, name in files():
        if name == schema:
            assert [f"{path}: {e.message}" for e in validator.iter_errors(read(path))] == []


@pytest.mark.parametrize("schema", sorted({schema for _, schema in files()}))
def test_a_file_with_one_more_key_does_not_fit(schema):
    path = next(path for path, name in files() if name == schema)
    assert not Draft202012Validator(SCHEMAS[schema]).is_valid({**read(path), "surprise": 1})
