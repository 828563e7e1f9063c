"""The stage that makes the page of a product from the product's files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.inspect.report.mutation_table import read_scores
from netra_build.inspect.report.page import report_page
from netra_build.inspect.report.read_product import read_facts

MUTATION = "mutation:table"


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

    ``states`` says of files how they stand in a build, and ``package`` how many bytes the parts
    of a release have; a page that is packed has neither.
    Raises ``BadInput`` for files that are no product, or that cannot be read.
    """
    scores = None if table is None else read_scores(table, MUTATION)
    return report_page(read_facts(files, location), scores, states, package)


STAGE = Stage("report", "REPORT", __name__, run)
