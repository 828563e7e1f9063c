"""The facts of a report as records, and the formatting of its numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    """One entry point of a code object. Sizes are bytes; ``vgprs`` counts AGPRs too."""

    symbol: str
    vgprs: int
    agprs: int
    sgprs: int
    lds_bytes: int
    private_bytes: int
    kernarg_bytes: int
    work_items: int
    code_bytes: int
    waves: int
    """Waves of a SIMD at most; 0 when the descriptor states what the hardware cannot hold."""
    limit: str
    mix: Mapping[str, int] | None
    """Instructions by the unit that runs them; None without a listing."""
    numerics: Claim
    launches: tuple[Launch, ...]
    label: str
    """Tactic and variant as the numeric report names them, empty without one."""

    @property
    def instructions(self) -> int:
        """Instructions up to the end of the program."""
        return sum(self.mix.values()) if self.mix else 0


@dataclass(frozen=True)
class Finding:
    """One finding of the static checks."""

    severity: str
    rule: str
    place: str
    message: str


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
    findings: tuple[Finding, ...]
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
