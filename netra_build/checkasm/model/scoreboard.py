"""Outstanding memory operations of one group of wavefronts: the counters behind s_waitcnt."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import NamedTuple

import numpy as np

from netra_build.checkasm.model.arrays import LANES, Array
from netra_build.checkasm.model.operands import Decoded

VM_CAPACITY = 63
LGKM_CAPACITY = 15

SCALAR_LOADS_KEPT = 256
"""More operations than can hold back registers; older ones have no effect."""

VM = "vm"
DS = "ds"
SM = "sm"

SCALAR_BASE = 1 << 16
"""Added to the number of a scalar register, so that one dictionary holds both kinds."""


class Touched(NamedTuple):
    """The bytes of LDS that one memory operation reads or writes: ``width`` at each place."""

    places: Array
    """The first byte per lane: int64[places, waves, 64]."""
    width: int
    is_write: bool = False
    """Other wavefronts may only see the bytes after the wait."""
    is_direct: bool = False
    """A load from memory straight to LDS."""


class Pending(NamedTuple):
    """One memory operation that was issued and not yet waited for.

    ``lanes`` is bool[waves, 64] of the lanes it works for, or None for all. ``registers`` are
    rows of the vector register file, or ``SCALAR_BASE`` + scalar register.
    """

    serial: int
    source: Decoded
    queue: str
    """The counter: VM, DS or SM."""
    registers: tuple[int, ...] = ()
    lanes: Array | None = None
    present: Array | None = None
    """bool[waves] of the wavefronts that issued it, or None for all."""
    touched: Touched | None = None

    def rows(self, chosen: Array) -> Pending | None:
        """Return the part for the wave rows in ``chosen``; None when none of them issued it."""
        present = None if self.present is None else self.present[chosen]
        if present is not None and not present.any():
            return None
        lanes, touched = None if self.lanes is None else self.lanes[chosen], self.touched
        if touched is not None:
            touched = touched._replace(places=touched.places[:, chosen])
        return self._replace(lanes=lanes, present=present, touched=touched)


Slot = tuple[Pending, ...]
"""The operations of one place in a counter; several only after groups with different histories
were joined."""


def join_queues(left: list[Slot], right: list[Slot], sizes: tuple[int, int]) -> list[Slot]:
    """Join two queues aligned at their newest end; ``sizes`` are the wave counts."""
    length = max(len(left), len(right))
    padded_left: list[Slot] = [()] * (length - len(left)) + left
    padded_right: list[Slot] = [()] * (length - len(right)) + right
    return [_join_slots(a, b, sizes) for a, b in zip(padded_left, padded_right, strict=True)]


def _join_slots(left: Slot, right: Slot, sizes: tuple[int, int]) -> Slot:
    by_serial = {p.serial: p for p in right}
    result = []
    for p in left:
        other = by_serial.pop(p.serial, None)
        result.append(_join_pending(p, other, sizes))
    result.extend(_join_pending(None, p, sizes) for p in by_serial.values())
    return tuple(result)


def _join_pending(left: Pending | None, right: Pending | None, sizes: tuple[int, int]) -> Pending:
    known = left or right
    assert known is not None

    def both(get: Callable[[Pending], Array | None], *shape: int) -> Array:
        """Join the sides: None stands for all, a side without the operation for none."""
        parts = []
        for side, size in zip((left, right), sizes, strict=True):
            value = None if side is None else get(side)
            parts.append(np.full((size, *shape), side is not None) if value is None else value)
        return np.concatenate(parts)

    lanes, present = both(lambda p: p.lanes, LANES), both(lambda p: p.present)
    touched = known.touched
    if touched is not None:
        count = len(touched.places)
        by_wave = both(lambda p: p.touched and p.touched.places.swapaxes(0, 1), count, LANES)
        touched = touched._replace(places=by_wave.swapaxes(0, 1))
    return known._replace(
        lanes=None if lanes.all() else lanes,
        present=None if present.all() else present,
        touched=touched,
    )


class Scoreboard:
    """The queues of one group, oldest operation first, and the registers they hold back."""

    def __init__(self, vm: Sequence[Slot] = (), ds: Sequence[Slot] = (), sm: Sequence[Slot] = ()):
        self.vm: list[Slot] = list(vm)
        self.ds: list[Slot] = list(ds)
        self.sm: list[Slot] = list(sm)
        self.by_register: dict[int, list[Pending]] = {}

    def issue(self, pending: Pending, retire: Callable[[Slot], None]) -> None:
        """Add an operation; a full counter first lets its oldest operation finish."""
        slots: list[Slot] = getattr(self, pending.queue)
        if pending.queue == VM and len(slots) >= VM_CAPACITY:
            retire(slots.pop(0))
        if pending.queue != VM and len(self.ds) + len(self.sm) >= LGKM_CAPACITY and self.ds:
            # Scalar loads return in any order, so only LDS operations can be known to finish.
            retire(self.ds.pop(0))
        slots.append((pending,))
        self.hold(pending)
        if len(self.sm) > SCALAR_LOADS_KEPT:
            self._forget_inert()

    def _forget_inert(self) -> None:
        """Drop old scalar loads whose registers were overwritten; a loop may issue any number."""
        keep = len(self.sm) - LGKM_CAPACITY
        old = [slot for slot in self.sm[:keep] if any(self._holds(p) for p in slot)]
        self.sm[:keep] = old

    def _holds(self, pending: Pending) -> bool:
        return any(pending in self.by_register.get(key, ()) for key in pending.registers)

    def hold(self, pending: Pending) -> None:
        """Mark the registers of ``pending`` as held back."""
        for register in pending.registers:
            self.by_register.setdefault(register, []).append(pending)

    def release(self, slot: Slot) -> list[int]:
        """Forget the operations of ``slot``; return the registers nothing holds back any more."""
        return [
            register
            for pending in slot
            for register in pending.registers
            if self.let_go(register, pending)
        ]

    def let_go(self, register: int, pending: Pending) -> bool:
        """Forget that ``pending`` holds a register; tell whether that set it free.

        Where groups with different histories met, one operation may hold it from two places.
        """
        held = self.by_register.get(register)
        if held is None:
            return False
        held[:] = [p for p in held if p.serial != pending.serial]
        if not held:
            del self.by_register[register]
        return not held

    def queues(self) -> tuple[list[Slot], list[Slot], list[Slot]]:
        """Return the operations of VM, DS and SM."""
        return self.vm, self.ds, self.sm

    def rows(self, chosen: Array) -> Scoreboard:
        """Return what the wave rows in int64 ``chosen`` issued."""
        parts = (
            [tuple(kept for p in slot if (kept := p.rows(chosen)) is not None) for slot in queue]
            for queue in self.queues()
        )
        return Scoreboard(*([slot for slot in queue if slot] for queue in parts))

    def joined(self, other: Scoreboard, sizes: tuple[int, int]) -> Scoreboard:
        """Return the operations of both; ``sizes`` are the wave counts."""
        pairs = zip(self.queues(), other.queues(), strict=True)
        return Scoreboard(*(join_queues(left, right, sizes) for left, right in pairs))

    def due_vm(self, count: int) -> list[Slot]:
        """Take out the operations that ``vmcnt(count)`` waits for."""
        cut = max(len(self.vm) - count, 0)
        due, self.vm = self.vm[:cut], self.vm[cut:]
        return due

    def due_lgkm(self, count: int) -> list[Slot]:
        """Take out the operations that ``lgkmcnt(count)`` waits for."""
        cut = max(len(self.ds) - count, 0)
        due, self.ds = self.ds[:cut], self.ds[cut:]
        if count == 0:
            due, self.sm = due + self.sm, []
        return due

    def size_bytes(self) -> int:
        """Return the memory of the lane-by-lane records of the operations."""
        arrays = (
            array
            for slot in chain(*self.queues())
            for pending in slot
            for array in (pending.lanes, pending.touched and pending.touched.places)
        )
        return sum(array.nbytes for array in arrays if array is not None)

    def rebuild(self) -> None:
        """Recompute the held registers from the queues."""
        self.by_register = {}
        for slot in chain(*self.queues()):
            for pending in slot:
                self.hold(pending)
