"""Alignment of sequences: against a plain longest common subsequence, and on long inputs."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netra_build.inspect.diff import sequence as difference_sequence
from netra_build.inspect.diff.sequence import Hunk, hunks, matched_pairs

SMALL = st.lists(st.integers(0, 3), max_size=14)


def longest_common(old: list[int], new: list[int]) -> int:
    """Return the length of the longest common subsequence, by the textbook table."""
    table = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for i, one in enumerate(old):
        for j, other in enumerate(new):
            table[i + 1][j + 1] = (
                table[i][j] + 1 if one == other else max(table[i][j + 1], table[i + 1][j])
            )
    return table[-1][-1]


def is_alignment(old: list[int], new: list[int], pairs: list[tuple[int, int]]) -> bool:
    ascends = all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(pairs))
    return ascends and all(old[i] == new[j] for i, j in pairs)


@given(SMALL, SMALL)
def test_every_pair_is_equal_and_the_pairs_ascend(old, new):
    assert is_alignment(old, new, matched_pairs(old, new))


@given(SMALL, SMALL)
def test_without_anchors_the_alignment_is_the_longest(old, new):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(difference_sequence, "RUNS", ())
        pairs = matched_pairs(old, new)
    assert is_alignment(old, new, pairs)
    assert len(pairs) == longest_common(old, new)


@given(SMALL, SMALL)
def test_hunks_turn_the_old_into_the_new(old, new):
    made, at = [], 0
    for hunk in hunks(old, new):
        made += old[at : hunk.old.start] + new[hunk.new.start : hunk.new.stop]
        at = hunk.old.stop
    assert made + old[at:] == new


@given(st.lists(st.integers(0, 50), max_size=60), st.data())
def test_one_insertion_is_one_hunk(items, data):
    at = data.draw(st.integers(0, len(items)))
    (hunk,) = hunks(items, [*items[:at], "new", *items[at:]])
    assert (hunk.old, hunk.new) == (range(at, at), range(at, at + 1))


def test_equal_sequences_have_no_hunk():
    assert hunks("abcabc", "abcabc") == []
    assert hunks("", "") == []


def test_small_differences_by_hand():
    assert hunks("abcd", "abxd") == [Hunk(range(2, 3), range(2, 3))]
    assert hunks("abcd", "bcde") == [
        Hunk(range(1), range(0)),
        Hunk(range(4, 4), range(3, 4)),
    ]
    assert hunks("", "ab") == [Hunk(range(0), range(2))]


class Counted:
    """Counts how often items are compared or hashed."""

    count = 0

    def __init__(self, value: int) -> None:
        self.value = value

    def __hash__(self) -> int:
        Counted.count += 1
        return hash(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Counted) and self.value == other.value


def long_case(kind: str, size: int) -> tuple[list[int], list[int]]:
    old = {
        "period": [i % 100 for i in range(size)],
        "two": [i * i // 7 % 2 for i in range(size)],
        "rising": list(range(size)),
    }[kind]
    return old, [*old[: size // 3], -1, *old[size // 3 + 1 :], -2]


@pytest.mark.parametrize("kind", ["period", "two", "rising"])
def test_long_sequences_with_few_edits_are_aligned_exactly(kind):
    old, new = long_case(kind, 30_000)
    assert hunks(old, new) == [
        Hunk(range(10_000, 10_001), range(10_000, 10_001)),
        Hunk(range(30_000, 30_000), range(30_000, 30_001)),
    ]


def test_items_are_looked_at_once_each():
    old, new = ([Counted(value) for value in side] for side in long_case("two", 4000))
    Counted.count = 0
    hunks(old, new)
    assert Counted.count <= 2 * (len(old) + len(new))


def work_left(old: list[int], new: list[int]) -> tuple[int, int]:
    """Return how much work an alignment may do and how much it has left."""
    alignment = difference_sequence._Alignment(old, new)
    allowed = alignment.work
    alignment.run()
    return allowed, alignment.work


def test_the_work_is_bounded_for_sequences_that_share_no_order():
    """Nothing occurs once, and the shortest edit is long: the stretch is given up in time."""
    size = 20_000
    old = [i * 7919 % 97 for i in range(size)]
    new = [i * 104_729 % 89 for i in range(size)]
    allowed, left = work_left(old, new)
    assert left > -(size * 4)
    assert is_alignment(old, new, matched_pairs(old, new))
    allowed, left = work_left(*long_case("rising", size))
    assert allowed - left < 4 * size
