"""The form of every message and the exit code of every error."""

from __future__ import annotations

import pytest

from netra_build.core.errors import (
    BadInput,
    DamagedStore,
    EvidenceIncomplete,
    NetraError,
    Refused,
    ToolchainFailed,
    nearest_hint,
)


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        (Refused, 1),
        (BadInput, 2),
        (EvidenceIncomplete, 3),
        (ToolchainFailed, 4),
        (DamagedStore, 5),
    ],
)
def test_each_kind_has_its_exit_code(kind, status):
    assert kind("x").status == status
    assert isinstance(kind("x"), NetraError)


def test_a_full_message_has_place_fact_values_and_remedy():
    error = BadInput(
        'constant "N" differs',
        location="recipes/x.yaml:7",
        expected=512,
        got=256,
        hint="set it to 512",
    )
    assert str(error) == (
        'recipes/x.yaml:7: constant "N" differs; expected 512, got 256\nhint: set it to 512'
    )
    assert error.line() == 'recipes/x.yaml:7: constant "N" differs; expected 512, got 256'


def test_absent_parts_leave_no_trace():
    assert str(Refused("two files differ")) == "two files differ"
    assert str(Refused("two files differ", location="a.json")) == "a.json: two files differ"
    assert str(Refused("x", hint="y")) == "x\nhint: y"


def test_words_that_do_not_print_are_shown_escaped():
    error = BadInput(
        'nothing is called "a\nb"',
        location="c\t.d",
        expected="\x1b[2J",
        got="\ud800\u202e",
        hint="é\r\n",
        detail="first\nsecond",
    )
    assert str(error) == (
        r'c\t.d: nothing is called "a\nb"; expected \x1b[2J, got \ud800\u202e'
        "\nfirst\nsecond\nhint: é\\r\\n"
    )


@pytest.mark.parametrize("value", [0, "", False])
def test_false_values_are_shown(value):
    assert str(BadInput("x", expected=value, got=value)) == f"x; expected {value}, got {value}"


def test_an_unknown_name_offers_the_nearest_one():
    known = ["decode_m1", "decode_m16_b16", "verify_m8"]
    assert nearest_hint("decode_m2", known) == 'did you mean "decode_m1"?'
    assert nearest_hint("verify-m8", known) == 'did you mean "verify_m8"?'


def test_a_far_name_lists_the_known_ones_sorted_and_bounded():
    assert nearest_hint("zzz", ["b", "a", "b"]) == "known names: a, b"
    many = [f"x{number:02}" for number in range(13)]
    shown = "x00, x01, x02, x03, x04, x05, x06, x07, x08, x09, x10, x11"
    assert nearest_hint("qqqqqq", many) == f"known names: {shown}, ..."
    assert nearest_hint("qqqqqq", many[:12]) == f"known names: {shown}"


def test_no_known_names_give_no_hint():
    assert nearest_hint("x", []) == ""
