"""What a trace says of a request comes back from its documents; nothing else is taken for one."""

from __future__ import annotations

import json

import pytest

from netra_build.build.cache.request_trace import (
    Asked,
    Made,
    read_asked,
    read_made,
)
from netra_build.core.errors import BadInput

ASKED = Asked(
    {"recipes/a.yaml": "d1", "kernels/k.s": "d2"},
    (("exists", "override", False),),
    (("recipes", ".yaml", ("a.yaml",)),),
)
MADE = Made(
    (
        ("x", (("build/out/k", "1"), ("build/work/k", "2"))),
        ("y", (("build/out/seal", "3"),)),
        ("", (("build/more", "4"),)),
    ),
    (("build/out", "seal"),),
    ("said",),
    {"engine build/out": {"graph": "k", "options": {}}},
)


def test_both_parts_come_back() -> None:
    assert read_asked(json.loads(json.dumps(ASKED._asdict()))) == ASKED
    assert read_made(json.loads(json.dumps(MADE.document()))) == MADE


@pytest.mark.parametrize(
    "change",
    [
        {"inputs": None},
        {"inputs": [["a", "d"]]},
        {"inputs": {"a": 3}},
        {"inputs": {"a": None}},
        {"answers": None},
        {"answers": [[1]]},
        {"answers": 3},
        {"listings": [["a", "b", "c"]]},
    ],
)
def test_what_was_asked_in_another_form_is_refused(change: dict) -> None:
    with pytest.raises(BadInput) as caught:
        read_asked({**ASKED._asdict(), **change})
    assert str(caught.value) == "store: not a trace"


@pytest.mark.parametrize(
    "change",
    [
        {"groups": None},
        {"groups": [["x"]]},
        {"groups": [["x", [["a", "d"], ["a", "d"]]]]},
        {"groups": [["x", [["a", "d"]]], ["y", [["a", "d"]]]]},
        {"groups": [["x", [["a"]]]]},
        {"groups": [["x", [["a", 3]]]]},
        {"groups": [["x", [[3, "d"]]]]},
        {"groups": [["x", 3]]},
        {"groups": [["x", "ab"]]},
        {"groups": 3},
        {"products": [["a"]]},
        {"said": "no"},
        {"said": [3]},
        {"requests": None},
        {"requests": [["engine", {"graph": "k"}]]},
        {"requests": {"engine": "k"}},
        {"requests": {"engine": {}}},
        {"requests": {"engine": {"graph": 3}}},
    ],
)
def test_what_was_made_in_another_form_is_refused(change: dict) -> None:
    with pytest.raises(BadInput) as caught:
        read_made({**MADE.document(), **change})
    assert str(caught.value) == "store: not a trace"


def test_each_action_has_its_own_outputs() -> None:
    assert MADE.makers() == [("x", ("build/out/k", "build/work/k")), ("y", ("build/out/seal",))]
