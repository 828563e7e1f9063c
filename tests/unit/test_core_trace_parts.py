"""What a trace says of a request comes back from its documents; nothing else is taken for one."""

from __future__ import annotations

import json

import pytest

from netra_build.build.cache.request_trace import (
    Asked,
    Made,
    TracedProduct,
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
    {"build/out/k": "1", "build/work/k": "2", "build/out/seal": "3", "build/more": "4"},
    (("x", 2), ("y", 1)),
    (TracedProduct("build/out", "seal", ("k", "seal")),),
    ("said",),
    {"engine build/out": {"graph": "k", "options": {}}},
)


def test_both_parts_come_back() -> None:
    assert read_asked(json.loads(json.dumps(ASKED.document()))) == ASKED
    assert read_made(json.loads(json.dumps(MADE.document()))) == MADE


@pytest.mark.parametrize(
    "change",
    [
        {"names": {}},
        {"names": ["a"]},
        {"names": ["a", "a"], "digests": ["d", "d"]},
        {"digests": [3, 4]},
        {"answers": [[1]]},
        {"answers": 3},
        {"listings": [["a", "b", "c"]]},
    ],
)
def test_what_was_asked_in_another_form_is_refused(change: dict) -> None:
    with pytest.raises(BadInput) as caught:
        read_asked({**ASKED.document(), **change})
    assert str(caught.value) == "store: not a trace"


@pytest.mark.parametrize(
    "change",
    [
        {"names": None},
        {"names": []},
        {"names": ["a", "b", "c", "c"]},
        {"digests": ["d"]},
        {"actions": []},
        {"actions": ["d", "e", "f"]},
        {"actions": ["d", 3]},
        {"counts": [2, 3]},
        {"counts": [2, 1, 0]},
        {"counts": [2, -1]},
        {"counts": [2, True]},
        {"counts": "3"},
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
