"""The answer to ``why``: which files are meant, and the chain of reasons behind each."""

from __future__ import annotations

from collections.abc import Sequence

from netra_build.choose.why_target import asked_files
from netra_build.core.canonical_json import Json
from netra_build.core.execute import Execution
from netra_build.core.run_record import RunRecord
from netra_build.core.upcoming import upcoming
from netra_build.core.why import Answer, answer, upcoming_lines

FORMAT = "netra-why-1"


def answers(target: str, executions: Sequence[Execution], record: RunRecord) -> list[Answer]:
    """Return one answer for each file that ``target`` stands for.

    Raises ``BadInput`` when it stands for none.
    """
    verdicts = upcoming(executions)
    return [answer(path, record, verdicts) for path in asked_files(target, executions, record)]


def why_text(target: str, executions: Sequence[Execution], record: RunRecord) -> str:
    """Return the answers in words; without a target, what a build would run."""
    if not target:
        return "\n".join(upcoming_lines(list(upcoming(executions).values())))
    return "\n".join(line for one in answers(target, executions, record) for line in one.lines())


def why_document(target: str, found: Sequence[Answer]) -> dict[str, Json]:
    """Return the answers as JSON."""
    return {"format": FORMAT, "target": target, "files": [one.document() for one in found]}
