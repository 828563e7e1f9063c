"""The stage that makes the page of a product from the product's files and mutation scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.core.errors import BadInput
from netra_build.inspect.report.page import Scores, report_page
from netra_build.inspect.report.read_product import read_facts

MUTATION = "mutation:table"
NAMES = ("kernel", "specialization")
MAX_LINES = 100_000


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the page under the role ``page``.

    Inputs: every file of the product by its name there, and ``mutation:table``, the committed
    Markdown table of mutation scores, if there is one. Parameter: ``location``, for messages.
    """
    files = {name: data for name, data in inputs.items() if name != MUTATION}
    return {"page": page_bytes(files, inputs.get(MUTATION), parameters["location"])}


def page_bytes(
    files: Mapping[str, bytes],
    table: bytes | None,
    location: str,
    states: Mapping[str, str] | None = None,
    package: Mapping[str, int] | None = None,
) -> bytes:
    """Return the page of a product's files; ``table`` is Markdown that holds mutation scores.

    ``states`` gives the state of files in a build, and ``package`` the bytes of the parts of a
    release; the page in a package has neither.
    Raises ``BadInput`` for files that are no product, or that cannot be read.
    """
    scores = None if table is None else read_scores(table, MUTATION)
    return report_page(read_facts(files, location), scores, states, package)


def read_scores(document: bytes, location: str) -> Scores:
    """Return the rows of the first Markdown table of kernels whose last column is a score.

    ``BadInput`` for text that is not UTF-8 or has too many lines.
    """
    try:
        lines = document.decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise BadInput("file is not UTF-8", location=location) from None
    if len(lines) > MAX_LINES:
        raise BadInput("file has too many lines", location=location, expected=MAX_LINES)
    scores: Scores = {}
    columns: list[str] = []
    is_of_scores = False
    for line in lines:
        if not line.lstrip().startswith("|"):
            if scores:
                return scores
            columns = []
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not columns:
            columns = cells
            is_of_scores = cells[0] in NAMES and "score" in cells[-1]
        elif is_of_scores and len(cells) == len(columns) and not _is_rule(cells):
            scores[cells[0].strip("`")] = tuple(zip(columns[1:], cells[1:], strict=True))
    return scores


def _is_rule(cells: list[str]) -> bool:
    return all(cell and not cell.strip("-:") for cell in cells)


STAGE = Stage("report", "REPORT", __name__, run)
