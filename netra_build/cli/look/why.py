"""``netra why TARGET``: say why a file was last made, and whether it would be made again."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from netra_build.build.run.execution import Execution
from netra_build.cli.look.recorded import Recorded, add_build
from netra_build.core.canonical_json import pretty_bytes
from netra_build.inspect.why import answers, why_document

HELP = "say why a file was last made, back to the edit that started it, and whether it stays"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the target and its options."""
    parser.add_argument(
        "target", metavar="TARGET", help="output, file of an engine, tactic, operation or symbol"
    )
    parser.add_argument("--json", action="store_true", help="print as JSON")
    add_build(parser)


def run(options: argparse.Namespace) -> int:
    """Print the chain of reasons; nothing is built."""
    here = Path.cwd()
    recorded = Recorded(Path(options.build))
    target = _from_base(options.target, here, recorded.base)
    executions = _executions(recorded, target)
    found = answers(target, executions, recorded.record, recorded.freshness(executions))
    if options.json:
        print(pretty_bytes(why_document(target, found)).decode(), end="")
    else:
        print("\n".join(line for one in found for line in one.lines()))
    return 0


def _from_base(target: str, here: Path, base: Path) -> str:
    """Return a path that was written relative to ``here``, relative to ``base``; words as is."""
    if "/" not in target or here == base:
        return target
    path = os.path.relpath(here / target, base)
    return target if path.startswith("..") else path


def _executions(recorded: Recorded, target: str) -> list[Execution]:
    """Return the plans in which the target may be; of all requests if the record has no path."""
    lines = recorded.record.lines()
    graphs = {n.graph for n in lines if any(_is_end(path, target) for path in n.outputs)}
    return list(recorded.executions(lambda one: not graphs or one.graph in graphs))


def _is_end(path: str, target: str) -> bool:
    return path == target or path.endswith(f"/{target}")
