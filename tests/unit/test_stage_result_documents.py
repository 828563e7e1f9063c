"""The build result reads what other stages have written, and takes nothing else for it."""

from __future__ import annotations

from typing import Any

import pytest

from netra_build.core.errors import BadInput
from netra_build.stages.emit_result import STAGE

ARTIFACT = {"name": "k", "members": []}
PARAMETERS = {"deployment": None, "artifacts": [ARTIFACT]}


class Tools:
    """A tool chain that is nothing but its identity."""

    def identity(self) -> dict[str, str]:
        return {"assembler": "as"}


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
    tools: Any = Tools()
    with pytest.raises(BadInput) as caught:
        STAGE.run({"metadata/k.json": data}, PARAMETERS, tools)
    assert str(caught.value) == refusal
