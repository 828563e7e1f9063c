"""Where the store lies is decided by what is passed in, and by nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from netra_build.build.cache.store import StorePlace, store_place
from netra_build.core.errors import BadInput

TWO_GIB = 2147483648


@pytest.mark.parametrize(
    ("asked", "environment", "root"),
    [
        ("", {"XDG_CACHE_HOME": "/c", "HOME": "/h"}, "/c/netra"),
        ("", {"HOME": "/h"}, "/h/.cache/netra"),
        ("", {"XDG_CACHE_HOME": "", "HOME": "/h"}, "/h/.cache/netra"),
        ("", {"XDG_CACHE_HOME": "relative", "HOME": "/h"}, "/h/.cache/netra"),
        ("/own", {"HOME": "/h"}, "/own"),
    ],
)
def test_the_root_of_a_store(asked: str, environment: dict[str, str], root: str) -> None:
    assert store_place(asked, environment) == StorePlace(Path(root), TWO_GIB)


@pytest.mark.parametrize(
    ("asked", "environment"),
    [("0", {"HOME": "/h"}), ("", {}), ("", {"HOME": "relative"}), ("", {"XDG_CACHE_HOME": "x"})],
)
def test_no_store(asked: str, environment: dict[str, str]) -> None:
    assert store_place(asked, environment) is None


def test_a_relative_folder_counts_from_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert store_place("own", {}) == StorePlace(tmp_path / "own", TWO_GIB)


def test_the_bound_is_read() -> None:
    environment = {"HOME": "/h", "NETRA_STORE_BYTES": "5000000"}
    assert store_place("", environment) == StorePlace(Path("/h/.cache/netra"), 5000000)


@pytest.mark.parametrize("text", ["0", "1000", "-5", "1e9", "2 GiB", "9" * 5000, "\u0665" * 8])
def test_a_bound_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(BadInput) as caught:
        store_place("", {"HOME": "/h", "NETRA_STORE_BYTES": text})
    assert str(caught.value) == (
        "store: NETRA_STORE_BYTES is not usable; expected 1048576 to 1125899906842624 bytes, "
        f"got {text[:40]}"
    )
