"""The names under which what was looked at is noted."""

from __future__ import annotations

from pathlib import Path

import pytest

from netra_build.build.freshness.input_trace import absolute


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("a", "{base}/a"),
        ("build/work/k-1.o", "{base}/build/work/k-1.o"),
        (Path("build/out"), "{base}/build/out"),
        (".", "{base}"),
        ("", "{base}"),
        ("./a", "{base}/a"),
        ("a//b", "{base}/a/b"),
        ("a/", "{base}/a"),
        ("a/../b", "{base}/b"),
        ("a/./b", "{base}/a/b"),
        (".hidden/a", "{base}/.hidden/a"),
        ("a b/ü", "{base}/a b/ü"),
        ("/x/../y", "/y"),
    ],
)
def test_names_are_absolute_and_normalised(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Path | str, expected: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert absolute(given) == expected.format(base=tmp_path)


def test_names_in_the_top_folder_begin_with_one_slash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert absolute("a/b") == "/a/b"
