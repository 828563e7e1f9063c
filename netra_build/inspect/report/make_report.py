"""The stage that makes the page of a product from the product's files and mutation scores."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.checkasm.mutate.document import COLUMNS, read_record
from netra_build.core.errors import BadInput
from netra_build.inspect.report.page import Scores, report_page
from netra_build.inspect.report.read_product import read_facts

MUTATION = "mutation:scores"


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the page under the role ``page``.

    Inputs: every file of the product by its name there, and ``mutation:scores``, the record of
    mutation scores, if there is one. Parameter: ``location``, for messages.
    """
    files = {name: data for name, data in inputs.items() if name != MUTATION}
    data = inputs.get(MUTATION)
    scores = None if data is None else read_scores(data, MUTATION)
    return {"page": page_bytes(files, scores, parameters["location"])}


def page_bytes(
    files: Mapping[str, bytes],
    scores: Scores | None,
    location: str,
    states: Mapping[str, str] | None = None,
    package: Mapping[str, int] | None = None,
) -> bytes:
    """Return the page of a product's files; ``scores`` as ``read_scores`` returns them.

    ``states`` and ``package`` as in ``report_page``. Raises ``BadInput`` for files that are no
    product, or that cannot be read.
    """
    return report_page(read_facts(files, location), scores, states, package)


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
