"""The statement files of a library: which states which tactic, and what they import."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from kernel_statements import LIBRARY, entry_of, statement
from kernel_statements import stated_tactics as ours

from netra_build import requests
from netra_build.build.digests.action_digest import code_reach
from netra_build.build.graph.actions import Action, Root
from netra_build.checkasm.numerics.loader import TOOL_BOX
from netra_build.checkasm.numerics.statement_source import MAX_BYTES, TOOLS
from netra_build.checkasm.numerics.statements import (
    read_statement,
    stated_tactics,
    statement_names,
)
from netra_build.cli.main import main
from netra_build.core.disk import RealDisk
from netra_build.core.errors import BadInput, EvidenceIncomplete, ToolchainFailed
from netra_build.formats.library import Library
from netra_build.stages import check_numerics

FOLDER = "statements/gfx950"
CATALOG = "manifests/gfx950/tactics"
KNOWN = "a", "b", "family", "single", "other", "one", "two"


def library_of(root: Path, files: dict[str, str | bytes]) -> Library:
    """Return a library that holds nothing but these statement files and the ids of a catalog."""
    catalog = {"format": "netra-fixed-tactic-catalog-1", "tactics": [{"id": id} for id in KNOWN]}
    (root / CATALOG).mkdir(parents=True)
    (root / CATALOG / "t.json").write_text(json.dumps(catalog))
    for name, text in files.items():
        path = root / FOLDER / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return Library(root, RealDisk())


def test_declarations_are_read_without_running_anything(tmp_path: Path) -> None:
    table = 'X = 1 / 0\n\nTACTICS = {\n    "a": X,\n    "b": {"c": X},\n}\n'
    single = "from .shapes import DIM\nENTRY = 1 / 0\n"
    files = {"family.py": table, "single.py": single, "shapes.py": "DIM = 1 / 0\n"}
    library = library_of(tmp_path, {**files, "x.txt": table})
    places = {"a": "family", "b": "family", "single": "single"}
    assert stated_tactics(library) == {k: f"{FOLDER}/{v}.py" for k, v in places.items()}


def test_a_library_without_statements_states_nothing(tmp_path: Path) -> None:
    library = Library(tmp_path, RealDisk())
    assert stated_tactics(library) == {}
    assert statement_names(library, "moe_silu_quant_decode_m1") == ()


def test_a_statement_is_its_file_with_all_that_it_imports(tmp_path: Path) -> None:
    files = {
        "family.py": "from .one import X\nfrom .two import (\n    Y,\n)\nTACTICS = {'a': X}\n",
        "one.py": "from .three import X\n",
        "two.py": "import numpy\n",
        "three.py": "from .one import Z\n",
        "other.py": "ENTRY = 1\n",
    }
    library = library_of(tmp_path, files)
    names = ["family", "one", "three", "two"]
    assert statement_names(library, "a")[0] == f"{FOLDER}/family.py"
    assert sorted(statement_names(library, "a")) == [f"{FOLDER}/{name}.py" for name in names]
    assert dict(read_statement(library, "a").files) == {
        f"{FOLDER}/{name}.py": files[f"{name}.py"].encode() for name in names
    }
    assert statement_names(library, "other") == (f"{FOLDER}/other.py",)


def test_ours_depend_on_what_they_share_and_on_no_other_statement() -> None:
    """An edit of one family runs no simulation of another one again."""
    for tactic in ours():
        first, *others = statement_names(LIBRARY, tactic)
        assert tactic in stated_tactics(LIBRARY)
        assert first == stated_tactics(LIBRARY)[tactic]
        assert not set(others) & set(stated_tactics(LIBRARY).values())
    assert statement_names(LIBRARY, "attention_splitseq_stage2")[1:] == (
        f"{FOLDER}/splitseq_shapes.py",
    )


def test_every_declared_tactic_has_an_entry() -> None:
    assert len(ours()) >= 16
    for tactic in ours():
        assert "random" in entry_of(tactic).cases


def test_the_tools_of_statements_are_code_of_the_stage() -> None:
    """An edit of the tool box runs every simulation again, one of the finder none."""
    package = "netra_build.checkasm.numerics"
    reached = {name for name, _ in code_reach("netra_build.stages.check_numerics").modules}
    assert [module.__name__ for module in TOOL_BOX] == [f"{package}.{name}" for name in TOOLS]
    assert {module.__name__ for module in TOOL_BOX} <= reached
    assert f"{package}.statements" not in reached


TWICE = 'tactic "a" is stated twice, first in statements/gfx950/one.py:1'
FORM = 'expected TACTICS = {"TACTIC": ...} or ENTRY = ... as its last statement, got'
NAMED = f"hint: it is read as {FOLDER}/NAME.py, NAME of lower-case letters, digits and underscores"
IDLE = (
    "file states no tactic, and none imports it\nhint: end it with TACTICS or ENTRY, or remove it"
)
ABSENT = 'statement imports "statements/gfx950/shape.py", which is not there'
BAD = [
    ({"one.py": 'TACTICS = {"a": 1}\n', "two.py": '\nTACTICS = {\n"b": 1,\n"a": 1}\n'},
     f"two.py:4: {TWICE}"),
    ({"one.py": 'TACTICS = {"a": 1, "a": 2}\n'}, f"one.py:1: {TWICE}"),
    ({"one.py": "ENTRY = 1\nENTRY = 2\n"},
     "one.py:2: statement file declares its tactics twice"),
    ({"one.py": "X = 1\nTACTICS = [1]\n"},
     f'one.py:2: tactics are not declared; {FORM} "TACTICS = [1]"'),
    ({"one.py": "TACTICS = {**X}\n"},
     f'one.py:1: tactics are not declared; {FORM} "TACTICS = {{**X}}"'),
    ({"one.py": "TACTICS = {1: X}\n"},
     f'one.py:1: tactics are not declared; {FORM} "TACTICS = {{1: X}}"'),
    ({"one.py": "TACTICS: dict = {}\n"},
     f'one.py:1: tactics are not declared; {FORM} "TACTICS: dict = {{}}"'),
    ({"one.py": 'TACTICS = {"a": X}\nX = 1\n'},
     f'one.py:1: tactics are not declared; {FORM} "TACTICS = {{"a": X}}"'),
    ({"one.py": "ENTRY: int = 1\n"},
     f'one.py:1: tactics are not declared; {FORM} "ENTRY: int = 1"'),
    ({"one.py": 'X = 1\nTACTICS = {\n    "a": (1,\n}\n'},
     "one.py:4: statement is no Python: closing parenthesis '}' does not match opening "
     "parenthesis '(' on line 3"),
    ({"one.py": b"# \xff\n"}, "one.py: statement is not UTF-8 text"),
    ({"one.py": b"X = 1\0\n"}, "one.py: statement holds a zero byte"),
    ({"one.py": b"X = 1\rENTRY = X\r"},
     "one.py: statement ends a line with a bare carriage return"),
    ({"one.py": b"#" * (MAX_BYTES + 1)},
     f"one.py: statement is too large; expected at most {MAX_BYTES} bytes, got {MAX_BYTES + 1}"),
    ({"a.py": "import numpy\nfrom .shape import X\nENTRY = X\n", "shapes.py": "X = 1\n",
      "b.py": "from .shapes import X\nENTRY = X\n"},
     f'a.py:2: {ABSENT}\nhint: did you mean "statements/gfx950/shapes.py"?'),
    ({"one.py": 'TACTICS = {\n"a": 1,\n"singel": 3}\n'},
     'one.py:3: no catalog has the tactic "singel"\nhint: did you mean "single"?'),
    ({"ohter.py": "\nENTRY = 1\n"},
     'ohter.py:2: no catalog has the tactic "ohter"\nhint: did you mean "other"?'),
    ({"a.py": "ENTRY = 1\n", "b.py": "TACTIC = {}\n"}, f"b.py: {IDLE}"),
    ({"a.py": "ENTRY = 1\n", "b.py": "from .b import X\n"}, f"b.py: {IDLE}"),
    ({"a.py": "ENTRY = 1\n", "B.py": "ENTRY = 1\n"}, f"B.py: file cannot be a statement\n{NAMED}"),
    ({"a.py": "ENTRY = 1\n", "b/c.py": "ENTRY = 1\n"},
     f"b/c.py: file cannot be a statement\n{NAMED}"),
]  # fmt: skip


@pytest.mark.parametrize(("files", "message"), BAD)
def test_a_library_that_cannot_be_read_is_refused(
    tmp_path: Path, files: dict[str, str | bytes], message: str
) -> None:
    with pytest.raises(BadInput) as refused:
        statement_names(library_of(tmp_path, files), "a")
    assert str(refused.value) == f"{FOLDER}/{message}"


def test_an_unknown_tactic_is_refused_with_the_nearest() -> None:
    with pytest.raises(BadInput) as refused:
        statement("moe_silu_quant_decode")
    assert str(refused.value) == (
        'no numeric contract for "moe_silu_quant_decode"\n'
        'hint: did you mean "moe_silu_quant_decode_m1"?'
    )


def simulations(library: Library, tactic: str) -> list[Action]:
    """Return the actions that simulate a tactic when it is built alone."""
    graph = requests.tactic_graph(library, tactic)
    return [action for action in graph.actions if action.stage.name == "numerics"]


def test_a_simulation_has_the_files_of_its_statement_as_inputs() -> None:
    (action,) = simulations(LIBRARY, "attention_splitseq_stage2")
    files = {place.name for _, place in action.inputs if place.root is Root.SOURCE}
    assert files == {f"{FOLDER}/splitseq_merge.py", f"{FOLDER}/splitseq_shapes.py"}


def test_a_tactic_that_its_library_does_not_state_is_not_simulated(
    root: Path, tmp_path: Path
) -> None:
    library = copied(root, tmp_path)
    assert simulations(library, "attention_splitseq_stage2") == []
    with pytest.raises(EvidenceIncomplete) as refused:
        requests.numerics_graph(library, seeds=[1])
    assert refused.value.status == 3
    assert str(refused.value) == (
        f'{FOLDER}: 16 tactics have no numeric contract, the first is "attention_gqa4_fp8kv"\n'
        f"hint: state it in {FOLDER}/, or narrow the check with tactic="
    )


STAGE2 = "attention_splitseq_stage2"


def without_stage2(root: Path, tmp_path: Path) -> Library:
    """Return our library without the statement of one tactic."""
    shutil.copytree(root / FOLDER, tmp_path / FOLDER)
    (tmp_path / FOLDER / "splitseq_merge.py").unlink()
    return copied(root, tmp_path)


def test_a_tactic_that_counts_as_simulated_has_to_be_stated(root: Path, tmp_path: Path) -> None:
    """By its maturity or by its evidence, whatever is asked for."""
    library = without_stage2(root, tmp_path)
    place = f"{tmp_path}/{CATALOG}/attention.json#/tactics/4"
    message = (
        f'{place}: "{STAGE2}" counts as simulated, and no file in {FOLDER} states it\n'
        "hint: state its numeric contract there, or withdraw its maturity and evidence"
    )
    for ask in (requests.tactic_graph, refused_numerics):
        with pytest.raises(EvidenceIncomplete) as refused:
            ask(library, STAGE2)
        assert (str(refused.value), refused.value.status) == (message, 3)
    shutil.rmtree(tmp_path / "evidence")
    with pytest.raises(EvidenceIncomplete) as refused:
        requests.tactic_graph(Library(tmp_path, RealDisk()), STAGE2)
    assert str(refused.value) == message


def refused_numerics(library: Library, tactic: str) -> None:
    """Ask for the simulation of one tactic."""
    requests.numerics_graph(library, seeds=[1], tactic=tactic)


def test_strict_validation_refuses_what_no_build_would_make(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copied(root, tmp_path)
    (tmp_path / FOLDER).mkdir(parents=True)
    for name in ("moe.py", "block_scaled.py"):
        text = (root / FOLDER / name).read_text()
        (tmp_path / FOLDER / name).write_text(text.replace('"moe_down', '"moe_dwon'))
    model = str(root / "manifests/gfx950/models/qwen36_moe_m1.json")
    words = ["--library-root", str(tmp_path), "--strict"]
    engine = str(tmp_path / "engine")
    asked = ["compile", "--target", "gfx950", "--profile", "decode_m1", "--model", model]
    assert main([*asked, *words, "--output", engine]) == 0
    capsys.readouterr()
    assert main(["validate", "--engine", engine, *words]) == 2
    assert capsys.readouterr().err == (
        f'netra: {FOLDER}/moe.py:218: no catalog has the tactic "moe_dwon_reduce_decode_m1"\n'
        'hint: did you mean "moe_down_reduce_decode_m1"?\n'
    )


def test_a_plan_without_numpy_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    check_numerics.require_numpy.cache_clear()
    monkeypatch.setattr(check_numerics, "find_spec", lambda name: None)
    with pytest.raises(ToolchainFailed) as refused:
        requests.tactic_graph(LIBRARY, STAGE2)
    assert refused.value.status == 4
    assert str(refused.value) == (
        'simulation needs the Python package "numpy"\n'
        "hint: install netra-build with [simulate]: pip install 'CLONE[simulate]'"
    )


def test_an_experiment_without_a_statement_is_built_but_not_simulated(
    root: Path, tmp_path: Path
) -> None:
    library = without_stage2(root, tmp_path)
    shutil.rmtree(tmp_path / "evidence")
    catalog = tmp_path / CATALOG / "attention.json"
    document = json.loads(catalog.read_text())
    document["tactics"][4]["maturity"] = "experiment"
    catalog.write_text(json.dumps(document))
    assert simulations(library, STAGE2) == []
    with pytest.raises(EvidenceIncomplete) as refused:
        refused_numerics(library, STAGE2)
    assert str(refused.value) == (
        f'{FOLDER}: "{STAGE2}" has no numeric contract\n'
        f"hint: state it in {FOLDER}/, or narrow the check with tactic="
    )


def copied(root: Path, tmp_path: Path) -> Library:
    """Return a copy of our library, but for its statements."""
    for part in ("manifests", "kernels", "golden", "schemas", "evidence"):
        shutil.copytree(root / part, tmp_path / part)
    return Library(tmp_path, RealDisk())


def test_what_a_docstring_says_is_no_import(tmp_path: Path) -> None:
    text = '"""How to:\nfrom .zz import X\n"""\nENTRY = 1\n'
    assert statement_names(library_of(tmp_path, {"a.py": text}), "a") == (f"{FOLDER}/a.py",)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    library = library_of(tmp_path, {})
    for path in (library.root / FOLDER, library.root / "statements"):
        if path.is_dir():
            path.rmdir()
    (library.root / "statements").write_text("")
    with pytest.raises(BadInput) as refused:
        statement_names(library, "a")
    assert str(refused.value) == f"{FOLDER}: not a folder"
