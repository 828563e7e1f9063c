"""The artifact graph as it is shown: states, durations, the critical path, and its four forms."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from html.parser import HTMLParser

from rich.console import Console

from netra_build.build.graph.actions import Place, Root, Stage
from netra_build.build.record.reasons import Cause, Ingredients, Reason
from netra_build.build.record.run_file import Entry, Output, Run
from netra_build.cli.look.graph import dot_text, html_text, plain_lines, print_tree
from netra_build.core.canonical_json import pretty_bytes
from netra_build.inspect.upcoming import GraphView, State, Verdict, graph_view

STAGE = Stage("work", "WORK", "netra_build.core.errors", lambda i, p, t: {})
EMPTY = Ingredients({}, {}, "", {}, "", {})


def verdict(
    name: str,
    needs: tuple[str, ...],
    ms: float | None,
    state: State = State.UP_TO_DATE,
    reasons: tuple[Reason, ...] = (),
    subject: str = "kernel",
) -> Verdict:
    """Return one action that makes ``name`` from ``needs``; names in capitals are sources."""
    inputs = {n: Place(Root.SOURCE if n.isupper() else Root.WORK, n) for n in needs}
    action = STAGE.apply(subject, inputs, {"made": Place(Root.WORK, name)})
    entry = None
    if ms is not None:
        made = {"made": Output(name, name, "1" * 64, 1)}
        runs = {1: Run("ran", ms, (Reason(Cause.FIRST_BUILD),))}
        entry = Entry("g", "work", action.line(), subject, EMPTY, made, 1, runs)
    return Verdict(action, tuple(sorted(needs)), (name,), state, reasons, entry)


RENEWED = Reason(Cause.INPUT_RENEWED, "b")
VERDICTS = [
    verdict("a", ("SOURCE",), 10.0),
    verdict("b", ("a",), 1.0, State.WOULD_RUN, (Reason(Cause.OUTPUT_ALTERED, "b", "x", "<y>"),)),
    verdict("c", ("a",), 5.25, subject="<other>"),
    verdict("d", ("b", "c"), None, State.MAY_RUN, (RENEWED,)),
]


def view() -> GraphView:
    """Return a diamond: d needs b and c, which need a."""
    return graph_view("g", VERDICTS)


def test_the_critical_path_is_the_longest_by_time():
    assert [one.number for one in view().critical()] == [0, 2]
    assert view().headline() == (
        "g: 4 actions, 2 up to date, 1 may run, 1 would run; critical path 15.2 ms in 2 actions"
    )


def test_a_file_on_no_record_is_shown_as_it_lies_there():
    fresh = replace(verdict("e", (), None), digests={"e": "2" * 64})
    missing = verdict("f", (), None, State.MISSING, (Reason(Cause.FIRST_BUILD),))
    unknown = verdict("g", (), None, State.WOULD_RUN, (Reason(Cause.NO_RECORD),))
    shown = [one.outputs for one in graph_view("g", [fresh, missing, unknown]).actions]
    assert shown == [
        {"e": "b3:222222222222"},
        {"f": "not made"},
        {"g": "not on record"},
    ]


def test_an_empty_graph_has_a_view():
    assert graph_view("g", []).headline() == "g: 0 actions; critical path 0.0 ms in 0 actions"


def test_the_plain_form_groups_by_subject_and_marks_the_path():
    digest = "b3:111111111111"
    assert list(plain_lines(view()))[1:] == [
        "  kernel",
        f"    * WORK     up to date       10.0 ms  a {digest}",
        f"      WORK     would run         1.0 ms  b {digest}",
        '        output "b" was altered x -> <y>',
        "      WORK     may run                   d not on record",
        '        input "b" will be made again first',
        "  <other>",
        f"    * WORK     up to date        5.2 ms  c {digest}",
    ]


def test_the_tree_says_the_same_as_the_plain_form():
    stream = io.StringIO()
    print_tree(view(), Console(file=stream, width=200, color_system=None))
    shown = stream.getvalue()
    for line in plain_lines(view()):
        assert line.strip() in shown


def test_the_dot_form():
    assert dot_text(view()).splitlines() == [
        "digraph netra {",
        "  rankdir=LR;",
        "  node [shape=box];",
        '  n0 [label="WORK\\nkernel\\n10.0 ms", color=green, penwidth=3];',
        '  n1 [label="WORK\\nkernel\\n1.0 ms", color=red, penwidth=1];',
        '  n2 [label="WORK\\n<other>\\n5.2 ms", color=green, penwidth=3];',
        '  n3 [label="WORK\\nkernel\\n", color=yellow, penwidth=1];',
        "  n0 -> n1;",
        "  n0 -> n2 [penwidth=3];",
        "  n1 -> n3;",
        "  n2 -> n3;",
        "}",
    ]


def test_the_json_form():
    document = view().document()
    assert document["format"] == "netra-graph-1"
    assert document["critical_path"] == [0, 2]
    assert json.loads(pretty_bytes(document["actions"][0])) == {
        "number": 0,
        "stage": "WORK",
        "subject": "kernel",
        "state": "up to date",
        "ms": 10.0,
        "outputs": {"a": "b3:111111111111"},
        "needs": [],
        "sources": ["SOURCE"],
        "reasons": [],
        "critical": True,
    }
    last = json.loads(pretty_bytes(document["actions"][3]))
    assert last["reasons"] == ['input "b" will be made again first']
    assert last["needs"] == [1, 2]


class Page(HTMLParser):
    """Collects what a page holds."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids |= {value for name, value in attrs if name == "id" and value}
        self.links |= {value for name, value in attrs if name in ("href", "src") and value}

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_is_whole_without_scripts_and_without_other_files():
    page = Page()
    page.feed(html_text(view()))
    assert "script" not in page.tags
    assert page.links == {"#n0", "#n1", "#n2"}
    assert page.links <= {f"#{name}" for name in page.ids}
    for text in ("<other>", 'output "b" was altered x -> <y>', view().headline(), "SOURCE"):
        assert text in page.text
