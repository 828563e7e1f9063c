"""Versions of distributions, read from their records, are those that Python itself tells."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from netra_build.build.digests.distributions import (
    DISTRIBUTION_BY_IMPORT,
    installed_version,
    plain_name,
)


def record(folder: Path, name: str, text: str | bytes) -> None:
    """Lay out the record of a distribution."""
    path = folder / name / "METADATA"
    path.parent.mkdir(parents=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())


@pytest.mark.parametrize("name", [*DISTRIBUTION_BY_IMPORT.values(), "scons", "SCons", "pip"])
def test_every_distribution_that_we_use_has_the_version_that_python_tells(name: str) -> None:
    assert installed_version(name) == metadata.version(name)


def test_a_distribution_that_is_not_installed_has_none() -> None:
    assert installed_version("netra-nothing") is None


def test_names_are_compared_in_the_form_that_all_spellings_share() -> None:
    assert {plain_name(name) for name in ("a.b-c", "A_b_C", "a--b._c")} == {"a-b-c"}


def test_the_first_record_on_the_path_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record(tmp_path / "a", "some_lib-1.0.dist-info", "Name: some-lib\nVersion: 1.0\n\nVersion: 9\n")
    record(tmp_path / "b", "some.lib-2.0.dist-info", "version:2.0\n")
    record(tmp_path / "b", "some.lib.more-3.0.dist-info", "Version: 3.0\n")
    folders = [str(tmp_path / name) for name in ("none", "b", "a")]
    monkeypatch.setattr(sys, "path", [*folders, *sys.path])
    assert installed_version("some-lib") == "2.0"
    assert installed_version("some-lib-more") == "3.0"
    monkeypatch.setattr(sys, "path", [*reversed(folders), *sys.path])
    assert installed_version("some-lib") == "1.0"


def test_what_has_no_record_of_the_usual_form_is_left_to_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old_lib-4.0.egg-info").mkdir()
    (tmp_path / "old_lib-4.0.egg-info/PKG-INFO").write_text("Name: old-lib\nVersion: 4.0\n")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    assert installed_version("old-lib") == "4.0"
    assert installed_version("blake3") == metadata.version("blake3")
