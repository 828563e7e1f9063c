"""The manual's tables say what the program says."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

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


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/layout.md"])
def test_every_file_that_a_document_names_is_there(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    named = set(re.findall(r"`((?:tests|docs|netra_build|\.ci|recipes)/[\w/.-]*\w)/?`", text))
    named |= set(re.findall(r"\]\(([\w/.-]+)\)", text))
    assert named
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
