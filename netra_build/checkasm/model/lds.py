"""Work-group memory: its bytes, who wrote and read each of them last, and the races that shows.

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
from netra_build.checkasm.model.scoreboard import Pending, Scoreboard

LDS_BUDGET = 160 * 1024
"""Bytes of work-group memory that one work-group may use on gfx950."""

EPOCH_SHIFT = np.uint32(7)
ATOMIC = np.uint32(64)
IN_FLIGHT = np.uint32(32)
SEVERAL = np.uint32(31)
"""Reader or atomic writer in a tag that stands for more than one wavefront."""
EPOCH_MASK = ~np.uint32(127)
COARSEST = 16


class Waves(Protocol):
    """Wavefronts in lock step, as memory sees them: their numbers, and what they have issued."""

    wave: Array
    workgroup: Array
    board: Scoreboard


@dataclass(frozen=True)
class _Access:
    """The bytes that one instruction touches."""

    asked: Array
    """int64[n, 64]: the first byte per lane, as the address says."""
    index: Array | None
    """int64[k]: the lanes, of all in a row, that are switched on and in bounds; None for all."""
    place: Array
    """The first byte of those lanes: int64[k], or [n, 64] for all."""
    mine: Array
    """The tag of their wavefronts: uint32 in the shape of ``place``."""
    epoch: int
    """The lowest tag that the epochs of the wavefronts give."""

    def chosen(self, values: Array) -> Array:
        """Return the elements of [..., n, 64] for those lanes: [..., k], or all as they are."""
        if self.index is None:
            return values
        return values.reshape(*values.shape[:-2], -1).take(self.index, axis=-1)

    def spread(self, values: Array) -> Array:
        """Return [..., k] as [..., n, 64], zero for the other lanes."""
        if self.index is None:
            return values
        shape = (*values.shape[:-1], *self.asked.shape)
        result = np.zeros(shape, values.dtype)
        result.reshape(*values.shape[:-1], -1)[..., self.index] = values
        return result


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
        self.direct_loads = False
        self.has_atomics = False

    @property
    def tracks_readers(self) -> bool:
        """True when another wavefront could write what one has read."""
        return self.races and (self.waves > 1 or self.direct_loads)

    # Access

    def load(
        self, g: Waves, address: Array, width: int, active: Array, report: Report
    ) -> tuple[Array, Array]:
        """Read ``width`` bytes per lane at uint32[n, 64] ``address``.

        Returns uint32[dwords, n, 64] and the flat byte positions int64[n, 64].
        """
        access = self._locate(g, address, width, active, report)
        if self.races or self.unset:
            self._note_read(access, width, report)
        return access.spread(self.bytes.load(access.place, width)), access.asked

    def store(
        self,
        g: Waves,
        address: Array,
        values: Array,
        width: int,
        active: Array,
        report: Report,
        *,
        is_direct: bool = False,
    ) -> Array:
        """Write uint32[dwords, n, 64] ``values``; returns the first byte per lane."""
        access = self._locate(g, address, width, active, report)
        self._note_write(access, width, report, is_direct)
        self.bytes.store(access.place, access.chosen(values), width)
        return access.spread(access.place)

    def exchange(
        self,
        g: Waves,
        address: Array,
        width: int,
        active: Array,
        report: Report,
        combine: Callable[[Array, Array], Array],
        values: Array,
    ) -> Array:
        """Replace memory by ``combine(memory, values)``; returns what it held before."""
        access = self._locate(g, address, width, active, report)
        self._note_atomic(access, width, report)
        old = self.bytes.load(access.place, width)
        self.bytes.store(access.place, combine(old, access.chosen(values)), width)
        return access.spread(old)

    def places(self, g: Waves, address: Array) -> Array:
        """Return the flat byte position of uint32[n, 64] ``address``: int64[n, 64]."""
        return (g.workgroup * self.stride)[:, None] + address

    def _locate(
        self, g: Waves, address: Array, width: int, active: Array, report: Report
    ) -> _Access:
        """Find the bytes that the active lanes mean; report those beyond the end."""
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
            per_lane = np.empty(asked.shape, np.uint32)
            per_lane[:] = mine[:, None]
            access = _Access(asked, None, asked, per_lane, epoch)
        else:
            index = np.flatnonzero(active)
            place, wave = asked.reshape(-1).take(index), index // LANES
            access = _Access(asked, index, place, mine.take(wave), epoch)
        self._refine(access, width, report)
        return access

    def _mine(self, g: Waves) -> Array:
        """Return the tag of each wavefront: uint32[n]."""
        wave = (g.wave % self.waves).astype(np.uint32)
        return (self.epoch[g.workgroup] << EPOCH_SHIFT) | (wave + np.uint32(1))

    def _refine(self, access: _Access, width: int, report: Report) -> None:
        """Make the granules as small as this access needs them."""
        if self.granule == 1:
            return
        place = access.place
        misaligned = width | int(np.bitwise_or.reduce(place, axis=None))
        while self.granule > 1:
            if not misaligned & (self.granule - 1):
                return
            finer = 4 if self.granule == COARSEST else 1
            self.written = np.repeat(self.written, self.granule // finer)
            self.read = np.repeat(self.read, self.granule // finer)
            self.granule = finer
        if width >= 4 and (place & min(width - 1, 3)).any():
            bad = access.spread((place & 3) != 0)
            report(MEMORY_FAULT, bad, "LDS address is not dword aligned")

    # Tags

    def _granules(self, place: Array, width: int) -> Array:
        first = place >> (self.granule.bit_length() - 1)
        count = max(1, width // self.granule)
        if count == 1:
            return first[None]
        return first[None] + np.arange(count).reshape(-1, *(1,) * first.ndim)

    def _note_read(self, access: _Access, width: int, report: Report) -> None:
        granules = self._granules(access.place, width)
        tags = self.written.take(granules)
        if self.unset and not tags.all():
            bad = (tags == 0).any(axis=0)
            self._say(report, UNINITIALISED_LDS, access, bad, "is read but never written")
        if not self.tracks_readers:
            return
        self._check(report, access, tags, "read")
        mine = access.mine
        before = self.read.take(granules)
        self.read[granules] = np.broadcast_to(mine, granules.shape)
        several = self.read.take(granules) != mine
        if access.epoch <= int(np.maximum.reduce(before, axis=None, initial=0)):
            several |= _same_epoch_other_user(before, mine)
        if several.any():
            shared = np.broadcast_to((mine & EPOCH_MASK) | SEVERAL, several.shape)
            self.read[granules[several]] = shared[several]

    def _note_write(self, access: _Access, width: int, report: Report, is_direct: bool) -> None:
        granules = self._granules(access.place, width)
        self.direct_loads |= is_direct
        if self.tracks_readers:
            self._check(report, access, self.written.take(granules), "written")
            tags = self.read.take(granules)
            self._check(report, access, tags, "overwritten after a read")
        tag = access.mine | IN_FLIGHT if is_direct else access.mine
        self.written[granules] = np.broadcast_to(tag, granules.shape)
        if self.waves > 1 and self.races:
            bad = (self.written.take(granules) != tag).any(axis=0)
            if bad.any():
                self._say(report, LDS_RACE, access, bad, "is written by two waves at once")

    def _note_atomic(self, access: _Access, width: int, report: Report) -> None:
        """Note a read-modify-write: atomic operations of several wavefronts do not race."""
        granules, mine = self._granules(access.place, width), access.mine
        tags = self.written.take(granules)
        if self.unset and not tags.all():
            bad = (tags == 0).any(axis=0)
            self._say(report, UNINITIALISED_LDS, access, bad, "is updated but never written")
        several = (mine & EPOCH_MASK) | SEVERAL | ATOMIC
        self.has_atomics = True
        own = mine | ATOMIC
        if self.tracks_readers:
            clean = np.where(tags & ATOMIC != 0, mine, tags)
            self._check(report, access, clean, "updated")
            self._check(report, access, self.read.take(granules), "updated after a read")
        known = (tags >> EPOCH_SHIFT == mine >> EPOCH_SHIFT) & (tags & ~ATOMIC != mine)
        after = np.where(known, several, np.broadcast_to(own, tags.shape))
        self.written[granules] = after
        other = self.written.take(granules) != after
        if other.any():
            shared = np.broadcast_to(several, tags.shape)
            self.written[granules[other]] = shared[other]

    def _check(self, report: Report, access: _Access, tags: Array, verb: str) -> None:
        """Report the lanes whose granules another wavefront used in this epoch."""
        if access.epoch > int(np.maximum.reduce(tags, axis=None, initial=0)):
            return
        mine = access.mine
        if self.has_atomics:
            tags = tags & ~ATOMIC
        bad = _same_epoch_other_user(tags, mine)
        if not bad.any():
            return
        own = (tags == mine | IN_FLIGHT) & bad
        if own.any():
            detail = f"is {verb} before the wait for the load that fills it"
            self._say(report, MISSING_WAIT, access, own.any(axis=0), detail)
        foreign = (bad & ~own).any(axis=0)
        if foreign.any():
            tag = int((tags * (bad & ~own)).max(axis=0)[foreign][0]) & 31
            who = "several waves" if tag == SEVERAL else f"wave {tag - 1}"
            detail = f"is {verb} with no barrier since {who} used it"
            self._say(report, LDS_RACE, access, foreign, detail)

    def _say(self, report: Report, kind: str, access: _Access, bad: Array, detail: str) -> None:
        lanes = access.spread(bad)
        byte = int(access.asked[first_true(lanes)]) % max(self.stride, 1)
        report(kind, lanes, f"LDS byte {byte} {detail}")

    # Waits and barriers

    def retire(self, g: Waves, pending: Pending) -> None:
        """Note that a load straight to LDS has arrived."""
        if not pending.is_direct:
            return
        mine = self._mine(g)[:, None] | IN_FLIGHT
        for granules, lanes in self._touched(pending):
            tags = self.written[granules]
            due = (tags == mine) & lanes
            self.written[granules[due]] = (tags & ~IN_FLIGHT)[due]

    def cross_barrier(self, g: Waves) -> None:
        """Carry what ``g`` still has under way into the new epoch of its work-groups.

        A barrier orders only accesses that were waited for, so the others keep racing.
        """
        if not self.tracks_readers:
            return
        mine = self._mine(g)[:, None]
        for pending in (p for slot in (*g.board.ds, *g.board.vm) for p in slot):
            tag = mine | IN_FLIGHT if pending.is_direct else mine
            tags = self.written if pending.is_write else self.read
            for granules, lanes in self._touched(pending):
                tags[granules[:, lanes]] = np.broadcast_to(tag, granules.shape)[:, lanes]

    def _touched(self, pending: Pending) -> Iterator[tuple[Array, Array]]:
        """Yield the granules [..., n, 64] of each place, and the lanes bool[n, 64] that count."""
        for place in () if pending.places is None else pending.places:
            lanes = np.ones(place.shape, np.bool_) if pending.lanes is None else pending.lanes
            yield self._granules(place, pending.width), lanes


def _same_epoch_other_user(tags: Array, mine: Array) -> Array:
    """Tell where two tags have one epoch, but differ in what stands below it."""
    difference: Array = tags ^ mine
    # No difference becomes the largest number.
    difference -= np.uint32(1)
    result: Array = difference < (np.uint32(1) << EPOCH_SHIFT) - np.uint32(1)
    return result
