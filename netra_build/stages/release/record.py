"""Release, record: ``RELEASE.json``, and the lock that refuses what must not be released."""

from __future__ import annotations

from typing import Any

from netra_build.build.graph.actions import Inputs, Outputs, Parameters, Stage
from netra_build.release.compression import settings
from netra_build.release.origin import content_of, origin_of
from netra_build.release.record import record_bytes, refuse_unready, release_record


def run(inputs: Inputs, parameters: Parameters, tools: Any) -> Outputs:
    """Return the record under the role ``record``; raise ``Refused`` for an unready product.

    Inputs as ``origin_of`` takes them, the bill of materials among the files of the package.
    """
    content, origin = content_of(inputs), origin_of(inputs, parameters)
    record = release_record(content, origin, settings())
    refuse_unready(content, origin, record)
    return {"record": record_bytes(record)}


STAGE = Stage("release_record", "RECORD", __name__, run)
