"""Imports that are found by their lines are those that a parse of the whole module finds."""

from __future__ import annotations

import ast

import pytest

from netra_build.build.digests.action_digest import PACKAGE_FOLDER, import_tree, imported_modules

MODULES = sorted(PACKAGE_FOLDER.rglob("*.py"))


def found(source: str) -> list[str]:
    """Return the modules that the import statements of a text name."""
    return list(imported_modules(import_tree(source.encode(), "x")))


def test_every_module_of_ours_imports_the_same_either_way() -> None:
    assert len(MODULES) > 200
    for path in MODULES:
        source = path.read_bytes()
        whole = sorted(imported_modules(ast.parse(source)))
        assert sorted(imported_modules(import_tree(source, path.name))) == whole, path


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import os\nx = 1\nimport json, re as r\n", ["os", "json", "re"]),
        ("def f():\n\tfrom os import path\n    # import re\n", ["os"]),
        ("from os import (  # what (is it\n    path,\n    sep,\n)\nimport re\n", ["os", "re"]),
        ("from os import \\\n    path\nimport re", ["os", "re"]),
        ("import \\\n    os", ["os"]),
        ("from\\\n os import path", ["os"]),
        ("from os import(path)", ["os"]),
        ("if x: import os\n", ["os"]),
        ("x = 1; from os import path\n", ["os"]),
        ("try:import os\nfinally:import re", ["os", "re"]),
        ("x = 1\rimport os\r", ["os"]),
        ("x = 1\r\nimport os\r\n", ["os"]),
        ("\x0cimport os\n", ["os"]),
        ('"""Text\nfrom a file\n"""\nimport os\n', ["os"]),
        ('x = """\nimport (\n"""\nimport os\n', ["os"]),
        ('x = """\nimport re\n"""\nimport os\n', ["os"]),
        ("x = '''\nimport re\n'''\nimport os\n", ["os"]),
        ('x = \'"""\'\nimport os\n', ["os"]),
        ("importance = fromage = 1\n", []),
        ("def f(a):\n    yield from a\n", []),
        ("", []),
    ],
)
def test_imports_are_found_wherever_they_stand(source: str, names: list[str]) -> None:
    assert found(source) == names
