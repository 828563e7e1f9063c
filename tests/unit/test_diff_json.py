"""Differences of JSON documents: by name, with pointers, hashes apart; and as text."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netra_build.cli.look.diff_text import difference_text
from netra_build.inspect.diff.documents import Change, json_changes, renamed_pairs, without_hashes

A, B = "a" * 24, "b" * 24


def change(subject: tuple[str, ...], pointer: str, kind: str, **values: Any) -> Change:
    return Change(subject, pointer, kind, **values)


CASES = [
    ({}, {}, []),
    ({"a": 1}, {"a": 2}, [change((), "/a", "changed", old=1, new=2)]),
    ({"a": 1}, {"a": True}, [change((), "/a", "changed", old=1, new=True)]),
    ({"a": 1}, {"a": 1.0}, [change((), "/a", "changed", old=1, new=1.0)]),
    ({"a": 1}, {}, [change((), "/a", "removed", old=1)]),
    ({}, {"a/b~": None}, [change((), "/a~1b~0", "added", new=None)]),
    ({"a": [1]}, {"a": {}}, [change((), "/a", "changed", old=[1], new={})]),
    ([1, 2, 3], [1, 5, 3], [change((), "/1", "changed", old=2, new=5)]),
    ([1, 2, 3], [1, 3], [change((), "/1", "removed", old=2)]),
    ([1, 3], [0, 1, 3], [change((), "/0", "added", new=0)]),
    ([[1, 2], 3], [[1, 4], 3], [change((), "/0/1", "changed", old=2, new=4)]),
    (
        [{"name": "x", "n": 1}, {"name": "y"}],
        [{"name": "z"}, {"name": "x", "n": 2}],
        [
            change(("x",), "/1/n", "changed", old=1, new=2),
            change(("y",), "/1", "removed", old={"name": "y"}),
            change(("z",), "/0", "added", new={"name": "z"}),
        ],
    ),
    (
        {"ops": [{"name": "x"}, {"name": "y"}]},
        {"ops": [{"name": "y"}, {"name": "x"}]},
        [change((), "/ops", "moved", old=["x", "y"], new=["y", "x"])],
    ),
    (
        [{"name": "x", "args": [{"name": "p", "offset": 0}]}],
        [{"name": "x", "args": [{"name": "p", "offset": 8}]}],
        [change(("x", "p"), "/0/args/0/offset", "changed", old=0, new=8)],
    ),
    (
        [{"name": "x"}, {"name": "x"}],
        [{"name": "x"}, {"name": "w"}],
        [change((), "/1/name", "changed", old="x", new="w")],
    ),
    (
        {"id": f"nk_{A}"},
        {"id": f"nk_{B}"},
        [change((), "/id", "changed", old=f"nk_{A}", new=f"nk_{B}", is_identity=True)],
    ),
    (
        {"id": f"nk_{A}"},
        {"id": f"nf_{B}"},
        [change((), "/id", "changed", old=f"nk_{A}", new=f"nf_{B}")],
    ),
    (
        {f"x_{A}.s": 1},
        {f"x_{B}.s": 2},
        [
            change((), f"/x_{B}.s", "changed", old=f"x_{A}.s", new=f"x_{B}.s", is_identity=True),
            change((), f"/x_{B}.s", "changed", old=1, new=2),
        ],
    ),
    (
        [{"symbol": f"k_{A}_gfx", "n": 1}],
        [{"symbol": f"k_{B}_gfx", "n": 2}],
        [
            change((f"k_{B}_gfx",), "/0/n", "changed", old=1, new=2),
            change(
                *((f"k_{B}_gfx",), "/0/symbol", "changed"),
                old=f"k_{A}_gfx",
                new=f"k_{B}_gfx",
                is_identity=True,
            ),
        ],
    ),
]


@pytest.mark.parametrize(("old", "new", "expected"), CASES)
def test_changes_are_named(old, new, expected):
    assert json_changes(old, new) == expected


def test_two_names_of_one_form_are_not_guessed_at():
    assert renamed_pairs([f"k_{A}"], [f"k_{B}"]) == {f"k_{A}": f"k_{B}"}
    assert renamed_pairs([f"k_{A}", f"k_{'c' * 24}"], [f"k_{B}"]) == {}


def test_only_long_hexadecimal_words_count_as_hashes():
    assert without_hashes(f"nk_{A}") == "nk_#"
    assert without_hashes("netra_x_0123456789abcdef_gfx950") == "netra_x_#_gfx950"
    for text in ("abcdef", "m" + "a" * 20, "0123456789abcdefg"):
        assert without_hashes(text) == text


def resolve(document: Any, pointer: str) -> Any:
    for segment in pointer.split("/")[1:]:
        key = segment.replace("~1", "/").replace("~0", "~")
        document = document[int(key)] if isinstance(document, list) else document[key]
    return document


SCALARS = st.none() | st.booleans() | st.integers(0, 9) | st.sampled_from(["x", A, B, "k/~"])
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["a", "b/~", "name"]), inner, max_size=3)
        | st.lists(
            st.fixed_dictionaries({"name": st.sampled_from(["p", "q", A, B]), "v": inner}),
            max_size=3,
        )
    ),
    max_leaves=12,
)


@given(DOCUMENTS, DOCUMENTS)
def test_no_change_means_equal_and_every_pointer_leads_to_its_value(old, new):
    changes = json_changes(old, new)
    assert (changes == []) == (json.dumps(old, sort_keys=True) == json.dumps(new, sort_keys=True))
    for item in changes:
        if item.kind == "removed":
            assert resolve(old, item.pointer) == item.old
        elif item.kind == "added":
            assert resolve(new, item.pointer) == item.new


CATALOG = {
    "format": "netra-fixed-tactic-catalog-1",
    "tactics": [
        {"id": "one", "rank": 100, "launch_block": 64, "template_sha256": "0" * 64},
        {"id": "two", "rank": 100, "launch_block": 64},
    ],
}


def catalog_text(change_new: Any, **options: bool) -> str:
    new = copy.deepcopy(CATALOG)
    change_new(new["tactics"])
    changes = [item.document() for item in json_changes(CATALOG, new)]
    record = {"kind": "tactic catalog", "equal": not changes, "changes": changes}
    return difference_text(record, **options)


def test_text_of_a_changed_tactic():
    assert catalog_text(lambda tactics: tactics[1].update(rank=7)) == (
        "tactics\nwhat  pointer          old  new\ntwo   /tactics/1/rank  100  7\n\ndifferent"
    )


def test_text_counts_what_differs_in_hashes_alone():
    def pin(tactics: list[dict]) -> None:
        tactics[0]["template_sha256"] = "f" * 64

    assert catalog_text(pin) == (
        "1 more values differ in hashes alone; --all shows them\n\ndifferent"
    )
    assert "/tactics/0/template_sha256" in catalog_text(pin, show_all=True)


def test_text_of_no_difference():
    assert catalog_text(lambda tactics: None) == "equal"


def test_long_tables_are_cut_and_shown_on_request():
    def add(tactics: list[dict]) -> None:
        tactics += [{"id": f"more{i:02}", "text": "x" * 40} for i in range(50)]

    lines = catalog_text(add).splitlines()
    assert lines[2] == 'more00  /tactics/2   -    {"id": "more00", "text": "x...'
    assert lines[42] == "10 more; --all shows them"
    assert len(catalog_text(add, show_all=True).splitlines()) == 54
