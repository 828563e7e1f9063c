"""Work-group memory: its bytes, who wrote and read each of them last, and the races that shows.

Every granule (16, 4 or 1 bytes, as fine as the accesses need) has a write tag and a read tag:
``epoch << 7 | atomic << 6 | in flight << 5 | wave + 1``, where the epoch counts the barriers
of the work-group. Two wavefronts that touch one granule in one epoch, at least one of them writing,
race. Tag zero means never written.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from netra_build.simulate.arrays import Array, first_true
from netra_build.simulate.findings import (
    LDS_OUT_OF_BOUNDS,
    LDS_RACE,
    MEMORY_FAULT,
    MISSING_WAIT,
    UNINITIALISED_LDS,
)
from netra_build.simulate.interfaces import Waves
from netra_build.simulate.operands import Decoded
from netra_build.simulate.scoreboard import Pending

LDS_BUDGET = 160 * 1024
"""Bytes of work-group memory that one work-group may use on gfx950."""

EPOCH_SHIFT = np.uint32(7)
ATOMIC = np.uint32(64)
IN_FLIGHT = np.uint32(32)
SEVERAL = np.uint32(31)
"""Reader or atomic writer in a tag that stands for more than one wavefront."""
EPOCH_MASK = ~np.uint32(127)
COARSEST = 16


class LocalStore:
    """LDS of a batch of work-groups. ``size`` is bytes per work-group."""

    def __init__(self, workgroups: int, size: int, waves: int, *, races: bool, unset: bool) -> None:
        self.size = size
        self.stride = (size + COARSEST - 1) // COARSEST * COARSEST
        self.data = np.zeros(max(workgroups * self.stride, COARSEST), np.uint8)
        self.granule = COARSEST
        self.written = np.zeros(self.data.size // COARSEST, np.uint32)
        self.read = np.zeros_like(self.written)
        self.epoch = np.ones(workgroups, np.uint32)
        self.is_shared = waves > 1
        self.races = races
        self.unset = unset
        self.direct_loads = False
        self.has_atomics = False

    @property
    def tracks_readers(self) -> bool:
        """True when another wavefront could write what one has read."""
        return self.races and (self.is_shared or self.direct_loads)

    # Access

    def load(self, g: Waves, address: Array, width: int, active: Array, source: Decoded) -> Array:
        """Read ``width`` bytes per lane at uint32[n, 64] ``address``; uint32[dwords, n, 64]."""
        inside, place = self._place(g, address, width, active, source)
        if self.races or self.unset:
            self._note_read(g, place, width, inside, source)
        result = _gather(self.data, place, width)
        if inside is not active or not inside.all():
            result[:, ~inside] = 0
        return result

    def store(
        self,
        g: Waves,
        address: Array,
        values: Array,
        width: int,
        active: Array,
        source: Decoded,
        *,
        is_direct: bool = False,
    ) -> Array:
        """Write uint32[dwords, n, 64] ``values``; returns the first byte per lane."""
        inside, place = self._place(g, address, width, active, source)
        self._note_write(g, place, width, inside, source, is_direct)
        _scatter(self.data, place[inside], values[:, inside], width)
        return place

    def exchange(
        self,
        g: Waves,
        address: Array,
        width: int,
        active: Array,
        source: Decoded,
        combine: Callable[[Array, Array], Array],
        values: Array,
    ) -> Array:
        """Replace memory by ``combine(memory, values)``; returns what it held before."""
        inside, place = self._place(g, address, width, active, source)
        self.note_atomic(g, place, width, inside, source)
        old = _gather(self.data, place, width)
        _scatter(self.data, place[inside], combine(old[:, inside], values[:, inside]), width)
        return old

    def places(self, g: Waves, address: Array) -> Array:
        """Return the flat byte position of uint32[n, 64] ``address``: int64[n, 64]."""
        start = (g.workgroup * self.stride)[:, None]
        return start + address.astype(np.int64)

    def _place(
        self, g: Waves, address: Array, width: int, active: Array, source: Decoded
    ) -> tuple[Array, Array]:
        place = self.places(g, address)
        outside = active & (address.astype(np.int64) + width > self.size)
        if outside.any():
            where = int(address[first_true(outside)])
            detail = f"LDS bytes {where} to {where + width - 1} of {self.size}"
            g.machine.report(LDS_OUT_OF_BOUNDS, source, g, outside, detail)
            active = active & ~outside
        if not active.all():
            place = np.where(active, place, 0)
        self._refine(place, width, g, source, active)
        return active, place

    def _refine(self, place: Array, width: int, g: Waves, source: Decoded, active: Array) -> None:
        """Make the granules as small as this access needs them."""
        if self.granule == 1:
            return
        while self.granule > 1:
            mask = self.granule - 1
            if not width & mask and not (place & mask).any():
                return
            finer = 4 if self.granule == COARSEST else 1
            self.written = np.repeat(self.written, self.granule // finer)
            self.read = np.repeat(self.read, self.granule // finer)
            self.granule = finer
        if width >= 4 and (place & min(width - 1, 3)).any():
            bad = active & ((place & 3) != 0)
            g.machine.report(MEMORY_FAULT, source, g, bad, "LDS address is not dword aligned")

    # Tags

    def _granules(self, place: Array, width: int) -> Array:
        first = place // self.granule
        count = max(1, width // self.granule)
        if count == 1:
            return first[None]
        return first[None] + np.arange(count).reshape(-1, *(1,) * first.ndim)

    def _mine(self, g: Waves) -> Array:
        wave = (g.wave % g.machine.waves_per_workgroup).astype(np.uint32)
        return ((self.epoch[g.workgroup] << EPOCH_SHIFT) | (wave + np.uint32(1)))[:, None]

    def _note_read(
        self, g: Waves, place: Array, width: int, inside: Array, source: Decoded
    ) -> None:
        granules = self._granules(place, width)
        tags = self.written[granules]
        if self.unset and not tags.all():
            bad = ((tags == 0) & inside).any(axis=0)
            if bad.any():
                self._say(UNINITIALISED_LDS, g, source, place, bad, "is read but never written")
        if not self.tracks_readers:
            return
        mine = self._mine(g)
        self._check(g, source, place, tags, mine, inside, "read")
        chosen = granules if inside.all() else granules[:, inside]
        tag = np.broadcast_to(mine, place.shape)
        tag = tag if inside.all() else tag[inside]
        before = self.read[chosen]
        self.read[chosen] = tag
        several = (self.read[chosen] != tag) | (
            (before != tag) & (before >> EPOCH_SHIFT == tag >> EPOCH_SHIFT)
        )
        if several.any():
            shared = np.broadcast_to((tag & EPOCH_MASK) | SEVERAL, several.shape)
            self.read[chosen[several]] = shared[several]

    def _note_write(
        self,
        g: Waves,
        place: Array,
        width: int,
        inside: Array,
        source: Decoded,
        is_direct: bool,
    ) -> None:
        granules = self._granules(place, width)
        mine = self._mine(g)
        self.direct_loads |= is_direct
        if self.tracks_readers:
            self._check(g, source, place, self.written[granules], mine, inside, "written")
            tags = self.read[granules]
            self._check(g, source, place, tags, mine, inside, "overwritten after a read")
        tag = mine | IN_FLIGHT if is_direct else mine
        whole = np.broadcast_to(tag, granules.shape)
        chosen, values = granules[:, inside], whole[:, inside]
        self.written[chosen] = values
        if self.is_shared and self.races:
            other = self.written[granules] != whole
            bad = (other & inside).any(axis=0)
            if bad.any():
                self._say(LDS_RACE, g, source, place, bad, "is written by two waves at once")

    def note_atomic(
        self, g: Waves, place: Array, width: int, inside: Array, source: Decoded
    ) -> None:
        """Note a read-modify-write: atomic operations of several wavefronts do not race."""
        granules = self._granules(place, width)
        mine = self._mine(g)
        tags = self.written[granules]
        if self.unset and ((tags == 0) & inside).any():
            bad = ((tags == 0) & inside).any(axis=0)
            self._say(UNINITIALISED_LDS, g, source, place, bad, "is updated but never written")
        several = (mine & EPOCH_MASK) | SEVERAL | ATOMIC
        self.has_atomics = True
        own = mine | ATOMIC
        if self.tracks_readers:
            clean = np.where(tags & ATOMIC != 0, mine, tags)
            self._check(g, source, place, clean, mine, inside, "updated")
            before = self.read[granules]
            self._check(g, source, place, before, mine, inside, "updated after a read")
        known = (tags >> EPOCH_SHIFT == mine >> EPOCH_SHIFT) & (tags & ~ATOMIC != mine)
        after = np.where(known, several, np.broadcast_to(own, tags.shape))
        self.written[granules[:, inside]] = after[:, inside]
        other = (self.written[granules] != after) & inside
        if other.any():
            shared = np.broadcast_to(several, tags.shape)
            self.written[granules[other]] = shared[other]

    def _check(
        self,
        g: Waves,
        source: Decoded,
        place: Array,
        tags: Array,
        mine: Array,
        inside: Array,
        verb: str,
    ) -> None:
        if self.has_atomics:
            tags = tags & ~ATOMIC
        other = tags != mine
        if not other.any():
            return
        bad = other & (tags >> EPOCH_SHIFT == mine >> EPOCH_SHIFT) & inside
        if not bad.any():
            return
        own = (tags == mine | IN_FLIGHT) & bad
        if own.any():
            lanes = own.any(axis=0)
            detail = f"is {verb} before the wait for the load that fills it"
            self._say(MISSING_WAIT, g, source, place, lanes, detail)
        foreign = (bad & ~own).any(axis=0)
        if foreign.any():
            tag = int((tags * (bad & ~own)).max(axis=0)[foreign][0]) & 31
            who = "several waves" if tag == SEVERAL else f"wave {tag - 1}"
            detail = f"is {verb} with no barrier since {who} used it"
            self._say(LDS_RACE, g, source, place, foreign, detail)

    def _say(
        self, kind: str, g: Waves, source: Decoded, place: Array, bad: Array, detail: str
    ) -> None:
        byte = int(place[first_true(bad)]) % max(self.stride, 1)
        g.machine.report(kind, source, g, bad, f"LDS byte {byte} {detail}")

    # Waits and barriers

    def retire(self, g: Waves, pending: Pending) -> None:
        """Note that a load straight to LDS has arrived."""
        if not pending.is_direct or pending.places is None:
            return
        for place in pending.places:
            granules = self._granules(place, pending.width)
            lanes = np.ones(place.shape, np.bool_) if pending.lanes is None else pending.lanes
            tags = self.written[granules]
            mine = self._mine(g) | IN_FLIGHT
            due = (tags == mine) & lanes
            self.written[granules[due]] = (tags & ~IN_FLIGHT)[due]

    def cross_barrier(self, g: Waves) -> None:
        """Carry what ``g`` still has under way into the new epoch of its work-groups.

        A barrier orders only accesses that were waited for, so the others keep racing.
        """
        if not self.tracks_readers:
            return
        for slot in (*g.board.ds, *g.board.vm):
            for pending in slot:
                if pending.places is not None:
                    self._carry(g, pending)

    def _carry(self, g: Waves, pending: Pending) -> None:
        mine = self._mine(g)
        assert pending.places is not None
        for place in pending.places:
            granules = self._granules(place, pending.width)
            lanes = np.ones(place.shape, np.bool_) if pending.lanes is None else pending.lanes
            tag = mine | IN_FLIGHT if pending.is_direct else mine
            tags = self.written if pending.is_write else self.read
            tags[granules[:, lanes]] = np.broadcast_to(tag, granules.shape)[:, lanes]


def _gather(data: Array, place: Array, width: int) -> Array:
    if width >= 4 and not (place & 3).any():
        words = data.view(np.uint32)
        first = place >> 2
        return np.stack([words[first + i] for i in range(width // 4)])
    result = np.zeros((max(1, width // 4), *place.shape), np.uint32)
    for at in range(width):
        result[at // 4] |= data[place + at].astype(np.uint32) << np.uint32(8 * (at % 4))
    return result


def _scatter(data: Array, place: Array, values: Array, width: int) -> None:
    if width >= 4 and not (place & 3).any():
        words = data.view(np.uint32)
        for i in range(width // 4):
            words[(place >> 2) + i] = values[i]
        return
    for at in range(width):
        data[place + at] = (values[at // 4] >> np.uint32(8 * (at % 4))).astype(np.uint8)
