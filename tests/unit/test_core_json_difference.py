"""The first difference of two documents: its pointer and both values."""

from __future__ import annotations

import pytest

from netra_build.core.json_difference import Difference, first_difference

CASES = [
    ({"a": 1}, {"a": 2}, Difference("/a", "1", "2")),
    ({"a": 1}, {}, Difference("/a", "1", "nothing")),
    ({}, {"a~/": None}, Difference("/a~0~1", "nothing", "null")),
    ([1, [2, 3]], [1, [2, 4]], Difference("/1/1", "3", "4")),
    ([1], [1, {"x": 1}], Difference("/1", "nothing", "an object of 1 keys")),
    (1, 1.0, Difference("", "1", "1.0")),
    (True, 1, Difference("", "true", "1")),
    ({"b": 1, "a": 1}, {"b": 2, "a": 2}, Difference("/a", "1", "2")),
    ([1, 2], [3, 4], Difference("/0", "1", "3")),
    ("x" * 200, [], Difference("", '"' + "x" * 119, "an array of 0 items")),
]


@pytest.mark.parametrize(("expected", "actual", "found"), CASES)
def test_the_first_difference_is_found(expected, actual, found):
    assert first_difference(expected, actual) == found


def test_equal_documents_have_none():
    value = {"a": [1, {"b": [None, True, "x", 1.5]}]}
    assert first_difference(value, {"a": [1, {"b": [None, True, "x", 1.5]}]}) is None


def test_deep_documents_need_no_recursion():
    one: object = 1
    other: object = 2
    for _ in range(5000):
        one, other = [one], [other]
    found = first_difference(one, other)
    assert found is not None
    assert found.pointer == "/0" * 5000
