"""The artifact graph of a product: one lane for each code object, from source to seal.

Positions of boxes and lines are computed here; ``page.html`` draws them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from netra_build.inspect.report.facts import (
    OPEN,
    PROVEN,
    REFUTED,
    Claim,
    ObjectFacts,
    ReportFacts,
    counted,
)

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


Point = tuple[int, int]


@dataclass(frozen=True)
class Box:
    """One artifact: its position, its text, and its row in the file table."""

    column: int
    y: int
    name: str
    below: str
    title: str
    anchor: str | None = None
    state: str = ""

    height: int = BOX
    inset: int = INSET

    @property
    def x(self) -> int:
        """Its left edge."""
        return COLUMN_X[self.column]

    @property
    def width(self) -> int:
        """How wide it is."""
        return COLUMN_WIDTH[self.column]

    @property
    def left(self) -> Point:
        """The middle of its left side."""
        return self.x, self.y + BOX // 2

    @property
    def right(self) -> Point:
        """The middle of its right side."""
        return self.x + self.width, self.y + BOX // 2

    @property
    def fitting_name(self) -> str:
        """Its name, with the middle left out when it is too long for the box."""
        characters = (self.width - 2 * INSET) // PIXELS_PER_CHARACTER
        if len(self.name) <= characters:
            return self.name
        end = characters // 2
        return f"{self.name[: characters - end - 1]}…{self.name[-end:]}"


class ArtifactGraph:
    """The boxes and lines of one product; ``anchors`` and ``states`` are by a file's name."""

    width = WIDTH
    columns = tuple(zip(COLUMNS, COLUMN_X, strict=True))

    def __init__(
        self, facts: ReportFacts, anchors: Mapping[str, str], states: Mapping[str, str]
    ) -> None:
        self.facts = facts
        self.anchors = anchors
        self.states = states
        self.digest_by_name = {file.name: file.sha256 for file in facts.files}
        self.boxes: list[Box] = []
        self.edges: list[tuple[str, str]] = []
        """Path and class of each line."""
        tops = [HEAD + LANE * number for number in range(max(1, len(facts.objects)))]
        self.height = tops[-1] + LANE
        self.lanes = [(item.stem, top + 13) for item, top in zip(facts.objects, tops, strict=False)]
        for item, top in zip(facts.objects, tops, strict=False):
            self._add_lane(item, top + TITLE)
        self._add_product(tops[-1] + TITLE + 2 * ROW + BOX // 2)

    def _add_lane(self, item: ObjectFacts, y: int) -> None:
        more, reports = len(item.sources) - 1, self._reports(item, y)
        units = [self._file(1, y, name, "unit", more=more) for name in item.sources[:1]]
        code = self._file(2, y, item.name, "code object")
        if not item.text_sha256:
            code = replace(code, state=OPEN)
        chain = [self._source(item, y), *units, code]
        for box, following in itertools.pairwise(chain):
            self._connect(box.right, following.left)
        if item.goldens:
            golden = self._file(0, y + 2 * ROW, item.goldens[0], "golden source")
            self._connect(golden.right, reports[2].left, "golden")
            self.boxes.append(golden)
        for report in reports:
            self._connect(code.right, report.left)
            self._connect(report.right, (BUS_X, report.right[1]))
        self.boxes += [*chain, *reports]

    def _connect(self, start: Point, end: Point, class_: str = "") -> None:
        (x, y), (to_x, to_y) = start, end
        middle = (x + to_x) // 2
        curve = f"M{x} {y}C{middle} {y} {middle} {to_y} {to_x} {to_y}"
        is_straight = x == to_x or y == to_y
        self.edges.append((f"M{x} {y}L{to_x} {to_y}" if is_straight else curve, class_))

    def _source(self, item: ObjectFacts, y: int) -> Box:
        if item.is_brought:
            return Box(0, y, "brought from elsewhere", "no source here", "the user brings it")
        leaf = item.templates[0] if item.templates else ""
        name = leaf.rpartition("/")[2] or "templates"
        below = f"closure {item.closure_sha256[:SHOWN_DIGITS]}" if item.closure_sha256 else ""
        # A recipe's result lists no files of a closure, an engine without a seal no closure digest.
        count = counted(len(item.templates), "file") if item.templates else ""
        closure = f"include closure {item.closure_sha256}".rstrip()
        title = f"{closure}: {count}" if count else closure
        return Box(0, y, name, below, title, self.anchors.get(leaf))

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

    def _add_product(self, bus_end: int) -> None:
        """Add the documents of the product and the line that joins the state of all lanes."""
        if self.facts.objects:
            self._connect((BUS_X, HEAD + TITLE + BOX // 2), (BUS_X, bus_end))
        for row, name in enumerate(name for name in CLOSING if name in self):
            box = self._file(4, HEAD + TITLE + ROW * row, name)
            if self.facts.objects:
                self._connect((BUS_X, box.left[1]), box.left)
            if name in SEALS:
                box = replace(box, state=PROVEN if self.facts.seal.holds else REFUTED)
            self.boxes.append(box)


def _worst(claims: Iterable[Claim]) -> Claim:
    order = (REFUTED, OPEN, PROVEN)
    return min(
        claims,
        key=lambda claim: order.index(claim.state),
        default=Claim(OPEN, "not run", "There is no kernel here."),
    )
