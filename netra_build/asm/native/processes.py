"""The one place of this package that starts programs: workers, and what builds the library."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from netra_build.core.errors import ToolchainFailed
from netra_build.core.streams import scratch_stream

WORKER = "import sys; from netra_build.asm.native.worker import main; main(sys.argv[1:])"
"""The program of a worker. ``-m`` would load what finds modules for it first."""

PACKAGE_PARENT = Path(__file__).parent.parent.parent.parent
"""The folder that holds the package; a worker searches it and no ``site-packages``."""

PROGRAM_PATH = "/usr/local/bin:/usr/bin:/bin"
"""Where a compiler looks for its own assembler and linker."""


@dataclass(frozen=True)
class Ended:
    """How a program ended: its exit code, negative for a signal, and all that it printed."""

    code: int
    text: str


def start_worker(
    arguments: Sequence[str], *, folder: Path, report: IO[bytes], library_path: Sequence[Path]
) -> tuple[subprocess.Popen[bytes], socket.socket]:
    """Start a worker in ``folder`` and return it with our end of its channel.

    Raises ``OSError`` when no process can be started. The worker has a process group of its own:
    the interrupt key reaches the build alone, which then closes the channel.
    """
    environment = {"LC_ALL": "C", "PYTHONPATH": str(PACKAGE_PARENT)}
    if library_path:
        environment["LD_LIBRARY_PATH"] = _joined(library_path)
    ours, theirs = socket.socketpair()
    try:
        process = subprocess.Popen(
            [sys.executable, *_as_here(), "-S", "-P", "-c", WORKER, *arguments],
            cwd=folder,
            env=environment,
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=report,
            process_group=0,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return process, ours


def _as_here() -> list[str]:
    """Return the option by which a worker leaves no bytecode where its build leaves none."""
    return ["-B"] if sys.dont_write_bytecode else []


def exit_code(process: subprocess.Popen[bytes], grace_seconds: float) -> int:
    """Return the exit code of a worker that is ending; it is killed after ``grace_seconds``."""
    try:
        return process.wait(grace_seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def signal_name(number: int) -> str:
    """Return the name of a signal, or its number when it has none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def run_program(
    command: Sequence[str], *, folder: Path, timeout_seconds: float, library_path: Sequence[Path]
) -> Ended:
    """Run one program of the set-up to its end with a fixed environment.

    Raises ``ToolchainFailed`` when it cannot be started or does not end in time.
    """
    environment = {"LC_ALL": "C", "PATH": PROGRAM_PATH}
    if library_path:
        environment["LD_LIBRARY_PATH"] = _joined(library_path)
    with scratch_stream() as output:
        try:
            code = subprocess.run(
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                timeout=timeout_seconds,
            ).returncode
        except (OSError, ValueError):
            raise ToolchainFailed("cannot be started", location=command[0]) from None
        except subprocess.TimeoutExpired:
            raise ToolchainFailed(
                f"did not finish within {timeout_seconds:g} seconds", location=command[0]
            ) from None
        output.seek(0)
        return Ended(code, output.read(1024**2).decode("utf-8", "backslashreplace"))


def _joined(folders: Sequence[Path]) -> str:
    return ":".join(str(folder) for folder in folders)
