"""What was found out about the tools once and holds as long as their files do not change.

Hashing LLVM's libraries and starting its programs to ask for their versions takes longer than
assembling a hundred kernels. A question names every file with its state, so a file that was
written, swapped or moved makes it another question. What is too young to be told apart from a
later edit is not kept, and nothing of a script, whose files say nothing of what it starts.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from netra_build.asm.tools.tool_identity import (
    ProgramParts,
    file_digests,
    is_binary,
    parts_digest,
    trust_digests,
)
from netra_build.core.canonical_json import Json
from netra_build.core.memory import Memory
from netra_build.core.stamps import is_recent


class ToolMemory:
    """Answers about programs in a memory that outlives the process; without one, no answers."""

    def __init__(self, memory: Memory | None = None) -> None:
        self._memory = memory

    def recall(self, about: str, parts: ProgramParts) -> Json | None:
        """Return what is known about a program as it is now, None if nothing is."""
        if self._memory is None or not _is_known_by_files(parts):
            return None
        return self._memory.recall(_question(about, parts))

    def keep(self, about: str, parts: ProgramParts, answer: Json) -> None:
        """Keep an answer for as long as no part of the program changes."""
        moment_ns = time.time_ns()
        states = [state for _, path, state in parts if path is not None]
        is_settled = all(s and not is_recent(s[1], s[2], moment_ns) for s in states)
        if self._memory is not None and is_settled and _is_known_by_files(parts):
            self._memory.keep(_question(about, parts), answer)

    def version_and_digest(
        self, program: str, parts: ProgramParts, version: Callable[[], str]
    ) -> tuple[str, str]:
        """Return what a program calls its version and the digest of its parts, kept or found out.

        ``version`` asks it. The digest of each part is kept, so that none is hashed for another
        question of the same process.
        """
        about = f"version and digests of {program}"
        match self.recall(about, parts):
            case [str(known), [*kept]] if len(kept) == len(parts):
                digests = list(map(str, kept))
                trust_digests(parts, digests)
                return known, parts_digest(parts, digests)
        stated, digests = version(), file_digests(parts)
        self.keep(about, parts, [stated, list[Json](digests)])
        return stated, parts_digest(parts, digests)


def _is_known_by_files(parts: ProgramParts) -> bool:
    _, program, _ = parts[0]
    return program is not None and is_binary(program)


def _question(about: str, parts: ProgramParts) -> Json:
    files: list[Json] = [[name, str(path), list(state)] for name, path, state in parts]
    return {"about": about, "files": files}
