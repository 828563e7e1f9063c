"""Place buffers in one workspace: the published first fit, and better placements on request."""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Callable, Sequence

from netra_build.core.errors import BadInput
from netra_build.formats.fields import first_repeated
from netra_build.formats.plan import (
    WORKSPACE_ALIGNMENT,
    BufferRequest,
    MemoryPlan,
    PlacedBuffer,
)
from netra_build.formats.vocabulary import UINT64_MAX

MAX_SEARCHED = 2000
"""More buffers than this are placed by first use only: the other orders are quadratic."""
MAX_ROUNDS, MAX_PLACED = 40, 8_000
"""How often one order is improved, and how many buffers are placed for it."""


def plan_memory(
    requests: Sequence[BufferRequest], location: str, placement: str = "first_use"
) -> MemoryPlan:
    """Return offsets for all requests; raise ``BadInput`` for unusable requests.

    ``first_use`` is the published placement: by (first use, name), each buffer at the lowest
    offset that is free during its life. ``best`` also tries by size and by life time and keeps
    the smallest workspace.
    """
    _check_requests(requests, location)
    normal = [item for item in requests if item.alias_of is None]
    placed = _by_first_use(normal)
    if placement == "best" and 0 < len(normal) <= MAX_SEARCHED:
        tries = [placed, *(_improved(normal, key) for key in _ORDERS)]
        placed = min(tries, key=lambda offsets: _high_water(normal, offsets))
    end = _high_water(normal, placed)
    if end > UINT64_MAX:
        raise BadInput("workspace does not fit 64 bits", location=location)
    _place_aliases(requests, placed, location)
    ordered = sorted(requests, key=lambda item: item.name)
    buffers = tuple(PlacedBuffer(item, placed[item.name]) for item in ordered)
    return MemoryPlan(_align(end, WORKSPACE_ALIGNMENT), buffers)


def lower_bound(requests: Sequence[BufferRequest]) -> int:
    """Return the most bytes in use at the same time, the minimum of any placement."""
    change: dict[int, int] = {}
    for item in requests:
        if item.alias_of is None:
            change[item.first_use] = change.get(item.first_use, 0) + item.size
            change[item.last_use + 1] = change.get(item.last_use + 1, 0) - item.size
    live = peak = 0
    for index in sorted(change):
        live += change[index]
        peak = max(peak, live)
    return peak


_ORDERS: tuple[Callable[[BufferRequest], tuple[int, int, str]], ...] = (
    lambda item: (-item.size, item.first_use, item.name),
    lambda item: (item.first_use - item.last_use, -item.size, item.name),
    lambda item: (-item.size * (item.last_use - item.first_use + 1), item.first_use, item.name),
    lambda item: (-item.last_use, -item.size, item.name),
)
"""By size, by life time, by both, and from the end."""


def _align(offset: int, alignment: int) -> int:
    return (offset + alignment - 1) & -alignment


def _high_water(requests: Sequence[BufferRequest], offsets: dict[str, int]) -> int:
    return max((offsets[item.name] + item.size for item in requests), default=0)


def _check_requests(requests: Sequence[BufferRequest], location: str) -> None:
    twice = first_repeated(item.name for item in requests)
    if twice is not None:
        raise BadInput(f'two memory buffers are named "{twice}"', location=location)
    for item in requests:
        if item.alignment < 1 or item.alignment & (item.alignment - 1):
            raise BadInput(
                f'alignment of memory buffer "{item.name}" is not a power of two',
                location=location,
            )
        if not 0 < item.size <= UINT64_MAX or not 0 <= item.first_use <= item.last_use:
            raise BadInput(f'memory buffer "{item.name}" is not usable', location=location)


def _place_aliases(
    requests: Sequence[BufferRequest], offsets: dict[str, int], location: str
) -> None:
    by_name = {item.name: item for item in requests}
    for item in requests:
        if item.alias_of is None:
            continue
        target = by_name.get(item.alias_of)
        usable = (
            target is not None
            and target.alias_of is None
            and target.size >= item.size
            and not offsets[target.name] % item.alignment
        )
        if not usable or target is None:
            raise BadInput(f'memory buffer "{item.name}" is an illegal alias', location=location)
        offsets[item.name] = offsets[target.name]


def _improved(
    requests: Sequence[BufferRequest], key: Callable[[BufferRequest], tuple[int, int, str]]
) -> dict[str, int]:
    """Place by one order, then again with the buffers at the top moved forward, a few times."""
    order = sorted(requests, key=key)
    best = _in_order(order)
    bound = lower_bound(requests)
    offsets = best
    for _ in range(min(MAX_ROUNDS, MAX_PLACED // len(order))):
        end = _high_water(order, offsets)
        if end <= bound:
            break
        near = end - end // 1000
        top = [i for i, item in enumerate(order) if offsets[item.name] + item.size >= near]
        for index in top:
            order.insert(index // 2, order.pop(index))
        offsets = _in_order(order)
        if _high_water(order, offsets) < _high_water(order, best):
            best = offsets
    return best


def _in_order(order: Sequence[BufferRequest]) -> dict[str, int]:
    """Place one after another: lowest offset free of every buffer with an overlapping life."""
    placed: list[tuple[int, int, int, int]] = []
    offsets: dict[str, int] = {}
    for item in order:
        offset = 0
        for start, end, first, last in placed:
            if last < item.first_use or item.last_use < first:
                continue
            if offset + item.size <= start:
                break
            offset = max(offset, _align(end, item.alignment))
        offsets[item.name] = offset
        insort(placed, (offset, offset + item.size, item.first_use, item.last_use))
    return offsets


def _by_first_use(requests: Sequence[BufferRequest]) -> dict[str, int]:
    """Place by (first use, name): an allocator that frees what ended before each first use."""
    gaps = _Gaps()
    ending: list[tuple[int, int, int]] = []
    offsets: dict[str, int] = {}
    for item in sorted(requests, key=lambda item: (item.first_use, item.name)):
        while ending and ending[0][0] < item.first_use:
            _, start, end = heapq.heappop(ending)
            gaps.free(start, end)
        offset = gaps.take(item.size, item.alignment)
        offsets[item.name] = offset
        heapq.heappush(ending, (item.last_use, offset, offset + item.size))
    return offsets


class _Gaps:
    """Free gaps by address, in blocks with their widest gap; the last gap has no end."""

    BLOCK = 128

    def __init__(self) -> None:
        self.blocks = [[(0, 1 << 80)]]
        self.widest = [1 << 80]

    def take(self, size: int, alignment: int) -> int:
        """Return the lowest aligned offset with ``size`` free bytes and mark them used."""
        for number, widest in enumerate(self.widest):
            if widest < size:
                continue
            for index, (start, end) in enumerate(self.blocks[number]):
                offset = _align(start, alignment)
                if offset + size <= end:
                    rest = ((start, offset), (offset + size, end))
                    self._put(number, index, index + 1, [gap for gap in rest if gap[0] < gap[1]])
                    return offset
        raise AssertionError("the last gap has no end")

    def free(self, start: int, end: int) -> None:
        """Return bytes, joined with the gaps beside them."""
        number = max(0, bisect_right(self.blocks, [(start, end)]) - 1)
        block = self.blocks[number]
        first = last = bisect_left(block, (start, end))
        if last == len(block) and self.blocks[number + 1][0][0] == end:
            end = self.blocks[number + 1][0][1]
            self._put(number + 1, 0, 1, [])
        elif last < len(block) and block[last][0] == end:
            end = block[last][1]
            last += 1
        if first and block[first - 1][1] == start:
            first -= 1
            start = block[first][0]
        self._put(number, first, last, [(start, end)])

    def _put(self, number: int, first: int, last: int, gaps: list[tuple[int, int]]) -> None:
        """Put ``gaps`` where some of a block were; halve one that grows, drop one without any."""
        block = self.blocks[number]
        block[first:last] = gaps
        half = len(block) // 2 if len(block) > self.BLOCK else 0
        parts = [part for part in (block[:half], block[half:]) if part]
        self.blocks[number : number + 1] = parts
        self.widest[number : number + 1] = [max(e - s for s, e in part) for part in parts]
