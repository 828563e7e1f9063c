"""A small kernel library with operations of equal and of different code."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path
from typing import Any

from netra_build.core.disk import RealDisk
from netra_build.formats.library import Library, open_library

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = "kernels/gfx950/templates/own/fill_a.inc"
# name: value written, spare constant that no code reads, groups
OPERATIONS = {
    "first": (3, 1, 1),
    "wider": (3, 1, 4),
    "spare": (3, 2, 1),
    "both": (3, 4, 9),
    "other": (5, 1, 1),
    "other_wider": (5, 2, 3),
    "first_again": (3, 1, 1),
}


def operation(name: str, pattern: Any) -> Any:
    """Return one operation of the model."""
    value, spare, groups = OPERATIONS[name]
    made = copy.deepcopy(pattern)
    made["name"], made["outputs"] = name, [f"out_{name}"]
    attributes = made["attributes"]
    attributes["arguments"][0]["tensor"] = f"out_{name}"
    attributes["constants"] = {"NETRA_VALUE": value, "NETRA_SPARE": spare}
    attributes["launch_grid"] = [groups, 1, 1]
    return made


def make_library(folder: Path) -> Library:
    """Return the plugin's library with a tactic of two values and a spare constant."""
    shutil.copytree(ROOT / "tests/data/plugin/library", folder)
    shutil.copytree(ROOT / "schemas", folder / "schemas")
    template = folder / TEMPLATE
    text = template.read_text()
    assert "NETRA_REQUIRE_EQ NETRA_VALUE, 3" in text
    template.write_text(text.replace("\tNETRA_REQUIRE_EQ NETRA_VALUE, 3\n", ""))
    catalog = folder / "manifests/gfx950/tactics/own.json"
    document = json.loads(catalog.read_text())
    document["tactics"][0]["compile_definitions"] = {
        "NETRA_VALUE": [3, 5],
        "NETRA_SPARE": [1, 2, 4],
    }
    catalog.write_text(json.dumps(document))
    abi = folder / "manifests/gfx950/contracts/fill_a.json"
    record = json.loads(abi.read_text())
    abi.write_text(json.dumps({**record, "grid": ["groups", 1, 1]}))
    model = folder / "manifests/gfx950/models/pair.json"
    document = json.loads(model.read_text())
    graph = document["graph"]
    pattern, tensor = graph["operations"][0], graph["tensors"][0]
    graph["operations"] = [operation(name, pattern) for name in OPERATIONS]
    graph["outputs"] = [f"out_{name}" for name in OPERATIONS]
    graph["tensors"] = [{**tensor, "name": name} for name in graph["outputs"]]
    model.write_text(json.dumps(document))
    recipe = folder / "recipes/pair.yaml"
    text = recipe.read_text()
    (folder / "recipes/shared.yaml").write_text(f"{text}share_code: true\n")
    return open_library(RealDisk(), folder, ())
