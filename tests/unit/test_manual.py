"""The manual's tables say what the program says."""

from __future__ import annotations

import importlib.util
import re
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType

import pytest

from netra_build import stages
from netra_build.build.graph.actions import Stage
from netra_build.core import errors

ROOT = Path(__file__).resolve().parent.parent.parent
EXIT_CODES = {value for name, value in vars(errors).items() if name.startswith("EXIT_")}


@pytest.fixture(scope="module")
def manual() -> str:
    return (ROOT / "docs/manual.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def writer() -> ModuleType:
    """Return ``docs/tables.py`` as a module."""
    spec = importlib.util.spec_from_file_location("netra_tables", ROOT / "docs/tables.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_those_of_the_program(manual, writer):
    rows = writer.tables()
    assert set(rows) == {name for _, name, _ in writer.TABLE.findall(manual)}
    assert writer.render(manual, rows) == manual, "run ./netra python docs/tables.py"


def test_a_stale_table_is_written_anew(writer):
    stale = "a\n<!-- table: word -->\nold\n<!-- end -->\nb\n"
    table = "| word | what it is |\n|---|---|\n| `x` | y z |\n"
    assert writer.render(stale, {"word": {"x": "y z"}}) == stale.replace("old\n", table)


def test_every_exit_code_is_in_the_manual(manual):
    assert {int(code) for code in re.findall(r"^\| (\d+) \|", manual, re.MULTILINE)} == EXIT_CODES


def test_every_tag_of_the_log_is_in_the_manual(manual):
    table = manual.partition("| tag |")[2].partition("\n\n")[0]
    tags = re.findall(r"`([A-Z]+)`", "".join(row.split("|")[1] for row in table.splitlines()[2:]))
    names = [f"netra_build.stages.{found.name}" for found in iter_modules(stages.__path__)]
    modules = [import_module(name) for name in [*names, "netra_build.inspect.report.page"]]
    made = {x.label for module in modules for x in vars(module).values() if isinstance(x, Stage)}
    assert len(tags) == len(set(tags))
    assert set(tags) == {*made, "STORE"}


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/layout.md"])
def test_every_file_that_a_document_names_is_there(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:tests|docs|netra_build|\.ci|recipes)/[\w/.-]*\w)/?`", text))
    named |= set(re.findall(r"\]\(([\w/.-]+)\)", text))
    assert named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
