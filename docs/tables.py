"""Writes the tables of ``docs/manual.md`` from the program: ``./netra python docs/tables.py``."""

from __future__ import annotations

import argparse
import re
from collections.abc import Mapping
from pathlib import Path

from netra_build.cli.main import COMMANDS, load_command
from netra_build.scons.command_line import TARGETS, VARIABLES

MANUAL = Path(__file__).resolve().parent / "manual.md"
TABLE = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)


def tables() -> dict[str, Mapping[str, str]]:
    """Return, for each table of the manual, its first column and its text."""
    return {
        "command": {call(word): load_command(word).help for word in sorted(COMMANDS)},
        "target": TARGETS,
        "variable": VARIABLES,
    }


def call(word: str) -> str:
    """Return a command with the arguments that it needs, or may have beside options."""
    parser = argparse.ArgumentParser(add_help=False)
    load_command(word).add_arguments(parser)
    shown = [word]
    for action in parser._actions:
        if action.required or not action.option_strings:
            names = "/".join(map(str, action.choices or [action.dest.upper()]))
            words = [*action.option_strings[:1], str(action.metavar or names).replace("|", "/")]
            needed = " ".join(words)
            shown.append(needed if action.required else f"[{needed}]")
    return " ".join(shown)


def render(text: str, rows_by_table: Mapping[str, Mapping[str, str]]) -> str:
    """Return the manual with every marked table written anew."""

    def write(match: re.Match[str]) -> str:
        rows = rows_by_table[match[2]].items()
        lines = [f"| {match[2]} | what it is |", "|---|---|"]
        lines += [f"| `{name}` | {said} |" for name, said in rows]
        return match[1] + "\n".join(lines) + "\n" + match[3]

    return TABLE.sub(write, text)


if __name__ == "__main__":
    MANUAL.write_text(render(MANUAL.read_text(encoding="utf-8"), tables()), encoding="utf-8")
