"""Include closures and the published format's own scanners and digests."""

from __future__ import annotations

import hashlib

import pytest
from published_gaps import published_closure

from netra_build.asm.source import includes
from netra_build.asm.source.closure import include_closure
from netra_build.asm.source.includes import (
    Requirement,
    normalised_text,
    published_computational_sha256,
    published_requirements,
    source_closure_sha256,
)
from netra_build.core.errors import BadInput

TREE = {
    "t/top.inc": b'// top\n.include "t/a.inc"\n\t.include   "t/./b.inc"\r\n s_nop 0\n',
    "t/a.inc": b'.include "t//c.inc"\n',
    "t/b.inc": b'.include "t/c.inc"\n.macro M\n.endm\n',
    "t/c.inc": b"NETRA_REQUIRE_EQ NETRA_ROWS, 4\n",
}


def reader(files: dict[str, bytes]):
    def read(name: str) -> bytes:
        if name not in files:
            raise BadInput("file is missing")
        return files[name]

    return read


def fault(action, *arguments) -> str:
    with pytest.raises(BadInput) as caught:
        action(*arguments)
    return str(caught.value)


def test_files_come_depth_first_each_once():
    closure = include_closure("t/./top.inc", reader(TREE), "unit")
    assert closure.names == ("t/top.inc", "t/a.inc", "t/c.inc", "t/b.inc")
    assert [file.name for file in closure.files] == list(closure.names)
    assert dict(closure.data_by_name) == TREE
    assert closure.macros == {"M": False}
    assert list(published_closure("t/top.inc", reader(TREE), "unit")) == list(closure.names)


def test_the_source_digest_covers_names_and_bytes_with_their_lengths():
    files = {"a/é.inc": b"one", "b": b""}
    expected = hashlib.sha256(
        b"\0\0\0\0\0\0\0\x08a/\xc3\xa9.inc" + b"\0\0\0\0\0\0\0\x03one"
        b"\0\0\0\0\0\0\0\x01b" + b"\0\0\0\0\0\0\0\0"
    ).hexdigest()
    assert source_closure_sha256(files) == expected


def test_the_computational_digest_covers_index_and_normalised_text():
    files = {"x": b" s_nop   1 // c\n", "y": b"; only a comment\n"}
    expected = hashlib.sha256(
        b"\0\0\0\0\0\0\0\0" + b"\0\0\0\0\0\0\0\x08s_nop 1\n"
        b"\0\0\0\0\0\0\0\x01" + b"\0\0\0\0\0\0\0\x01\n"
    ).hexdigest()
    assert published_computational_sha256(files) == expected
    assert published_computational_sha256({"z": files["x"], "w": files["y"]}) == expected


@pytest.mark.parametrize(
    ("text", "normalised"),
    [
        ("a  b\t c // d\n", "a b c\n"),
        ("a ; b // c", "a\n"),
        ('.ascii "x//y"', '.ascii "x\n'),
        ("\n  \n", "\n"),
        ('.file "x"\n.loc 1 2\n.cfi_startproc\ns_nop 0', "s_nop 0\n"),
        (
            ".section .debug_info\n.long 1\n.text\ns_nop 0\n.section .rodata\nx",
            ".section .rodata\nx\n",
        ),
        ('.section ".debug_line", "", @progbits\ny\n.section\nz', ".section\nz\n"),
        ("a\u2028b\x0cc\x1cd\x85e\x0bf", "a\nb\nc\nd\ne\nf\n"),
        ("a\u00a0\u3000b", "a b\n"),
        ("/* kept */ a", "/* kept */ a\n"),
    ],
)
def test_published_normalisation(text, normalised):
    assert normalised_text(text) == normalised


def test_published_requirements_are_bare_decimal_lines():
    text = (
        b"NETRA_REQUIRE_EQ A_1, 007\n  NETRA_REQUIRE_EQ\tB ,9  \r\n"
        b"NETRA_REQUIRE_EQ C, 0x10\nNETRA_REQUIRE_EQ D, 1 // note\nNETRA_REQUIRE_EQ e, 1\n"
    )
    assert published_requirements({"g.inc": text}) == (
        Requirement("A_1", 7, "g.inc", 1),
        Requirement("B", 9, "g.inc", 2),
    )


def test_published_includes_are_bare_lines_even_in_comments():
    files = {
        "t": b'/*\n.include "a"\n*/\n.include "b" // note\n.if 0\n.include "c"\n.endif\n',
        "a": b"",
        "c": b"",
    }
    assert list(published_closure("t", reader(files), "u")) == ["t", "a", "c"]


def test_a_missing_or_escaping_file_is_refused_where_it_is_included():
    files = {"t": b'\n.include "gone.inc"\n'}
    line = 't:2: included file "gone.inc" cannot be used: file is missing'
    assert fault(include_closure, "t", reader(files), "unit") == line
    assert fault(published_closure, "t", reader(files), "unit") == line
    escaping = {"t": b'.include "../x"\n'}
    line = 't:1: path "../x" leaves its root\nhint: remove the ".." segment'
    assert fault(include_closure, "t", reader(escaping), "unit") == line
    assert fault(published_closure, "t", reader(escaping), "unit") == line
    assert fault(include_closure, "gone", reader({}), "manifest#/0") == (
        'manifest#/0: included file "gone" cannot be used: file is missing'
    )


def test_cycles_and_deep_chains_end():
    cycle = {"a": b'.include "b"\n', "b": b'.include "a"\n'}
    assert include_closure("a", reader(cycle), "u").names == ("a", "b")
    deep = {f"f{i}": f'.include "f{i + 1}"\n'.encode() for i in range(3000)} | {"f3000": b""}
    assert len(include_closure("f0", reader(deep), "u").names) == 3001
    assert len(published_closure("f0", reader(deep), "u")) == 3001


def test_too_many_files_are_refused():
    def read(name: str) -> bytes:
        return f'.include "{int(name) + 1}"\n'.encode()

    for closure in (include_closure, published_closure):
        assert fault(closure, "0", read, "u") == (
            "4095:1: include closure is too large; "
            "expected at most 4096 files of 67108864 bytes, got more"
        )


def test_too_many_bytes_are_refused(monkeypatch, is_full):
    """The sample counts to a smaller bound, in the same code."""
    most = includes.MAX_CLOSURE_BYTES if is_full else 1 << 20
    monkeypatch.setattr(includes, "MAX_CLOSURE_BYTES", most)
    padding = b" " * (most // 8)

    def read(name: str) -> bytes:
        return f'.include "{int(name) + 1}"\n'.encode() + padding

    for closure in (include_closure, published_closure):
        assert fault(closure, "0", read, "u") == (
            "6:1: include closure is too large; "
            f"expected at most 4096 files of {most} bytes, got more"
        )


def test_an_include_guard_must_be_set_in_one_place_only():
    guarded = b'.ifndef G\n.set G, 1\n.include "b"\n.endif\n'
    files = {"a": guarded, "b": b"G = 2\n"}
    assert fault(include_closure, "a", reader(files), "u") == (
        'a:1: symbol "G" of an include guard is also set elsewhere; '
        "expected one place, got a:2, b:1"
    )
    twice = {"a": guarded, "b": b".ifndef G\n.set G, 1\n.endif\n"}
    assert fault(include_closure, "a", reader(twice), "u") == (
        'a:1: symbol "G" of an include guard is also set elsewhere; '
        "expected one place, got a:2, b:2"
    )
    defaults = {"a": b'.ifndef W\n.set W, 1\n.endif\n.include "b"\n', "b": b".set W, 2\n"}
    assert include_closure("a", reader(defaults), "u").names == ("a", "b")
