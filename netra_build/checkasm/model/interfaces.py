"""What the parts of a running launch need of each other, so that none imports the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from netra_build.checkasm.model.arrays import Array, Scratch
from netra_build.checkasm.model.memory import AddressSpace
from netra_build.checkasm.model.operands import Decoded
from netra_build.checkasm.model.scoreboard import Pending, Scoreboard

Outcome = int | list[Any] | None
"""What one instruction gives: go on (None), jump there, or continue with these groups."""


class Waves(Protocol):
    """Wavefronts in lock step, as memory sees them."""

    n: int
    wave: Array
    workgroup: Array
    E: Array
    board: Scoreboard

    @property
    def machine(self) -> Host:
        """The machine they run on."""
        ...


class Store(Protocol):
    """Work-group memory."""

    @property
    def tracks_readers(self) -> bool:
        """True when another wavefront could write what one has read."""
        ...

    def load(
        self, g: Waves, address: Array, width: int, active: Array, source: Decoded
    ) -> tuple[Array, Array]:
        """Read ``width`` bytes per lane; also return where."""
        ...

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
        """Write ``width`` bytes per lane."""
        ...

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
        """Replace memory by a combination with ``values``."""
        ...

    def places(self, g: Waves, address: Array) -> Array:
        """Return flat byte positions."""
        ...

    def retire(self, g: Waves, pending: Pending) -> None:
        """Note that an operation has finished."""
        ...


class Host(Protocol):
    """The machine, as wavefronts and instructions see it."""

    memory: AddressSpace
    waves_per_workgroup: int
    code_base: int
    scratch: Scratch

    @property
    def lds(self) -> Store:
        """Memory of the work-groups."""
        ...

    def report(self, kind: str, source: Decoded, g: Any, bad: Array, detail: str) -> None:
        """Record a finding."""
        ...

    def register_name(self, row: int) -> str:
        """Name a vector register."""
        ...

    def next_serial(self) -> int:
        """Number a memory operation."""
        ...

    def charge(self, steps: int) -> None:
        """Take from the budget what an instruction costs beyond its weight."""
        ...

    def branch(self, g: Any, taken: Array, target: int, next_pc: int) -> Outcome:
        """Go two ways."""
        ...

    def barrier(self, g: Any, source: Decoded) -> Outcome:
        """Wait for the work-group."""
        ...

    def end(self, g: Any) -> list[Any]:
        """End wavefronts."""
        ...
