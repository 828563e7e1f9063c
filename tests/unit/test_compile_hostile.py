"""Hostile inputs: any edit of an input gives a result or one refusal, never anything else."""

from __future__ import annotations

import json
import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from planned import plan_file

from netra_build.core.canonical_json import canonical_bytes
from netra_build.core.disk import RealDisk
from netra_build.core.errors import NetraError
from netra_build.core.folders import publish_folder
from netra_build.formats.library import open_library
from netra_build.inspect.validate.engine import verify_engine
from netra_build.plan.documents import engine_files

DATA = Path(__file__).resolve().parents[1] / "data" / "conformance"
VALUES: list[Any] = [
    None,
    True,
    0,
    -1,
    1,
    2**31,
    2**64,
    0.5,
    "",
    "x",
    "../x",
    "/etc",
    "a\u0000b",
    "\u2028",
    [],
    {},
    [[]],
    {"": None},
    "M",
    [1, 2, 3, 4],
]
MODELS = [
    ("graph-vector", "decode_rows1"),
    ("graph-memory", "bounded_rows"),
    ("qwen-synthetic", "verify_rows8"),
    ("gemma-synthetic", "verify_rows8"),
]


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the path of every value of a document."""
    found = [path] if path else []
    if isinstance(node, dict | list):
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, item in items:
            found += places(item, (*path, key))
    return found


def mutate(document: Any, rng: random.Random) -> Any:
    """Return the document with a few values replaced, removed, repeated or moved."""
    for _ in range(rng.randrange(1, 4)):
        path = rng.choice(places(document))
        node = document
        for key in path[:-1]:
            node = node[key]
        action = rng.randrange(4)
        if action == 0:
            del node[path[-1]]
        elif action == 1 and isinstance(node, list):
            node.append(node[path[-1]])
        elif action == 2 and isinstance(node, dict):
            node[rng.choice(["x", "name", "kind", "offset"])] = rng.choice(VALUES)
        else:
            node[path[-1]] = rng.choice(VALUES)
    return document


def answer(model: Path, profile: str, library_root: Path) -> str:
    """Compile and return the line of the refusal, or nothing."""
    try:
        engine_files(plan_file(model, profile, library_root))
    except NetraError as error:
        return error.line()
    return ""


@pytest.mark.parametrize(("name", "profile"), MODELS)
def test_an_edited_model_is_compiled_or_refused(name, profile, tmp_path, seed, is_full):
    original = (DATA / "models" / f"{name}.json").read_text()
    answers = set()
    for number in range(300 if is_full else 30):
        rng = random.Random(f"{seed} {name} {number}")
        path = tmp_path / "model.json"
        path.write_text(json.dumps(mutate(json.loads(original), rng)))
        line = answer(path, profile, DATA / "library")
        assert line == "" or line.startswith(str(path)), (number, line)
        assert "\n" not in line
        answers.add(line != "")
    assert True in answers


@pytest.mark.parametrize(
    "name",
    [
        "manifests/gfx950/tactics/synthetic_elementwise.json",
        "manifests/gfx950/profiles/decode_rows1.json",
        "schemas/netra-model.schema.json",
    ],
)
def test_an_edited_library_is_used_or_refused(name, tmp_path, seed, is_full):
    library = Path(shutil.copytree(DATA / "library", tmp_path / "lib"))
    original = (library / name).read_text()
    for number in range(150 if is_full else 20):
        rng = random.Random(f"{seed} {name} {number}")
        (library / name).write_text(json.dumps(mutate(json.loads(original), rng)))
        line = answer(DATA / "models/graph-vector.json", "decode_rows1", library)
        assert line == "" or line.startswith(str(tmp_path)) or str(DATA) in line, (number, line)


@pytest.mark.parametrize("name", ["engine.json", "validation_plan.json", "graph.json"])
def test_an_edited_engine_is_refused(name, tmp_path, seed, is_full):
    plan = plan_file(DATA / "models/graph-vector.json", "decode_rows1", DATA / "library")
    engine = tmp_path / "engine"
    publish_folder(engine, engine_files(plan), (), bool)
    original = (engine / name).read_text()
    library = open_library(RealDisk(), DATA / "library", ())
    for number in range(150 if is_full else 20):
        rng = random.Random(f"{seed} {name} {number}")
        document = mutate(json.loads(original), rng)
        if document == json.loads(original):
            continue
        (engine / name).write_bytes(canonical_bytes(document))
        with pytest.raises(NetraError):
            verify_engine(engine, RealDisk(), library)
