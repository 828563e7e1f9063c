"""Assembly text cut into statements: comments, strings, labels, metadata, refusals."""

from __future__ import annotations

import pytest

from netra_build.asm.source.lexer import lex
from netra_build.asm.source.statement import (
    Kind,
    Statement,
    collapse_blanks,
    decode_source,
    macro_names,
    split_labels,
)
from netra_build.core.errors import BadInput


def texts(source: str | bytes, macros: dict[str, bool] | None = None) -> list[str]:
    data = source if isinstance(source, bytes) else source.encode()
    return [s.text for s in lex(data, "k.s", macros or {})]


def fault(source: str | bytes) -> str:
    with pytest.raises(BadInput) as caught:
        texts(source)
    return str(caught.value)


def test_each_kind_of_statement_is_told_apart():
    source = (
        ".macro TWICE a\n"
        "\ts_nop \\a // body\n"
        ".endm\n"
        "entry: .Linner:  s_mov_b32 s0,  1 ; c\n"
        "1:\n"
        "COUNT =  3\n"
        "y == 4\n"
        "\tTWICE 1,  2\n"
        ' "quoted name": s_endpgm\n'
        ".SET x, 1\n"
    )
    assert lex(source.encode(), "k.s", {}) == (
        Statement(1, Kind.DIRECTIVE, ".macro", "TWICE a", ".macro TWICE a", 0, False),
        Statement(2, Kind.INSTRUCTION, "s_nop", "\\a", "s_nop \\a", 1, True),
        Statement(3, Kind.DIRECTIVE, ".endm", "", ".endm", 0, False),
        Statement(4, Kind.LABEL, "entry", "", "entry:", 0, False),
        Statement(4, Kind.LABEL, ".Linner", "", ".Linner:", 0, False),
        Statement(4, Kind.INSTRUCTION, "s_mov_b32", "s0, 1", "s_mov_b32 s0, 1", 0, True),
        Statement(5, Kind.LABEL, "1", "", "1:", 0, False),
        Statement(6, Kind.ASSIGNMENT, "COUNT", "3", "COUNT = 3", 0, False),
        Statement(7, Kind.ASSIGNMENT, "y", "4", "y == 4", 0, False),
        Statement(8, Kind.MACRO_CALL, "TWICE", "1,  2", "TWICE 1,  2", 0, False),
        Statement(9, Kind.LABEL, '"quoted name"', "", '"quoted name":', 0, False),
        Statement(9, Kind.INSTRUCTION, "s_endpgm", "", "s_endpgm", 0, False),
        Statement(10, Kind.DIRECTIVE, ".set", "x, 1", ".set x, 1", 0, False),
    )


def test_a_colon_inside_an_instruction_makes_no_label():
    assert texts("v_add_u32_sdwa v1, v2, v3 dst_sel:BYTE_0\n") == [
        "v_add_u32_sdwa v1, v2, v3 dst_sel:BYTE_0"
    ]
    assert split_labels("\\name\\().kd: .Lx_\\symbol : s_nop 0") == (
        ("\\name\\().kd", ".Lx_\\symbol"),
        "s_nop 0",
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("s_nop 0 // a ; b", ["s_nop 0"]),
        ("s_nop 0 ; a // b /* c", ["s_nop 0"]),
        ("# line comment\n  # another\n s_nop 0", ["s_nop 0"]),
        ('# 33 "foo.c"\ns_nop 0', ["s_nop 0"]),
        ("/* a */ s_nop /* b */ 1 /* c\n d */\ns_nop 2", ["s_nop 1", "s_nop 2"]),
        ("s_nop /*\n*/ 3\n", ["s_nop 3"]),
        ("/* a\n b */ s_nop 4", ["s_nop 4"]),
        ("/**/ # kept as text", ["# kept as text"]),
        ('.ascii "a//b;c\\"d/*"  // e', ['.ascii "a//b;c\\"d/*"']),
        ('.ascii "a   b",   "\\\\"', ['.ascii "a   b", "\\\\"']),
        (".byte '\"', ';', '\\n',  '/' // c", [".byte '\"', ';', '\\n', '/'"]),
        ("s_nop 0\r\n\r\n s_nop 1\r\n", ["s_nop 0", "s_nop 1"]),
        ("s_nop 0 // not a continuation \\\ns_nop 1", ["s_nop 0", "s_nop 1"]),
        ("\n \t\n", []),
        ("s_nop 7", ["s_nop 7"]),
        ('.error "é  ü"', ['.error "é  ü"']),
        ("s_nop 0 // é", ["s_nop 0"]),
    ],
)
def test_comments_go_and_strings_stay(source, expected):
    assert texts(source) == expected


def test_a_statement_over_several_lines_has_its_first_line():
    (only,) = lex(b"\n/* x\n*/ s_nop /*\n*/ 3\n", "k.s", {})
    assert (only.line, only.text) == (3, "s_nop 3")


def test_blanks_that_the_machine_code_can_see_are_kept():
    source = (
        ".macro say text:vararg\n.endm\n.macro two text\n.endm\n"
        "say a   b // c\n two a   b // c\n\\op  a   b // c\n.irp x,  a   b\n.endr\n"
    )
    assert texts(source)[4:8] == ["say a   b ", "two a   b", "\\op a   b ", ".irp x,  a   b"]
    assert texts("say a   b // c", {"say": True}) == ["say a   b "]
    assert texts("say a   b // c") == ["say a b"]


def test_metadata_keeps_its_indentation_and_loses_its_comments():
    source = (
        "  .amdgpu_metadata // c\n---\n# whole\n  - .name: \\name  # yaml\n"
        '\n    .x: "a // b ; c" ; cut\n    .y: it\'s\n.end_amdgpu_metadata ; d\n s_nop 0\n'
    )
    found = lex(source.encode(), "k.s", {})
    assert [(s.line, s.kind, s.text) for s in found] == [
        (1, Kind.DIRECTIVE, ".amdgpu_metadata"),
        (2, Kind.METADATA, "---"),
        (4, Kind.METADATA, "  - .name: \\name"),
        (6, Kind.METADATA, '    .x: "a // b ; c"'),
        (7, Kind.METADATA, "    .y: it's"),
        (8, Kind.DIRECTIVE, ".end_amdgpu_metadata"),
        (9, Kind.INSTRUCTION, "s_nop 0"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "s_endpgm",
        "\tv_add_f32 v1, v2, v3",
        "  v_add_f32  v1,  v2",
        "v_add_f32 v1,\tv2",
        "s_nop 0 ",
        "s_nop\t0",
        "CALL a,  b ",
        "REST a  b",
        ".set N, 1",
        ".SET  N , 1",
        '\t.include "folder/file.inc"',
        '.ascii  "a // b ; c",  "d  e" ',
        '.ascii "a""b"',
        "x = 1",
        "lead: s_nop 0",
        "a.b$c (1 == 2)",
        "v_mov_b32 v1, v[2:3] row_shr:1",
    ],
)
def test_a_line_says_the_same_when_a_comment_makes_it_unusual(line: str):
    macros = {"CALL": False, "REST": True}
    plain, careful = (lex(text.encode(), "k.s", macros) for text in (line, f"{line}// c"))
    assert [s._replace(has_comment=True) for s in plain if s.kind is not Kind.LABEL] == [
        s for s in careful if s.kind is not Kind.LABEL
    ]


def test_macros_are_found_with_their_rest_of_line():
    assert macro_names([".macro A x", "  .MACRO B x, y:vararg", "s_nop 0", ".macro C"]) == {
        "A": False,
        "B": True,
        "C": False,
    }


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (b"s_nop 0\n\0", "k.s:2: source holds a NUL byte"),
        (b"s_nop 0\r\ns_nop 1\rs_nop 2", "k.s:2: source holds a carriage return that ends no line"),
        (b"\n// \xff\n", "k.s:2: source is not valid UTF-8"),
        ('\n.ascii "abc\n', "k.s:2: string is not ended on its line"),
        ('.ascii "abc\\"\n', "k.s:1: string is not ended on its line"),
        ("\n\n.byte 'ab'", "k.s:3: stray quote"),
        ("s_nop 0\n/* open\n\n", "k.s:2: comment is never ended"),
        ("s_nop\v 0", "k.s:1: statement holds a character that is not plain text"),
        ('.ascii "\x07"', "k.s:1: statement holds a character that is not plain text"),
        ("\ufeffs_nop 0", "k.s:1: statement holds a character that is not plain text"),
        ("s_nop\u00a00", "k.s:1: statement holds a character that is not plain text"),
        (".amdgpu_metadata\n---\n", 'k.s: ".amdgpu_metadata" is never ended'),
        (
            "x: .amdgpu_metadata\n.end_amdgpu_metadata",
            "k.s:1: metadata block must begin on a line of its own",
        ),
        (
            ".amdgpu_metadata\n a /* b */\n.end_amdgpu_metadata",
            "k.s:2: metadata line mixes quotes or holds a block comment",
        ),
        (
            ".amdgpu_metadata\n a: |\n.end_amdgpu_metadata",
            "k.s:2: metadata holds a block scalar",
        ),
        (
            ".amdgpu_metadata\n.endm\n.end_amdgpu_metadata",
            'k.s:2: ".endm" inside a metadata block',
        ),
        (
            ".amdgpu_metadata\n a\x01\n.end_amdgpu_metadata",
            "k.s:2: metadata line holds a control character",
        ),
        (
            ".macro M a\n.endm\nM x /* y */ z",
            "k.s:3: block comment among arguments that are taken as text\n"
            "hint: put the comment on a line of its own",
        ),
    ],
)
def test_each_refusal_has_its_line(source, line):
    assert fault(source) == line


def test_a_huge_source_is_refused_unread():
    with pytest.raises(BadInput) as caught:
        decode_source(bytes(16 * 1024 * 1024 + 1), "k.s")
    assert str(caught.value) == (
        "k.s: source is too large; expected at most 16777216 bytes, got 16777217"
    )


@pytest.mark.parametrize(
    "source",
    ["a:" * 200_000, "/**/" * 200_000, "a/**/" * 200_000, '""' * 200_000, "\\a" * 200_000],
    ids=["labels", "comments", "pieces", "strings", "names"],
)
def test_long_lines_are_read_in_one_pass(source):
    assert len(texts(source)) in (0, 1, 200_000)


def test_blanks_collapse_outside_strings_only():
    assert collapse_blanks("  a \t b  \"c   d\"   ' '  ") == "a b \"c   d\" ' '"
