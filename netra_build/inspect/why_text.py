"""The answer to ``why``: which files are meant, and the chain of reasons behind each.

What answers is imported when it is asked: every build comes past this module.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from netra_build.build.freshness.freshness import Freshness
from netra_build.build.record.run_record import RunRecord
from netra_build.build.run.execute import Execution
from netra_build.core.canonical_json import Json

if TYPE_CHECKING:
    from netra_build.build.explain.why import Answer

FORMAT = "netra-why-1"


def answers(
    target: str, executions: Sequence[Execution], record: RunRecord, freshness: Freshness
) -> list[Answer]:
    """Return one answer for each file that ``target`` stands for.

    Raises ``BadInput`` when it stands for none.
    """
    from netra_build.build.explain.upcoming import upcoming
    from netra_build.build.explain.why import answer
    from netra_build.inspect.why_target import asked_files

    verdicts = upcoming(executions, freshness)
    return [answer(path, record, verdicts) for path in asked_files(target, executions, record)]


def why_text(
    target: str, executions: Sequence[Execution], record: RunRecord, freshness: Freshness
) -> str:
    """Return the answers in words; without a target, what a build would run."""
    from netra_build.build.explain.upcoming import upcoming
    from netra_build.build.explain.why import upcoming_lines

    if not target:
        return "\n".join(upcoming_lines(list(upcoming(executions, freshness).values())))
    found = answers(target, executions, record, freshness)
    return "\n".join(line for one in found for line in one.lines())


def why_document(target: str, found: Sequence[Answer]) -> dict[str, Json]:
    """Return the answers as JSON."""
    return {"format": FORMAT, "target": target, "files": [one.document() for one in found]}
