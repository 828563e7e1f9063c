"""Errors that a user can act on, each with its place, the fact, a remedy and an exit code."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

EXIT_DONE = 0
EXIT_REFUSED = 1
EXIT_BAD_INPUT = 2
EXIT_EVIDENCE_INCOMPLETE = 3
EXIT_TOOLCHAIN = 4
EXIT_DAMAGED_STORE = 5
EXIT_OUR_BUG = 70


def printable(text: str) -> str:
    """Return a text with every character escaped that does not print, as Python would write it."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text)


def nearest_hint(name: str, known: Iterable[str]) -> str:
    """Return ``did you mean "x"?``, or the known names when none is close, or ``""`` if none."""
    import difflib  # late: only what goes wrong needs it

    names = sorted(set(known))
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f'did you mean "{close[0]}"?'
    if not names:
        return ""
    shown = ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
    return f"known names: {shown}"


class NetraError(Exception):
    """Base of every error that reaches a user; printed as one line and an optional hint.

    The line is ``LOCATION: FACT; expected X, got Y``; ``detail`` follows as lines of its own (two
    sides of a difference, a tool's report), and ``hint: REMEDY`` comes last. Subclasses fix the
    exit code in ``status``.
    """

    status = EXIT_BAD_INPUT

    def __init__(
        self,
        fact: str,
        *,
        location: str = "",
        expected: object = None,
        got: object = None,
        hint: str = "",
        detail: str = "",
    ) -> None:
        super().__init__(fact)
        self.fact = fact
        self.location = location
        self.expected = expected
        self.got = got
        self.hint = hint
        self.detail = detail

    def line(self) -> str:
        """Return the message without the hint, in one line whatever words it quotes."""
        place = f"{self.location}: " if self.location else ""
        if self.expected is None:
            return printable(f"{place}{self.fact}")
        return printable(f"{place}{self.fact}; expected {self.expected}, got {self.got}")

    def under(self, subject: str) -> NetraError:
        """Return this error with the subject of the work in front of its location."""
        self.location = f"{subject}: {self.location}" if self.location else subject
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _error_of, (type(self), self.args, vars(self))

    def __str__(self) -> str:
        hint = printable(f"hint: {self.hint}") if self.hint else ""
        parts = [self.line(), self.detail, hint]
        return "\n".join(part for part in parts if part)


class Refused(NetraError):
    """A gate said no, or two things that must be equal differ (exit 1)."""

    status = EXIT_REFUSED


class BadInput(NetraError):
    """A manifest, recipe, assembly file, code object or option cannot be used (exit 2)."""

    status = EXIT_BAD_INPUT


class EvidenceIncomplete(NetraError):
    """The evidence that a claim needs is not there (exit 3)."""

    status = EXIT_EVIDENCE_INCOMPLETE


class ToolchainFailed(NetraError):
    """The tool chain is missing, unusable or failed on an input (exit 4)."""

    status = EXIT_TOOLCHAIN


class DamagedStore(NetraError):
    """Stored state does not verify; the hint says what to remove (exit 5)."""

    status = EXIT_DAMAGED_STORE


def _error_of(kind: type[NetraError], args: tuple[Any, ...], state: dict[str, Any]) -> NetraError:
    """Return an error that came from another process, whatever its class is made with."""
    error = kind.__new__(kind, *args)
    vars(error).update(state)
    return error
