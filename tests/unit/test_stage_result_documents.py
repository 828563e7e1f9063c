"""The build result reads what other stages have written, and takes nothing else for it."""

from __future__ import annotations

import pytest

from netra_build.core.errors import BadInput
from netra_build.stages.build_result import DESCRIBE

ARTIFACT = {"name": "k", "members": []}
PARAMETERS = {"artifacts": [ARTIFACT]}


@pytest.mark.parametrize(
    ("data", "refusal"),
    [
        (b"[]", "k: document is not an object"),
        (b"{", "k:1:2: not valid JSON: expecting property name enclosed in double quotes"),
        (b"\xff", "k: not valid UTF-8 at byte 0"),
        (b"[" * 100_000, "k: nesting is deeper than 200 levels"),
    ],
)
def test_what_is_no_document_is_refused(data: bytes, refusal: str) -> None:
    with pytest.raises(BadInput) as caught:
        DESCRIBE.run({"metadata/k.json": data}, PARAMETERS, None)
    assert str(caught.value) == refusal
