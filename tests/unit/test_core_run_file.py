"""The record of runs on disk: what is kept as it was read, what is dropped, and what is damage."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from workshop import Workshop, entries

from netra_build.build.record.run_file import Line, State, read_state, state_bytes
from netra_build.build.record.run_record import KEPT_BUILDS, RunRecord
from netra_build.build.run.executor import run_action
from netra_build.core.disk import RealDisk


def path_of(shop: Workshop) -> Path:
    return shop.folder / "work/runs.json"


@pytest.fixture
def shop(tmp_path: Path) -> Workshop:
    workshop = Workshop(tmp_path)
    workshop.build()
    return workshop


def run_last(shop: Workshop) -> None:
    """Run the last action alone and save."""
    execution = shop.execution()
    run_action(execution.graph.actions[-1], execution)
    execution.runs.save()


def test_a_line_of_what_did_not_run_is_kept_as_it_was(shop: Workshop) -> None:
    before = path_of(shop).read_text().splitlines()
    run_last(shop)
    after = path_of(shop).read_text().splitlines()
    assert len(before) == len(after) == 4
    [kept] = [line for line in after[2:] if "CLIP" in line]
    assert kept in before
    assert json.loads(after[0])["builds"] == 2


def test_nothing_is_written_where_nothing_ran(shop: Workshop) -> None:
    path_of(shop).unlink()
    shop.execution().runs.save()
    assert not path_of(shop).exists()


def test_code_and_tools_stand_once_and_only_while_they_are_named(shop: Workshop) -> None:
    shop.tools.version = "2"
    run_last(shop)
    first = json.loads(path_of(shop).read_text().splitlines()[0])
    assert len(first["codes"]) == 1
    assert list(first["tools"].values()) == [{}, {"assembler_version": "2"}]


def test_what_is_gone_is_kept_for_a_while(shop: Workshop) -> None:
    middle = shop.folder / "work/mid"
    for _ in range(2, KEPT_BUILDS + 2):
        assert {entry.stage for entry in entries(shop.execution().runs)} == {"clip", "double"}
        middle.write_text("x")
        execution = shop.execution()
        run_action(execution.graph.actions[-1], execution)
        middle.unlink()
        execution.runs.save()
    assert [entry.stage for entry in entries(shop.execution().runs)] == ["double"]


HEADS: list[list] = [
    [["a", "b"], "g", "s", "one", 1, "c", "t"],
    [["c"], "g", "s", "other", 2, "c", "t"],
]


def heads_read(shop: Workshop, heads: str) -> list[tuple]:
    """Return the heads in a record of two actions whose second line this is."""
    first, _, *rest = path_of(shop).read_text().splitlines()
    path_of(shop).write_text("\n".join([first, heads, *rest]) + "\n")
    return [line[:-1] for line in read_state(path_of(shop).read_bytes()).lines]


def test_heads_are_read(shop: Workshop) -> None:
    assert heads_read(shop, json.dumps(HEADS)) == [
        (("a", "b"), "g", "s", "one", 1, "c", "t"),
        (("c",), "g", "s", "other", 2, "c", "t"),
    ]


def test_lines_of_several_kinds_come_back() -> None:
    lines = [
        Line(("a",), "g", "s", "t", 1, "c", "t", b"1"),
        Line(("b", "c"), "g", "other", "u", 2, "c", "t", b"{}"),
        Line(("d",), "g", "s", "v", 3, "c", "t2", b""),
        Line(("e",), "g", "s", "w", 3, "c", "t", b"unread"),
    ]
    assert read_state(state_bytes(State(3, lines=lines))).lines == lines
    assert read_state(state_bytes(State(3))).lines == []


@pytest.mark.parametrize("line", ["", "{}", "[]", "3", "[" * 100_000, "\udcff"])
def test_a_line_of_heads_that_cannot_be_read_is_a_damaged_record(shop: Workshop, line: str) -> None:
    assert len(read_state(path_of(shop).read_bytes()).lines) == 2
    first, _, *rest = path_of(shop).read_bytes().splitlines()
    damaged = line.encode("utf-8", "surrogateescape")
    path_of(shop).write_bytes(b"\n".join([first, damaged, *rest]) + b"\n")
    state = read_state(path_of(shop).read_bytes())
    assert (list(state.lines), state.builds) == ([], 0)


@pytest.mark.parametrize(
    ("index", "value"),
    [
        (0, "abc"),
        (0, []),
        (0, {"c": 1}),
        (0, ["c", 3]),
        (0, ["c", "\ud800"]),
        (0, None),
        (1, 3),
        (1, "\udcff"),
        (2, ["s"]),
        (3, 3),
        (3, None),
        (4, "2"),
        (4, 1.5),
        (4, -1),
        (4, True),
        (4, 10**4000),
        (4, []),
        (4, None),
        (5, 3),
        (6, "\udcff"),
    ],
)
def test_heads_of_another_form_are_a_damaged_record(
    shop: Workshop, index: int, value: object
) -> None:
    sys.set_int_max_str_digits(0)
    try:
        line = json.dumps([HEADS[0], [*HEADS[1][:index], value, *HEADS[1][index + 1 :]]])
    finally:
        sys.set_int_max_str_digits(4300)
    assert heads_read(shop, line) == []


@pytest.mark.parametrize(
    "heads", [HEADS[:1], [*HEADS, HEADS[1]], [HEADS[0], HEADS[1][:6]], [HEADS[0], [*HEADS[1], "x"]]]
)
def test_heads_that_are_too_few_or_too_many_are_a_damaged_record(
    shop: Workshop, heads: list
) -> None:
    assert heads_read(shop, json.dumps(heads)) == []


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("builds", "1e999"),
        ("builds", "-1"),
        ("builds", "1.5"),
        ("builds", '"1"'),
        ("builds", "true"),
        ("builds", "9" * 39),
        ("builds", "9" * 4300),
        ("requests", '{"\\ud800": 1}'),
        ("requests", '{"a": "\\ud800"}'),
        ("requests", '{"a": 1e999}'),
        ("requests", '{"a": NaN}'),
        ("requests", '{"a": ' + "[" * 900 + "]" * 900 + "}"),
        ("codes", '{"\\ud800": {}}'),
        ("tools", '{"a": {"b": "\\ud800"}}'),
        ("tools", '{"a": {"b": 1}}'),
    ],
)
def test_a_first_line_that_cannot_be_used_is_no_record_and_is_written_anew(
    shop: Workshop, key: str, text: str
) -> None:
    first, *lines = path_of(shop).read_text().splitlines()
    document = {**json.loads(first), key: "HERE"}
    damaged = json.dumps(document).replace('"HERE"', text)
    path_of(shop).write_text("\n".join([damaged, *lines]) + "\n")
    assert entries(RunRecord(path_of(shop), RealDisk())) == []
    run_last(shop)
    after = path_of(shop).read_text().splitlines()
    assert json.loads(after[0])["builds"] == 1
    assert ["DOUBLE" in line for line in after[2:]] == [True]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("line", 3),
        ("line", "\ud800"),
        ("inputs", []),
        ("inputs", {"text": ["a", "b"]}),
        ("parameters", {"a": 1}),
        ("outputs", {}),
        ("inputs", {"\ud800": ["a", "b", "c"]}),
        ("parameters", {"a": "\ud800"}),
        ("parameters", {"\ud800": "a"}),
        ("outputs", {"made": ["a", "b", "c", 1]}),
        ("runs", {}),
        ("runs", {"1": ["ran", "x", []]}),
        ("runs", {"1": ["ran", float("inf"), []]}),
        ("runs", {"1": ["ran", float("nan"), []]}),
        ("runs", {"1": ["ran", -1, []]}),
        ("runs", {"1": ["ran", 10**400, []]}),
        ("runs", {"1": ["flew", 1, []]}),
        ("runs", {"1": ["ran", 1, []], "9" * 4000: ["ran", 1, []]}),
        ("runs", {"1": ["ran", 1, [["first_build", "\ud800", "", ""]]]}),
        ("runs", {"1": ["ran", 1, [["no_such_cause", "", "", ""]]]}),
    ],
)
def test_the_rest_of_a_line_that_cannot_be_read_is_no_record_of_that_action(
    shop: Workshop, name: str, value: object
) -> None:
    first, *lines = path_of(shop).read_text().splitlines()
    number = next(n for n, line in enumerate(lines) if "DOUBLE" in line)
    lines[number] = json.dumps({**json.loads(lines[number]), name: value})
    path_of(shop).write_text("\n".join([first, *lines]) + "\n")
    record = RunRecord(path_of(shop), RealDisk())
    assert [entry.stage for entry in entries(record)] == ["clip"]
    assert shop.ahead() == ["netra: 0 would run, 0 may run, 1 up to date, 1 not on record"]
