"""HTML as values: every text is escaped where it enters, every tag is closed where it opens."""

from __future__ import annotations

from collections.abc import Iterable

LONGEST = 300
"""Characters of one text that a page still shows."""

_VOID = frozenset({"meta", "br", "rect", "path"})
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;"})


class Markup(str):
    """A string that is HTML already; plain strings are text and get escaped."""

    __slots__ = ()


Content = str | int | Iterable["Content"]


def tag(name: str, /, *children: Content, **attributes: str | int | None) -> Markup:
    """Return an element. ``class_`` stands for ``class``, ``_`` in a name for ``-``.

    An attribute that is None is left out. Elements without an end tag take no children.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID and not children:
        return Markup(f"<{name}{given}>" if name in ("meta", "br") else f"<{name}{given}/>")
    return Markup(f"<{name}{given}>{joined(children)}</{name}>")


def joined(children: Content) -> Markup:
    """Return contents one after the other."""
    if isinstance(children, Markup):
        return children
    if isinstance(children, str | int):
        return escaped(str(children))
    return Markup("".join(map(joined, children)))


def escaped(text: str) -> Markup:
    """Return a text as HTML: cut when it is very long, with no character that hides or reorders."""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}…"
    if not text.isprintable():
        text = "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in text)
    return Markup(text.translate(_ESCAPES))


def table(
    columns: Iterable[Content], rows: Iterable[Iterable[Content]], class_: str = ""
) -> Markup:
    """Return a table that scrolls on its own where the page is too narrow for it."""
    names = list(columns)
    head = tag("tr", [tag("th", name, scope="col") for name in names])
    body = [tag("tr", [tag("td", cell) for cell in row]) for row in rows]
    made = tag("table", tag("thead", head), tag("tbody", body), class_=class_ or None)
    return tag("div", made, class_="scroll")


def grouped(number: int) -> str:
    """Return a whole number with its digits in groups of three."""
    return f"{number:,}"


def size_text(size_bytes: int) -> str:
    """Return a size in the unit that leaves three digits or so."""
    if size_bytes < 1024:
        return f"{size_bytes} B"
    tenths = (size_bytes * 10 + 512) // 1024
    unit = "KiB"
    if tenths >= 10240:
        tenths, unit = (tenths + 512) // 1024, "MiB"
    return f"{tenths // 10}.{tenths % 10} {unit}" if tenths < 1000 else f"{tenths // 10} {unit}"


def counted(number: int, one: str, many: str = "") -> str:
    """Return ``1 kernel``, ``2 kernels``."""
    return f"{grouped(number)} {one if number == 1 else many or one + 's'}"
