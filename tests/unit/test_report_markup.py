"""How values come into the page: what is escaped, cut and rounded."""

from __future__ import annotations

from pathlib import Path

import pytest
from html_document import faults, read_html

from netra_build.inspect.report import page
from netra_build.inspect.report.facts import counted, grouped, size_text
from netra_build.inspect.report.page import page_texts, shares


def filled_in(template: str, **values: object) -> str:
    """Return a template that is filled in as that of the page is."""
    return page_texts().from_string(template).render(values)


def with_macros(call: str, **values: object) -> str:
    """Return what a call of the page's macros gives."""
    macros = (
        Path(page.__file__).with_suffix(".html").read_text().partition('<meta name="viewport"')[0]
    )
    return filled_in(f"{macros}{{{{ {call} }}}}", **values).strip()


def test_text_is_escaped_and_markup_is_not():
    made = filled_in("<p>{{ a }}{{ b }}<i>{{ c }}</i></p>", a="<b>&", b="\"'", c=7)
    assert made == "<p>&lt;b&gt;&amp;&#34;&#39;<i>7</i></p>"
    assert with_macros("row(a, code(a))", a="<") == (
        "<tr><td>&lt;</td><td><code>&lt;</code></td></tr>"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u202eb", "a\\u{202e}b"),
        ("a\x00b", "a\\u{0}b"),
        ("line\nline", "line\\u{a}line"),
        ("ä × ✓", "ä × ✓"),
        ("x" * 301, "x" * 300 + "…"),
        ("x" * 300, "x" * 300),
    ],
)
def test_no_character_hides_and_no_text_is_endless(text, shown):
    assert filled_in('<p title="{{ a }}">{{ a }}</p>', a=text) == f'<p title="{shown}">{shown}</p>'


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (13336, "13.0 KiB"),
        (102400, "100 KiB"),
        (1048575, "1.0 MiB"),
        (5 * 1048576, "5.0 MiB"),
    ],
)
def test_a_size_is_short(size, text):
    assert size_text(size) == text


def test_numbers_are_grouped_and_words_follow_them():
    assert (grouped(1234567), grouped(12)) == ("1,234,567", "12")
    assert [counted(n, "launch", "launches") for n in (1, 2)] == ["1 launch", "2 launches"]
    assert counted(0, "kernel") == "0 kernels"


def test_a_bar_is_filled_by_shares_and_parts_of_nothing_are_left_out():
    bar = read_html(with_macros('bar([("VALU", 1), ("SALU", 0), ("LDS", 2)], "mix")').encode())
    assert [(r.attributes["x"], r.attributes["width"]) for r in bar.all("rect")] == [
        ("0.00%", "33.33%"),
        ("33.33%", "66.67%"),
    ]
    assert [title.text() for title in bar.all("title")] == ["VALU: 1", "LDS: 2"]
    assert list(shares([])) == []


def test_a_meter_never_leaves_its_bar():
    made = read_html(with_macros('meter("VGPR", "600", 600, 512)').encode())
    assert [rect.attributes["width"] for rect in made.all("rect")] == ["100.00%"]


SEEDED = [
    ("<p>", "p is left open"),
    ("<p><b></p></b>", "p closes b"),
]


@pytest.mark.parametrize(("page", "fault"), SEEDED)
def test_the_reader_sees_elements_that_are_not_closed(page, fault):
    with pytest.raises(AssertionError, match=fault):
        read_html(page.encode())


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ("<script></script>", "has a script"),
        ('<p onclick="x"></p>', "p has onclick"),
        ('<a href="http://x"></a>', "link to http://x"),
        ('<a href="#none"></a>', "link to #none"),
        ('<p id="a"></p><p id="a"></p>', "id a twice"),
        ("<style>p{background:url(x)}</style>", "style holds url("),
    ],
)
def test_the_reader_sees_what_leads_out(page, fault):
    assert faults(read_html(page.encode())) == [fault]
