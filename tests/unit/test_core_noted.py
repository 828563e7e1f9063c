"""A digest on file stands in for reading a file exactly when the file's stamp vouches for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from netra_build.build.freshness.finished import NotedDigests
from netra_build.build.freshness.up_to_date import judge
from netra_build.core.stamps import columns_of

STAMP = (3, 1_000_000_000_000_000_001, 1_000_000_000_000_000_001, 7, 9)
LATER_NS = 2_000_000_000_000_000_000


def noted(**more: object) -> dict[str, object]:
    """Return what a verdict says of a manifest of two inputs."""
    inputs = columns_of({"lib/a": (STAMP, "d1"), "/elsewhere/b": (STAMP, "d2")})
    return {"base": "/here/", "written_ns": LATER_NS, "inputs": inputs, **more}


def test_the_same_stamp_is_the_same_digest() -> None:
    digests = NotedDigests(noted())
    assert digests.digest("/here/lib/a", STAMP) == "d1"
    assert digests.digest("/elsewhere/b", STAMP) == "d2"
    assert digests.digest("/here/lib/c", STAMP) is None


@pytest.mark.parametrize("part", range(5))
def test_another_stamp_tells_nothing(part: int) -> None:
    stamp = [*STAMP]
    stamp[part] += 1
    assert NotedDigests(noted()).digest("/here/lib/a", tuple(stamp)) is None


def test_a_file_that_was_young_when_it_was_noted_is_not_trusted() -> None:
    """It may have been altered in the same step of the clock."""
    young = NotedDigests(noted(written_ns=STAMP[1] + 1_000_000))
    assert young.digest("/here/lib/a", STAMP) is None


@pytest.mark.parametrize(
    "odd",
    [
        None,
        {},
        {"base": "/here/"},
        noted(inputs=None),
        noted(inputs=3),
        noted(inputs={}),
        noted(inputs={"names": ["lib/a"], "stamps": [1], "digests": ["d1"]}),
        noted(written_ns="now"),
        noted(written_ns=None),
        noted(written_ns=float("inf")),
    ],
)
def test_what_is_of_another_form_knows_nothing(odd: dict | None) -> None:
    assert NotedDigests(odd).digest("/here/lib/a", STAMP) is None


def test_a_verdict_without_a_manifest_notes_nothing(tmp_path: Path) -> None:
    assert judge(str(tmp_path), {"front": "test"}, {}).noted == {}
