"""Kernels that are one code under several names: assembled once, and one file on request."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from published_forms import CATALOG, DEPLOYMENT, edit, library_at
from shared_code_library import OPERATIONS, TEMPLATE, make_library

from netra_build import requests
from netra_build.asm.objects.rewrite import rewrite, strip
from netra_build.asm.source.lexer import shared_text
from netra_build.build.graph.actions import Root
from netra_build.build.run.execution import Execution, Folders
from netra_build.build.run.executor import built_files, run_graph
from netra_build.cli.build.validate import build_engine
from netra_build.cli.main import main
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, Refused
from netra_build.formats.library import Library, open_library
from netra_build.inspect.validate.engine import verify_engine
from netra_build.inspect.validate.engine_folder import EngineFolder
from netra_build.stages.share_object import run as share


def build(library: Library, name: str, folder: Path, tools: Any) -> Any:
    """Build one engine in process and return its graph."""
    graph = requests.engine_graph(library, requests.EngineRequest(name))
    paths = {
        Root.SOURCE: library.root,
        Root.WORK: folder / "work",
        Root.OUT: folder / "out",
        Root.EXTERNAL: folder,
    }
    run_graph(Execution(graph, Folders(paths), RealDisk(), tools))
    return graph


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return make_library(tmp_path_factory.mktemp("shared") / "library")


def labels(graph: Any) -> list[str]:
    return [action.stage.label for action in graph.actions]


def operations(out: Path) -> dict[str, Any]:
    engine = json.loads((out / "engine.json").read_text())
    return {item["name"]: item for item in engine["operations"]}


def test_equal_code_is_assembled_once(library, toolchain, tmp_path):
    graph = build(library, "pair", tmp_path, toolchain)
    assert labels(graph).count("ASM") == 2
    assert labels(graph).count("SHARE") == 4
    assert labels(graph).count("LINK") == 6
    found = operations(tmp_path / "out")
    assert len({item["kernel_symbol"] for item in found.values()}) == 6
    texts = {p.read_bytes() for p in (tmp_path / "out/metadata").glob("*.text")}
    assert len(texts) == 2


def test_a_shared_object_is_the_one_that_assembling_gives(library, toolchain, tmp_path):
    build(library, "pair", tmp_path, toolchain)
    out = tmp_path / "out"
    tree = {
        name: library.read(name) for name in (TEMPLATE, "kernels/gfx950/templates/own/frame.inc")
    }
    sources = sorted((out / "generated").glob("*.s"))
    assert len(sources) == 6
    for source in sources:
        direct = toolchain.assemble_tree({**tree, "unit.s": source.read_bytes()}, "unit.s")
        sealed = strip(toolchain.link([direct]))
        assert (out / f"hsaco/{source.stem}.hsaco").read_bytes() == sealed


def test_a_recipe_may_ask_for_one_code_object(library, toolchain, tmp_path):
    graph = build(library, "shared", tmp_path, toolchain)
    assert labels(graph).count("ASM") == labels(graph).count("LINK") == 2
    out = tmp_path / "out"
    found = operations(out)
    assert len(list((out / "hsaco").iterdir())) == 2
    assert len({found[n]["kernel_symbol"] for n in OPERATIONS if OPERATIONS[n][0] == 3}) == 1
    assert len({found[n]["kernel_symbol"] for n in OPERATIONS if OPERATIONS[n][0] == 5}) == 1
    for name, (_, _, groups) in OPERATIONS.items():
        item = found[name]
        assert item["launch"]["grid"] == [groups, 1, 1]
        assert item["hsaco"] == f"hsaco/{item['kernel_symbol']}.hsaco"
        assert len(item["hsaco_sha256"]) == 64
    assert len({item["contract_id"] for item in found.values()}) == 6
    assert json.loads((out / "netra.json").read_text())["recipe"]["share_code"] is True
    assert verify_engine(out, RealDisk(), library).summary["kernel_operations"] == 7


def test_validate_knows_when_a_symbol_is_of_other_code(library, toolchain, tmp_path):
    build(library, "shared", tmp_path, toolchain)
    out = tmp_path / "out"
    found = operations(out)
    old, new = found["other_wider"]["kernel_symbol"], found["first"]["kernel_symbol"]
    assert old != new
    engine = json.loads((out / "engine.json").read_text())
    for item in engine["operations"]:
        if item["name"] == "other_wider":
            item["kernel_symbol"], item["hsaco"] = new, f"hsaco/{new}.hsaco"
    (out / "netra.json").unlink()
    text = json.dumps(engine, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    (out / "engine.json").write_text(text + "\n")
    with pytest.raises(BadInput) as caught:
        verify_engine(out, RealDisk(), library)
    assert "engine.json#/operations/5/hsaco" in caught.value.line()


FLAT = b"\t.set A, 1\n\t.set B, 2\n\t.macro M s\n\tv_mov_b32 v0, B\n\t.endm\n\tM one\n"


def test_a_constant_counts_when_anything_can_read_it():
    plain = shared_text(FLAT, ["one"], ["A", "B"])
    assert plain == shared_text(FLAT.replace(b"A, 1", b"A, 7"), ["one"], ["A", "B"])
    assert plain == shared_text(FLAT.replace(b"M one", b"M two"), ["two"], ["A", "B"])
    for old, new in [
        (b"B, 2", b"B, 3"),
        (b"M one", b"M one, 1"),
        (b"v0, B", b"v1, B"),
    ]:
        assert plain != shared_text(FLAT.replace(old, new), ["one"], ["A", "B"])
    for reader in (
        b"\t.if A == 1\n\t.endif\n",
        b"\t.macro N x\n\t.if \\x\\()A\n\t.endif\n\t.endm\n",
    ):
        one, two = FLAT + reader, FLAT.replace(b"A, 1", b"A, 7") + reader
        assert shared_text(one, ["one"], ["A", "B"]) != shared_text(two, ["one"], ["A", "B"])


def test_a_constant_that_is_set_twice_is_never_dropped():
    one = FLAT + b"\t.set A, 5\n"
    two = FLAT.replace(b"A, 1", b"A, 7") + b"\t.set A, 5\n"
    assert shared_text(one, ["one"], ["A"]) != shared_text(two, ["one"], ["A"])


def test_the_stage_refuses_units_that_say_different_things():
    inputs = {"object": b"", "flat": FLAT, "own": FLAT.replace(b"v0", b"v9")}
    names = {"symbols": ["one"], "own_symbols": ["one"], "constants": ["A"], "values": {}}
    with pytest.raises(Refused) as caught:
        share(inputs, names, None)
    assert caught.value.line() == "one: units say different things"


def direct_objects(toolchain, sources: Path, library: Path) -> dict[str, bytes]:
    """Assemble every unit of a folder by itself, without sharing."""
    files = library.rglob("*.inc")
    tree = {path.relative_to(library).as_posix(): path.read_bytes() for path in files}
    units = {path.stem: path.read_bytes() for path in sources.glob("*.s")}
    return {n: toolchain.assemble_tree({**tree, "unit.s": u}, "unit.s") for n, u in units.items()}


class Counting:
    """A tool chain that counts what it assembles."""

    def __init__(self, tools):
        self.tools, self.assembled = tools, 0

    def __getattr__(self, name):
        return getattr(self.tools, name)

    def assemble(self, *arguments, **named):
        self.assembled += 1
        return self.tools.assemble(*arguments, **named)


def test_an_engine_directory_is_built_with_two_assemblies(toolchain, tmp_path):
    root = make_library(tmp_path / "library").root
    where, out = ["--library-root", str(root)], tmp_path / "engine"
    model = ["--model", str(root / "manifests/gfx950/models/pair.json"), "--target", "gfx950"]
    assert main(["pin", *where]) == 0
    assert main(["compile", *model, "--profile", "one", "--output", str(out), *where]) == 0
    tools = Counting(toolchain)
    assert len(build_engine(EngineFolder(out, RealDisk()), lambda: tools)) == 6
    assert tools.assembled == 2
    for name, made in direct_objects(toolchain, out / "generated", root).items():
        assert (out / f"hsaco/{name}.hsaco").read_bytes() == rewrite(toolchain.link([made]))


def test_a_published_recipe_is_built_with_one_assembly_for_equal_code(toolchain, tmp_path):
    root = library_at(tmp_path / "library")

    def spare(catalog):
        catalog["tactics"][0]["compile_definitions"]["NETRA_SPARE"] = [1, 2]

    def name_twice(recipe):
        for number, artifact in enumerate(recipe["artifacts"]):
            artifact["members"][0]["definitions"]["NETRA_SPARE"] = 1 + number // 12

    edit(root, CATALOG, spare)
    edit(root, DEPLOYMENT, name_twice)
    graph = requests.objects_graph(open_library(RealDisk(), root, ()), str(root / DEPLOYMENT))
    tools = Counting(toolchain)
    files = built_files(graph, root, tools, lambda line: None)
    assert labels(graph).count("ASM") == tools.assembled == 12
    assert labels(graph).count("SHARE") == 3
    (tmp_path / "units").mkdir()
    for name in graph.products(Root.OUT):
        if name.startswith("generated/"):
            (tmp_path / "units" / Path(name).name).write_bytes(files[name])
    found = direct_objects(toolchain, tmp_path / "units", root)
    assert {name: files[f"{name}.o"] for name in found} == found
