"""Packages whose files are their own list: what is found, and what digests count."""

from __future__ import annotations

from importlib import import_module

import pytest

from netra_build.build.digests import code_digest as subject
from netra_build.build.digests.code_digest import code_digest, code_reach
from netra_build.checkasm.numerics.suite import declared_in, entry_of, stated_tactics


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Return a stand-in for our package with a user, a list-less folder and two files in it."""
    folder = tmp_path / "netra_build"
    (folder / "many").mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "user.py").write_text("from netra_build import many\n")
    (folder / "many/__init__.py").write_text('"""Doc."""\n\nMEMBERS_ARE_REACHED = True\n')
    (folder / "many/one.py").write_text("ENTRY = 1\n")
    (folder / "many/two.py").write_text("ENTRY = 2\n")
    (folder / "many/_part.py").write_text("x = 1\n")
    (folder / "many/notes.txt").write_text("x\n")
    monkeypatch.setattr(subject, "PACKAGE_FOLDER", folder)
    forget()
    yield folder
    forget()


def forget():
    for function in ("code_digest", "code_reach", "_read_module", "module_path"):
        getattr(subject, function).cache_clear()


def test_who_imports_the_package_reaches_its_members(package):
    names = [name for name, _ in code_reach("netra_build.user").modules]
    assert names == [
        "netra_build",
        "netra_build.many",
        "netra_build.many.one",
        "netra_build.many.two",
        "netra_build.user",
    ]


def test_members_of_a_package_that_does_not_say_so_are_not_reached(package):
    (package / "many/__init__.py").write_text('"""Doc."""\n')
    names = [name for name, _ in code_reach("netra_build.user").modules]
    assert names == ["netra_build", "netra_build.many", "netra_build.user"]


def test_a_new_or_changed_member_changes_the_digest(package):
    digests = [code_digest("netra_build.user")]
    (package / "many/one.py").write_text("ENTRY = 3\n")
    forget()
    digests.append(code_digest("netra_build.user"))
    (package / "many/three.py").write_text("ENTRY = 3\n")
    forget()
    digests.append(code_digest("netra_build.user"))
    assert len(set(digests)) == 3


def test_what_a_package_declares_is_read_without_importing_it(tmp_path, monkeypatch):
    folder = tmp_path / "declaring"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "family.py").write_text(
        'X = 1 / 0\n\nTABLE = {\n    "a": X,\n    "b": {"c": X},\n}\n'
    )
    (folder / "single.py").write_text("ENTRY = 1 / 0\n")
    monkeypatch.syspath_prepend(tmp_path)
    declaring = import_module("declaring")
    assert declared_in(declaring, "TABLE") == {"a": "family", "b": "family", "single": "single"}


def test_every_declared_tactic_has_an_entry():
    assert len(stated_tactics()) >= 16
    for tactic in stated_tactics():
        assert "random" in entry_of(tactic).cases
