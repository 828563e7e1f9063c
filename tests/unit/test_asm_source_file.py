"""One file's includes, guards and structure, and every trick that could read another file."""

from __future__ import annotations

import pytest

from netra_build.asm.source.include_rules import GuardSpan
from netra_build.asm.source.source_file import read_source
from netra_build.core.errors import BadInput


def fault(source: str) -> str:
    with pytest.raises(BadInput) as caught:
        read_source("f.inc", source.encode(), {})
    return str(caught.value)


def test_includes_have_their_place_and_plain_names():
    found = read_source(
        "f.inc", b'// head\n .include "a/./b//c.inc" // note\n.INCLUDE "d.inc"\n', {}
    )
    assert [(i.line, i.statement_index, i.name) for i in found.includes] == [
        (2, 0, "a/b/c.inc"),
        (3, 1, "d.inc"),
    ]


def test_the_own_guard_may_surround_includes_and_defaults_are_told_apart():
    found = read_source(
        "f.inc",
        b'.ifndef F_INC\n.set F_INC, 1\n.include "a.inc"\n.endif\n'
        b".ifndef WIDTH\nWIDTH = 4\n.endif\n.ifndef OTHER\ns_nop 0\n.set OTHER, 1\n.endif\n",
        {},
    )
    assert found.guards == (GuardSpan("F_INC", 0, 3, True), GuardSpan("WIDTH", 4, 6, False))


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ('.incbin "a.bin"', 'f.inc:1: ".incbin" reads a file that no closure holds'),
        ('.INCBIN "a.bin"', 'f.inc:1: ".incbin" reads a file that no closure holds'),
        (".end", 'f.inc:1: ".end" hides the rest of the text'),
        (
            ".include a.inc",
            'f.inc:1: operand of ".include" is not one plain quoted path\n'
            'hint: write .include "FOLDER/FILE"',
        ),
        (
            '.include "a\\x2einc"',
            'f.inc:1: operand of ".include" is not one plain quoted path\n'
            'hint: write .include "FOLDER/FILE"',
        ),
        (
            '.include "../a.inc"',
            'f.inc:1: path "../a.inc" leaves its root\nhint: remove the ".." segment',
        ),
        (
            '.include "/etc/a.inc"',
            'f.inc:1: path "/etc/a.inc" is absolute\nhint: write it relative to the library root',
        ),
        (
            '.if X\n.include "a.inc"\n.endif',
            'f.inc:2: ".include" under a condition\n'
            "hint: only the file's own include guard may surround an include",
        ),
        (
            '.ifndef X\n.set X, 1\n.else\n.include "a.inc"\n.endif',
            'f.inc:4: ".include" under a condition\n'
            "hint: only the file's own include guard may surround an include",
        ),
        (
            '.ifndef X\n.set Y, 1\n.include "a.inc"\n.endif',
            'f.inc:3: ".include" under a condition\n'
            "hint: only the file's own include guard may surround an include",
        ),
        (
            '.ifndef X\n.set X, 1\n.if 1\n.include "a.inc"\n.endif\n.endif',
            'f.inc:4: ".include" under a condition\n'
            "hint: only the file's own include guard may surround an include",
        ),
        ('.macro M\n.include "a.inc"\n.endm', 'f.inc:2: ".include" inside a macro'),
        ('.rept 1\n.include "a.inc"\n.endr', 'f.inc:2: ".include" inside a repeat'),
        ("M .include", "f.inc:1: operand could become a directive that reads a file"),
        ('M ".incbin x"', "f.inc:1: operand could become a directive that reads a file"),
        (".irp d, .INCBIN\n.endr", "f.inc:1: operand could become a directive that reads a file"),
        ('.macro M a\n.inc\\a "x"\n.endm', "f.inc:2: statement made by a macro takes a string"),
        ('.macro M a\n\\a "x"\n.endm', "f.inc:2: statement made by a macro takes a string"),
        ('.irpc c, "x"\n.endr', "f.inc:1: quote could become part of a statement"),
        ('.altmacro\nM <lude "x">', "f.inc:2: quote could become part of a statement"),
        (".macro \\n\n.endm", "f.inc:1: macro whose name another macro makes"),
        ("s_nop 0\n.if 1\ns_nop 1", "f.inc:2: condition is never ended"),
        (".macro M\n", "f.inc:1: macro is never ended"),
        (".rept 2\n", "f.inc:1: repeat is never ended"),
        (".endif", 'f.inc:1: ".endif" closes no condition'),
        (".endm", 'f.inc:1: ".endm" closes no macro'),
        (".macro M\n.endr\n.endm", 'f.inc:2: ".endr" closes no repeat'),
        (".macro M\n.if 1\n.endm\n.endif", 'f.inc:3: ".endm" closes no macro'),
        (".else", 'f.inc:1: ".else" without a condition'),
    ],
)
def test_each_refusal_has_its_line(source, line):
    assert fault(source) == line


def test_ordinary_text_is_no_trick():
    source = (
        '.error "use .include at the top"\n.altmacro\nREFUSE a, b, %a\n.noaltmacro\n'
        '.macro SAY text\n.error "\\text"\n.endm\nSAY "plain text"\n'
        ".macro OP op, a\n\\op \\a, v1\n.endm\nOP v_mov_b32, v0\n"
    )
    assert read_source("f.inc", source.encode(), {}).includes == ()


def texts(source: str, macros: dict[str, bool]) -> list[tuple[str, str]]:
    """Return kind and text of each statement of a file when other files define ``macros``."""
    found = read_source("f.inc", source.encode(), macros)
    return [(statement.kind.value, statement.text) for statement in found.statements]


def test_the_same_bytes_are_read_again_when_they_call_macros_of_others():
    source = "CALL  1,   2 // note\nREST  a,   b  // note\ns_nop   0\n"
    instruction, call = "instruction", "macro call"
    assert texts(source, {}) == [
        (instruction, "CALL 1, 2"),
        (instruction, "REST a, b"),
        (instruction, "s_nop 0"),
    ]
    assert texts(source, {"CALL": False, "REST": True, "OTHER": True}) == [
        (call, "CALL 1,   2"),
        (call, "REST a,   b  "),
        (instruction, "s_nop 0"),
    ]


def test_the_own_macro_stands_before_that_of_another_file():
    source = ".macro CALL a\n.endm\nCALL  1,   2  // note\n"
    assert texts(source, {"CALL": True})[-1] == ("macro call", "CALL 1,   2")


def test_a_macro_that_hides_a_directive_hides_it_as_it_is_written():
    source = ".Word  1,   2\n.word  1,   2\n"
    assert texts(source, {".Word": False}) == [
        ("macro call", ".Word 1,   2"),
        ("directive", ".word 1, 2"),
    ]


def test_a_macro_of_another_file_can_hide_what_would_be_refused():
    assert texts(".end\n", {".end": False}) == [("macro call", ".end")]


def test_a_block_comment_among_arguments_of_a_macro_of_another_file_is_refused():
    source = "s_nop 0\nCALL a/* b */c\n"
    read_source("f.inc", source.encode(), {})
    with pytest.raises(BadInput) as caught:
        read_source("f.inc", source.encode(), {"CALL": False})
    assert str(caught.value) == (
        "f.inc:2: block comment among arguments that are taken as text\n"
        "hint: put the comment on a line of its own"
    )
