"""The ``netra`` command: parses the command line, runs one command, maps errors to exit codes."""

from __future__ import annotations

import argparse
import errno
import importlib
import sys
import traceback
from collections.abc import Sequence
from typing import NoReturn

from netra_build import __version__
from netra_build.cli.options import Command
from netra_build.core.errors import EXIT_BAD_INPUT, EXIT_OUR_BUG, BadInput, NetraError, nearest_hint

COMMANDS = {
    "build": "build.build",
    "check": "prove.check",
    "compile": "build.compile",
    "completion": "completion",
    "diff": "look.diff",
    "explain": "look.inspect_engine",
    "graph": "look.graph",
    "inspect": "look.inspect_engine",
    "list-tactics": "look.inspect_engine",
    "validate": "build.validate",
    "verify": "prove.release",
    "evidence": "prove.golden",
    "golden": "prove.golden",
    "mutate": "prove.mutate",
    "kernels": "author.kernels_table",
    "new-tactic": "author.tactics",
    "pin": "author.tactics",
    "promote": "prove.golden",
    "rebuild": "build.rebuild",
    "recipe": "build.rebuild",
    "repack": "build.repack",
    "report": "look.report",
    "reproduce": "prove.release",
    "simulate": "prove.check",
    "store": "store",
    "why": "look.recorded",
}
"""Command name to the module below this folder that defines it, imported only when used.

The command ``list-tactics`` is defined as ``list_tactics_command``.
"""


CANNOT_TAKE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""Errors of standard output; of a file they come with its name."""


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors have our message format and exit code."""

    def error(self, message: str) -> NoReturn:
        raise BadInput(message, location=self.prog, hint=f"{self.prog} -h shows the options")


def load_command(word: str) -> Command:
    """Return the command of this name; raise ``BadInput`` with the nearest known one."""
    if word not in COMMANDS:
        raise BadInput(
            f'unknown command "{word}"', location="netra", hint=nearest_hint(word, COMMANDS)
        )
    module = importlib.import_module(f"netra_build.cli.{COMMANDS[word]}")
    found: Command = getattr(module, f"{word.replace('-', '_')}_command")
    return found


def usage() -> str:
    """Return the list of commands with one line of help each."""
    width = max(map(len, COMMANDS))
    rows = [f"  {word:<{width}}  {load_command(word).help}" for word in sorted(COMMANDS)]
    return "\n".join(["usage: netra COMMAND [OPTIONS]", "", *rows, ""])


def run_command(words: Sequence[str]) -> int:
    """Run one command line and return its exit code; errors are raised."""
    if not words or words[0] in ("-h", "--help", "help"):
        print(usage())
        return 0 if words else EXIT_BAD_INPUT
    if words[0] == "--version":
        print(f"netra {__version__}")
        return 0
    command = load_command(words[0])
    parser = _Parser(prog=f"netra {words[0]}", description=command.help, allow_abbrev=False)
    command.add_arguments(parser)
    return command.run(parser.parse_args(list(words[1:])))


def main(words: Sequence[str] | None = None) -> int:
    """Run the command line; print one line for any error and return the exit code."""
    try:
        status = run_command(list(sys.argv[1:] if words is None else words))
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except NetraError as error:
        print(f"netra: {error}", file=sys.stderr)
        return error.status
    except BrokenPipeError:
        return 0
    except OSError as error:
        if error.errno not in CANNOT_TAKE or error.filename is not None:
            traceback.print_exc()
            return EXIT_OUR_BUG
        sys.stdout = None  # what it still holds would be tried again at the end
        reason = (error.strerror or "not possible").lower()
        print(f"netra: cannot write the output: {reason}", file=sys.stderr)
        return EXIT_BAD_INPUT
    except KeyboardInterrupt:
        print("netra: interrupted", file=sys.stderr)
        return 130
    except Exception:
        traceback.print_exc()
        return EXIT_OUR_BUG


if __name__ == "__main__":
    sys.exit(main())
