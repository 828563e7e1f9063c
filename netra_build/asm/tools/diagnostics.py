"""What an assembler or linker says about a source, and the errors that carry it."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass

from netra_build.core.errors import BadInput

MAX_DIAGNOSTICS = 1000
INSTANTIATION = "<instantiation>"
"""The file name that the assembler gives to text made by a macro."""

_LINE = re.compile(r"(.+?):(\d{1,9}):(?:(\d{1,9}):)? (error|warning|note|remark): (.*)")
_TOOL_LINE = re.compile(r"(?:[^\s:]*(?:ld\.lld|lld|clang|llvm-[a-z]+)): (?:fatal )?error: (.*)")


@dataclass(frozen=True)
class Diagnostic:
    """One line of an assembler's report. Line and column count from one; column 0 is unknown."""

    file: str
    line: int
    column: int
    severity: str
    text: str


class AssemblyFailed(BadInput):
    """The assembler refused a source; carries its report in parts and as it was printed."""

    def __init__(
        self, fact: str, *, location: str, diagnostics: tuple[Diagnostic, ...], raw: str
    ) -> None:
        super().__init__(fact, location=location)
        self.diagnostics = diagnostics
        self.raw = raw


class LinkFailed(BadInput):
    """The linker refused its inputs; carries its report as it was printed."""

    def __init__(self, fact: str, *, location: str, raw: str) -> None:
        super().__init__(fact, location=location)
        self.raw = raw


def parse_diagnostics(raw: str) -> tuple[Diagnostic, ...]:
    """Return the report's diagnostics in order, at most ``MAX_DIAGNOSTICS``."""
    found = []
    for line in raw.split("\n"):
        match = _LINE.fullmatch(line)
        if match is None:
            continue
        file, row, column, severity, text = match.groups()
        found.append(
            Diagnostic(file.removeprefix("./"), int(row), int(column or 0), severity, text)
        )
        if len(found) == MAX_DIAGNOSTICS:
            break
    return tuple(found)


def assembly_failure(raw: str, location: str) -> AssemblyFailed:
    """Return the error for a refused source: its first error, at the author's file and line.

    An error inside a macro is placed where the outermost macro was called, which is the last
    note of that error's chain.
    """
    diagnostics = parse_diagnostics(raw)
    first = next((i for i, d in enumerate(diagnostics) if d.severity == "error"), None)
    if first is None:
        return AssemblyFailed(
            first_tool_error(raw), location=location, diagnostics=diagnostics, raw=raw
        )
    error = diagnostics[first]
    place = error
    for note in diagnostics[first + 1 :]:
        if place.file != INSTANTIATION or note.severity != "note":
            break
        place = note
    where = f"{place.file}:{place.line}:{place.column}"
    return AssemblyFailed(error.text, location=where, diagnostics=diagnostics, raw=raw)


def first_tool_error(raw: str) -> str:
    """Return the first error that a tool reports without a file, or its first line."""
    lines = [line.strip() for line in raw.split("\n") if line.strip()]
    for line in lines:
        if match := _TOOL_LINE.fullmatch(line):
            return match[1]
    return lines[0] if lines else "failed without a message"


def death(number: int, most_bytes: int) -> str:
    """Return how a program ended by a signal; ``most_bytes`` is what it was allowed to write."""
    if number == signal.SIGXFSZ:
        return f"wrote more than {most_bytes} bytes"
    try:
        return f"was ended by signal {signal.Signals(number).name}"
    except ValueError:
        return f"was ended by signal {number}"
