"""The artifact graph of a product as SVG: one lane for each code object, from source to seal."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from netra_build.inspect.report.facts import OPEN, PROVEN, REFUTED, Claim, ObjectFacts, ReportFacts
from netra_build.inspect.report.markup import Content, Markup, counted, tag

BOX = 34
ROW = 42
TITLE = 20
LANE = TITLE + 3 * ROW + 8
HEAD = 26
COLUMN_X = (4, 246, 456, 676, 896)
COLUMN_WIDTH = (196, 170, 176, 154, 160)
COLUMNS = (
    "sources",
    "unit: instantiated",
    "code object: assembled, linked",
    "proofs",
    "product",
)
BUS_X = 862
WIDTH = 1060
PIXELS_PER_CHARACTER = 7
INSET = 9
SHOWN_DIGITS = 12
FEW_DIGITS = 6
"""Digits that leave room for a state."""

SEALS = ("netra.json", "build-result.json")
CLOSING = ("validation_plan.json", "engine.json", *SEALS)


@dataclass(frozen=True)
class Box:
    """One artifact: where it stands, what is written on it, and the row of the file table."""

    column: int
    y: int
    name: str
    below: str
    title: str
    anchor: str | None = None
    state: str = ""

    @property
    def left(self) -> tuple[int, int]:
        """The middle of its left side."""
        return COLUMN_X[self.column], self.y + BOX // 2

    @property
    def right(self) -> tuple[int, int]:
        """The middle of its right side."""
        return COLUMN_X[self.column] + COLUMN_WIDTH[self.column], self.y + BOX // 2

    def drawn(self) -> Markup:
        """Return the box, a link when it has a row in the table of files."""
        x, width = COLUMN_X[self.column], COLUMN_WIDTH[self.column]
        name = _fitting(self.name, (width - 2 * INSET) // PIXELS_PER_CHARACTER)
        parts = [
            tag("title", self.title),
            tag("rect", x=x, y=self.y, width=width, height=BOX, rx=6),
            tag("text", name, x=x + INSET, y=self.y + 15),
            tag("text", self.below, x=x + INSET, y=self.y + 28, class_="dig"),
        ]
        group = tag("g", parts, class_=f"s-{self.state}" if self.state else None)
        return group if self.anchor is None else tag("a", group, href=f"#{self.anchor}")


class ArtifactGraph:
    """Draws the boxes of one product; ``anchors`` and ``states`` are by a file's name."""

    def __init__(
        self, facts: ReportFacts, anchors: Mapping[str, str], states: Mapping[str, str]
    ) -> None:
        self.facts = facts
        self.anchors = anchors
        self.states = states
        self.digest_by_name = {file.name: file.sha256 for file in facts.files}

    def drawn(self) -> Markup:
        """Return the whole graph."""
        lanes = max(1, len(self.facts.objects))
        height = HEAD + LANE * lanes
        parts: list[Content] = [
            tag("text", name, x=x, y=14, class_="small")
            for name, x in zip(COLUMNS, COLUMN_X, strict=True)
        ]
        for number, item in enumerate(self.facts.objects):
            top = HEAD + LANE * number
            parts.append(tag("text", item.stem, x=COLUMN_X[0], y=top + 13, class_="lane"))
            parts += self._lane(item, top + TITLE)
        parts += self._product(height)
        label = "from sources over units and code objects to their proofs and the sealed product"
        made = tag("svg", parts, viewBox=f"0 0 {WIDTH} {height}", role="img", aria_label=label)
        return tag("div", made, class_="graph card")

    def _lane(self, item: ObjectFacts, y: int) -> Iterable[Content]:
        source, unit, code = self._source(item, y), self._unit(item, y), self._code(item, y)
        reports = self._reports(item, y)
        yield from (
            _edge(box.right, following.left) for box, following in _chain(source, unit, code)
        )
        if item.goldens:
            golden = self._file(0, y + 2 * ROW, item.goldens[0], "golden source")
            yield _edge(golden.right, reports[2].left, "golden")
            yield golden.drawn()
        for report in reports:
            yield _edge(code.right, report.left)
            yield _edge(report.right, (BUS_X, report.right[1]))
        yield from (box.drawn() for box in (source, unit, code, *reports) if box is not None)

    def _source(self, item: ObjectFacts, y: int) -> Box:
        if item.is_brought:
            return Box(0, y, "brought from elsewhere", "no source here", "the user brings it")
        leaf = item.templates[0] if item.templates else ""
        name = leaf.rpartition("/")[2] or "templates"
        below = f"closure {item.closure_sha256[:SHOWN_DIGITS]}" if item.closure_sha256 else ""
        # A recipe's result names no files of a closure, an engine without a seal no digest of it.
        count = counted(len(item.templates), "file") if item.templates else ""
        closure = f"include closure {item.closure_sha256}".rstrip()
        title = f"{closure}: {count}" if count else closure
        return Box(0, y, name, below, title, self.anchors.get(leaf))

    def _unit(self, item: ObjectFacts, y: int) -> Box | None:
        if not item.sources:
            return None
        return self._file(1, y, item.sources[0], "unit", more=len(item.sources) - 1)

    def _code(self, item: ObjectFacts, y: int) -> Box:
        box = self._file(2, y, item.name, "code object")
        return box if item.text_sha256 else _with_state(box, OPEN)

    def _reports(self, item: ObjectFacts, y: int) -> list[Box]:
        numerics = [kernel.numerics for kernel in item.kernels]
        claims = (
            ("numerics", _worst(numerics), "numerics.json"),
            ("static checks", item.checks, "checks.json"),
            ("equivalence", item.equivalence, "equivalence.json"),
        )
        boxes = []
        for row, (name, claim, suffix) in enumerate(claims):
            stem = f"metadata/{item.stem}"
            file = next((f for f in (f"{stem}.{suffix}", f"{stem}.0.{suffix}") if f in self), "")
            title = f"{name}: {claim.word}. {claim.detail}"
            anchor = self.anchors.get(file)
            boxes.append(Box(3, y + ROW * row, name, claim.word, title, anchor, claim.state))
        return boxes

    def __contains__(self, name: str) -> bool:
        return name in self.digest_by_name

    def _file(self, column: int, y: int, name: str, what: str = "", more: int = 0) -> Box:
        digest = self.digest_by_name.get(name)
        below = "not here" if digest is None else digest[:SHOWN_DIGITS]
        if more > 0:
            below += f" and {more} more"
        if name in self.states:
            below = f"{below[:FEW_DIGITS]} · {self.states[name].partition(',')[0]}"
        title = f"{name} sha256 {digest}" if digest else f"{name}: not here"
        return Box(column, y, what or name.rpartition("/")[2], below, title, self.anchors.get(name))

    def _product(self, height: int) -> Iterable[Content]:
        """Yield the closing documents and the line that gathers what all lanes have shown."""
        names = [name for name in CLOSING if name in self]
        boxes = [self._file(4, HEAD + TITLE + ROW * i, name) for i, name in enumerate(names)]
        last = HEAD + TITLE + LANE * (max(1, len(self.facts.objects)) - 1) + 2 * ROW + BOX // 2
        if self.facts.objects:
            yield _edge((BUS_X, HEAD + TITLE + BOX // 2), (BUS_X, min(last, height)))
        for box in boxes:
            if self.facts.objects:
                yield _edge((BUS_X, box.left[1]), box.left)
            if box.title.split(" ")[0] in SEALS:
                box = _with_state(box, PROVEN if self.facts.seal.holds else REFUTED)
            yield box.drawn()


def _chain(*boxes: Box | None) -> Iterable[tuple[Box, Box]]:
    there = [box for box in boxes if box is not None]
    return itertools.pairwise(there)


def _worst(claims: Iterable[Claim]) -> Claim:
    """Return the claim that is furthest from proven."""
    order = (REFUTED, OPEN, PROVEN)
    return min(
        claims,
        key=lambda claim: order.index(claim.state),
        default=Claim(OPEN, "not run", "There is no kernel here."),
    )


def _with_state(box: Box, state: str) -> Box:
    return Box(box.column, box.y, box.name, box.below, box.title, box.anchor, state)


def _edge(start: tuple[int, int], end: tuple[int, int], class_: str | None = None) -> Markup:
    (x, y), (to_x, to_y) = start, end
    if x == to_x or y == to_y:
        return tag("path", d=f"M{x} {y}L{to_x} {to_y}", class_=class_)
    middle = (x + to_x) // 2
    return tag("path", d=f"M{x} {y}C{middle} {y} {middle} {to_y} {to_x} {to_y}", class_=class_)


def _fitting(name: str, characters: int) -> str:
    """Return a name with its middle left out when it is too long for its box."""
    if len(name) <= characters:
        return name
    end = characters // 2
    return f"{name[: characters - end - 1]}…{name[-end:]}"
