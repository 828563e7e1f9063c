"""Sources of another model's engine: they stay, are named each time, and stop a build."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from netra_build.cli.build.validate import build_engine
from netra_build.cli.main import main
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput
from netra_build.inspect.validate.engine_folder import EngineFolder
from netra_build.stages.instantiate import instance_symbols

DATA = Path(__file__).resolve().parents[1] / "data" / "conformance"
LIBRARY = ("--library-root", str(DATA / "negative/library"))
ONE, TWO = "netra_one_e0110a53f86f9a51_gfx950", "netra_one_32fb08409e3d8109_gfx950"
"""The kernels of the model with one work-group, and with two."""
LACKS = "generated source is of another engine: no candidate names it"
HINT = "hint: remove the file, or compile again with --replace"
NAMELESS = "file is named by no document of the engine"


def run(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    """Run ``netra`` and return its exit code and both outputs."""
    code = main([str(word) for word in words])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def compile_grid(capsys, folder: Path, width: int, *more: str) -> str:
    """Compile the small model with another grid into ``folder``; return what it says."""
    document = json.loads((DATA / "negative/one-model.json").read_bytes())
    document["graph"]["operations"][0]["attributes"]["launch_grid"] = [width, 1, 1]
    model = folder.parent / f"model{width}.json"
    model.write_text(json.dumps(document))
    words = ("--target", "gfx950", "--profile", "p1", "--output", folder, *LIBRARY, *more)
    code, _, error = run(capsys, "compile", "--model", model, *words)
    assert code == 0
    return error


def tree(folder: Path) -> dict[str, bytes]:
    """Return all files below a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def two(capsys, tmp_path):
    """Return a folder into which two models were compiled, one after the other."""
    compile_grid(capsys, tmp_path / "out", 1)
    compile_grid(capsys, tmp_path / "out", 2)
    return tmp_path / "out"


def test_another_model_keeps_the_sources_and_nothing_else(capsys, tmp_path):
    out, fresh = tmp_path / "out", tmp_path / "fresh"
    compile_grid(capsys, out, 1)
    first = tree(out)
    (out / "hsaco").mkdir()
    (out / f"hsaco/{ONE}.hsaco").write_bytes(b"built")
    assert compile_grid(capsys, out, 2) == (
        f'netra: note: {out}: keeps "generated/{ONE}.s" of another engine;'
        " compile --replace removes it\n"
    )
    assert compile_grid(capsys, fresh, 2) == ""
    name = f"generated/{ONE}.s"
    assert tree(out) == {**tree(fresh), name: first[name]}
    assert f"generated/{TWO}.s" in tree(out)
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_dir()) == ["fresh", "out"]


def test_what_former_engines_left_stays_with_a_third(capsys, two):
    names = sorted(f"generated/{symbol}.s" for symbol in (ONE, TWO))
    assert compile_grid(capsys, two, 3) == (
        f'netra: note: {two}: keeps 2 sources of other engines, the first is "{names[0]}";'
        " compile --replace removes them\n"
    )
    assert set(names) < set(tree(two))


@pytest.mark.parametrize("more", [(), ("--replace",)])
def test_the_same_model_and_the_option_replace_the_folder_as_a_whole(capsys, tmp_path, two, more):
    width = 3 if more else 2
    assert compile_grid(capsys, two, width, *more) == ""
    assert compile_grid(capsys, tmp_path / "fresh", width) == ""
    assert tree(two) == tree(tmp_path / "fresh")


@pytest.mark.parametrize("text", ["", "{}", '{"model_configuration_hash":7}', "[", "gone"])
def test_a_folder_without_a_model_is_replaced_as_a_whole(capsys, tmp_path, text):
    compile_grid(capsys, tmp_path / "out", 1)
    (tmp_path / "out/engine.json").write_text(text)
    if text == "gone":
        (tmp_path / "out/engine.json").unlink()
    assert compile_grid(capsys, tmp_path / "out", 2) == ""
    assert f"generated/{ONE}.s" not in tree(tmp_path / "out")


@pytest.mark.parametrize("more", [(), ("--static",), ("--self-contained",)])
def test_validation_accepts_the_folder_and_says_so(capsys, two, more):
    code, output, error = run(capsys, "validate", "--engine", two, *LIBRARY, *more)
    assert (code, json.loads(output)["valid"]) == (0, True)
    assert error == (
        f'netra: note: {two}: keeps "generated/{ONE}.s" of another engine;'
        " compile --replace removes it\n"
    )


@pytest.mark.parametrize(
    "words", [("validate", "--strict", "--engine"), ("validate", "--build", "--engine"), ("build",)]
)
def test_strictness_and_a_build_refuse_the_folder_and_leave_it(capsys, two, words):
    """No tool chain is looked for before: the one that is named is not there."""
    before = tree(two)
    code, output, error = run(capsys, *words, two, *LIBRARY, "--toolchain", two / "none")
    assert (code, output) == (2, "")
    assert error == f"netra: {two}/generated/{ONE}.s: {LACKS}\n{HINT}\n"
    assert tree(two) == before


def test_the_build_itself_refuses_before_it_starts_a_program(two):
    with pytest.raises(BadInput) as caught:
        build_engine(EngineFolder(two, RealDisk()), lambda: None)
    assert str(caught.value) == f"{two}/generated/{ONE}.s: {LACKS}\n{HINT}"


def _longer(folder: Path) -> str:
    with (folder / f"generated/{ONE}.s").open("ab") as stream:
        stream.write(b"\t.globl more\n")
    return f"{ONE}.s"


def _too_long(folder: Path) -> str:
    path = folder / f"generated/{ONE}.s"
    line = b"\t.set NETRA_WAVE_SIZE, 64\n"
    path.write_bytes(path.read_bytes().replace(line, line * 50000))
    return f"{ONE}.s"


def _renamed(folder: Path) -> str:
    (folder / f"generated/{ONE}.s").rename(folder / "generated/other.s")
    return "other.s"


def _suffixed(folder: Path) -> str:
    (folder / f"generated/{ONE}.s").rename(folder / f"generated/{ONE}.s.old")
    return f"{ONE}.s.old"


def _deeper(folder: Path) -> str:
    (folder / "generated/golden").mkdir()
    (folder / f"generated/{ONE}.s").rename(folder / f"generated/golden/{ONE}.s")
    return f"golden/{ONE}.s"


def _handwritten(folder: Path) -> str:
    (folder / f"generated/{ONE}.s").write_text(f"\t.globl {ONE}\n{ONE}:\n\ts_endpgm\n")
    return f"{ONE}.s"


STRANGERS = [_longer, _too_long, _renamed, _suffixed, _deeper, _handwritten]


@pytest.mark.parametrize("spoil", STRANGERS)
def test_a_file_that_is_no_unit_of_the_compiler_is_still_refused(capsys, two, spoil):
    name = spoil(two)
    code, _, error = run(capsys, "validate", "--engine", two, *LIBRARY)
    assert (code, error) == (2, f"netra: {two}/generated/{name}: {NAMELESS}\n")


def refused(capsys, folder: Path, width: int, *more: str) -> str:
    """Return what compiling into ``folder`` is refused with; the folder stays as it was."""
    compile_grid(capsys, folder.parent / "elsewhere", width, *more)
    model, before = folder.parent / f"model{width}.json", tree(folder)
    words = ("--target", "gfx950", "--profile", "p1", "--output", folder, *LIBRARY, *more)
    code, _, error = run(capsys, "compile", "--model", model, *words)
    assert code == 2
    assert tree(folder) == before
    return error


def foreign(folder: Path, name: str) -> str:
    return (
        f'netra: {folder}: output folder holds the foreign file "{name}"\n'
        "hint: choose another folder, or remove what is not a former output\n"
    )


@pytest.mark.parametrize("spoil", STRANGERS)
def test_what_is_no_unit_of_the_compiler_is_not_taken_away(capsys, two, spoil):
    name = spoil(two)
    assert refused(capsys, two, 3) == foreign(two, f"generated/{name}")


@pytest.mark.parametrize("place", ["moved.s", "out/hsaco/moved.s"])
def test_a_link_is_neither_accepted_nor_taken_away(capsys, tmp_path, two, place):
    path = two / f"generated/{ONE}.s"
    (two / "hsaco").mkdir()
    path.rename(tmp_path / place)
    path.symlink_to(tmp_path / place)
    code, _, error = run(capsys, "validate", "--engine", two, *LIBRARY)
    assert (code, error) == (2, f"netra: {path}: file is a link\n")
    assert "holds the foreign file" in refused(capsys, two, 3)
    assert path.is_symlink()


def test_a_sealed_engine_has_no_sources_of_others(capsys, two):
    (two / "netra.json").write_text("{}\n")
    code, _, error = run(capsys, "validate", "--engine", two, *LIBRARY)
    assert (code, error) == (2, f"netra: {two}/generated/{ONE}.s: {NAMELESS}\n")


def test_a_failure_to_write_keeps_both_engines(capsys, tmp_path, two):
    before = tree(two)
    shutil.copytree(two, tmp_path / "copy")
    (tmp_path / "copy/notes.txt").write_text("mine")
    document = tmp_path / "model3.json"
    document.write_bytes((tmp_path / "model1.json").read_bytes())
    words = ("--model", document, "--target", "gfx950", "--profile", "p1", *LIBRARY)
    assert run(capsys, "compile", *words, "--output", tmp_path / "copy")[0] == 2
    assert tree(tmp_path / "copy") == {**before, "notes.txt": b"mine"}


def test_every_published_unit_is_known_by_its_form():
    units = sorted((DATA / "expected").glob("*/generated/*.s"))
    assert len(units) == 40
    for unit in units:
        assert instance_symbols(unit.read_bytes())[0] == unit.stem


FOREIGN = (
    "notes.txt",
    "generated/my.s",
    "generated/includes/my.inc",
    "generated/golden/my.s",
    "hsaco/my.hsaco",
    "metadata/my.json",
)


@pytest.mark.parametrize("more", [(), ("--replace",)])
@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("name", FOREIGN)
def test_what_no_engine_names_is_never_taken_away(capsys, tmp_path, name, width, more):
    out = tmp_path / "out"
    compile_grid(capsys, out, 1)
    mine = out / name
    mine.parent.mkdir(parents=True, exist_ok=True)
    mine.write_text("mine")
    assert refused(capsys, out, width, *more) == foreign(out, name)


def test_of_a_plan_that_cannot_be_read_nothing_is_taken(capsys, tmp_path):
    out = tmp_path / "out"
    compile_grid(capsys, out, 1)
    (out / "hsaco").mkdir()
    (out / f"hsaco/{ONE}.hsaco").write_bytes(b"built")
    (out / "validation_plan.json").write_text("{")
    assert "holds the foreign file" in refused(capsys, out, 1)
