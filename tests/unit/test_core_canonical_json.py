"""Canonical JSON out; strict, bounded JSON in."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import Enum, IntEnum, StrEnum
from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from netra_build.core.canonical_json import (
    MAX_DEPTH,
    canonical_bytes,
    canonical_text,
    lower,
    parse_object,
    parse_strict,
    pretty_bytes,
    stable_hash,
)
from netra_build.core.errors import BadInput


class Kind(StrEnum):
    FIXED = "fixed"


class Level(IntEnum):
    TOP = 3


class Pair(Enum):
    BOTH = "both"


@dataclass(frozen=True)
class Record:
    zeta: int
    alpha: tuple[str, ...]


def refusal(data: bytes, **options) -> str:
    with pytest.raises(BadInput) as caught:
        parse_strict(data, "a.json", **options)
    return str(caught.value)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (-7, "-7"),
        (0.1, "0.1"),
        (1.0, "1.0"),
        (1e22, "1e+22"),
        ('é\u2028\n"', '"é\u2028\\n\\""'),
        ({"b": 1, "a": [1, {"d": 0, "c": 0}]}, '{"a":[1,{"c":0,"d":0}],"b":1}'),
        ({"\U0001f600": 1, "\uffff": 2, "a": 3}, '{"a":3,"\uffff":2,"\U0001f600":1}'),
        (Record(1, ("x",)), '{"alpha":["x"],"zeta":1}'),
        ({Kind.FIXED: Kind.FIXED, 2: Level.TOP}, '{"2":3,"fixed":"fixed"}'),
        ([Pair.BOTH, PurePosixPath("a/b")], '["both","a/b"]'),
        ((), "[]"),
    ],
)
def test_canonical_text_follows_the_format(value, text):
    assert canonical_text(value) == text + "\n"
    assert canonical_bytes(value) == (text + "\n").encode()


@pytest.mark.parametrize(
    "value",
    [
        'a"b\\c\n\x7f\u2028é\U0001f600',
        [[], {}, [[1, [2.5, -0.0]], {"b": None, "a": [True, False]}], ""],
        {"é": {"z": {"": []}, "a\tb": {"x": [{}]}}, "e": 1e300},
        0,
        {},
    ],
)
def test_pretty_bytes_are_those_of_the_standard_library(value):
    expected = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    assert pretty_bytes(value) == expected.encode()


def test_pretty_bytes_are_sorted_and_indented():
    assert (
        pretty_bytes({"b": ["é"], "a": {}}) == '{\n  "a": {},\n  "b": [\n    "é"\n  ]\n}\n'.encode()
    )


def test_the_stable_hash_covers_the_final_newline():
    assert stable_hash({"a": 1}) == hashlib.sha256(b'{"a":1}\n').hexdigest()


@pytest.mark.parametrize("value", [b"x", bytearray(b"x"), {1, 2}, object(), Record])
def test_what_json_cannot_say_is_our_own_bug(value):
    with pytest.raises(TypeError, match=r"^not a JSON value: "):
        canonical_text([value])


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("write", [canonical_text, pretty_bytes])
def test_a_number_without_json_form_is_never_written(value, write):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write({"a": value})


def test_lowering_leaves_plain_json_as_it_is():
    plain = {"a": [1, 2.5, None, True, "x", {}]}
    assert lower(plain) == plain


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.text()
    | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)


@given(JSON_VALUES)
def test_what_is_written_reads_back_and_writes_the_same(value):
    data = canonical_bytes(value)
    assert json.loads(data) == value
    assert parse_strict(data, "a.json") == value
    assert canonical_bytes(parse_strict(data, "a.json")) == data


@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_but_bad_input(data):
    message = "a.json: "
    try:
        parse_strict(data, "a.json")
    except BadInput as error:
        message = str(error)
    assert message.startswith("a.json:")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "a.json:1:1: not valid JSON: expecting value"),
        (
            b"{1:2}",
            "a.json:1:2: not valid JSON: expecting property name enclosed in double quotes",
        ),
        (b"[1]\n[2]", "a.json:2:1: not valid JSON: extra data"),
        (b"[1\n 2]", "a.json:2:2: not valid JSON: expecting ',' delimiter"),
        (b'"\x00"', "a.json:1:2: not valid JSON: invalid control character at"),
        (b"\xff", "a.json: not valid UTF-8 at byte 0"),
        (b'["\xed\xa0\x80"]', "a.json: not valid UTF-8 at byte 2"),
        (
            b"\xef\xbb\xbf{}",
            "a.json: file starts with a byte order mark\nhint: save it as plain UTF-8",
        ),
        (b'{"a":{"b":1,"b":1}}', 'a.json: key "b" appears twice in one object'),
        (b'{"\\u0061":1,"a":2}', 'a.json: key "a" appears twice in one object'),
        (b"[NaN]", "a.json: NaN is not a JSON number"),
        (b"[-Infinity]", "a.json: -Infinity is not a JSON number"),
        (b"[1e999]", "a.json: number 1e999 is outside the range of a double"),
        (b"9" * 41, "a.json: number has 41 digits; expected at most 40"),
        (b"0." + b"1" * 40, "a.json: number has 42 digits; expected at most 40"),
        (b'["\\ud800"]', "a.json: string holds a lone surrogate escape"),
        (b'{"\\udc00":1}', "a.json: string holds a lone surrogate escape"),
    ],
)
def test_what_readers_disagree_about_is_refused(data, message):
    assert refusal(data) == message


def test_a_file_at_the_limit_is_read_and_one_byte_more_is_not():
    assert parse_strict(b"[1,2]", "a.json", max_bytes=5) == [1, 2]
    assert refusal(b"[1,2]", max_bytes=4) == (
        "a.json: file is too large; expected at most 4 bytes, got 5"
    )


def test_numbers_at_the_limit_are_read():
    assert parse_strict(b"9" * 40, "a.json") == 10**40 - 1
    assert parse_strict(b'"\\ud83d\\ude00"', "a.json") == "\U0001f600"


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
def test_nesting_is_bounded(opening, closing):
    deepest = opening * (MAX_DEPTH - 1) + "[]" + closing * (MAX_DEPTH - 1)
    assert canonical_text(parse_strict(deepest.encode(), "a.json")) == deepest + "\n"
    message = f"a.json: nesting is deeper than {MAX_DEPTH} levels"
    assert refusal(f"{opening}{deepest}{closing}".encode()) == message
    assert refusal((opening * 1_000_000).encode()) == message


def test_brackets_in_strings_do_not_nest():
    text = '["' + "[{" * 500 + '\\"' + "[" * 500 + '"]'
    assert parse_strict(text.encode(), "a.json") == ["[{" * 500 + '"' + "[" * 500]


def test_a_string_ends_where_its_backslashes_say():
    """Counted wrongly, the brackets behind one of these strings are taken for a part of it."""
    deep = "[" * 200 + "]" * 200
    for string in ('"\\\\"', '"\\\\\\""', '"\\"\\\\"', '"["', '""'):
        message = f"a.json: nesting is deeper than {MAX_DEPTH} levels"
        assert refusal(f"[{string},{deep}]".encode()) == message
        shallow = f"[{string},{deep[1:-1]}]"
        assert canonical_text(parse_strict(shallow.encode(), "a.json")) == shallow + "\n"


def test_many_brackets_side_by_side_do_not_nest():
    text = "[" + ",".join(['{"a":[]}'] * 700_000) + "]"
    assert len(parse_strict(text.encode(), "a.json")) == 700_000


@pytest.mark.parametrize(
    "text",
    ['["' + '\\"' * 200_000 + "[" * 300, "[" * 300 + '"' + "\\", "]" * 300 + "[" * 300],
    ids=["string without end", "escape at the end", "closing first"],
)
def test_hostile_text_is_one_refusal(text):
    assert refusal(text.encode()).startswith("a.json:")


def test_an_object_is_required_where_one_is_expected():
    assert parse_object(b'{"a":1}', "a.json") == {"a": 1}
    with pytest.raises(BadInput) as caught:
        parse_object(b"[1]", "a.json")
    assert str(caught.value) == "a.json: document is not an object"
