"""``netra graph ENGINE``: show the artifact graph, the state of each action and its duration."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from netra_build.cli.look.recorded import BUILD, recorded_view
from netra_build.cli.options import JSON, command, either, flag, option
from netra_build.core.canonical_json import pretty_bytes
from netra_build.core.texts import texts_in
from netra_build.inspect.upcoming import GraphView, Shown, State

MARK = "*"
MOST_FILES = 3
COLOUR_BY_STATE = {
    State.UP_TO_DATE: "green",
    State.UNKNOWN: "blue",
    State.MAY_RUN: "yellow",
    State.WOULD_RUN: "red",
    State.MISSING: "magenta",
}


@command(
    "show the actions of what was built: digests, states, durations, critical path",
    option("engine", help="engine, recipe or tactic that was built, or its folder"),
    either(
        flag("--dot", "print for Graphviz"),
        JSON,
        flag("--html", "print one page, without scripts"),
    ),
    BUILD,
)
def graph_command(options: argparse.Namespace) -> int:
    """Print the graph in the requested form; nothing is built."""
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


def _by_subject(view: GraphView) -> dict[str, list[Shown]]:
    found: dict[str, list[Shown]] = {}
    for one in view.actions:
        found.setdefault(one.subject, []).append(one)
    return found


def _action_text(one: Shown) -> str:
    mark = MARK if one.is_critical else " "
    files = [f"{name} {digest}" for name, digest in one.outputs.items()]
    if len(files) > MOST_FILES:
        files[MOST_FILES:] = [f"{len(files) - MOST_FILES} more"]
    head = f"{mark} {one.stage:<8} {one.state.value:<13} {one.duration():>10}"
    return f"{head}  {', '.join(files)}"


def plain_lines(view: GraphView) -> Iterator[str]:
    """Yield the graph as plain text, grouped by subject; the critical path is marked."""
    yield view.headline()
    for subject, actions in _by_subject(view).items():
        yield f"  {subject}"
        for one in actions:
            yield f"    {_action_text(one)}"
            yield from (f"        {reason}" for reason in one.reasons)


def print_tree(view: GraphView, console: Console) -> None:
    """Print the graph as a coloured tree."""
    tree = Tree(Text(view.headline()))
    for subject, actions in _by_subject(view).items():
        branch = tree.add(Text(subject, style="bold"))
        for one in actions:
            leaf = branch.add(Text(_action_text(one), style=COLOUR_BY_STATE[one.state]))
            for reason in one.reasons:
                leaf.add(Text(reason))
    console.print(tree)


def dot_text(view: GraphView) -> str:
    """Return the graph for Graphviz; the critical path is bold."""
    lines = ["digraph netra {", "  rankdir=LR;", "  node [shape=box];"]
    for one in view.actions:
        label = "\\n".join(_quoted(part) for part in (one.stage, one.subject, one.duration()))
        width = 3 if one.is_critical else 1
        colour = COLOUR_BY_STATE[one.state]
        lines.append(f'  n{one.number} [label="{label}", color={colour}, penwidth={width}];')
    chain = [one.number for one in view.critical()]
    critical = set(pairwise(chain))
    for one in view.actions:
        for needed in one.needs:
            style = " [penwidth=3]" if (needed, one.number) in critical else ""
            lines.append(f"  n{needed} -> n{one.number}{style};")
    return "\n".join([*lines, "}", ""])


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def html_text(view: GraphView) -> str:
    """Return one page without scripts or other files; inputs of an action link to their rows."""
    longest = max((one.ms or 0.0 for one in view.actions), default=0.0) or 1.0
    page = texts_in(Path(__file__).parent, is_html=True).get_template("graph.html")
    return page.render(view=view, by_subject=_by_subject(view), longest=longest)
