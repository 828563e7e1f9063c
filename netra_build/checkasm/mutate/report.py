"""The report of a mutation run: a table by kind, survivors and proven equivalents, as text,
JSON or Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from netra_build.checkasm.mutate.mutant import (
    ASSEMBLER,
    CHECKS,
    KINDS,
    ORDERING,
    SUMMARY_BY_KIND,
    VALUE,
    Verdict,
)
from netra_build.core.canonical_json import Json

FORMAT = "netra-mutation-1"
GROUPS = (("ordering", ORDERING), ("value", VALUE))
_COUNTED = ("made", "equivalent", "caught", "survivors", "per_mille", "per_mille_assembled")
_COLUMNS = ("kind", "possible", "made", *CHECKS, "equivalent", "survivors")


@dataclass(frozen=True)
class Score:
    """How many mutants of some kinds were made, proven equivalent, caught, and by what."""

    made: int
    equivalent: int
    survivors: int
    caught_by: Counter[str]

    @property
    def caught(self) -> int:
        """How many were caught by a check."""
        return self.made - self.equivalent - self.survivors

    @property
    def per_mille(self) -> int:
        """Caught mutants of a thousand that are not proven equivalent, rounded down."""
        return per_mille_of(self.caught, self.made - self.equivalent)

    @property
    def per_mille_assembled(self) -> int:
        """The same among the mutants that the assembler accepts."""
        refused = self.caught_by[ASSEMBLER]
        return per_mille_of(self.caught - refused, self.made - self.equivalent - refused)


@dataclass(frozen=True)
class Result:
    """All verdicts on one kernel. ``possible`` counts the mutants that could be made, by kind."""

    name: str
    tactic: str
    seed: int
    possible: Counter[str]
    verdicts: tuple[Verdict, ...]

    def score(self, kinds: Sequence[str]) -> Score:
        """Return the score of some kinds together."""
        chosen = [one for one in self.verdicts if one.mutant.kind in kinds]
        return Score(
            made=len(chosen),
            equivalent=sum(not one.check and bool(one.proof) for one in chosen),
            survivors=sum(one.is_survivor for one in chosen),
            caught_by=Counter(one.check for one in chosen if one.check),
        )

    def survivors(self) -> list[Verdict]:
        """Return the mutants that no check caught and no proof shows harmless."""
        return [one for one in self.verdicts if one.is_survivor]

    def equivalents(self) -> list[Verdict]:
        """Return the mutants that are proven to change nothing."""
        return [one for one in self.verdicts if not one.check and one.proof]


def json_report(results: Sequence[Result]) -> dict[str, Json]:
    """Return the report on some kernels as a JSON object."""
    return {"format": FORMAT, "kernels": [_kernel(result) for result in results]}


def _kernel(result: Result) -> dict[str, Json]:
    scores = {name: result.score(kinds) for name, kinds in GROUPS}
    groups: dict[str, Json] = {
        name: {counted: getattr(score, counted) for counted in _COUNTED}
        for name, score in scores.items()
    }
    return {
        "source": result.name,
        "tactic": result.tactic,
        "seed": result.seed,
        "groups": groups,
        "kinds": {kind: _kind_row(result, kind) for kind in _kinds(result)},
        "survivors": [_entry(one) for one in result.survivors()],
        "equivalents": [_entry(one) for one in result.equivalents()],
    }


def text_report(result: Result) -> str:
    """Return the report as text: what was made and caught, then every mutant that was not."""
    lines = [f"{result.name}: seed {result.seed}"]
    rows = list(_rows(result))
    widths = [max(len(row[at]) for row in rows) for at in range(len(_COLUMNS))]
    for row in rows:
        cells = [cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)]
        lines.append("  ".join([row[0].ljust(widths[0]), *cells]))
    lines += [_sentence(result, name, kinds) for name, kinds in GROUPS]
    lines += [f"survivor: {result.name}:{_line(one)}" for one in result.survivors()]
    lines += [f"equivalent: {result.name}:{_line(one)}" for one in result.equivalents()]
    return "\n".join(lines)


def markdown_report(result: Result) -> str:
    """Return the table and the lists of one kernel as Markdown."""
    rows = list(_rows(result))
    lines = [f"### {result.name}", ""]
    lines += [markdown_table(rows[0], rows[1:]), ""]
    lines += [f"- {_sentence(result, name, kinds)}" for name, kinds in GROUPS]
    for title, found in (
        ("Survivors", result.survivors()),
        ("Proven equivalents", result.equivalents()),
    ):
        if found:
            lines += ["", f"{title}:", "", "```", *map(_line, found), "```"]
    return "\n".join([*lines, ""])


def markdown_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; cells are taken as they are."""
    lines = [f"| {' | '.join(columns)} |", "|---" * len(columns) + "|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


def per_mille_of(part: int, whole: int) -> int:
    """Return how many of a thousand ``part`` is, rounded down; all of nothing."""
    return 1000 * part // whole if whole else 1000


def _kinds(result: Result) -> list[str]:
    return [kind for kind in KINDS if result.possible[kind]]


def _kind_row(result: Result, kind: str) -> dict[str, Json]:
    score = result.score((kind,))
    return {
        "what": SUMMARY_BY_KIND[kind],
        "possible": result.possible[kind],
        "made": score.made,
        "caught_by": {check: score.caught_by[check] for check in CHECKS if score.caught_by[check]},
        "equivalent": score.equivalent,
        "survivors": score.survivors,
    }


def _rows(result: Result) -> Iterator[tuple[str, ...]]:
    """Yield the heading and one row for each kind that the kernel has."""
    yield _COLUMNS
    for kind in _kinds(result):
        score = result.score((kind,))
        counts = [result.possible[kind], score.made]
        counts += [score.caught_by[check] for check in CHECKS]
        counts += [score.equivalent, score.survivors]
        yield (kind, *(str(count) if count else "-" for count in counts))


def _sentence(result: Result, name: str, kinds: Sequence[str]) -> str:
    score = result.score(kinds)
    return (
        f"{name}: {score.caught} of {score.made - score.equivalent} caught "
        f"({percent(score.per_mille)}; {percent(score.per_mille_assembled)} of those that "
        f"assemble), {score.equivalent} proven equivalent, {score.survivors} survivors"
    )


def percent(per_mille: int) -> str:
    """Return a score as it is shown."""
    return f"{per_mille // 10}.{per_mille % 10} %"


def _line(verdict: Verdict) -> str:
    mutant, proof = verdict.mutant, f" ({verdict.proof})" if verdict.proof else ""
    return f"{mutant.line}: {mutant.kind}: {mutant.change()}{proof}"


def _entry(verdict: Verdict) -> dict[str, Json]:
    mutant = verdict.mutant
    entry: dict[str, Json] = {
        "kind": mutant.kind,
        "line": mutant.line,
        "before": mutant.before,
        "after": mutant.after,
    }
    return {**entry, "proof": verdict.proof} if verdict.proof else entry
