"""Our computational identity, the guards that we see, and what the published scanners miss."""

from __future__ import annotations

import pytest
from blake3 import blake3
from published_gaps import Gap, guard_requirements, published_gaps

from netra_build.asm.source.closure import Closure, computational_identity, include_closure
from netra_build.asm.source.includes import Requirement
from netra_build.core.errors import BadInput

BASE = {
    "t.inc": '.include "a.inc"\n.text\ns_nop 1\n.byte 1\n',
    "a.inc": ".macro M x\ns_nop \\x\n.endm\n",
}


def closure_of(files: dict[str, str], template: str = "t.inc") -> Closure:
    def read(name: str) -> bytes:
        if name not in files:
            raise BadInput("file is missing")
        return files[name].encode()

    return include_closure(template, read, "unit")


def identity(files: dict[str, str], template: str = "t.inc") -> str:
    return computational_identity(closure_of(files, template))


@pytest.mark.parametrize(
    "changed",
    [
        {**BASE, "t.inc": '// c\n  .include  "a.inc" // d\n\t.text\n\n s_nop   1 ; e\n.byte 1'},
        {**BASE, "t.inc": BASE["t.inc"] + '.file "x"\n.loc 1 2\n.cfi_endproc\n'},
        {**BASE, "t.inc": BASE["t.inc"] + '.section .debug_info,"",@progbits\nl:\n.long 1\n'},
        {**BASE, "a.inc": "/* c\n */" + BASE["a.inc"]},
        {"t.inc": BASE["t.inc"].replace("a.inc", "b/other.inc"), "b/other.inc": BASE["a.inc"]},
    ],
    ids=["comments", "debug lines", "debug section", "block comment", "include renamed"],
)
def test_what_cannot_reach_machine_code_changes_nothing(changed):
    assert identity(changed) == identity(BASE)


@pytest.mark.parametrize(
    "changed",
    [
        {**BASE, "t.inc": BASE["t.inc"].replace("s_nop 1", "s_nop 2")},
        {**BASE, "a.inc": BASE["a.inc"].replace("s_nop", "s_sleep")},
        {**BASE, "t.inc": BASE["t.inc"] + ".section .debug_x\n.text\ns_nop 3\n"},
        {**BASE, "t.inc": BASE["t.inc"] + ".section .debug_x\nM 3\n"},
        {**BASE, "t.inc": '.text\n.include "a.inc"\ns_nop 1\n.byte 1\n'},
        {**BASE, "t.inc": BASE["t.inc"] + '.include "a.inc"\n'},
        {**BASE, "t.inc": BASE["t.inc"] + '.ascii "//1"\n'},
    ],
    ids=["instruction", "included", "after debug", "call in debug", "order", "twice", "string"],
)
def test_what_can_reach_machine_code_counts(changed):
    assert identity(changed) != identity(BASE)


def test_text_behind_slashes_in_a_string_counts():
    first = {**BASE, "t.inc": BASE["t.inc"] + '.ascii "//1"\n'}
    second = {**BASE, "t.inc": BASE["t.inc"] + '.ascii "//2"\n'}
    assert identity(first) != identity(second)


def test_guards_are_seen_in_every_spelling_of_a_number():
    closure = closure_of(
        {
            "t.inc": "NETRA_REQUIRE_EQ A, 4\n NETRA_REQUIRE_EQ B,  0x10 // why\n"
            "NETRA_REQUIRE_EQ C, 0b11 ; c\n/* x */ NETRA_REQUIRE_EQ d, -1\n"
            ".macro M v\nNETRA_REQUIRE_EQ E, \\v\nNETRA_REQUIRE_EQ F, 010\n.endm\n"
            "// NETRA_REQUIRE_EQ G, 1\nNETRA_REQUIRE_EQ H, 1+1\n"
        }
    )
    assert guard_requirements(closure) == (
        Requirement("A", 4, "t.inc", 1),
        Requirement("B", 16, "t.inc", 2),
        Requirement("C", 3, "t.inc", 3),
        Requirement("d", -1, "t.inc", 4),
        Requirement("F", 8, "t.inc", 7),
    )


def test_a_plain_closure_has_no_gaps():
    assert published_gaps(closure_of(BASE)) == ()


def test_each_gap_is_named_with_its_place():
    closure = closure_of(
        {
            "t.inc": '.include "a.inc" // note\n'
            "NETRA_REQUIRE_EQ A, 4 // note\n"
            "NETRA_REQUIRE_EQ B, 0x4\n"
            ".MACRO M x\n.endm\n"
            '/*\n.include "b.inc"\nNETRA_REQUIRE_EQ C, 1\n*/\n',
            "a.inc": "NETRA_REQUIRE_EQ D, 1\n.macro N a, b // c\n.endm\n",
        }
    )
    assert published_gaps(closure) == (
        Gap("t.inc", 1, 'include "a.inc" is not seen'),
        Gap("t.inc", 2, 'guard "A, 4" is not seen'),
        Gap("t.inc", 3, 'guard "B, 4" is not seen'),
        Gap("t.inc", 4, 'macro "M x" is not seen'),
        Gap("t.inc", 7, 'include "b.inc" is no statement'),
        Gap("t.inc", 8, 'guard "C, 1" is no statement'),
        Gap("a.inc", 2, 'macro "N a, b // c" is no statement'),
        Gap("a.inc", 2, 'macro "N a, b" is not seen'),
    )


def test_the_identity_is_the_digest_of_the_statements_as_canonical_json():
    files = {
        "a": '.include "b"\n.include "c"\n.ascii "\\"null\\""\n.include "c"\n',
        "b": "s_nop 0 // note\n",
        "c": "",
    }
    closure = include_closure("a", lambda name: files[name].encode(), "unit")
    document = b'[[1,2,".ascii \\"\\\\\\"null\\\\\\"\\"",2],["s_nop 0"],[]]\n'
    assert computational_identity(closure) == blake3(document).hexdigest()
