"""The state of the wavefronts that run in lock step: registers, EXEC, SCC, MODE, open loads."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum
from operator import or_

import numpy as np

from netra_build.checkasm.model.arrays import LANES, Array, lanes_from_masks
from netra_build.checkasm.model.batch import Batch
from netra_build.checkasm.model.findings import MISSING_WAIT, UNINITIALISED
from netra_build.checkasm.model.memory import Report
from netra_build.checkasm.model.operands import EXEC, Decoded, Unsupported, scalar_name
from netra_build.checkasm.model.scoreboard import SCALAR_BASE, Pending, Scoreboard, Slot, Touched

SCALARS = 128

UNSET = 1
"""Register state bit: some lane was never written."""
HELD = 2
"""Register state bit: an outstanding load writes it."""


COPY_BYTES_PER_STEP = 1 << 16
"""Bytes that are copied in about the time of one cheap instruction."""

_MODE_FIELDS = (
    (0xF, 0, "a rounding mode other than nearest even"),
    (0xC0, 0xC0, "flushing of half and double subnormals"),
    (0x300, 0x300, "MODE without IEEE mode or DX10 clamping"),
)
"""Bits of MODE, their required value, and the meaning of any other."""

_BY_REGISTER = ("V", "S", "vinit", "sinit")
_BY_WAVE = ("scc", "E", "wave", "workgroup")
"""Arrays with one element per wavefront: in the second dimension, or in the first."""


class Stop(Enum):
    """Why the wavefronts of a group stop."""

    END = "end of the program"
    BARRIER = "barrier"


class Group:
    """Wavefronts at one program counter. ``n`` is their number.

    ``V`` is uint32[register, n, 64] with ``VF`` and ``VI`` as float32 and int32 views; ``S`` is
    uint32[register, n]; ``scc`` bool[n]; ``E`` (EXEC) bool[n, 64]. ``vstate`` and ``sstate``
    hold one byte per register: zero means readable by everyone, so the common case costs one
    look-up. ``vinit`` and ``sinit`` tell which lanes and wavefronts were written, ``covered`` for
    which EXEC a vector register is known to be written in all active lanes.
    """

    def __init__(self, batch: Batch, n: int, vgprs: int) -> None:
        self.batch = batch
        self.n = n
        # Batches follow each other, so that one can have the memory of the one before.
        self.V = batch.scratch.array("registers", (vgprs, n, LANES), np.uint32)
        self.S = np.empty((SCALARS, n), np.uint32)
        self.scc = np.zeros(n, np.bool_)
        self.E = np.ones((n, LANES), np.bool_)
        self.full = True
        self.vinit = batch.scratch.array("written lanes", self.V.shape, np.bool_)
        self.vinit[:] = False
        self.sinit = np.zeros((SCALARS, n), np.bool_)
        self.covered: dict[int, Array] = {}
        self.vstate = bytearray(vgprs)
        self.sstate = bytearray(SCALARS)
        self.wave = np.zeros(n, np.int64)
        self.workgroup = np.zeros(n, np.int64)
        self.pc = 0
        self.set_mode(0x3F0)
        self.board = Scoreboard()
        self._views()

    def _views(self) -> None:
        self.VF = self.V.view(np.float32)
        self.VI = self.V.view(np.int32)

    # MODE and EXEC

    def set_mode(self, mode: int) -> None:
        """Set MODE; ``Unsupported`` for fields that would change results in unmodelled ways."""
        for mask, wanted, otherwise in _MODE_FIELDS:
            if mode & mask != wanted:
                raise Unsupported(otherwise)
        self.mode = mode
        self.flush_in = not mode & 0x10
        self.flush_out = not mode & 0x20
        self.saturates = bool(mode & 1 << 23)

    def exec_changed(self) -> None:
        """Recompute the lane mask after a write to the EXEC registers."""
        self.E = lanes_from_masks(self.S[EXEC], self.S[EXEC + 1])
        self.full = bool(self.E.all())

    # Checks

    def check_vector(self, register: int, source: Decoded, lanes: Array | None = None) -> None:
        """Report a read of lanes (default: EXEC) that hold no value yet."""
        state = self.vstate[register]
        active = self.E if lanes is None else lanes
        if state & HELD:
            self._report_held(register, source, active, "read")
        if state & UNSET and self.covered.get(register) is not active:
            bad = active & ~self.vinit[register]
            if bad.any():
                self._report_unset(register, source, bad)
            self._note_written(register, active)

    def check_scalar(self, register: int, source: Decoded) -> None:
        """Report a read of a scalar register that holds no value yet."""
        state = self.sstate[register]
        if state & HELD:
            self._report_held(SCALAR_BASE + register, source, self.E, "read")
        if state & UNSET:
            bad = ~self.sinit[register]
            if bad.any():
                self._report_unset(SCALAR_BASE + register, source, bad[:, None])
            self.mark_written(register)

    def touch_vector(
        self, register: int, source: Decoded, lanes: Array | None = None, queue: str = ""
    ) -> None:
        """Note a write to lanes (default: EXEC) of a register whose state is not zero.

        Loads of ``queue`` may be overwritten.
        """
        active = self.E if lanes is None else lanes
        if self.vstate[register] & HELD:
            self._report_held(register, source, active, "overwritten", queue)
        if self.vstate[register] & UNSET:
            self._note_written(register, active)

    def touch_scalar(self, register: int, source: Decoded) -> None:
        """Note a write to a scalar register whose state is not zero."""
        if self.sstate[register] & HELD:
            self._report_held(SCALAR_BASE + register, source, self.E, "overwritten")
        self.mark_written(register)

    def mark_written(self, register: int) -> None:
        """Note that a scalar register holds a value."""
        self.sinit[register] = True
        self.sstate[register] &= ~UNSET

    def receive(
        self, first: int, values: Array, d: Decoded, *queues: str, touched: Touched | None = None
    ) -> None:
        """Write loaded uint32[dwords, n, 64] to the active lanes of registers from ``first`` on.

        They are written at once, but reading them is a fault until the wait. Operations of one
        counter return in order, so a load may replace an older one of its own kind; replacing one
        of another kind is reported.
        """
        for row, value in enumerate(values, first):
            if self.vstate[row]:
                self.touch_vector(row, d, queue=queues[0])
            if self.full:
                self.V[row] = value
            else:
                np.copyto(self.V[row], value, where=self.E)
        rows = tuple(range(first, first + len(values)))
        for queue in queues:
            self.issue(queue, d, rows, touched)

    def _note_written(self, row: int, lanes: Array) -> None:
        """Note that bool[n, 64] ``lanes`` of an unset register hold a value, or were reported."""
        if lanes is self.E:
            if self.covered.get(row) is lanes:
                return
            self.covered[row] = lanes
        self.vinit[row] |= lanes
        if self.vinit[row].all():
            self.vstate[row] &= ~UNSET

    def _name(self, key: int) -> str:
        is_scalar = key >= SCALAR_BASE
        return scalar_name(key - SCALAR_BASE) if is_scalar else self.batch.register_name(key)

    def _report_unset(self, key: int, source: Decoded, bad: Array) -> None:
        self.batch.report(UNINITIALISED, source, self, bad, f"{self._name(key)} was never written")

    def _report_held(
        self, key: int, source: Decoded, active: Array, verb: str, queue: str = ""
    ) -> None:
        for pending in list(self.board.by_register.get(key, ())):
            if pending.queue == queue:
                continue
            if key >= SCALAR_BASE:
                rows = np.ones(self.n, np.bool_) if pending.present is None else pending.present
                bad = rows[:, None]
            else:
                bad = active if pending.lanes is None else active & pending.lanes
            if bad.any():
                what = f'the wait for "{pending.source.text}" at {pending.source.pc:#x}'
                detail = f"{self._name(key)} is {verb} before {what}"
                self.batch.report(MISSING_WAIT, source, self, bad, detail)
                # One fault gives one finding: this load no longer holds back this register.
                if self.board.let_go(key, pending):
                    self._mark((key,), is_held=False)

    def _mark(self, keys: Iterable[int], *, is_held: bool) -> None:
        for key in keys:
            state, at = self.vstate, key
            if key >= SCALAR_BASE:
                state, at = self.sstate, key - SCALAR_BASE
            state[at] = state[at] | HELD if is_held else state[at] & ~HELD

    def retire(self, slot: Slot) -> None:
        """Finish the operations of ``slot``."""
        self._mark(self.board.release(slot), is_held=False)
        for pending in slot:
            self.batch.lds.retire(self, pending)

    def issue(
        self,
        queue: str,
        source: Decoded,
        registers: tuple[int, ...] = (),
        touched: Touched | None = None,
    ) -> None:
        """Count a memory operation of the active lanes; hold its registers back."""
        serial, lanes = self.batch.next_serial(), None if self.full else self.E
        pending = Pending(serial, source, queue, registers, lanes, touched=touched)
        self.board.issue(pending, self.retire)
        self._mark(registers, is_held=True)

    def reporter(self, source: Decoded) -> Report:
        """Return what reports bad addresses of an instruction: of lanes, or bool[n, 1] of none."""
        return lambda kind, bad, detail: self.batch.report(kind, source, self, bad, detail)

    # Splitting and joining

    def charge_copy(self) -> None:
        """Charge the copy of registers by a split or join against the budget."""
        self.batch.charge(self.V.nbytes // COPY_BYTES_PER_STEP)

    def take(self, rows: Array) -> Group:
        """Return a new group of the wave rows in int64 ``rows``."""
        part = self._like(len(rows), self.vstate, self.sstate)
        for name in _BY_REGISTER:
            setattr(part, name, getattr(self, name).take(rows, axis=1))
        for name in _BY_WAVE:
            setattr(part, name, getattr(self, name)[rows])
        part.board = self.board.rows(rows)
        part._refresh()
        return part

    def join(self, other: Group) -> Group:
        """Return one group that holds the wavefronts of both."""
        vstate, sstate = map(or_, self.vstate, other.vstate), map(or_, self.sstate, other.sstate)
        whole = self._like(self.n + other.n, vstate, sstate)
        for names, axis in ((_BY_REGISTER, 1), (_BY_WAVE, 0)):
            for name in names:
                pair = (getattr(self, name), getattr(other, name))
                setattr(whole, name, np.concatenate(pair, axis=axis))
        whole.board = self.board.joined(other.board, (self.n, other.n))
        whole._refresh()
        return whole

    def _like(self, n: int, vstate: Iterable[int], sstate: Iterable[int]) -> Group:
        """Return a group of ``n`` wavefronts at the same place, without registers."""
        group = Group.__new__(Group)
        group.batch, group.pc, group.n = self.batch, self.pc, n
        group.set_mode(self.mode)
        group.covered = {}
        group.vstate, group.sstate = bytearray(vstate), bytearray(sstate)
        return group

    def _refresh(self) -> None:
        """Bring the views and the held bits in line with registers and queues."""
        self._views()
        self.full = bool(self.E.all())
        self.board.rebuild()
        for state in (self.vstate, self.sstate):
            for register, value in enumerate(state):
                if value & HELD:
                    state[register] = value & ~HELD
        self._mark(self.board.by_register, is_held=True)


Outcome = int | list[Group] | Stop | None
"""Result of one instruction: continue (None), jump there, continue with these groups, or stop."""

Run = Callable[[Group], Outcome]
"""What one instruction does."""
