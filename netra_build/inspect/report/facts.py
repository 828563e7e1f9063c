"""The facts of a report as records, what they prove, and the formatting of its numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from netra_build.asm.objects.metadata import KernelMetadata

PROVEN, OPEN, REFUTED = "proven", "open", "refuted"
"""States of a claim. ``open``: neither proven nor refuted."""


@dataclass(frozen=True)
class Claim:
    """One claim about a kernel: its state, a word for tables and a sentence."""

    state: str
    word: str
    detail: str


@dataclass(frozen=True)
class Launch:
    """One launch in the functional model: its case, its seed and the outputs compared."""

    case: str
    seed: str
    elements: int
    differing: int
    wave_instructions: int


@dataclass(frozen=True)
class KernelFacts:
    """One entry point of a code object; its metadata count AGPRs among the VGPRs."""

    symbol: str
    metadata: KernelMetadata
    code_bytes: int
    waves: int
    """Waves of a SIMD at most; 0 when the descriptor states what the hardware cannot hold."""
    limit: str
    mix: Mapping[str, int] | None
    """Instructions by the unit that runs them, up to the end; None without a listing."""
    numerics: Claim
    launches: tuple[Launch, ...]
    label: str
    """Tactic and variant as the numeric report names them, empty without one."""

    @property
    def instructions(self) -> int:
        """How many instructions there are."""
        return sum(self.mix.values()) if self.mix else 0


@dataclass(frozen=True)
class PlannedObject:
    """The statements of the product's documents about a code object, before it is read."""

    stem: str
    tactics: tuple[str, ...]
    maturity: str
    is_selected: bool
    is_brought: bool = False
    sources: tuple[str, ...] = ()
    templates: tuple[str, ...] = ()
    closure_sha256: str = ""
    computational_identity: str = ""

    @property
    def name(self) -> str:
        """Name of the file in the product."""
        return f"hsaco/{self.stem}.hsaco"


@dataclass(frozen=True, kw_only=True)
class ObjectFacts(PlannedObject):
    """One code object, or one that was planned and is missing (``size_bytes`` is None)."""

    size_bytes: int | None
    text_sha256: str | None
    goldens: tuple[str, ...]
    equivalence: Claim
    checks: Claim
    findings: tuple[tuple[str, ...], ...]
    """Severity, rule, message and place of each finding of the static checks."""
    kernels: tuple[KernelFacts, ...]


@dataclass(frozen=True)
class OperationFacts:
    """One operation in order: the kernel that runs it, or what the framework runs and why."""

    index: int
    name: str
    symbol: str | None
    fallback: str
    tactic: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class FileFacts:
    """One file: its size and digest, and whether the seal agrees."""

    name: str
    size_bytes: int
    sha256: str


@dataclass(frozen=True)
class SealFacts:
    """The seal compared with the files; ``name`` is empty when there is no seal."""

    name: str
    altered: tuple[str, ...]
    missing: tuple[str, ...]
    unknown: tuple[str, ...]

    @property
    def holds(self) -> bool:
        """Tell whether every file is there with the digest that the seal names."""
        return bool(self.name) and not (self.altered or self.missing or self.unknown)


@dataclass(frozen=True)
class ReportFacts:
    """Everything that the page shows of one product."""

    name: str
    kind: str
    """``engine`` or ``code objects``."""
    identity: str
    """Engine id or deployment name."""
    target: str
    identities: tuple[tuple[str, str], ...]
    toolchain: tuple[tuple[str, str], ...]
    statuses: tuple[tuple[str, str], ...]
    """Fields of the validation plan about the whole product."""
    not_pinned: tuple[str, ...]
    operations: tuple[OperationFacts, ...]
    objects: tuple[ObjectFacts, ...]
    files: tuple[FileFacts, ...]
    seal: SealFacts

    @property
    def shipped(self) -> tuple[ObjectFacts, ...]:
        """The code objects that operations run, without candidates."""
        return tuple(item for item in self.objects if item.is_selected)


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
    missing = list(_missing(facts))
    for key, status in facts.statuses:
        if key in LATER:
            is_open_yet = status == "not_run"
            missing.append(LATER[key] if is_open_yet else f"{key.replace('_', ' ')}: {status}.")
    is_open = any(claim.state == OPEN for item in shipped for claim in claims_of(item))
    is_open = is_open or not (facts.seal.name and shipped) or bool(facts.not_pinned)
    state = REFUTED if wrong else OPEN if is_open else PROVEN
    return Verdict(state, _sentence(facts, state), tuple(_shown(facts)), wrong, tuple(missing))


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
        number = sum({c.state for c in claims(item)} == {PROVEN} for item in shipped)
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


def grouped(number: int) -> str:
    """Return a whole number with its digits in groups of three."""
    return f"{number:,}"


def size_text(size_bytes: int) -> str:
    """Return a size in the unit that leaves three digits or so."""
    if size_bytes < 1024:
        return f"{size_bytes} B"
    tenths = (size_bytes * 10 + 512) // 1024
    unit = "KiB"
    if tenths >= 10240:
        tenths, unit = (tenths + 512) // 1024, "MiB"
    return f"{tenths // 10}.{tenths % 10} {unit}" if tenths < 1000 else f"{tenths // 10} {unit}"


def counted(number: int, one: str, many: str = "") -> str:
    """Return ``1 kernel``, ``2 kernels``."""
    return f"{grouped(number)} {one if number == 1 else many or one + 's'}"
