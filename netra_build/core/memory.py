"""Something that can be asked again what it was told, and outlives the process."""

from __future__ import annotations

from typing import Protocol

from netra_build.core.canonical_json import Json


class Memory(Protocol):
    """Answers by their questions."""

    def recall(self, question: Json) -> Json | None:
        """Return the answer kept for a question, None without one."""

    def keep(self, question: Json, answer: Json) -> None:
        """Keep the answer to a question."""
