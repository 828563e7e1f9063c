"""A sparse 64-bit address space: every buffer is a region of its own between red zones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from netra_build.checkasm.model.arrays import Array, ByteViews
from netra_build.checkasm.model.findings import KERNARG_OVER_READ, OUT_OF_BOUNDS

RED_ZONE_BYTES = 1 << 32
"""Distance left free around every region, so that a wrong 32-bit offset hits no other region."""

CODE_BASE = 0x7D00_0000_0000
"""Where the code object is loaded; program counters count from here."""

FIRST_BASE = 0x7E00_0000_0000
ALIGNMENT = 256


@dataclass
class Region:
    """One buffer. ``data`` is uint8 and a view of the caller's array until the first store."""

    name: str
    base: int
    data: Array
    readable_bytes: int
    """Bytes that may be read; bytes behind them, up to the size of ``data``, are junk."""
    writable: bool = True
    is_private: bool = False
    """True once ``data`` is our own copy."""
    origin: Array | None = None
    """The caller's array, to identify it."""

    def __post_init__(self) -> None:
        self.views = ByteViews(self.data)

    @property
    def end(self) -> int:
        """Address behind the last byte."""
        return self.base + self.data.size

    def own(self) -> ByteViews:
        """Return ``data`` for writing; the caller's array is copied before the first store."""
        if not self.is_private:
            self.data, self.is_private = self.data.copy(), True
            self.views = ByteViews(self.data)
        return self.views


Report = Callable[[str, Array, str], None]
"""Takes a kind of finding, a bool[...] mask of bad elements and a sentence about the first."""


class AddressSpace:
    """All regions of a launch, found by address."""

    def __init__(self) -> None:
        self.regions: list[Region] = []
        self._bases: list[int] = []
        self._next = FIRST_BASE

    def place(self, name: str, data: Array, *, readable: int, writable: bool) -> Region:
        """Map uint8 ``data`` across a 4 GiB boundary, which makes lost carries visible.

        The boundary lies at an odd part of the buffer, so that it cuts a row or a tile: then
        carries matter in every step of a pointer through it, not only at its start. A buffer too
        small to be cut lies in front of it: no base has a low half of zero, with which a missing
        addition would have no effect.
        """
        before = min(data.size * 5 // 11, 1 << 31) // ALIGNMENT * ALIGNMENT or ALIGNMENT
        base = (self._next + 2 * RED_ZONE_BYTES) // RED_ZONE_BYTES * RED_ZONE_BYTES - before
        region = Region(name, base, data, readable, writable)
        self._next = base + data.size + RED_ZONE_BYTES
        self.regions.append(region)
        self._bases.append(base)
        return region

    def place_at(self, name: str, base: int, data: Array) -> Region:
        """Map read-only ``data`` at a fixed address below all other regions."""
        region = Region(name, base, data, data.size, writable=False)
        self.regions.insert(0, region)
        self._bases.insert(0, base)
        return region

    def find(self, address: int) -> Region | None:
        """Return the region that holds ``address``, or None."""
        at = bisect_right(self._bases, address) - 1
        if at >= 0 and address < self.regions[at].end:
            return self.regions[at]
        return None

    def nearest(self, address: int) -> str:
        """Describe ``address`` against the region that is closest to it."""
        best = ""
        distance = 1 << 64
        for region in self.regions:
            if address < region.base:
                gap, text = region.base - address, f"before the start of {region.name}"
            else:
                gap, text = address - region.end, f"past the end of {region.name}"
            if gap < distance:
                distance, best = gap, f"{gap} bytes {text} ({region.data.size} bytes)"
        return f"address {address:#x} is {best or 'in no buffer'}"

    # Addresses of the form start + lanes, as nearly all are

    def load(self, start: Array, lanes: Array, active: Array, width: int, report: Report) -> Array:
        """Load like ``gather`` at uint64[n, 1] ``start`` + unsigned [n, 64] ``lanes``.

        Elements that are not active may hold anything.
        """
        region, end = self._holder(start, lanes, width)
        if region is None or end > region.base + region.readable_bytes:
            return self.gather(start + lanes, active, width, report)
        offset = (start - np.uint64(region.base) + lanes).view(np.int64)
        return region.views.load(offset, width)

    def store(
        self, start: Array, lanes: Array, active: Array, values: Array, width: int, report: Report
    ) -> None:
        """Store like ``scatter`` at uint64[n, 1] ``start`` + unsigned [n, 64] ``lanes``."""
        region, end = self._holder(start, lanes, width)
        if region is None or end > region.end or not region.writable or not active.any():
            self.scatter(start + lanes, active, values, width, report)
            return
        offset = (start - np.uint64(region.base) + lanes).view(np.int64)
        if not active.all():
            offset, values = offset[active], values[:, active]
        region.own().store(offset, values, width)

    def _holder(self, start: Array, lanes: Array, width: int) -> tuple[Region | None, int]:
        """Return the region of the lowest address and the highest end of the access.

        Both count lanes that are switched off as well.
        """
        first, last = _bounds(start)
        nearest, farthest = _bounds(lanes)
        return self.find(first + nearest), last + farthest + width

    # Any addresses

    def gather(self, address: Array, active: Array, width: int, report: Report) -> Array:
        """Load ``width`` bytes (1, 2, or dwords) per element of uint64 ``address``.

        Returns uint32[dwords, *shape]; zero for elements that are inactive or out of bounds.
        """
        pieces = self._by_region(address, active, width, report)
        if len(pieces) == 1 and pieces[0][1] is active and active.all():
            return _load_region(pieces[0][0], address, active, width, report)
        result = np.zeros((max(1, width // 4), *address.shape), np.uint32)
        for region, mask in pieces:
            inside = np.where(mask, address, np.uint64(region.base))
            loaded = _load_region(region, inside, mask, width, report)
            np.copyto(result, loaded, where=mask)
        return result

    def scatter(
        self, address: Array, active: Array, values: Array, width: int, report: Report
    ) -> None:
        """Store ``width`` bytes per active element from uint32[dwords, *shape] ``values``."""
        for region, mask in self._by_region(address, active, width, report):
            if not region.writable:
                report(OUT_OF_BOUNDS, mask, f"store to the read-only {region.name}")
                continue
            offset = (address[mask] - np.uint64(region.base)).astype(np.int64)
            region.own().store(offset, values[:, mask], width)

    def _by_region(
        self, address: Array, active: Array, width: int, report: Report
    ) -> list[tuple[Region, Array]]:
        """Split the active elements by region; elements outside every region are reported."""
        chosen = address if active.all() else address[active]
        if not chosen.size:
            return []
        low, high = _bounds(chosen)
        region = self.find(low)
        if region is not None and high + width <= region.end:
            return [(region, active)]
        result, left = [], active.copy()
        for region in self.regions:
            # A region may end at the top of the address space, so compare offsets instead.
            offset = address - np.uint64(region.base)
            inside = left & (address >= np.uint64(region.base))
            inside &= offset.astype(np.uint64) <= np.uint64(max(region.data.size - width, 0))
            if region.data.size >= width and inside.any():
                result.append((region, inside))
                left &= ~inside
        if left.any():
            report(OUT_OF_BOUNDS, left, self.nearest(int(address[left].flat[0])))
        return result


def _bounds(values: Array) -> tuple[int, int]:
    low, high = np.minimum.reduce(values, axis=None), np.maximum.reduce(values, axis=None)
    return int(low), int(high)


def _load_region(region: Region, address: Array, mask: Array, width: int, report: Report) -> Array:
    offset = (address - np.uint64(region.base)).view(np.int64)
    if region.readable_bytes != region.data.size:
        bad = (offset + width > region.readable_bytes) & mask
        if bad.any():
            report(KERNARG_OVER_READ, bad, f"read behind the last byte of {region.name}")
    return region.views.load(offset, width)
