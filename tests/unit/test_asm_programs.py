"""An assembler's report as records, and the error made of it."""

from __future__ import annotations

from netra_build.asm.tools.programs import (
    MAX_DIAGNOSTICS,
    Diagnostic,
    assembly_failure,
    first_tool_error,
    parse_diagnostics,
)

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
