"""The artifact graph as text, as Graphviz dot and as one page of HTML."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from itertools import pairwise

from rich.console import Console
from rich.text import Text
from rich.tree import Tree

from netra_build.build.explain.graph_view import GraphView, Shown
from netra_build.build.explain.upcoming import State

MARK = "*"
MOST_FILES = 3
COLOUR_BY_STATE = {
    State.UP_TO_DATE: "green",
    State.UNKNOWN: "blue",
    State.MAY_RUN: "yellow",
    State.WOULD_RUN: "red",
    State.MISSING: "magenta",
}


def _by_subject(view: GraphView) -> dict[str, list[Shown]]:
    """Return the actions by what they are about, both in graph order."""
    found: dict[str, list[Shown]] = {}
    for one in view.actions:
        found.setdefault(one.subject, []).append(one)
    return found


def _files_text(one: Shown) -> str:
    shown = [f"{name} {digest}" for name, digest in one.files[:MOST_FILES]]
    left = len(one.files) - MOST_FILES
    return ", ".join([*shown, *([f"{left} more"] if left > 0 else [])])


def _action_text(one: Shown) -> str:
    mark = MARK if one.is_critical else " "
    return f"{mark} {one.label:<8} {one.state.value:<13} {one.duration():>10}  {_files_text(one)}"


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
        label = "\\n".join(_quoted(part) for part in (one.label, one.subject, one.duration()))
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


STYLE = """
body { font: 14px/1.4 sans-serif; margin: 2em; }
table { border-collapse: collapse; margin: .5em 0 1em 1em; }
td, th { padding: .15em .7em; text-align: left; vertical-align: top; }
tr.critical { background: #fff3c4; }
code { font-size: 12px; }
.bar { background: #9bb8d3; height: .7em; display: inline-block; }
.up-to-date { color: #176317; } .not-on-record { color: #1b4f9c; } .may-run { color: #8a6100; }
.would-run { color: #b01010; } .missing { color: #8d128d; }
""".strip()


def html_text(view: GraphView) -> str:
    """Return one page that needs nothing else and no script; needs are links to their rows."""
    longest = max((one.ms or 0.0 for one in view.actions), default=0.0) or 1.0
    parts = [
        "<!DOCTYPE html>",
        f'<html lang="en"><head><meta charset="utf-8"><title>{escape(view.name)}</title>',
        f"<style>\n{STYLE}\n</style></head><body>",
        f"<h1>{escape(view.name)}</h1>",
        f"<p>{escape(view.headline())}. Rows of the critical path are shaded.</p>",
    ]
    for subject, actions in _by_subject(view).items():
        parts.append(f"<details open><summary>{escape(subject)}</summary><table>")
        parts.append("<tr><th>#</th><th>stage</th><th>state</th><th>last run</th>")
        parts.append("<th>outputs</th><th>needs</th><th>why</th></tr>")
        parts += [_row(one, longest) for one in actions]
        parts.append("</table></details>")
    return "\n".join([*parts, "</body></html>", ""])


def _row(one: Shown, longest: float) -> str:
    shade = ' class="critical"' if one.is_critical else ""
    width = round(100 * (one.ms or 0.0) / longest)
    files = "<br>".join(f"<code>{escape(n)} {escape(d)}</code>" for n, d in one.files)
    links = [f'<a href="#n{number}">{number}</a>' for number in one.needs]
    sources = [f"<code>{escape(name)}</code>" for name in one.sources]
    reasons = "<br>".join(escape(reason) for reason in one.reasons)
    state = one.state.value
    return (
        f'<tr id="n{one.number}"{shade}><td>{one.number}</td><td>{escape(one.label)}</td>'
        f'<td class="{state.replace(" ", "-")}">{state}</td>'
        f'<td><span class="bar" style="width:{width}px"></span> {one.duration()}</td>'
        f"<td>{files}</td><td>{', '.join([*links, *sources])}</td><td>{reasons}</td></tr>"
    )
