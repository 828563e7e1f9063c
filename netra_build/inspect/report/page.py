"""The report page: one HTML document that needs no network, no script and no other file.

Its content is in ``page.html``, its style in ``page.css``; they count as code of this module.
Every text is escaped, cut when it is very long, and shown without characters that hide or
reorder.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.checkasm.hazards.kernel_statistics import LDS_BYTES, MOST_WAVES, VGPRS
from netra_build.checkasm.mutate.document import COLUMNS, read_record
from netra_build.core.disk import Disk
from netra_build.core.errors import BadInput
from netra_build.core.texts import texts_in
from netra_build.inspect.report.artifact_graph import ArtifactGraph
from netra_build.inspect.report.facts import (
    OPEN,
    Claim,
    ReportFacts,
    counted,
    grouped,
    size_text,
    verdict_of,
)
from netra_build.inspect.report.read_product import read_facts

if TYPE_CHECKING:
    from jinja2 import Environment

Scores = dict[str, tuple[tuple[str, str], ...]]
"""Column and cell of mutation scores, by tactic or tactic and variant."""

PAGE_START = (
    b'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
    b'<meta name="generator" content="Netra Build">'
)
"""What every page begins with, and no other file."""
_BETWEEN_TAGS = re.compile(r">(?:\s*\n\s*|\s{2,})<")
LONGEST = 300
"""Characters of one text that a page still shows."""

FEW = 8
"""Code objects whose graph is shown unfolded."""

MOST_ROWS, MOST_FILES = 200, 4000
MOST = {"vgprs": VGPRS, "sgprs": 102, "lds_bytes": LDS_BYTES, "waves": MOST_WAVES}
"""What a wave can use; SGPRs are those that its code can name."""

SIGNS = {"proven": "✓", "open": "○", "refuted": "✗"}
NO_GPU = (
    "Nothing here was measured on a GPU. Equal means equal to the golden source; "
    "right means right in the functional model of the machine."
)
STAGE_BY_ENDING = (
    (".golden.dis", "disassemble"),
    (".equivalence.json", "equivalence"),
    (".checks.json", "check"),
    (".numerics.json", "simulate"),
    (".dis", "disassemble"),
)
PARTS = (
    ("VALU", "code objects", "hsaco/"),
    ("SALU", "golden sources", "generated/golden/"),
    ("VMEM", "included templates", "generated/includes/"),
    ("MFMA", "units", "generated/"),
    ("LDS", "listings, metadata and reports", "metadata/"),
    ("SMEM", "documents", ""),
)
"""Colour, label and prefix of file names; the first that fits counts."""


def report_page(
    facts: ReportFacts,
    scores: Scores | None = None,
    states: Mapping[str, str] | None = None,
    package: Mapping[str, int] | None = None,
) -> bytes:
    """Return the page as UTF-8; equal arguments give equal bytes.

    ``scores`` are mutation scores by tactic and variant. ``states`` gives the state of files in the
    last build, ``package`` the bytes of each part of a release; the page in a package has neither.
    """
    anchors = {file.name: f"f{number}" for number, file in enumerate(facts.files)}
    operations: dict[str, list[str]] = {}
    for operation in facts.operations:
        if operation.symbol is not None:
            operations.setdefault(operation.symbol, []).append(operation.name)
    status = dict(facts.statuses).get("hardware", "not_run").replace("_", " ")
    text = (
        page_texts()
        .get_template("page.html")
        .render(
            facts=facts,
            scores=scores or {},
            states=states or {},
            package=package or {},
            anchors=anchors,
            verdict=verdict_of(facts),
            profile=dict(facts.identities).get("profile"),
            hardware=Claim(OPEN, status, "What the validation plan says of hardware."),
            number_by_symbol={k.symbol: n for n, i in enumerate(facts.objects) for k in i.kernels},
            operations_by_symbol=operations,
            graph=ArtifactGraph(facts, anchors, states or {}),
            parts=_parts(facts),
        )
    )
    return PAGE_START + f"{_BETWEEN_TAGS.sub('><', text).strip()}\n".encode()


def is_page(path: Path, disk: Disk) -> bool:
    """Tell whether a file is a page of ours, which another one may replace."""
    return disk.read_bytes(path).startswith(PAGE_START)


@cache
def page_texts() -> Environment:
    """Return the values for the template of the page."""
    from markupsafe import Markup

    def text_shown(value: object) -> object:
        return value if isinstance(value, Markup) else shown(str(value))

    texts = texts_in(Path(__file__).parent, is_html=True, finalize=text_shown)
    texts.filters |= {"grouped": grouped, "counted": counted, "size": size_text}
    texts.filters |= {"share": _share, "stage": stage_of}
    texts.globals |= {"signs": SIGNS, "no_gpu": NO_GPU, "most": MOST, "shares": shares}
    texts.globals |= {"most_rows": MOST_ROWS, "most_files": MOST_FILES, "few": FEW}
    return texts


def shown(text: str) -> str:
    """Return a text as the page shows it: cut, with no character that hides or reorders."""
    if len(text) > LONGEST:
        text = f"{text[:LONGEST]}…"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else f"\\u{{{ord(c):x}}}" for c in text)


def shares(parts: Iterable[tuple[str, int]]) -> Iterator[tuple[str, int, str, str]]:
    """Yield name, count, start and width (in per cent) of each part of a bar."""
    there = [(name, count) for name, count in parts if count]
    whole = sum(count for _, count in there)
    start = 0
    for name, count in there:
        yield name, count, _percent(start, whole), _percent(count, whole)
        start += count


def _percent(part: int, whole: int) -> str:
    hundredths = (part * 10000 + whole // 2) // whole
    return f"{hundredths // 100}.{hundredths % 100:02}%"


def _parts(facts: ReportFacts) -> list[dict[str, object]]:
    files, sizes = Counter[str](), Counter[str]()
    for file in facts.files:
        label = next(label for _, label, start in PARTS if file.name.startswith(start))
        files[label] += 1
        sizes[label] += file.size_bytes
    rows = [(colour, label, files[label], sizes[label]) for colour, label, _ in PARTS]
    keys = ("colour", "label", "files", "size_bytes")
    return [{**dict(zip(keys, row, strict=True)), "bar": (row[0], row[-1])} for row in rows]


def _share(part: int, whole: int) -> str:
    tenths = (part * 1000 + whole // 2) // whole if whole else 0
    return f"{tenths // 10}.{tenths % 10} %"


def stage_of(name: str) -> str:
    """Return the step of the build that makes a file of this name."""
    folder, _, rest = name.partition("/")
    if folder == "hsaco":
        return "assemble, link, seal"
    if folder == "generated":
        return "copy" if rest.startswith(("includes/", "golden/")) else "instantiate"
    if folder == "metadata":
        return next((stage for end, stage in STAGE_BY_ENDING if name.endswith(end)), "read")
    return "seal" if name in ("netra.json", "build-result.json") else "plan"


MUTATION = "mutation:scores"


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the page under the role ``page``.

    Inputs: every file of the product by its name there, and ``mutation:scores``, the record of
    mutation scores, if there is one. Parameter: ``location``, for messages.
    """
    files = {name: data for name, data in inputs.items() if name != MUTATION}
    data = inputs.get(MUTATION)
    scores = None if data is None else read_scores(data, MUTATION)
    return {"page": report_page(read_facts(files, parameters["location"]), scores)}


def read_scores(data: bytes, location: str) -> Scores:
    """Return the row of each specialization in a record of mutation scores.

    Raises ``BadInput`` for anything but such a record.
    """
    try:
        kernels = read_record(data, location).kernels
    except BadInput as error:
        raise BadInput(
            "file is no record of mutation scores",
            location=location,
            hint='give the JSON that "netra mutate --document" writes, not the document',
            detail=str(error),
        ) from None
    return {
        label: tuple(zip(COLUMNS[1:], score.cells(), strict=True))
        for label, score in kernels.items()
    }


STAGE = Stage("report", "REPORT", __name__, run)
