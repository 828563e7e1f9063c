"""What one run of a tool may take, and the errors for one that takes more."""

from __future__ import annotations

import errno
from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.core.errors import ToolchainFailed
from netra_build.core.variables import number_in

SECONDS, BYTES = "NETRA_TOOL_SECONDS", "NETRA_TOOL_BYTES"
MOST_SECONDS = 86_400
LEAST_BYTES, MOST_BYTES = 512 * 1024**2, 2**50
NO_MEMORY = ("out of memory", "bad_alloc")
"""What LLVM and C++ say when they are given no more."""


@dataclass(frozen=True)
class Bounds:
    """Of one run of the assembler, the linker or the disassembler."""

    seconds: float = 10.0
    memory_bytes: int = 1024**3
    is_fixed: bool = False
    """Whether no variable allows more: they are for runs on a source."""

    def too_slow(self, location: str) -> ToolchainFailed:
        """Return the error for a tool that did not end in time."""
        fact = f"did not finish within {self.seconds:g} seconds"
        return ToolchainFailed(
            fact, location=location, hint="" if self.is_fixed else f"{SECONDS} allows more"
        )

    def exceeded(self, report: str, location: str) -> ToolchainFailed | None:
        """Return the error for a tool that was ended for want of memory, None for another end."""
        if not any(words in report for words in NO_MEMORY):
            return None
        fact = f"needs more than {self.memory_bytes} bytes of memory"
        return ToolchainFailed(fact, location=location, hint=f"{BYTES} allows more")


USUAL = Bounds()
OF_VERSIONS = Bounds(60.0, is_fixed=True)


def tool_bounds(variables: Mapping[str, object]) -> Bounds:
    """Return the bounds that two variables set; ``BadInput`` for one that cannot be used."""
    usual, place = USUAL, "tool chain"
    return Bounds(
        number_in(variables, SECONDS, int(usual.seconds), 1, MOST_SECONDS, "seconds", place),
        number_in(variables, BYTES, usual.memory_bytes, LEAST_BYTES, MOST_BYTES, "bytes", place),
    )


def no_process_hint(error: OSError | ValueError) -> str:
    """Return what helps where the system gives no process, or no memory for one; else ``""``."""
    if getattr(error, "errno", None) not in (errno.EAGAIN, errno.ENOMEM):
        return ""
    return "build with fewer jobs (-j1), or raise the limits of processes and memory (ulimit -a)"
