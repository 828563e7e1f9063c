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


class KeptAnswers:
    """A memory of this process, which can tell another one what it was told."""

    def __init__(self) -> None:
        self._answers: list[tuple[Json, Json]] = []

    def recall(self, question: Json) -> Json | None:
        """Return the answer kept for a question, None without one."""
        return next((answer for asked, answer in self._answers if asked == question), None)

    def keep(self, question: Json, answer: Json) -> None:
        """Keep the answer to a question."""
        self._answers.append((question, answer))

    def tell(self, memory: Memory) -> None:
        """Have another memory keep all answers."""
        for question, answer in self._answers:
            memory.keep(question, answer)
