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
    normal = [item for item in requests if item.alias_of is None and not item.persistent]
    placed = _by_first_use(normal)
    if placement == "best" and 0 < len(normal) <= MAX_SEARCHED:
        tries = [placed, *(_improved(normal, key) for key in _ORDERS)]
        placed = min(tries, key=lambda offsets: _high_water(normal, offsets))
    end = _high_water(normal, placed)
    if end > UINT64_MAX:
        raise BadInput("workspace does not fit 64 bits", location=location)
    offsets: dict[str, int | None] = dict(placed)
    _place_aliases(requests, offsets, location)
    buffers = tuple(
        PlacedBuffer(item, offsets.get(item.name))
        for item in sorted(requests, key=lambda item: item.name)
    )
    return MemoryPlan(_align(end, WORKSPACE_ALIGNMENT), buffers)


def lower_bound(requests: Sequence[BufferRequest]) -> int:
    """Return the most bytes in use at the same time, the minimum of any placement."""
    change: dict[int, int] = {}
    for item in requests:
        if item.alias_of is None and not item.persistent:
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
    requests: Sequence[BufferRequest], offsets: dict[str, int | None], location: str
) -> None:
    by_name = {item.name: item for item in requests}
    for item in requests:
        if item.alias_of is None:
            continue
        target = by_name.get(item.alias_of)
        usable = (
            target is not None
            and not target.persistent
            and target.alias_of is None
            and target.size >= item.size
            and not (offsets[target.name] or 0) % item.alignment
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
    space = _Space()
    ending: list[tuple[int, int, int]] = []
    offsets: dict[str, int] = {}
    for item in sorted(requests, key=lambda item: (item.first_use, item.name)):
        while ending and ending[0][0] < item.first_use:
            _, start, end = heapq.heappop(ending)
            space.free(start, end)
        offset = space.take(item.size, item.alignment)
        offsets[item.name] = offset
        heapq.heappush(ending, (item.last_use, offset, offset + item.size))
    return offsets


class _Space:
    """Free gaps by address, in blocks with their widest gap; the last gap is unbounded."""

    BLOCK = 256

    def __init__(self) -> None:
        self.blocks: list[list[int]] = [[0]]
        self.heads = [0]
        self.end_by_start: dict[int, int] = {0: 1 << 80}
        self.start_by_end: dict[int, int] = {1 << 80: 0}
        self.widest = [1 << 80]

    def take(self, size: int, alignment: int) -> int:
        """Return the lowest aligned offset with ``size`` free bytes and mark them used."""
        for number, widest in enumerate(self.widest):
            if widest < size:
                continue
            for start in self.blocks[number]:
                offset = _align(start, alignment)
                end = self.end_by_start[start]
                if offset + size <= end:
                    self._remove(start)
                    if start < offset:
                        self._add(start, offset)
                    if offset + size < end:
                        self._add(offset + size, end)
                    return offset
        raise AssertionError("the last gap has no end")

    def free(self, start: int, end: int) -> None:
        """Return bytes, joined with the gaps beside them."""
        before = self.start_by_end.get(start)
        if before is not None:
            self._remove(before)
            start = before
        after = self.end_by_start.get(end)
        if after is not None:
            self._remove(end)
            end = after
        self._add(start, end)

    def _number(self, start: int) -> int:
        return max(0, bisect_right(self.heads, start) - 1)

    def _add(self, start: int, end: int) -> None:
        self.end_by_start[start] = end
        self.start_by_end[end] = start
        if not self.blocks:
            self.blocks, self.heads, self.widest = [[start]], [start], [end - start]
            return
        number = self._number(start)
        block = self.blocks[number]
        insort(block, start)
        if len(block) > self.BLOCK:
            half = len(block) // 2
            self.blocks[number : number + 1] = [block[:half], block[half:]]
            self.heads[number : number + 1] = [block[0], block[half]]
            self.widest[number : number + 1] = [
                self._width(block[:half]),
                self._width(block[half:]),
            ]
        else:
            self.heads[number] = block[0]
            self.widest[number] = max(self.widest[number], end - start)

    def _remove(self, start: int) -> None:
        number = self._number(start)
        block = self.blocks[number]
        width = self.end_by_start[start] - start
        del block[bisect_left(block, start)]
        del self.start_by_end[self.end_by_start.pop(start)]
        if not block:
            del self.blocks[number], self.heads[number], self.widest[number]
            return
        self.heads[number] = block[0]
        if width == self.widest[number]:
            self.widest[number] = self._width(block)

    def _width(self, block: list[int]) -> int:
        return max(self.end_by_start[start] - start for start in block)
