"""Align two sequences: items common to both, in order, and the stretches between them.

Equal ends are taken off; then items, or runs of items, that occur once on each side are anchors
(the longest ascending chain of them), and what lies between anchors is aligned in the same way;
a stretch without anchors gets the exact shortest edit when that is short. The work is bounded by
a multiple of the length, after which a stretch counts as replaced whole.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass

RUNS = (1, 4, 16)
MAX_EDITS = 400
WORK_PER_ITEM = 64
LEAST_WORK = 1 << 20

Pair = tuple[int, int]
_Span = tuple[int, int, int, int]
_Run = tuple["_Run | None", range, int]
"""The run before, its places in the old sequence, and the diagonal that it lies on."""


@dataclass(frozen=True)
class Hunk:
    """A difference: indices of the old sequence that are replaced by indices of the new one."""

    old: range
    new: range


def matched_pairs(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Pair]:
    """Return the indices (old, new) of equal items, ascending on both sides."""
    number_by_item: dict[Hashable, int] = {}
    ours = [number_by_item.setdefault(item, len(number_by_item)) for item in old]
    theirs = [number_by_item.setdefault(item, len(number_by_item)) for item in new]
    return _Alignment(ours, theirs).run()


def hunks_between(pairs: Iterable[Pair], old_length: int, new_length: int) -> list[Hunk]:
    """Return the stretches without pairs, in order."""
    hunks = []
    i = j = 0
    for old, new in [*pairs, (old_length, new_length)]:
        if old > i or new > j:
            hunks.append(Hunk(range(i, old), range(j, new)))
        i, j = old + 1, new + 1
    return hunks


def hunks(old: Sequence[Hashable], new: Sequence[Hashable]) -> list[Hunk]:
    """Return the differences between two sequences, in order; none when they are equal."""
    return hunks_between(matched_pairs(old, new), len(old), len(new))


class _Alignment:
    """Two sequences of small numbers, the pairs found so far, and the work that is left."""

    def __init__(self, old: list[int], new: list[int]) -> None:
        self.old, self.new = old, new
        self.pairs: list[Pair] = []
        self.work = LEAST_WORK + WORK_PER_ITEM * (len(old) + len(new))

    def run(self) -> list[Pair]:
        """Align everything and return the pairs in order."""
        spans: list[_Span] = [(0, len(self.old), 0, len(self.new))]
        while spans:
            i, i_end, j, j_end = self._trimmed(spans.pop())
            self.work -= i_end - i + j_end - j
            if i == i_end or j == j_end or self.work < 0:
                continue
            span = (i, i_end, j, j_end)
            anchors = self._anchors(span)
            if anchors is None:
                self.pairs += self._shortest(span)
                continue
            self.pairs += anchors
            for old, new in anchors:
                spans.append((i, old, j, new))
                i, j = old + 1, new + 1
            spans.append((i, i_end, j, j_end))
        return sorted(self.pairs)

    def _trimmed(self, span: _Span) -> _Span:
        """Pair equal items at both ends of a span and return what is left."""
        i, i_end, j, j_end = span
        old, new, pairs = self.old, self.new, self.pairs
        while i < i_end and j < j_end and old[i] == new[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        while i < i_end and j < j_end and old[i_end - 1] == new[j_end - 1]:
            i_end, j_end = i_end - 1, j_end - 1
            pairs.append((i_end, j_end))
        return i, i_end, j, j_end

    def _anchors(self, span: _Span) -> list[Pair] | None:
        """Return the longest ascending chain of runs that occur once on each side."""
        i, i_end, j, j_end = span
        for size in RUNS:
            ours = _single_places(self.old, i, i_end, size)
            theirs = _single_places(self.new, j, j_end, size)
            shared = [(at, theirs[run]) for run, at in ours.items() if run in theirs]
            if shared:
                return _ascending(sorted(shared))
        return None

    def _shortest(self, span: _Span) -> list[Pair]:
        """Return the pairs of the shortest edit, or none if it takes too many edits."""
        i, i_end, j, j_end = span
        n, m = i_end - i, j_end - j
        # How far each diagonal was followed, and the last run of equal items on the way there.
        reach: dict[int, tuple[int, _Run | None]] = {1: (0, None)}
        for edits in range(min(n + m, MAX_EDITS) + 1):
            self.work -= edits
            if self.work < 0:
                return []
            for k in range(-edits, edits + 1, 2):
                is_down = k == -edits or (k != edits and reach[k - 1][0] < reach[k + 1][0])
                x, run = reach[k + 1] if is_down else reach[k - 1]
                start = x if is_down else x + 1
                x = self._slide(i, j, start, k, n, m)
                run = (run, range(start, x), k) if x > start else run
                reach[k] = x, run
                if x >= n and x - k >= m:
                    return [(i + at, j + at - k) for places, k in _runs(run) for at in places]
        return []

    def _slide(self, i: int, j: int, x: int, k: int, n: int, m: int) -> int:
        """Return how far equal items lead along a diagonal."""
        start = x
        while x < n and x - k < m and self.old[i + x] == self.new[j + x - k]:
            x += 1
        self.work -= x - start
        return x


def _runs(run: _Run | None) -> Iterator[tuple[range, int]]:
    """Yield places and diagonal of the runs of equal items on a way, the last first."""
    while run is not None:
        run, places, k = run
        yield places, k


def _single_places(items: list[int], start: int, end: int, size: int) -> dict[Hashable, int]:
    """Return where each run of ``size`` items starts that occurs once in the span."""
    places: dict[Hashable, int] = {}
    repeated: set[Hashable] = set()
    for at in range(start, end - size + 1):
        run: Hashable = items[at] if size == 1 else tuple(items[at : at + size])
        if run in places:
            repeated.add(run)
        places[run] = at
    return {run: at for run, at in places.items() if run not in repeated}


def _ascending(pairs: list[Pair]) -> list[Pair]:
    """Return the longest chain of pairs, sorted by their first index, that ascends in both."""
    ends: list[int] = []
    last: list[int] = []
    before: list[int] = []
    for index, (_, new) in enumerate(pairs):
        length = bisect_left(ends, new)
        before.append(last[length - 1] if length else -1)
        if length == len(ends):
            ends.append(new)
            last.append(index)
        else:
            ends[length], last[length] = new, index
    chain = []
    index = last[-1]
    while index >= 0:
        chain.append(pairs[index])
        index = before[index]
    return chain[::-1]
