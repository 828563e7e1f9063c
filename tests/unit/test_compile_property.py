"""Random valid graphs through plan, emission, validation and back: what must hold of each."""

from __future__ import annotations

import copy
import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from planned import plan_file

from netra_build.core.disk import RealDisk
from netra_build.core.folders import publish_folder
from netra_build.formats.library import open_library
from netra_build.inspect.validate.engine import verify_engine
from netra_build.plan.documents import engine_files

DATA = Path(__file__).resolve().parents[1] / "data" / "conformance"
VECTOR = json.loads((DATA / "models/graph-vector.json").read_text())
SPEC_BY_NAME = {tensor["name"]: tensor for tensor in VECTOR["graph"]["tensors"]}
PATTERNS = [operation for operation in VECTOR["graph"]["operations"] if operation["outputs"]]
PROFILES = ("decode_rows1", "verify_rows8", "exact_rows64_batch4")
SELECTED = {"add", "scale", "scale_verify", "sum", "sum_plain", "stage", "stage_b", "soft"}
SELECTED |= {"clamp", "tiles", "atomic"}
"""Patterns that the library has a kernel for."""


OF_THE_FILE = ("engine_id", "model_configuration_hash", "compiler")
"""What depends on how the model description is spelled."""


class Graph:
    """A graph under construction: every operation takes what is there or something new."""

    def __init__(self, draw: Any) -> None:
        self.draw = draw
        self.tensors: list[dict[str, Any]] = []
        self.operations: list[dict[str, Any]] = []

    def tensor(self, like: str, **more: Any) -> str:
        spec = SPEC_BY_NAME[like]
        kept = {key: spec[key] for key in ("shape", "dtype", "layout")}
        name = self.draw(st.sampled_from(["t", "T", "ü", "0"])) + str(len(self.tensors))
        self.tensors.append({"name": name, **kept, **more})
        return name

    def taken(self, like: str) -> str:
        """Return an input: a tensor of the same form, an alias of one, or a new one."""
        form = {key: SPEC_BY_NAME[like][key] for key in ("shape", "dtype", "layout")}
        fit = [t for t in self.tensors if form.items() <= t.items()]
        choice = self.draw(st.integers(0, 9))
        if not fit or choice == 0:
            role = self.draw(st.sampled_from(["input", "weight"]))
            more = {"persistent": True} if role == "weight" else {}
            return self.tensor(like, role=role, **more)
        found = self.draw(st.sampled_from(fit))
        plain = "alias_of" not in found and "role" not in found
        if choice == 1 and plain:
            return self.tensor(like, alias_of=found["name"])
        return str(found["name"])

    def made(self, like: str) -> str:
        choice = self.draw(st.integers(0, 9))
        if choice == 0:
            return self.tensor(like, role="output")
        if choice == 1:
            return self.tensor(like, role="state", persistent=True)
        return self.tensor(like)

    def add(self, pattern: dict[str, Any]) -> None:
        operation = copy.deepcopy(pattern)
        operation["name"] = f"{pattern['name']}.{len(self.operations)}"
        new_by_old = {name: self.taken(name) for name in pattern["inputs"]}
        operation["inputs"] = [new_by_old[name] for name in pattern["inputs"]]
        new_by_old |= {name: self.made(name) for name in pattern["outputs"]}
        operation["outputs"] = [new_by_old[name] for name in pattern["outputs"]]
        attributes = operation.get("attributes", {})
        attributes.pop("profile_names", None)
        for argument in attributes.get("arguments", []):
            if "tensor" in argument:
                argument["tensor"] = new_by_old[argument["tensor"]]
        if "launch_grid" in attributes:
            axis = st.integers(1, self.draw(st.sampled_from([1, 7, 65_535])))
            attributes["launch_grid"] = [self.draw(axis) for _ in "xyz"]
        if "fallback" in attributes and self.draw(st.booleans()):
            attributes["fallback"] = "framework.other"
        self.operations.append(operation)

    def model(self) -> dict[str, Any]:
        roles = [(tensor["name"], tensor.get("role")) for tensor in self.tensors]
        graph = {
            "format": "netra-ir-1",
            "name": "random",
            "tensors": self.tensors,
            "operations": self.operations,
            "inputs": [name for name, role in roles if role == "input"],
            "outputs": [name for name, role in roles if role == "output"],
        }
        return {**VECTOR, "name": "random", "graph": graph}


@st.composite
def models(draw: Any) -> dict[str, Any]:
    graph = Graph(draw)
    for pattern in draw(st.lists(st.sampled_from(PATTERNS), min_size=1, max_size=12)):
        graph.add(pattern)
    return graph.model()


def compiled(model: dict[str, Any], profile: str, placement: str, folder: Path) -> dict[str, Any]:
    """Compile, write and return the JSON documents."""
    path = folder / "model.json"
    path.write_text(json.dumps(model))
    files = engine_files(plan_file(path, profile, DATA / "library", placement=placement))
    publish_folder(folder / "engine", files, (), lambda name: True)
    return {name: json.loads(data) for name, data in files.items() if name.endswith(".json")}


def storage(model: dict[str, Any]) -> dict[str, str]:
    alias = {t["name"]: t["alias_of"] for t in model["graph"]["tensors"] if "alias_of" in t}
    return {t["name"]: alias.get(t["name"], t["name"]) for t in model["graph"]["tensors"]}


def check_memory(document: dict[str, Any]) -> None:
    """No two buffers that live at once share a byte; the workspace holds them all."""
    aliases = [b for b in document["buffers"] if b["alias_of"] is not None]
    placed = [b for b in document["buffers"] if b["offset"] is not None and b not in aliases]
    by_name = {buffer["name"]: buffer for buffer in document["buffers"]}
    for alias in aliases:
        assert alias["offset"] == by_name[alias["alias_of"]]["offset"]
    for index, one in enumerate(placed):
        assert one["offset"] % one["alignment"] == 0
        assert one["offset"] + one["size"] <= document["workspace_bytes"]
        for other in placed[:index]:
            lives = one["first_use"] <= other["last_use"] and other["first_use"] <= one["last_use"]
            meets = (
                one["offset"] < other["offset"] + other["size"]
                and other["offset"] < one["offset"] + one["size"]
            )
            assert not (lives and meets), (one, other)


def check_order(model: dict[str, Any], recipe: dict[str, Any]) -> None:
    """An operation waits, directly or through others, for whoever touched what it touches."""
    of = storage(model)
    before: list[set[int]] = []
    for index, operation in enumerate(model["graph"]["operations"]):
        waits = set(recipe["operations"][index]["depends_on"])
        assert all(item < index for item in waits)
        before.append(waits.union(*(before[item] for item in waits)))
        reads = {of[name] for name in operation["inputs"]}
        writes = {of[name] for name in operation["outputs"]}
        for earlier in range(index):
            other = model["graph"]["operations"][earlier]
            read = {of[name] for name in other["inputs"]}
            written = {of[name] for name in other["outputs"]}
            if written & (reads | writes) or read & writes:
                assert earlier in before[index], (earlier, index)


@settings(max_examples=settings.default.max_examples * 3 // 5, phases=(Phase.generate,))
@given(models(), st.sampled_from(PROFILES), st.sampled_from(["first_use", "best"]))
def test_a_valid_graph_gives_a_valid_engine(model, profile, placement):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        documents = compiled(model, profile, placement, folder)
        engine = documents["engine.json"]
        library = open_library(RealDisk(), DATA / "library", ())
        summary = verify_engine(folder / "engine", RealDisk(), library).summary
        assert summary["operations"] == len(model["graph"]["operations"])
        for planned, asked in zip(engine["operations"], model["graph"]["operations"], strict=True):
            assert planned["name"] == asked["name"]
            assert planned["bindings"] == {k: asked[k] for k in ("inputs", "outputs")}
            is_kernel = asked["name"].split(".")[0] in SELECTED
            assert (planned["execution"] == "kernel") == is_kernel
            if is_kernel:
                assert planned["launch"]["grid"] == asked["attributes"]["launch_grid"]
        check_memory(documents["memory_plan.json"])
        check_order(model, documents["graph_recipe.json"])
        again = compiled({**model, "graph": documents["graph.json"]}, profile, placement, folder)
        for name in OF_THE_FILE:
            del documents["engine.json"][name], again["engine.json"][name]
        assert again == documents


def published(document: str) -> dict[str, Any]:
    """Return one document of the published memory model."""
    path = DATA / "expected/graph-memory__decode_rows1" / document
    return json.loads(path.read_text())


def test_the_memory_check_notices_an_overlap():
    plan = published("memory_plan.json")
    check_memory(plan)
    moved = next(b for b in plan["buffers"] if b["name"] == "T2")
    moved["offset"] = next(b["offset"] for b in plan["buffers"] if b["name"] == "T10")
    with pytest.raises(AssertionError):
        check_memory(plan)


def test_the_order_check_notices_a_missing_dependency():
    model = json.loads((DATA / "models/graph-memory.json").read_text())
    recipe = published("graph_recipe.json")
    check_order(model, recipe)
    recipe["operations"][-1]["depends_on"] = []
    with pytest.raises(AssertionError):
        check_order(model, recipe)
