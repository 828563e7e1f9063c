"""LDS: its bytes, who wrote and read each of them last, and the races found from that.

Every granule (16, 4 or 1 bytes, as fine as the accesses need) has a write tag and a read tag:
``epoch << 7 | atomic << 6 | in flight << 5 | wave + 1``, where the epoch counts the barriers
of the work-group. Two wavefronts that touch one granule in one epoch, at least one of them writing,
race. Tag zero means never written.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from netra_build.checkasm.model.arrays import LANES, Array, ByteViews, first_true
from netra_build.checkasm.model.findings import (
    LDS_OUT_OF_BOUNDS,
    LDS_RACE,
    MEMORY_FAULT,
    MISSING_WAIT,
    UNINITIALISED_LDS,
)
from netra_build.checkasm.model.memory import Report
from netra_build.checkasm.model.scoreboard import Pending, Scoreboard, Touched

LDS_BUDGET = 160 * 1024
"""Bytes of work-group memory that one work-group may use on gfx950."""

EPOCH_SHIFT = np.uint32(7)
ATOMIC, IN_FLIGHT, SEVERAL = np.uint32(64), np.uint32(32), np.uint32(31)
"""Reader or atomic writer in a tag that stands for more than one wavefront."""
EPOCH_MASK = ~np.uint32(127)
COARSEST = 16


class Waves(Protocol):
    """Wavefronts in lock step, as memory sees them: their numbers, and what they have issued."""

    wave: Array
    workgroup: Array
    board: Scoreboard


@dataclass(frozen=True)
class Access:
    """The bytes that one instruction touches, ``width`` per lane."""

    width: int
    asked: Array
    """int64[n, 64]: the first byte per lane."""
    index: Array | None
    """int64[k]: the lanes, of all in a row, that are switched on and in bounds; None for all."""
    place: Array
    """The first byte of those lanes: int64[k], or [n, 64] for all."""
    mine: Array
    """The tag of their wavefronts: uint32 in the shape of ``place``."""
    epoch: int
    """The lowest tag that the epochs of the wavefronts give."""
    report: Report
    stride: int

    def chosen(self, values: Array) -> Array:
        """Return the elements of [..., n, 64] for those lanes: [..., k], or all as they are."""
        if self.index is None:
            return values
        return values.reshape(*values.shape[:-2], -1).take(self.index, axis=-1)

    def spread(self, values: Array) -> Array:
        """Return [..., k] as [..., n, 64], zero for the other lanes."""
        if self.index is None:
            return values
        result = np.zeros((*values.shape[:-1], *self.asked.shape), values.dtype)
        result.reshape(*values.shape[:-1], -1)[..., self.index] = values
        return result

    def say(self, kind: str, bad: Array, detail: str) -> None:
        """Report lanes; the detail follows the number of the first byte."""
        lanes = self.spread(bad)
        byte = int(self.asked[first_true(lanes)]) % max(self.stride, 1)
        self.report(kind, lanes, f"LDS byte {byte} {detail}")


class LocalStore:
    """LDS of a batch of work-groups. ``size`` is bytes per work-group."""

    def __init__(self, workgroups: int, size: int, waves: int, *, races: bool, unset: bool) -> None:
        self.size = size
        self.stride = (size + COARSEST - 1) // COARSEST * COARSEST
        data = np.zeros(max(workgroups * self.stride, COARSEST), np.uint8)
        self.bytes = ByteViews(data)
        self.granule = COARSEST
        self.written = np.zeros(data.size // COARSEST, np.uint32)
        self.read = np.zeros_like(self.written)
        self.epoch = np.ones(workgroups, np.uint32)
        self.waves = waves
        self.races = races
        self.unset = unset
        self.direct_loads = self.has_atomics = False

    @property
    def tracks_readers(self) -> bool:
        """True when another wavefront could write what one has read."""
        return self.races and (self.waves > 1 or self.direct_loads)

    # Access

    def places(self, g: Waves, address: Array) -> Array:
        """Return the flat byte position of uint32[n, 64] ``address``: int64[n, 64]."""
        return (g.workgroup * self.stride)[:, None] + address

    def access(self, g: Waves, address: Array, width: int, active: Array, report: Report) -> Access:
        """Find ``width`` bytes at uint32[n, 64] ``address`` of the active lanes.

        Those beyond the end are reported and left out.
        """
        asked = self.places(g, address)
        if int(np.maximum.reduce(address, axis=None)) + width > self.size:
            outside = active & (address.astype(np.int64) + width > self.size)
            if outside.any():
                where = int(address[first_true(outside)])
                detail = f"LDS bytes {where} to {where + width - 1} of {self.size}"
                report(LDS_OUT_OF_BOUNDS, outside, detail)
                active = active & ~outside
        mine = self._mine(g)
        epoch = int(np.minimum.reduce(mine)) & int(EPOCH_MASK)
        if active.all():
            index, place = None, asked
            tags = np.empty(asked.shape, np.uint32)
            tags[:] = mine[:, None]
        else:
            index = np.flatnonzero(active)
            place, tags = asked.reshape(-1).take(index), mine.take(index // LANES)
        access = Access(width, asked, index, place, tags, epoch, report, self.stride)
        self._refine(access)
        return access

    def load(self, access: Access) -> Array:
        """Read uint32[dwords, n, 64]."""
        if self.races or self.unset:
            self._note_read(access)
        return access.spread(self.bytes.load(access.place, access.width))

    def store(self, access: Access, values: Array, *, is_direct: bool = False) -> Array:
        """Write uint32[dwords, n, 64] ``values``; returns the first byte per lane."""
        self._note_write(access, is_direct)
        self.bytes.store(access.place, access.chosen(values), access.width)
        return access.spread(access.place)

    def exchange(
        self, access: Access, combine: Callable[[Array, Array], Array], values: Array
    ) -> Array:
        """Replace memory by ``combine(memory, values)``; returns what it held before."""
        self._note_atomic(access)
        old = self.bytes.load(access.place, access.width)
        self.bytes.store(access.place, combine(old, access.chosen(values)), access.width)
        return access.spread(old)

    def _mine(self, g: Waves) -> Array:
        """Return the tag of each wavefront: uint32[n]."""
        wave = (g.wave % self.waves).astype(np.uint32)
        return (self.epoch[g.workgroup] << EPOCH_SHIFT) | (wave + np.uint32(1))

    def _refine(self, access: Access) -> None:
        """Make the granules as small as this access needs them."""
        if self.granule == 1:
            return
        place, width = access.place, access.width
        misaligned = width | int(np.bitwise_or.reduce(place, axis=None))
        while misaligned & (self.granule - 1):
            finer = 4 if self.granule == COARSEST else 1
            self.written = np.repeat(self.written, self.granule // finer)
            self.read = np.repeat(self.read, self.granule // finer)
            self.granule = finer
        if misaligned & 3 and width >= 4 and (place & 3).any():
            bad, detail = access.spread((place & 3) != 0), "LDS address is not dword aligned"
            access.report(MEMORY_FAULT, bad, detail)

    # Tags

    def _granules(self, place: Array, width: int) -> Array:
        first = place >> (self.granule.bit_length() - 1)
        steps = np.arange(max(1, width // self.granule)).reshape(-1, *(1,) * first.ndim)
        return first[None] + steps if len(steps) > 1 else first[None]

    def _note_read(self, access: Access) -> None:
        granules, mine = self._granules(access.place, access.width), access.mine
        tags = self._written_tags(access, granules, "read")
        if not self.tracks_readers:
            return
        self._check(access, tags, "read")
        before = self.read.take(granules)
        self.read[granules] = np.broadcast_to(mine, granules.shape)
        several = self.read.take(granules) != mine
        if access.epoch <= int(np.maximum.reduce(before, axis=None, initial=0)):
            several |= _same_epoch_other_user(before, mine)
        _set_some(self.read, granules, several, (mine & EPOCH_MASK) | SEVERAL)

    def _note_write(self, access: Access, is_direct: bool) -> None:
        granules = self._granules(access.place, access.width)
        self.direct_loads |= is_direct
        if self.tracks_readers:
            self._check(access, self.written.take(granules), "written")
            self._check(access, self.read.take(granules), "overwritten after a read")
        tag = access.mine | IN_FLIGHT if is_direct else access.mine
        self.written[granules] = np.broadcast_to(tag, granules.shape)
        if self.waves > 1 and self.races:
            bad = (self.written.take(granules) != tag).any(axis=0)
            if bad.any():
                access.say(LDS_RACE, bad, "is written by two waves at once")

    def _note_atomic(self, access: Access) -> None:
        """Record a read-modify-write: atomic operations of several wavefronts do not race."""
        granules, mine = self._granules(access.place, access.width), access.mine
        tags = self._written_tags(access, granules, "updated")
        several = (mine & EPOCH_MASK) | SEVERAL | ATOMIC
        self.has_atomics = True
        if self.tracks_readers:
            self._check(access, np.where(tags & ATOMIC != 0, mine, tags), "updated")
            self._check(access, self.read.take(granules), "updated after a read")
        known = (tags >> EPOCH_SHIFT == mine >> EPOCH_SHIFT) & (tags & ~ATOMIC != mine)
        after = np.where(known, several, mine | ATOMIC)
        self.written[granules] = after
        _set_some(self.written, granules, self.written.take(granules) != after, several)

    def _written_tags(self, access: Access, granules: Array, verb: str) -> Array:
        """Return the tags of the last writers; report bytes that have none."""
        tags = self.written.take(granules)
        if self.unset and not tags.all():
            bad = (tags == 0).any(axis=0)
            access.say(UNINITIALISED_LDS, bad, f"is {verb} but never written")
        return tags

    def _check(self, access: Access, tags: Array, verb: str) -> None:
        """Report the lanes whose granules another wavefront used in this epoch."""
        if access.epoch > int(np.maximum.reduce(tags, axis=None, initial=0)):
            return
        if self.has_atomics:
            tags = tags & ~ATOMIC
        bad = _same_epoch_other_user(tags, access.mine)
        if not bad.any():
            return
        own = (tags == access.mine | IN_FLIGHT) & bad
        if own.any():
            detail = f"is {verb} before the wait for the load that fills it"
            access.say(MISSING_WAIT, own.any(axis=0), detail)
        foreign = (bad & ~own).any(axis=0)
        if foreign.any():
            tag = int((tags * (bad & ~own)).max(axis=0)[foreign][0]) & 31
            who = "several waves" if tag == SEVERAL else f"wave {tag - 1}"
            access.say(LDS_RACE, foreign, f"is {verb} with no barrier since {who} used it")

    # Waits and barriers

    def retire(self, g: Waves, pending: Pending) -> None:
        """Record that a load straight to LDS has arrived."""
        touched = pending.touched
        if touched is None or not touched.is_direct:
            return
        mine = self._mine(g)[:, None] | IN_FLIGHT
        for granules, lanes in self._touched(touched, pending.lanes):
            tags = self.written[granules]
            due = (tags == mine) & lanes
            self.written[granules[due]] = (tags & ~IN_FLIGHT)[due]

    def cross_barrier(self, g: Waves) -> None:
        """Move the outstanding accesses of ``g`` into the new epoch of its work-groups.

        A barrier orders only accesses that were waited for; the others may still race.
        """
        if not self.tracks_readers:
            return
        mine = self._mine(g)[:, None]
        slots = (*g.board.ds, *g.board.vm)
        for touched, some in ((p.touched, p.lanes) for slot in slots for p in slot if p.touched):
            tag = mine | IN_FLIGHT if touched.is_direct else mine
            tags = self.written if touched.is_write else self.read
            for granules, lanes in self._touched(touched, some):
                tags[granules[:, lanes]] = np.broadcast_to(tag, granules.shape)[:, lanes]

    def _touched(self, touched: Touched, lanes: Array | None) -> Iterator[tuple[Array, Array]]:
        """Yield the granules [..., n, 64] of each place, and the lanes bool[n, 64] that count."""
        for place in touched.places:
            every = np.ones(place.shape, np.bool_) if lanes is None else lanes
            yield self._granules(place, touched.width), every


def _set_some(tags: Array, granules: Array, where: Array, tag: Array) -> None:
    """Set the tags of some granules, from one tag per lane."""
    if where.any():
        tags[granules[where]] = np.broadcast_to(tag, where.shape)[where]


def _same_epoch_other_user(tags: Array, mine: Array) -> Array:
    """Tell where two tags have the same epoch, but differ in the bits below it."""
    difference: Array = tags ^ mine
    # No difference becomes the largest number.
    difference -= np.uint32(1)
    return np.less(difference, (np.uint32(1) << EPOCH_SHIFT) - np.uint32(1))
