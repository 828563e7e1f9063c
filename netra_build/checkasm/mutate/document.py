"""Scores, survivors and arguments about survivors: a record, and the tables that show it.

A run replaces the entries of the kernels that it judged. Two pairs of marker lines enclose the
tables of a document; the rest of it is written by hand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from netra_build.checkasm.mutate.mutant import CHECKS, ORDERING, VALUE
from netra_build.checkasm.mutate.report import Result, markdown_table, per_mille_of, percent
from netra_build.core.canonical_json import lower, parse_object, pretty_bytes
from netra_build.core.errors import BadInput
from netra_build.formats.fields import Fields

FORMAT = "netra-mutation-scores-1"

_SCORES = ("<!-- scores -->", "<!-- end of scores -->")
_ARGUMENTS = ("<!-- arguments -->", "<!-- end of arguments -->")
COLUMNS = (
    *("specialization", "ordering mutants", "ordering caught", "ordering score", "value mutants"),
    *("of possible", "equivalent", *CHECKS, "value caught", "value score"),
)
_COUNTS = ("ordering_mutants", "ordering_caught", "value_mutants", "possible", "equivalent")


@dataclass(frozen=True)
class Survivor:
    """A mutant that no check catches and no proof shows harmless."""

    line: int
    kind: str
    change: str

    @property
    def text(self) -> str:
        """What the pattern of an argument has to match."""
        return f"{self.kind}: {self.change}"


@dataclass(frozen=True)
class KernelScore:
    """One specialization; ``ordering_mutants`` leaves out proven equivalents, ``value_mutants``
    not. ``possible`` value mutants could have been made."""

    ordering_mutants: int
    ordering_caught: int
    value_mutants: int
    possible: int
    equivalent: int
    caught_by: Mapping[str, int]
    survivors: tuple[Survivor, ...]

    @property
    def value_caught(self) -> int:
        """Value mutants that some check catches."""
        return sum(self.caught_by.values())

    @property
    def ordering_per_mille(self) -> int:
        """Caught ordering mutants of a thousand, rounded down."""
        return per_mille_of(self.ordering_caught, self.ordering_mutants)

    @property
    def value_per_mille(self) -> int:
        """The same for value mutants that are not proven equivalent."""
        return per_mille_of(self.value_caught, self.value_mutants - self.equivalent)

    def cells(self) -> tuple[str, ...]:
        """Return the cells of ``COLUMNS`` behind the first one."""
        counts = [str(getattr(self, name)) for name in _COUNTS]
        caught = [str(self.caught_by.get(check, 0)) for check in CHECKS]
        ordering, value = percent(self.ordering_per_mille), percent(self.value_per_mille)
        return (*counts[:2], ordering, *counts[2:], *caught, str(self.value_caught), value)


@dataclass(frozen=True)
class Argument:
    """Why survivors of some tactics are accepted; ``pattern`` matches the whole text of each."""

    tactics: tuple[str, ...]
    pattern: str
    text: str


@dataclass(frozen=True)
class Record:
    """The results of all specializations, by tactic or tactic and variant."""

    kernels: Mapping[str, KernelScore]
    arguments: tuple[Argument, ...]

    def data(self) -> bytes:
        """Return the record as stored."""
        return pretty_bytes({"format": FORMAT, **lower(self)})

    def with_results(self, results: Iterable[Result]) -> Record:
        """Return the record with the results of a run."""
        return replace(self, kernels={**self.kernels, **{label_of(r): _score(r) for r in results}})


def read_record(data: bytes, location: str) -> Record:
    """Return a record; ``BadInput`` for anything else."""
    fields = Fields(parse_object(data, location), location)
    fields.close("format kernels arguments")
    fields.hold_text("format", FORMAT, "record has an unknown format")
    kernels = fields.child("kernels")
    arguments = fields.objects("arguments")
    return Record(
        {label: _read_score(kernels.child(label)) for label in kernels.value},
        tuple(Argument(a.texts("tactics"), a.text("pattern"), a.text("text")) for a in arguments),
    )


def label_of(result: Result) -> str:
    """Return tactic and variant of a golden source's result."""
    return result.name.removeprefix("golden/gfx950/").removesuffix("/kernel.s")


def rendered(document: str, record: Record) -> str:
    """Return the document with the tables of a record; ``BadInput`` without markers."""
    scores = [(f"`{label}`", *record.kernels[label].cells()) for label in sorted(record.kernels)]
    arguments = [
        (f"`{' '.join(a.tactics)}`", f"`{a.pattern}`".replace("|", "\\|"), a.text)
        for a in record.arguments
    ]
    document = _between(document, _SCORES, markdown_table(COLUMNS, scores))
    heading = ("kernel", "survivors", "verdict and argument")
    return _between(document, _ARGUMENTS, markdown_table(heading, arguments))


def _score(result: Result) -> KernelScore:
    ordering, value = result.score(ORDERING), result.score(VALUE)
    return KernelScore(
        ordering_mutants=ordering.made - ordering.equivalent,
        ordering_caught=ordering.caught,
        value_mutants=value.made,
        possible=sum(result.possible[kind] for kind in VALUE),
        equivalent=value.equivalent,
        caught_by={check: value.caught_by[check] for check in CHECKS if value.caught_by[check]},
        survivors=tuple(
            Survivor(one.mutant.line, one.mutant.kind, one.mutant.change())
            for one in result.survivors()
        ),
    )


def _read_score(fields: Fields) -> KernelScore:
    caught = fields.child("caught_by")
    caught.close(CHECKS)
    return KernelScore(
        **{name: fields.integer(name) for name in _COUNTS},
        caught_by={check: caught.integer(check) for check in caught.value},
        survivors=tuple(
            Survivor(one.integer("line"), one.text("kind"), one.text("change"))
            for one in fields.objects("survivors")
        ),
    )


def _between(document: str, markers: tuple[str, str], text: str) -> str:
    """Return the document with ``text`` between two marker lines."""
    head, first, rest = document.partition(f"{markers[0]}\n")
    _, last, tail = rest.partition(f"{markers[1]}\n")
    if not first or not last:
        raise BadInput(f'document has no lines "{markers[0]}" and "{markers[1]}"')
    return f"{head}{first}\n{text}\n\n{last}{tail}"
