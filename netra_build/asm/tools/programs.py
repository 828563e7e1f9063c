"""Programs that are run, with nothing ambient, and what they report: no other module starts any."""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import IO

from netra_build.asm.native.protocol import report_in
from netra_build.asm.tools.bounds import Bounds, no_process_hint
from netra_build.core.errors import BadInput, ToolchainFailed
from netra_build.core.processes import end_group, waited_for
from netra_build.core.streams import scratch_stream

MAX_OUTPUT_BYTES = 256 * 1024**2
MAX_REPORT_BYTES = 1024**2
INSTALL_HINT = (
    "install LLVM 20 or newer (Debian: llvm-22 and lld-22) or the ziglang package, "
    "or name a folder that holds llvm-mc and ld.lld with toolchain=DIR"
)
PROGRAM_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where a compiler looks for its own assembler and linker."""

WORKER = "import sys; from netra_build.asm.native.worker import main; main(sys.argv[1:])"
"""The program of a worker. ``-m`` would load what finds modules for it first."""

PACKAGE_PARENT = Path(__file__).parent.parent.parent.parent
"""The folder that holds the package; a worker searches it and no ``site-packages``."""

MAX_DIAGNOSTICS = 1000
INSTANTIATION = "<instantiation>"
"""The file name that the assembler gives to text made by a macro."""

_LINE = re.compile(r"(.+?):(\d{1,9}):(?:(\d{1,9}):)? (error|warning|note|remark): (.*)")
_TOOL_LINE = re.compile(r"(?:[^\s:]*(?:ld\.lld|lld|clang|llvm-[a-z]+)): (?:fatal )?error: (.*)")


@dataclass(frozen=True)
class Program:
    """One program to run: its plain name, its file and the arguments that always come first."""

    name: str
    path: Path
    leading: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """How a program ended: its exit status, what it printed or made, and what it reported."""

    status: int
    output: bytes
    report: str


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


class ToolCrashed(ToolchainFailed):
    """A program was ended by a signal that it brought on itself: its input may be the reason."""


def parse_diagnostics(raw: str) -> tuple[Diagnostic, ...]:
    """Return the report's diagnostics in order, at most ``MAX_DIAGNOSTICS``."""
    matches = islice(filter(None, map(_LINE.fullmatch, raw.split("\n"))), MAX_DIAGNOSTICS)
    return tuple(
        Diagnostic(file.removeprefix("./"), int(row), int(column or 0), severity, text)
        for file, row, column, severity, text in (match.groups() for match in matches)
    )


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


def run_tool(
    program: Program,
    arguments: Sequence[str],
    folder: Path,
    library_path: Sequence[Path],
    bounds: Bounds,
) -> Outcome:
    """Run a program of a tool chain in ``folder`` with bounded time, memory and output.

    Raises ``ToolchainFailed`` when it cannot be started, is ended by a signal without having
    reported an error, or does not end in time.
    """
    command = [str(program.path), *program.leading, *arguments]
    with scratch_stream() as output, scratch_stream() as report:
        try:
            process = _started(command, folder, library_path, stdout=output, stderr=report)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "unusable path"
            raise ToolchainFailed(
                f"cannot be started: {reason.lower()}",
                location=command[0],
                hint=no_process_hint(error) or INSTALL_HINT,
            ) from None
        _bound(process, bounds.memory_bytes)
        status = _wait(process, command[0], bounds)
        text = _text(report)
        if status < 0 and "error:" not in text:
            raise bounds.exceeded(text, command[0]) or dead(-status, command[0])
        size = min(output.seek(0, os.SEEK_END), MAX_OUTPUT_BYTES)  # not more memory than it takes
        output.seek(0)
        return Outcome(status, output.read(size), text)


def run_program(command: Sequence[str], *, folder: Path, timeout_seconds: float) -> Outcome:
    """Run one program of the set-up to its end; its report is all that it printed.

    Raises ``ToolchainFailed`` when it cannot be started or does not end in time.
    """
    more = {"PATH": PROGRAM_PATH}
    with scratch_stream() as output:
        try:
            process = _started(command, folder, (), more, stdout=output, stderr=subprocess.STDOUT)
        except (OSError, ValueError):
            raise ToolchainFailed("cannot be started", location=command[0]) from None
        status = _wait(process, command[0], Bounds(timeout_seconds, is_fixed=True))
        return Outcome(status, b"", _text(output))


def start_worker(
    arguments: Sequence[str], *, folder: Path, report: IO[bytes], library_path: Sequence[Path]
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a worker in ``folder`` and return it with our end of its channel.

    Raises ``OSError`` when no process can be started. The worker has a process group of its own:
    the interrupt key reaches the build alone, which then closes the channel.
    """
    # A worker leaves no bytecode where its build leaves none.
    options = ["-B"] if sys.dont_write_bytecode else []
    command = [sys.executable, *options, "-S", "-P", "-c", WORKER, *arguments]
    more = {"PYTHONPATH": str(PACKAGE_PARENT)}
    ours, theirs = socket.socketpair()
    try:
        process = _started(
            command,
            folder,
            library_path,
            more,
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=report,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return process, ours


def dead(number: int, location: str, reason: str = "") -> ToolchainFailed:
    """Return the error for a program that a signal has ended."""
    names = {one.value: one.name for one in signal.Signals}
    fact = f"was ended by signal {names.get(number, number)}"
    if number == signal.SIGXFSZ:
        fact = f"wrote more than {MAX_OUTPUT_BYTES} bytes"
    is_from_outside = number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
    kind = ToolchainFailed if is_from_outside else ToolCrashed
    return kind(fact + reason, location=location)


def _started(
    command: Sequence[str],
    folder: Path,
    library_path: Sequence[Path],
    more: Mapping[str, str] | None = None,
    *,
    stdin: int = subprocess.DEVNULL,
    stdout: IO[bytes] | int,
    stderr: IO[bytes] | int,
) -> subprocess.Popen[bytes]:
    """Start a program in ``folder`` with a fixed environment; ``more`` is added to it.

    It leads a process group: who ends it ends what it has started as well.
    """
    environment = {"LC_ALL": "C", **(more or {})}
    if library_path:
        environment["LD_LIBRARY_PATH"] = ":".join(map(str, library_path))
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        process_group=0,
    )


def _text(stream: IO[bytes]) -> str:
    return report_in(stream.fileno(), MAX_REPORT_BYTES).decode("utf-8", "backslashreplace")


def _bound(process: subprocess.Popen[bytes], memory_bytes: int) -> None:
    """Limit a started process from outside; one that has already ended needs no limit."""
    for kind, most in (
        (resource.RLIMIT_AS, memory_bytes),
        (resource.RLIMIT_FSIZE, MAX_OUTPUT_BYTES),
        (resource.RLIMIT_CORE, 0),
    ):
        try:
            resource.prlimit(process.pid, kind, (most, most))
        except (OSError, ValueError):
            return


def _wait(process: subprocess.Popen[bytes], program: str, bounds: Bounds) -> int:
    seconds = bounds.seconds
    try:
        return process.wait(0 if waited_for(process.pid, seconds) else seconds)
    except subprocess.TimeoutExpired:
        raise bounds.too_slow(program) from None
    finally:
        if process.poll() is None:
            end_group(process.pid)
            process.wait()
