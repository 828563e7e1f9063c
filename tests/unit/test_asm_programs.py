"""An assembler's report as records, and the error made of it."""

from __future__ import annotations

import tempfile

import pytest

from netra_build.asm.native.protocol import report_in
from netra_build.asm.tools.bounds import Bounds, tool_bounds
from netra_build.asm.tools.programs import (
    MAX_DIAGNOSTICS,
    Diagnostic,
    assembly_failure,
    first_tool_error,
    parse_diagnostics,
)
from netra_build.core.errors import BadInput
from netra_build.stages.assemble import shown_report

MACRO_REPORT = """Included from unit.s:3:
./common/guards.inc:9:2: warning: something small
 s_nop 1
 ^
<instantiation>:2:1: error: NETRA_ROWS has another value; expected 4, got 5
.error "x"
^
<instantiation>:1:1: note: while in macro instantiation
NETRA_REQUIRE_EQ NETRA_ROWS, 4
^
unit.s:12:2: note: while in macro instantiation
 ENTRY symbol
 ^
other.s:1:1: error: later
"""


def test_a_report_is_cut_into_diagnostics():
    assert parse_diagnostics(MACRO_REPORT) == (
        Diagnostic("common/guards.inc", 9, 2, "warning", "something small"),
        Diagnostic(
            "<instantiation>", 2, 1, "error", "NETRA_ROWS has another value; expected 4, got 5"
        ),
        Diagnostic("<instantiation>", 1, 1, "note", "while in macro instantiation"),
        Diagnostic("unit.s", 12, 2, "note", "while in macro instantiation"),
        Diagnostic("other.s", 1, 1, "error", "later"),
    )


def test_an_error_in_a_macro_is_placed_where_the_author_called_it():
    error = assembly_failure(MACRO_REPORT, "unit.s")
    assert str(error) == "unit.s:12:2: NETRA_ROWS has another value; expected 4, got 5"
    assert error.raw == MACRO_REPORT
    assert error.status == 2


def test_a_plain_error_keeps_its_own_place():
    error = assembly_failure("a.s:2:2: error: invalid instruction\nb.s:1:1: note: x\n", "u")
    assert str(error) == "a.s:2:2: invalid instruction"


def test_a_report_without_a_place_still_gives_a_line():
    assert str(assembly_failure("clang: error: no input\n", "u.s")) == "u.s: no input"
    assert first_tool_error("") == "failed without a message"
    assert first_tool_error("odd\n") == "odd"
    assert first_tool_error("warning\nld.lld: error: undefined symbol: x\n") == (
        "undefined symbol: x"
    )


def test_a_flood_is_bounded():
    assert len(parse_diagnostics("a.s:1:1: error: x\n" * 5000)) == MAX_DIAGNOSTICS == 1000


WARNING = b"a.s:1:1: warning: early\n"
ERROR = b"a.s:2:1: error: late\n"


@pytest.mark.parametrize(
    ("whole", "kept"),
    [
        (b"", b""),
        (WARNING + ERROR, WARNING + ERROR),
        (WARNING * 9 + ERROR, ERROR),
        (ERROR + WARNING * 9, (ERROR + WARNING * 9)[:100]),
        (WARNING * 9, (WARNING * 9)[:100]),
        (ERROR.rstrip() + b" x" * 99, (ERROR.rstrip() + b" x" * 99)[:100]),
    ],
)
def test_a_report_that_is_cut_keeps_the_first_error(whole, kept):
    with tempfile.TemporaryFile() as stream:
        stream.write(whole)
        stream.flush()
        assert report_in(stream.fileno(), 100) == kept


def test_a_long_report_is_shown_from_its_first_error_and_cut_off():
    assert shown_report((WARNING + ERROR).decode()) == (WARNING + ERROR).decode().rstrip()
    shown = shown_report((WARNING * 200_000 + ERROR + WARNING * 200).decode()).split("\n")
    assert shown[0] == "a.s:2:1: error: late"
    assert shown[1:-1] == ["a.s:1:1: warning: early"] * 99
    assert shown[-1] == "... and 200101 more lines"


def test_the_bounds_of_a_tool_are_variables():
    assert tool_bounds({}) == Bounds(10, 1024**3)
    asked = {"NETRA_TOOL_SECONDS": "60", "NETRA_TOOL_BYTES": 2**32}
    assert tool_bounds(asked) == Bounds(60, 2**32)


@pytest.mark.parametrize("text", ["0", "-1", "1e3", "86401", "many", "\u0663"])
def test_a_bound_that_is_none_is_refused(text):
    with pytest.raises(BadInput) as caught:
        tool_bounds({"NETRA_TOOL_SECONDS": text})
    assert str(caught.value) == (
        f"tool chain: NETRA_TOOL_SECONDS is not usable; expected 1 to 86400 seconds, got {text}"
    )
