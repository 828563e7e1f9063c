"""Every scalar of an engine directory edited, one at a time, and bytes of every other file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from planned import plan_file
from shared_code_library import make_library

from netra_build import requests
from netra_build.build.graph.actions import Root
from netra_build.build.run.execution import Execution, Folders
from netra_build.build.run.executor import run_graph
from netra_build.cli.build.validate import build_engine
from netra_build.core.canonical_json import canonical_bytes, pretty_bytes, stable_hash
from netra_build.core.digests import DIGEST, blake3_hex, sha256_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import NetraError
from netra_build.formats.library import Library, open_library
from netra_build.inspect.validate.engine import COMPILED, verify_engine
from netra_build.inspect.validate.engine_folder import EngineFolder
from netra_build.plan.documents import (
    SOURCE_DOCUMENTS,
    engine_files,
    source_hash,
    with_engine_id,
)

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests" / "data" / "conformance"
LAYOUTS = ("compiled", "published", "ours", "shared")


def published(folder: Path) -> Path:
    """Compile the model with the most kinds of operations."""
    plan = plan_file(DATA / "models/graph-vector.json", "verify_rows8", DATA / "library")
    for name, data in engine_files(plan).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return folder


def build(library: Library, name: str, folder: Path, tools: Any) -> None:
    """Build one engine of ours in process."""
    graph = requests.engine_graph(library, requests.EngineRequest(name))
    paths = {Root.SOURCE: library.root, Root.WORK: folder / "work", Root.OUT: folder / "out"}
    run_graph(Execution(graph, Folders({**paths, Root.EXTERNAL: folder}), RealDisk(), tools))


@pytest.fixture(scope="module")
def engines(made_once: Any, toolchain: Any) -> dict[str, Any]:
    """Return folder and library of one engine of each layout."""
    foreign = open_library(RealDisk(), DATA / "library", ())
    own = open_library(RealDisk(), ROOT, ())

    def make(folder: Path) -> None:
        small = make_library(folder / "library")
        published(folder / "compiled")
        build_engine(EngineFolder(published(folder / "published"), RealDisk()), lambda: toolchain)
        build(own, "qwen36_moe_m1", folder / "ours", toolchain)
        build(small, "shared", folder / "shared", toolchain)

    folder = made_once("engines", make)
    return {
        "compiled": (folder / "compiled", foreign),
        "published": (folder / "published", foreign),
        "ours": (folder / "ours/out", own),
        "shared": (folder / "shared/out", open_library(RealDisk(), folder / "library", ())),
    }


def scalars(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of every scalar of a document."""
    if isinstance(node, dict | list):
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in items:
            yield from scalars(value, (*path, key))
    else:
        yield path


def flipped(value: Any) -> Any:
    """Return another value of the same type, or a number instead of nothing."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return value[:-1] + ("x" if value[-1:] != "x" else "y")
    return 1 if value is None else value + 1


def value_at(path: Path, pointer: tuple[Any, ...]) -> Any:
    node = json.loads(path.read_bytes())
    for key in pointer:
        node = node[key]
    return node


def edit(path: Path, pointer: tuple[Any, ...], value: Any = None) -> None:
    document = json.loads(path.read_bytes())
    node = document
    for key in pointer[:-1]:
        node = node[key]
    node[pointer[-1]] = flipped(node[pointer[-1]]) if value is None else value
    write = pretty_bytes if path.name == "netra.json" else canonical_bytes
    path.write_bytes(write(document))


def kind_of(path: Path, engine: Path) -> str:
    """Return a document's name, and the folder and suffixes of any other file."""
    if path.parent == engine:
        return path.name
    return f"{path.relative_to(engine).parts[0]}/{''.join(path.suffixes[-2:])}"


def refusal(engine: Path, library: Library, tools: Any = None) -> NetraError | None:
    """Return why the engine is refused, or None."""
    try:
        verify_engine(engine, RealDisk(), library, tools=tools)
    except NetraError as error:
        return error
    return None


def names_a_place(error: NetraError, engine: Path) -> bool:
    """Tell whether the message leads with a file of the engine (or its checkpoint option)."""
    return error.location.startswith((f"{engine}/", "--checkpoint-hash"))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_edited_scalar_is_caught(layout, engines, sample_of_each, tmp_path):
    """A sample takes some of every document and of every kind of report."""
    origin, library = engines[layout]
    engine = Path(shutil.copytree(origin, tmp_path / "engine"))
    assert refusal(engine, library) is None
    cases = [
        (path, pointer)
        for path in sorted(engine.rglob("*.json"))
        for pointer in scalars(json.loads(path.read_bytes()))
    ]
    assert len(cases) > 300
    missed = []
    for path, pointer in sample_of_each(cases, lambda case: kind_of(case[0], engine), 2):
        before = path.read_bytes()
        edit(path, pointer)
        error = refusal(engine, library)
        if error is None or not names_a_place(error, engine):
            missed.append((path.name, pointer, error))
        path.write_bytes(before)
    assert missed == []
    assert refusal(engine, library) is None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_edited_byte_is_caught(layout, engines, toolchain, sample_of_each, rng, tmp_path):
    """The tool chain is needed where nothing but a listing could be edited."""
    origin, library = engines[layout]
    engine = Path(shutil.copytree(origin, tmp_path / "engine"))
    assert refusal(engine, library, toolchain) is None
    paths = [p for p in sorted(engine.rglob("*")) if p.is_file() and p.suffix != ".json"]
    kinds = {"".join(path.suffixes[-2:]) for path in paths}
    assert {".s", ".inc"} <= kinds
    if layout != "compiled":
        assert {".hsaco", ".text", ".dis", ".metadata.txt"} <= kinds
    missed = []
    for path in sample_of_each(paths, lambda path: kind_of(path, engine), 2):
        before = path.read_bytes()
        data = bytearray(before)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path.write_bytes(data)
        error = refusal(engine, library, toolchain)
        if error is None or not names_a_place(error, engine):
            missed.append((path.name, error))
        path.write_bytes(before)
    assert missed == []


PLACES = [
    ("metadata/{s}.checks.json", ("counts", "warning"), "report differs from the static checks"),
    ("metadata/{s}.numerics.json", ("verdict",), '"verdict" has another value'),
    ("metadata/{s}.numerics.json", ("runs", 0, "differing"), '"differing" has another value'),
    ("metadata/{s}.numerics.json", ("text_sha256",), '"text_sha256" has another value'),
    ("metadata/{s}.equivalence.json", ("verdict",), "report differs from the comparison"),
    ("metadata/{s}.equivalence.json", ("golden_symbol",), "report differs from the comparison"),
    ("metadata/{s}.json", ("resources", "vgpr_count"), "record differs from the code object"),
    ("validation_plan.json", ("static",), 'unknown word "passex"'),
    ("netra.json", ("kernels", 0, "equivalence"), "seal differs from the reports"),
    ("netra.json", ("kernels", 0, "source_closure_sha256"), "seal differs from the reports"),
    ("netra.json", ("recipe", "golden"), "seal differs from its own digest"),
    ("netra.json", ("toolchain", "version"), "seal differs from its own digest"),
]


@pytest.mark.parametrize(("name", "pointer", "fact"), PLACES)
def test_a_lie_of_ours_is_named_by_its_pointer(name, pointer, fact, engines, toolchain, tmp_path):
    origin, library = engines["ours"]
    engine = Path(shutil.copytree(origin, tmp_path / "engine"))
    plan = json.loads((engine / "validation_plan.json").read_bytes())
    name = name.replace("{s}", plan["candidates"][0]["symbol"])
    document = json.loads((engine / name).read_bytes())
    if pointer[0] == "toolchain":
        pointer = ("toolchain", next(iter(document["toolchain"])))
    edit(engine / name, pointer)
    error = refusal(engine, library, toolchain)
    assert error is not None
    assert error.fact == fact
    place = "/".join(map(str, pointer)) if fact != "seal differs from its own digest" else ""
    assert error.location == f"{engine}/{name}#/{place or 'seal_sha256'}"


ELSEWHERE = [
    (
        "engine.json",
        ("tensor_parallel",),
        "engine.json",
        "engine cannot be planned again: {library}/manifests/gfx950/profiles/one.json:"
        ' profile "one" is for another tensor parallel degree',
    ),
    (
        "validation_plan.json",
        ("candidates", 0, "selected"),
        "validation_plan.json#/candidates/0/selected",
        'kernel cannot be built beside the engine: "fill_a" has no golden source',
    ),
]


@pytest.mark.parametrize(("name", "pointer", "place", "fact"), ELSEWHERE)
def test_what_the_library_refuses_is_the_engines_claim(
    name, pointer, place, fact, engines, tmp_path
):
    origin, library = engines["shared"]
    engine = Path(shutil.copytree(origin, tmp_path / "engine"))
    edit(engine / name, pointer)
    error = refusal(engine, library)
    assert error is not None
    assert error.location == f"{engine}/{place}"
    assert error.fact.startswith(fact.replace("{library}", str(library.root)))


def test_a_graph_that_lies_is_named_in_the_hint(engines, tmp_path):
    """Everything is derived from the graph: what differs is met elsewhere."""
    origin, library = engines["ours"]
    engine = Path(shutil.copytree(origin, tmp_path / "engine"))
    edit(engine / "graph.json", ("tensors", 0, "shape", 0))
    error = refusal(engine, library)
    assert error is not None
    assert error.hint == 'file "graph.json" is not the one that was sealed'


def test_a_report_and_its_seal_edited_together_are_caught(engines, toolchain, tmp_path):
    """Digests do not help against someone who writes them anew; deriving again does."""
    origin, library = engines["ours"]
    engine = Path(shutil.copytree(origin, tmp_path / "engine"))
    symbol = json.loads((engine / "validation_plan.json").read_bytes())["candidates"][0]["symbol"]
    for suffix, pointer in [(".dis", ()), (".checks.json", ("counts", "note"))]:
        path = engine / f"metadata/{symbol}{suffix}"
        before = path.read_bytes()
        if pointer:
            edit(path, pointer)
        else:
            path.write_bytes(before.replace(b"s_endpgm", b"s_nop 0", 1))
            assert path.read_bytes() != before
        (engine / "netra.json").rename(engine.parent / "seal")
        error = refusal(engine, library, toolchain)
        assert error is not None
        assert path.name in error.location
        (engine.parent / "seal").rename(engine / "netra.json")
        path.write_bytes(before)


def test_what_no_tool_chain_has_seen_is_said(engines):
    engine, library = engines["ours"]
    symbols = [
        candidate["symbol"]
        for candidate in json.loads((engine / "validation_plan.json").read_bytes())["candidates"]
    ]
    without = set(verify_engine(engine, RealDisk(), library).unverified)
    assert {f"metadata/{symbol}.dis" for symbol in symbols} < without
    assert {f"metadata/{symbol}.equivalence.json" for symbol in symbols} < without


def lies(value: Any) -> list[Any]:
    """Return values that an attacker might put in place of one; a digest is made a false one."""
    if isinstance(value, bool) or not isinstance(value, int):
        return [flipped(value)] if not DIGEST.fullmatch(str(value)) else ["0" * 64]
    return [value + 1, -1 - value]


def resealed(engine: Path) -> None:
    """Make every digest right again that is computed from files alone, the seal's own the last."""
    seal = json.loads((engine / "netra.json").read_bytes())
    manifest = json.loads((engine / "engine.json").read_bytes())
    names = {p.relative_to(engine).as_posix() for p in engine.rglob("*") if p.is_file()}
    compiled = {n for n in names if n in SOURCE_DOCUMENTS or COMPILED.fullmatch(n)}
    digests = {name: sha256_hex((engine / name).read_bytes()) for name in compiled}
    manifest["compiler"]["source_hash"] = source_hash(digests)
    manifest = with_engine_id(manifest)
    (engine / "engine.json").write_bytes(canonical_bytes(manifest))
    seal["engine_id"] = manifest["engine_id"]
    for name in names - {"netra.json"}:
        data = (engine / name).read_bytes()
        sizes = {"sha256": sha256_hex(data), "blake3": blake3_hex(data), "size_bytes": len(data)}
        seal["files"][name] = sizes
    del seal["seal_sha256"]
    seal["seal_sha256"] = stable_hash(seal)
    (engine / "netra.json").write_bytes(pretty_bytes(seal))


UNDERIVED = ("files", "seal_sha256", "engine_id", "recipe", "toolchain", "not_pinned")
"""What is made right again, and what of a seal no file of the engine can contradict."""

RANGE = "number is out of range; expected 1 to 9223372036854775807, got "
CASE = 'label is of no case; expected "{t}/CASE/SEED", got "other/random/1"'
REWRITTEN = [
    ("elements", -8, f"{RANGE}-8"),
    ("wave_instructions", 0, f"{RANGE}0"),
    ("label", "other/random/1", CASE),
    ("label", None, '"{l}" is listed twice'),
]


@pytest.mark.parametrize(("key", "value", "fact"), REWRITTEN)
def test_a_false_run_is_caught(key, value, fact, engines, toolchain, tmp_path):
    origin, library = engines["ours"]
    engine = Path(shutil.copytree(origin, tmp_path / "engine"))
    symbol = json.loads((engine / "validation_plan.json").read_bytes())["candidates"][0]["symbol"]
    path = engine / f"metadata/{symbol}.numerics.json"
    report = json.loads(path.read_bytes())
    last = report["runs"][1]["label"]
    edit(path, ("runs", 0, key), last if value is None else value)
    resealed(engine)
    place = "/runs" if value is None else f"/runs/0/{key}"
    assert str(refusal(engine, library, toolchain)) == (
        f"{path}#{place}: " + fact.format(t=report["tactic"], l=last)
    )


def test_a_false_digest_of_a_golden_source_is_caught(engines, toolchain, tmp_path):
    origin, library = engines["ours"]
    engine = Path(shutil.copytree(origin, tmp_path / "engine"))
    pointer = ("kernels", 0, "golden", "metadata_sha256")
    right = value_at(engine / "netra.json", pointer)
    edit(engine / "netra.json", pointer, "0" * 64)
    resealed(engine)
    assert str(refusal(engine, library, toolchain)) == (
        f"{engine}/netra.json#/kernels/0/golden/metadata_sha256: seal differs from the reports; "
        f'expected "{right}", got "{"0" * 64}"'
    )


@pytest.mark.parametrize("name", ["netra.json", "metadata/{s}.checks.json"])
def test_a_folder_in_the_place_of_a_file_is_refused(name, engines, tmp_path):
    origin, library = engines["ours"]
    engine = Path(shutil.copytree(origin, tmp_path / "engine"))
    symbol = json.loads((engine / "validation_plan.json").read_bytes())["candidates"][0]["symbol"]
    path = engine / name.replace("{s}", symbol)
    path.unlink()
    path.mkdir()
    assert str(refusal(engine, library)).startswith(f"{path}: not a regular file")


@pytest.mark.parametrize("layout", ["ours", "shared"])
def test_what_is_sealed_anew_is_caught(layout, engines, toolchain, sample_of_each, tmp_path):
    """Whoever alters a record can compute its digests: what it says has to be derived."""
    origin, library = engines[layout]
    engine = Path(shutil.copytree(origin, tmp_path / "engine"))
    resealed(engine)
    assert (engine / "netra.json").read_bytes() == (origin / "netra.json").read_bytes()
    cases = [
        (path, pointer, lie)
        for path in sorted(engine.rglob("*.json"))
        for pointer in scalars(json.loads(path.read_bytes()))
        for lie in lies(value_at(path, pointer))
        if pointer[0] not in UNDERIVED and lie != value_at(path, pointer)
    ]
    kept = {path: path.read_bytes() for path in engine.rglob("*.json")}
    missed = []
    for path, pointer, lie in sample_of_each(cases, lambda case: kind_of(case[0], engine), 2):
        edit(path, pointer, lie)
        resealed(engine)
        if refusal(engine, library, toolchain) is None:
            missed.append((path.name, pointer, lie))
        for other, data in kept.items():
            other.write_bytes(data)
    assert missed == []
