"""The state of the wavefronts that run in lock step: registers, EXEC, SCC, MODE, open loads."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum

import numpy as np

from netra_build.checkasm.model.arrays import LANES, Array, lanes_from_masks
from netra_build.checkasm.model.batch import Batch
from netra_build.checkasm.model.findings import MISSING_WAIT, UNINITIALISED
from netra_build.checkasm.model.memory import Report
from netra_build.checkasm.model.operands import EXEC, Decoded, Unsupported, scalar_name
from netra_build.checkasm.model.scoreboard import (
    SCALAR_BASE,
    Pending,
    Scoreboard,
    Slot,
    join_queues,
)

SCALARS = 128

UNSET = 1
"""Register state bit: some lane was never written."""
HELD = 2
"""Register state bit: a load that nobody waited for yet writes it."""


COPY_BYTES_PER_STEP = 1 << 16
"""Bytes that are copied in about the time of one cheap instruction."""


class Stop(Enum):
    """Why the wavefronts of a group do not go on by themselves."""

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
        self.SF = self.S.view(np.float32)
        self.SI = self.S.view(np.int32)

    # MODE and EXEC

    def set_mode(self, mode: int) -> None:
        """Set MODE; ``Unsupported`` for fields that would change results in unmodelled ways."""
        if mode & 0xF:
            raise Unsupported("a rounding mode other than nearest even")
        if mode & 0xC0 != 0xC0:
            raise Unsupported("flushing of half and double subnormals")
        if mode & 0x300 != 0x300:
            raise Unsupported("MODE without IEEE mode or DX10 clamping")
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
            self._report_held(register, source, active, f"v{register}", "read")
        if state & UNSET and self.covered.get(register) is not active:
            bad = active & ~self.vinit[register]
            if bad.any():
                name = self.batch.register_name(register)
                self.batch.report(UNINITIALISED, source, self, bad, f"{name} was never written")
            self._note_written(register, active)

    def check_scalar(self, register: int, source: Decoded) -> None:
        """Report a read of a scalar register that holds no value yet."""
        state = self.sstate[register]
        name = scalar_name(register)
        if state & HELD:
            self._report_held(SCALAR_BASE + register, source, self.E, name, "read")
        if state & UNSET:
            bad = ~self.sinit[register]
            if bad.any():
                detail = f"{name} was never written"
                self.batch.report(UNINITIALISED, source, self, bad[:, None], detail)
            self.sinit[register] = True
            self.sstate[register] &= ~UNSET

    def touch_vector(self, register: int, source: Decoded, lanes: Array | None = None) -> None:
        """Note a write to lanes (default: EXEC) of a register whose state is not zero."""
        active = self.E if lanes is None else lanes
        if self.vstate[register] & HELD:
            self._report_held(register, source, active, f"v{register}", "overwritten")
        if self.vstate[register] & UNSET:
            self._note_written(register, active)

    def touch_scalar(self, register: int, source: Decoded) -> None:
        """Note a write to a scalar register whose state is not zero."""
        if self.sstate[register] & HELD:
            key = SCALAR_BASE + register
            self._report_held(key, source, self.E, scalar_name(register), "overwritten")
        self.sinit[register] = True
        self.sstate[register] &= ~UNSET

    def receive(self, first: int, values: Array, source: Decoded, queue: str) -> None:
        """Write loaded uint32[dwords, n, 64] to the active lanes of registers from ``first`` on.

        Operations of one counter return in order, so a load may replace an older one of its own
        kind; replacing one of another kind is reported.
        """
        for row, value in enumerate(values, first):
            if self.vstate[row]:
                self._note_received(row, source, queue)
            if self.full:
                self.V[row] = value
            else:
                np.copyto(self.V[row], value, where=self.E)

    def _note_received(self, row: int, source: Decoded, queue: str) -> None:
        if self.vstate[row] & HELD:
            self._report_held(row, source, self.E, "", "overwritten", queue)
        if self.vstate[row] & UNSET:
            self._note_written(row, self.E)

    def _note_written(self, row: int, lanes: Array) -> None:
        """Note that bool[n, 64] ``lanes`` of an unset register hold a value, or were reported."""
        if lanes is self.E:
            if self.covered.get(row) is lanes:
                return
            self.covered[row] = lanes
        self.vinit[row] |= lanes
        if self.vinit[row].all():
            self.vstate[row] &= ~UNSET

    def _report_held(
        self, key: int, source: Decoded, active: Array, name: str, verb: str, queue: str = ""
    ) -> None:
        for pending in list(self.board.by_register.get(key, ())):
            if pending.queue == queue:
                continue
            bad = active if pending.lanes is None else active & pending.lanes
            if key >= SCALAR_BASE:
                rows = np.ones(self.n, np.bool_) if pending.present is None else pending.present
                bad = rows[:, None]
            if not bad.any():
                continue
            if key < SCALAR_BASE:
                name = self.batch.register_name(key)
            self.batch.report(
                MISSING_WAIT,
                source,
                self,
                bad,
                f'{name} is {verb} before the wait for "{pending.source.text}" '
                f"at {pending.source.pc:#x}",
            )
            # One fault gives one finding: this load no longer holds this register.
            self._unhold(key, pending)

    def _unhold(self, key: int, pending: Pending) -> None:
        held = self.board.by_register[key]
        held[:] = [p for p in held if p.serial != pending.serial]
        if not held:
            del self.board.by_register[key]
            self.mark_free(key)

    def mark_free(self, key: int) -> None:
        """Clear the held bit of a register."""
        if key >= SCALAR_BASE:
            self.sstate[key - SCALAR_BASE] &= ~HELD
        else:
            self.vstate[key] &= ~HELD

    def retire(self, slot: Slot) -> None:
        """Let the operations of ``slot`` be finished."""
        for key in self.board.release(slot):
            self.mark_free(key)
        for pending in slot:
            if pending.places is not None:
                self.batch.lds.retire(self, pending)

    def issue(
        self,
        queue: str,
        source: Decoded,
        registers: tuple[int, ...] = (),
        *,
        places: Array | None = None,
        width: int = 0,
        is_write: bool = False,
        is_direct: bool = False,
    ) -> None:
        """Count a memory operation of the active lanes; hold its registers back."""
        pending = Pending(
            self.batch.next_serial(),
            source,
            queue,
            registers,
            None if self.full else self.E,
            None,
            is_write,
            places,
            width,
            is_direct,
        )
        self.board.issue(pending, self.retire)
        for key in pending.registers:
            if key >= SCALAR_BASE:
                self.sstate[key - SCALAR_BASE] |= HELD
            else:
                self.vstate[key] |= HELD

    def reporter(self, source: Decoded) -> Report:
        """Return what reports bad addresses of an instruction: of lanes, or bool[n, 1] of none."""
        return lambda kind, bad, detail: self.batch.report(kind, source, self, bad, detail)

    # Splitting and joining

    def charge_copy(self) -> None:
        """Splitting and joining copy registers: a program may not do that without end."""
        self.batch.charge(self.V.nbytes // COPY_BYTES_PER_STEP)

    def take(self, rows: Array) -> Group:
        """Return a new group of the wave rows in int64 ``rows``."""
        part = Group.__new__(Group)
        part.batch, part.pc = self.batch, self.pc
        part.set_mode(self.mode)
        part.n = len(rows)
        part.V = self.V.take(rows, axis=1)
        part.S = self.S.take(rows, axis=1)
        part.scc = self.scc[rows]
        part.E = self.E[rows]
        part.full = bool(part.E.all())
        part.vinit = self.vinit.take(rows, axis=1)
        part.sinit = self.sinit.take(rows, axis=1)
        part.covered = {}
        part.vstate = bytearray(self.vstate)
        part.sstate = bytearray(self.sstate)
        part.wave = self.wave[rows]
        part.workgroup = self.workgroup[rows]
        part.board = Scoreboard()
        for queue in ("vm", "ds", "sm"):
            slots = (
                tuple(kept for p in slot if (kept := p.rows(rows)) is not None)
                for slot in getattr(self.board, queue)
            )
            setattr(part.board, queue, [slot for slot in slots if slot])
        part._views()
        part.refresh()
        return part

    def join(self, other: Group) -> Group:
        """Return one group that holds the wavefronts of both."""
        whole = Group.__new__(Group)
        whole.batch, whole.pc = self.batch, self.pc
        whole.set_mode(self.mode)
        whole.n = self.n + other.n
        for name in ("V", "S", "vinit", "sinit"):
            pair = (getattr(self, name), getattr(other, name))
            setattr(whole, name, np.concatenate(pair, axis=1))
        for name in ("scc", "E", "wave", "workgroup"):
            setattr(whole, name, np.concatenate((getattr(self, name), getattr(other, name))))
        whole.full = self.full and other.full
        whole.covered = {}
        whole.vstate = bytearray(a | b for a, b in zip(self.vstate, other.vstate, strict=True))
        whole.sstate = bytearray(a | b for a, b in zip(self.sstate, other.sstate, strict=True))
        whole.board = Scoreboard()
        for queue in ("vm", "ds", "sm"):
            left, right = getattr(self.board, queue), getattr(other.board, queue)
            setattr(whole.board, queue, join_queues(left, right, (self.n, other.n)))
        whole._views()
        whole.refresh()
        return whole

    def refresh(self) -> None:
        """Bring the held bits in line with the queues."""
        self.board.rebuild()
        for state in (self.vstate, self.sstate):
            for register, value in enumerate(state):
                if value & HELD:
                    state[register] = value & ~HELD
        for key in self.board.by_register:
            if key >= SCALAR_BASE:
                self.sstate[key - SCALAR_BASE] |= HELD
            else:
                self.vstate[key] |= HELD


Outcome = int | list[Group] | Stop | None
"""What one instruction gives: go on (None), jump there, continue with these groups, or stop."""

Run = Callable[[Group], Outcome]
"""What one instruction does."""
