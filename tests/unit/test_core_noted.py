"""A digest on file stands in for reading a file exactly when the file's stamp vouches for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from netra_build.build.freshness.finished import trust_noted
from netra_build.build.freshness.up_to_date import judge
from netra_build.core import streams
from netra_build.core.digests import blake3_hex
from netra_build.core.stamps import Stamp, columns_of

STAMP = (3, 1_000_000_000_000_000_001, 1_000_000_000_000_000_001, 7, 9)
OTHER = (*STAMP[:3], 8, 9)
LATER_NS = 2_000_000_000_000_000_000


def noted(**more: object) -> dict[str, object]:
    """Return what a verdict says of a manifest of two inputs."""
    inputs = columns_of({"lib/a": (STAMP, "d1"), "/elsewhere/b": (STAMP, "d2")})
    return {"written_ns": LATER_NS, "inputs": inputs, **more}


@pytest.fixture(autouse=True)
def trusted(monkeypatch: pytest.MonkeyPatch) -> dict[Stamp, str]:
    """Return what files are known to hold, nothing at first."""
    known: dict[Stamp, str] = {}
    monkeypatch.setattr(streams, "_DIGESTS", known)
    return known


def test_the_same_stamp_is_the_same_digest(trusted: dict[Stamp, str]) -> None:
    trust_noted(noted(inputs=columns_of({"lib/a": (STAMP, "d1"), "/b": (OTHER, "d2")})))
    assert trusted == {STAMP: "d1", OTHER: "d2"}


@pytest.mark.parametrize("part", range(5))
def test_another_stamp_tells_nothing(tmp_path: Path, part: int) -> None:
    path = tmp_path / "a"
    path.write_text("text")
    stamp = [*streams.file_state(path)]
    trust_noted(noted(inputs=columns_of({"a": (tuple(stamp), "d1")})))
    assert streams.file_digest(path) == "d1"
    streams._DIGESTS.clear()
    stamp[part] += 1
    trust_noted(noted(inputs=columns_of({"a": (tuple(stamp), "d1")})))
    assert streams.file_digest(path) == blake3_hex(b"text")


def test_a_file_that_was_young_when_it_was_noted_is_not_trusted(trusted: dict[Stamp, str]) -> None:
    """It may have been altered in the same step of the clock."""
    trust_noted(noted(written_ns=STAMP[1] + 1_000_000))
    assert trusted == {}


@pytest.mark.parametrize(
    "odd",
    [
        {},
        {"written_ns": LATER_NS},
        noted(inputs=None),
        noted(inputs=3),
        noted(inputs={}),
        noted(inputs={"names": ["lib/a"], "stamps": [1], "digests": ["d1"]}),
        noted(written_ns="now"),
        noted(written_ns=None),
        noted(written_ns=float("inf")),
    ],
)
def test_what_is_of_another_form_knows_nothing(odd: dict, trusted: dict[Stamp, str]) -> None:
    trust_noted(odd)
    assert trusted == {}


def test_a_verdict_without_a_manifest_notes_nothing(tmp_path: Path) -> None:
    assert judge(str(tmp_path), {"front": "test"}, {}).noted == {}
