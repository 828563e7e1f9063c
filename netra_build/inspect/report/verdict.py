"""What is proven of a product, and what is not, as the sentences at the top of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from netra_build.inspect.report.facts import (
    OPEN,
    PROVEN,
    REFUTED,
    Claim,
    ObjectFacts,
    ReportFacts,
    counted,
    grouped,
)

LATER = {
    "graph_replay": "Replay of a captured graph: not run.",
    "real_checkpoint_correctness": "Results with a real checkpoint: not compared.",
    "matched_server_ab": "Comparison inside a server: not run.",
    "hardware": "Hardware: nothing here has run on a GPU.",
}
"""Checks of the validation plan that need a GPU."""


SUBJECTS: tuple[tuple[Callable[[ObjectFacts], list[Claim]], str, str], ...] = (
    (
        lambda item: [item.equivalence],
        "byte-identical to the golden source, descriptor included",
        "is not compared with a golden source",
    ),
    (
        lambda item: [item.checks],
        "without an error in the static checks",
        "has no static checks",
    ),
    (
        lambda item: [kernel.numerics for kernel in item.kernels],
        "right in the functional model",
        "has not been simulated",
    ),
)
"""Claims of one kind, with the wording for proven and for not proven."""


@dataclass(frozen=True)
class Verdict:
    """The state of the product, one sentence, and the lists of what is and is not proven."""

    state: str
    sentence: str
    shown: tuple[str, ...]
    wrong: tuple[str, ...]
    missing: tuple[str, ...]


def verdict_of(facts: ReportFacts) -> Verdict:
    """Return the verdict on the shipped kernels; candidates do not count."""
    shipped = facts.shipped
    wrong = tuple(_wrong(facts))
    missing = (*_missing(facts), *_later(facts))
    is_open = any(claim.state == OPEN for item in shipped for claim in claims_of(item))
    is_open = is_open or not (facts.seal.name and shipped) or bool(facts.not_pinned)
    state = REFUTED if wrong else OPEN if is_open else PROVEN
    return Verdict(state, _sentence(facts, state), tuple(_shown(facts)), wrong, missing)


def claims_of(item: ObjectFacts) -> list[Claim]:
    """Return all claims about one code object and its kernels."""
    return [item.equivalence, item.checks, *(kernel.numerics for kernel in item.kernels)]


def _sentence(facts: ReportFacts, state: str) -> str:
    if state == REFUTED:
        return "Something here is wrong: see below before you use it."
    kernels = sum(len(item.kernels) for item in facts.shipped)
    if not facts.shipped:
        framework = counted(len(facts.operations), "operation")
        return f"No kernel of ours runs in it: the framework runs all {framework}."
    if state == OPEN:
        return "Not everything that can be shown without a GPU has been shown."
    word = "The one kernel is" if kernels == 1 else f"All {kernels} kernels are"
    return f"{word} equal to the golden source, clean in the static checks and right in simulation."


def _shown(facts: ReportFacts) -> Iterable[str]:
    shipped = facts.shipped
    for claims, what, _ in SUBJECTS:
        number = sum(_all_proven(claims(item)) for item in shipped)
        if number:
            share = "All" if number == len(shipped) else f"{number} of"
            yield f"{share} {counted(len(shipped), 'code object')}: {what}."
    launches = [launch for i in shipped for k in i.kernels for launch in k.launches]
    if launches:
        elements = grouped(sum(launch.elements for launch in launches))
        runs = counted(len(launches), "simulated launch", "simulated launches")
        yield f"{runs}, {elements} outputs compared with the numeric contracts."
    if facts.seal.holds:
        yield f"Every file has the digest that {facts.seal.name} names."
    if facts.kind == "engine" and facts.seal.name and not facts.not_pinned:
        yield "Every tactic is pinned by the digests of its sources."


def _all_proven(claims: list[Claim]) -> bool:
    return bool(claims) and all(claim.state == PROVEN for claim in claims)


def _wrong(facts: ReportFacts) -> Iterable[str]:
    for item in facts.objects:
        for claim in claims_of(item):
            if claim.state == REFUTED:
                yield f"{item.stem}: {claim.word}. {claim.detail}"
    seal = facts.seal
    for names, what in (
        (seal.altered, "is not what the seal says"),
        (seal.missing, "is named by the seal and not here"),
        (seal.unknown, "is not named by the seal"),
    ):
        if names:
            yield f"{names[0]} {what}" + (f", and {len(names) - 1} more." if names[1:] else ".")


def _missing(facts: ReportFacts) -> Iterable[str]:
    shipped = facts.shipped
    for claims, _, what in SUBJECTS:
        open_ones = [item for item in shipped if any(c.state == OPEN for c in claims(item))]
        if open_ones:
            more = f" and {len(open_ones) - 1} more" if open_ones[1:] else ""
            yield f"{open_ones[0].stem}{more} {what}."
    if not facts.seal.name:
        yield "There is no seal: nothing says which bytes belong here."
    if facts.not_pinned:
        yield f"{counted(len(facts.not_pinned), 'tactic')} not pinned: {facts.not_pinned[0]}."
    experiments = [item.stem for item in shipped if item.maturity == "experiment"]
    if experiments:
        yield f"{counted(len(experiments), 'code object')} of an experiment: {experiments[0]}."
    framework = sum(operation.symbol is None for operation in facts.operations)
    if framework:
        yield f"{counted(framework, 'operation')} run by the framework, which is not examined here."


def _later(facts: ReportFacts) -> Iterable[str]:
    for key, status in facts.statuses:
        if key in LATER:
            yield LATER[key] if status == "not_run" else f"{key.replace('_', ' ')}: {status}."
