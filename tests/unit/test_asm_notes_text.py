"""The notes as llvm-readobj prints them; every expected text was printed by that program."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.listings import document_text, notes_text
from netra_build.core.errors import BadInput

SAMPLES = Path(__file__).parent / "asm_samples"


def test_a_real_object_prints_like_the_tool():
    data = base64.b64decode((SAMPLES / "two_kernels.hsaco.base64").read_text())
    printed = (SAMPLES / "two_kernels.notes.txt").read_text()
    code = read_code_object(data, "k")
    assert notes_text(code, "two_kernels.hsaco") == printed
    assert notes_text(code, "hsaco/other.hsaco") == printed.replace(
        "File: two_kernels.hsaco", "File: hsaco/other.hsaco"
    )


@pytest.mark.parametrize(
    ("value", "printed"),
    [
        ("", "!str ''"),
        ("1", "!str '1'"),
        ("-5", "!str '-5'"),
        ("0x1F", "!str '0x1F'"),
        ("0b1", "!str 0b1"),
        ("0o7", "!str '0o7'"),
        ("0O7", "0O7"),
        ("1e5", "!str '1e5'"),
        ("1.", "!str '1.'"),
        (".nan", "'.nan'"),
        ("nan", "!str nan"),
        ("inf", "!str inf"),
        ("-.inf", "'-.inf'"),
        ("0x1p3", "!str 0x1p3"),
        ("012", "!str '012'"),
        ("1_0", "1_0"),
        (" 1", "!str ' 1'"),
        ("1 ", "'1 '"),
        ("true", "!str 'true'"),
        ("True", "'True'"),
        ("yes", "yes"),
        ("null", "'null'"),
        ("~", "'~'"),
        ("a b", "a b"),
        (" a", "' a'"),
        ("a/b", "'a/b'"),
        ("a:b", "'a:b'"),
        ("a'b", "'a''b'"),
        ('a"b', "'a\"b'"),
        ("a\nb", '"a\\nb"'),
        ("a\tb", "a\tb"),
        ("\x01", '"\\x01"'),
        ("\x7f", '"\x7f"'),
        ("\0", '!str "\\0"'),
        ("é", '"é"'),
        ("\xad", '"\xad"'),
        ("\u2028", '"\\L"'),
        ("-a", "'-a'"),
        ("?", "'?'"),
        ("a,b", "a,b"),
        ("a[0]", "'a[0]'"),
        ("a\\b", "'a\\b'"),
        ("2024-01-01", "2024-01-01"),
        (True, "true"),
        (None, "!nil ''"),
        (2**64 - 1, "18446744073709551615"),
        (-(2**63), "-9223372036854775808"),
        (0.1, "1.000000e-01"),
        ([], "[]"),
        ({}, "{}"),
    ],
)
def test_values_are_quoted_and_tagged_like_the_tool(value, printed):
    assert document_text({"k": value}) == f"---\nk:               {printed}\n...\n"


def test_keys_are_sorted_padded_and_quoted_like_the_tool():
    document = {
        "sixteen_chars_17c": 1,
        "sixteen_chars_16": 1,
        "sixteen_charss15": 1,
        "k:": 4,
        "": 5,
        "é": 3,
        "1": 2,
        "m": {"z": {"y": 1}},
        "l": [{"a": 1, "b": {}}, {"x": [1]}],
    }
    assert document_text(document) == (
        "---\n"
        "'':                5\n"
        "1:               2\n"
        "'k:':              4\n"
        "l:\n"
        "  - a:               1\n"
        "    b:               {}\n"
        "  - x:\n"
        "      - 1\n"
        "m:\n"
        "  z:\n"
        "    y:               1\n"
        "sixteen_chars_16: 1\n"
        "sixteen_chars_17c: 1\n"
        "sixteen_charss15: 1\n"
        '"é":              3\n'
        "...\n"
    )


def test_what_the_tool_prints_wrongly_is_refused():
    with pytest.raises(BadInput) as caught:
        document_text({"a": [[1]]}, "k")
    assert str(caught.value) == "k: metadata holds a list inside a list"
    with pytest.raises(BadInput) as caught:
        document_text({}, "k")
    assert str(caught.value) == "k: code object metadata is empty"


def test_long_texts_are_quoted_as_short_ones_are():
    long = "x" * 65
    assert document_text({f"{long}:": f"{long}:", long: long}) == (
        f"---\n{long}: {long}\n'{long}:': '{long}:'\n...\n"
    )
