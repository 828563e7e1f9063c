"""A strict reader of our own HTML: every element closed in order, every link to something here."""

from __future__ import annotations

from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "br"}


@dataclass
class Element:
    """One element: its attributes, its text and its child elements."""

    name: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)
    own_text: list[str] = field(default_factory=list)

    def all(self, name: str) -> list[Element]:
        """Return the elements called ``name`` below this one, in order."""
        found = []
        for child in self.children:
            found += [child] if child.name == name else []
            found += child.all(name)
        return found

    def text(self) -> str:
        """Return all text below, parts joined as they stand."""
        return "".join(self.own_text)

    def rows(self) -> list[list[str]]:
        """Return the texts of the cells of each row below a ``tbody``."""
        return [
            [cell.text() for cell in row.children]
            for body in self.all("tbody")
            for row in body.children
        ]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(set(names)) == len(names), f"{tag} repeats an attribute"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].name == tag, f"{tag} closes {self.open[-1].name}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        for element in self.open:
            element.own_text.append(data)


def read_html(page: bytes) -> Element:
    """Return the document; fails on anything that is left open or closed out of order."""
    reader = _Reader()
    reader.feed(page.decode("utf-8"))
    reader.close()
    assert len(reader.open) == 1, f"{reader.open[-1].name} is left open"
    return reader.root


def faults(document: Element) -> list[str]:
    """Return what makes a page depend on something else than itself, or lead nowhere."""
    found = []
    everything = _below(document)
    ids = [e.attributes["id"] for e in everything if "id" in e.attributes]
    found += [f"id {name} twice" for name in sorted({i for i in ids if ids.count(i) > 1})]
    for element in everything:
        if element.name in ("script", "link", "img", "iframe", "object", "embed", "base", "form"):
            found.append(f"has a {element.name}")
        for name, value in element.attributes.items():
            if name.startswith("on") or name in ("src", "srcset", "action", "style"):
                found.append(f"{element.name} has {name}")
            if name == "href" and (value[:1] != "#" or value[1:] not in ids):
                found.append(f"link to {value}")
    for style in document.all("style"):
        found += [f"style holds {word}" for word in ("url(", "@import") if word in style.text()]
    return found


def _below(element: Element) -> list[Element]:
    return [e for child in element.children for e in (child, *_below(child))]
