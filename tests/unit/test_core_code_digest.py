"""What a module reaches by import, and what its digest therefore covers."""

from __future__ import annotations

import ast
import sys
from importlib import metadata

import pytest

from netra_build.build.digests import action_digest as subject
from netra_build.build.digests.action_digest import code_digest, code_reach, imported_modules
from netra_build.core import own_code


@pytest.fixture
def fresh():
    """Forget what was read, before and after; what was executed is read no more."""
    read = dict(own_code.READ)

    def forget():
        own_code.READ.clear()
        own_code.READ.update(read)
        for function in (subject.code_digest, subject.code_reach, subject._read_module):
            function.cache_clear()

    forget()
    yield forget
    forget()


def test_a_module_reaches_what_it_imports_and_no_more():
    reach = code_reach("netra_build.core.canonical_json")
    assert [name for name, _ in reach.modules] == [
        "netra_build.core.canonical_json",
        "netra_build.core.digests",
        "netra_build.core.errors",
    ]
    assert reach.distributions == (("blake3", metadata.version("blake3")),)


def test_a_module_without_libraries_reaches_none():
    reach = code_reach("netra_build.asm.objects.rewrite")
    assert [name for name, _ in reach.modules] == [
        "netra_build.asm.objects.elf",
        "netra_build.asm.objects.rewrite",
        "netra_build.core.errors",
    ]
    assert reach.distributions == ()


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import numpy.linalg as x", ["numpy.linalg"]),
        ("def f():\n    import msgpack", ["msgpack"]),
        ("if False:\n    from json import loads", ["json"]),
        (
            "from netra_build.core import disk, errors",
            ["netra_build.core", "netra_build.core.disk", "netra_build.core.errors"],
        ),
        ("from netra_build.core.disk import RealDisk", ["netra_build.core.disk"]),
        ("'import os'", []),
    ],
)
def test_imports_are_found_wherever_they_stand(source, names):
    assert list(imported_modules(ast.parse(source))) == names


def test_a_changed_module_below_changes_the_digest(fresh, tmp_path, monkeypatch):
    paths = {"netra_build.a": tmp_path / "a.py", "netra_build.b": tmp_path / "b.py"}
    paths["netra_build.a"].write_text("from netra_build.b import x\n")
    paths["netra_build.b"].write_text("x = 1\n")
    monkeypatch.setattr(subject, "module_path", paths.get)
    before = code_digest("netra_build.a")
    paths["netra_build.b"].write_text("x = 2\n")
    fresh()
    changed = code_digest("netra_build.a")
    paths["netra_build.b"].write_text("x = 1\n")
    fresh()
    assert changed != before
    assert code_digest("netra_build.a") == before


def test_the_texts_beside_a_module_are_of_its_code(fresh, tmp_path, monkeypatch):
    paths = {"netra_build.a": tmp_path / "a.py"}
    paths["netra_build.a"].write_text("x = 1\n")
    monkeypatch.setattr(subject, "module_path", paths.get)
    found = {code_digest("netra_build.a")}
    for name, text in (("a.html", "<p>"), ("a.html", "<b>"), ("a.css", "p{}"), ("b.html", "")):
        (tmp_path / name).write_text(text)
        fresh()
        found.add(code_digest("netra_build.a"))
    assert len(found) == 4  # what stands beside under another name is no code of it


def test_another_release_of_a_used_library_changes_the_digest(fresh, monkeypatch):
    used, unused = "netra_build.core.digests", "netra_build.core.errors"
    before = code_digest(used), code_digest(unused)
    fresh()
    monkeypatch.setattr(subject, "installed_version", lambda name: "999")
    assert code_digest(used) != before[0]
    assert code_digest(unused) == before[1]


def test_another_python_changes_every_digest(fresh, monkeypatch):
    before = code_digest("netra_build.core.errors")
    fresh()
    monkeypatch.setattr(sys, "version_info", (3, 99, 0, "final", 0))
    assert code_digest("netra_build.core.errors") != before


def test_a_module_that_is_not_there_is_our_own_bug():
    with pytest.raises(ValueError, match=r"^no module netra_build\.core\.nothing$"):
        code_reach("netra_build.core.nothing")
