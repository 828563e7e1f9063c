"""Names below a folder stand in the order of their parts."""

from __future__ import annotations

from pathlib import Path

from netra_build.core.stamps import entries_below, names_below


def test_names_are_in_path_order(tmp_path: Path) -> None:
    names = ["x/b/one", "x/b-two", "x/b.three", "x/a", "x-y", "x/b/c/four", "x/b/\x01five"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / "x/empty").mkdir()
    expected = [
        "x/a",
        "x/b/\x01five",
        "x/b/c/four",
        "x/b/one",
        "x/b-two",
        "x/b.three",
        "x-y",
    ]
    assert names_below(str(tmp_path)) == tuple(expected)
    assert entries_below(str(tmp_path)) == (*expected[:6], "x/empty/", "x-y")
