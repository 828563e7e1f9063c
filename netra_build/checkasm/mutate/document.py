"""The scores and the survivors of every specialization, as tables in a document.

Two pairs of marker lines hold them. A run replaces the rows of the kernels that it judged; the
rest of the document is an author's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from netra_build.checkasm.mutate.mutant import CHECKS, ORDERING, VALUE
from netra_build.checkasm.mutate.report import Result
from netra_build.core.errors import BadInput

SCORES = ("<!-- scores -->", "<!-- end of scores -->")
SURVIVORS = ("<!-- survivors -->", "<!-- end of survivors -->")
# What reads the table elsewhere takes the first column for the kernel, the last for its score.
COLUMNS = (
    "specialization",
    "ordering mutants",
    "ordering caught",
    "ordering score",
    "value mutants",
    "of possible",
    "equivalent",
    *CHECKS,
    "value caught",
    "value score",
)
_LABEL = re.compile(r"\| `([a-z0-9_/]+)` \|")


def label_of(result: Result) -> str:
    """Return tactic and variant of a golden source's result."""
    return result.name.removeprefix("golden/gfx950/").removesuffix("/kernel.s")


def updated(document: str, results: Sequence[Result]) -> str:
    """Return the document with the rows and lists of these results; ``BadInput`` without markers.

    Rows and lists are in the order of their labels.
    """
    rows = {label_of(one): _row(one) for one in results}
    lists = {label_of(one): _survivors(one) for one in results}
    document = _between(document, SCORES, _table({**_rows(_inside(document, SCORES)), **rows}))
    old = _lists(_inside(document, SURVIVORS))
    return _between(document, SURVIVORS, "\n".join(_filled({**old, **lists})))


def _inside(document: str, markers: tuple[str, str]) -> str:
    """Return what stands between two marker lines."""
    first, last = (document.find(f"{marker}\n") for marker in markers)
    if first < 0 or last < 0:
        raise BadInput(f'document has no lines "{markers[0]}" and "{markers[1]}"')
    return document[first + len(markers[0]) + 1 : last]


def _between(document: str, markers: tuple[str, str], text: str) -> str:
    head, tail = document.split(f"{markers[0]}\n")[0], document.split(f"{markers[1]}\n")[1]
    return f"{head}{markers[0]}\n\n{text}\n{markers[1]}\n{tail}"


def _rows(text: str) -> dict[str, str]:
    return {found[1]: line for line in text.split("\n") if (found := _LABEL.match(line))}


def _table(rows: Mapping[str, str]) -> str:
    lines = [f"| {' | '.join(COLUMNS)} |", "|---" * len(COLUMNS) + "|"]
    return "\n".join([*lines, *(rows[label] for label in sorted(rows)), ""])


def _row(result: Result) -> str:
    ordering, value = result.score(ORDERING), result.score(VALUE)
    possible = sum(result.possible[kind] for kind in VALUE)
    cells = [
        f"`{label_of(result)}`",
        str(ordering.made - ordering.equivalent),
        str(ordering.caught),
        _percent(ordering.per_mille),
        str(value.made),
        str(possible),
        str(value.equivalent),
        *(str(value.caught_by[check]) for check in CHECKS),
        str(value.caught),
        _percent(value.per_mille),
    ]
    return f"| {' | '.join(cells)} |"


def _percent(per_mille: int) -> str:
    return f"{per_mille // 10}.{per_mille % 10} %"


def _survivors(result: Result) -> str:
    found = [f"{one.mutant.line}: {one.mutant.kind}: {one.mutant.change()}"
             for one in result.survivors()]  # fmt: skip
    return "\n".join(found)


def _lists(text: str) -> dict[str, str]:
    """Return the listed survivors by label."""
    lists: dict[str, str] = {}
    for part in text.split("\n### ")[1:]:
        label, _, rest = part.partition("\n")
        lists[label] = rest.split("```")[1].strip("\n") if "```" in rest else ""
    return lists


def _filled(lists: Mapping[str, str]) -> list[str]:
    """Return a heading and a block for each label that has survivors."""
    lines = []
    for label in sorted(lists):
        if lists[label]:
            lines += [f"### {label}", "", "```", lists[label], "```", ""]
    return lines
