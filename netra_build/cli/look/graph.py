"""``netra graph ENGINE``: show the artifact graph, how each action stands and how long it took."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rich.console import Console

from netra_build.cli.look.graph_text import dot_text, html_text, plain_lines, print_tree
from netra_build.cli.look.recorded import add_build, recorded_view
from netra_build.core.canonical_json import pretty_bytes

HELP = "show the actions of what was built: digests, states, durations, critical path"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the engine and the form."""
    parser.add_argument("engine", help="engine, recipe or tactic that was built, or its folder")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--dot", action="store_true", help="print for Graphviz")
    form.add_argument("--json", action="store_true", help="print as JSON")
    form.add_argument("--html", action="store_true", help="print one page, without scripts")
    add_build(parser)


def run(options: argparse.Namespace) -> int:
    """Print the graph in the form that was asked for; nothing is built."""
    view = recorded_view(Path(options.build), options.engine)
    if options.dot:
        print(dot_text(view), end="")
    elif options.json:
        print(pretty_bytes(view.document()).decode(), end="")
    elif options.html:
        print(html_text(view), end="")
    elif sys.stdout.isatty():
        print_tree(view, Console())
    else:
        print("\n".join(plain_lines(view)))
    return 0
