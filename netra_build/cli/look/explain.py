"""``netra explain``: print why each tactic of an engine was chosen or refused."""

from __future__ import annotations

import argparse
from pathlib import Path

from netra_build.cli.look.inspect_engine import one_of, tree_lines, write_file
from netra_build.core.disk import RealDisk
from netra_build.inspect.validate.engine_folder import EngineFolder

HELP = "say why each tactic of an engine was chosen or rejected"
OTHER_OPERATION = "operation mismatch"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("path", type=Path, nargs="?", help="engine directory")
    parser.add_argument("--engine", type=Path, help="engine directory: print its explain.json")
    parser.add_argument("--json", action="store_true", help="print as JSON")


def run(options: argparse.Namespace) -> int:
    """Print one tree per operation, or the bytes of explain.json."""
    path = one_of(options, "explain")
    if options.json or path == options.engine:
        return write_file(path / "explain.json")
    print(explanation_text(EngineFolder(path, RealDisk())))
    return 0


def explanation_text(engine: EngineFolder) -> str:
    """Return, for every operation, what was chosen and why other tactics of its kind were not.

    Tactics of other operations are only counted; ``--json`` names each.
    """
    lines: list[str] = []
    for operation in engine.fields("explain.json").objects("operations"):
        chosen = operation.value.get("selected") or f"fallback {operation.text('fallback')}"
        rows, others = [], 0
        for candidate in operation.objects("candidates"):
            tactic = candidate.value.get("tactic") or "-"
            verdict = "chosen" if candidate.boolean("selected") else "rejected"
            reasons = candidate.texts("reasons", [])
            if OTHER_OPERATION in reasons:
                others += 1
            else:
                why = ", ".join(reasons)
                if not why and verdict == "rejected":
                    why = "fits too, ranked behind"
                rows.append((f"{tactic} {verdict}", why))
        if others:
            rows.append((f"{others} more", "for other operations"))
        lines += tree_lines(f"{operation.text('name')}: {chosen}", rows)
    return "\n".join(lines)
