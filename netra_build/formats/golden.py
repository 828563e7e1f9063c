"""Golden sources, and the evidence of what was seen of kernels.

A golden source is a hand-written kernel kept as the reference that a template must equal. A record
of evidence says where a kernel ran, and names the digest of the ``.text`` that it speaks of.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import fields as dataclass_fields

from netra_build.core.canonical_json import Json, lower, parse_object
from netra_build.core.errors import EvidenceIncomplete, Refused
from netra_build.formats.fields import Fields
from netra_build.formats.library import Library

FORMAT = "netra-golden-1"
ROOT = "golden/gfx950"
DIGESTS = ("text_sha256", "descriptor_sha256", "metadata_sha256")

EVIDENCE_FORMAT = "netra-evidence-1"
NUMERICS_FORMAT = "netra-numerics-1"
EVIDENCE_FOLDER = "evidence/gfx950"
SIMULATED = "simulated"
HARDWARE = "hardware"
SCOPES = (SIMULATED, HARDWARE)
HARDWARE_KEYS = ("device", "hsaco_sha256", "replays")
LEAST_SEEDS = 20
"""Random inputs that simulated evidence of a verified kernel has to have run."""


def source_label(tactic: str, variant: str) -> str:
    """Return tactic and variant, as tables and messages name a golden source."""
    return f"{tactic}/{variant}" if variant else tactic


@dataclass(frozen=True)
class GoldenSource:
    """One golden kernel of a tactic; ``folder`` holds ``kernel.s`` and ``expect.json``.

    ``variant`` is empty for a tactic with one specialization, else the folder's last part.
    ``digests`` are the recorded SHA-256 of ``.text``, descriptor and normalised metadata.
    """

    tactic: str
    variant: str
    folder: str
    symbol: str
    specialization: Mapping[str, int]
    digests: Mapping[str, str]
    history: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """Tactic and variant."""
        return source_label(self.tactic, self.variant)

    @property
    def source(self) -> str:
        """Library-relative name of the assembly source."""
        return f"{self.folder}/kernel.s"

    @property
    def expect(self) -> str:
        """Library-relative name of the record."""
        return f"{self.folder}/expect.json"

    def document(self) -> Json:
        """Return the record as it is written to ``expect.json``."""
        return {
            "format": FORMAT,
            "tactic": self.tactic,
            "symbol": self.symbol,
            "specialization": dict(self.specialization),
            **self.digests,
            "history": [{"reason": reason} for reason in self.history],
        }


def golden_sources(library: Library, tactic: str) -> tuple[GoldenSource, ...]:
    """Return the golden sources of one tactic id, by variant; none if it keeps none."""
    if not library.disk.is_folder(library.root / ROOT):
        return ()  # one answer to note, not one empty listing a tactic
    found = library.disk.files_under(library.root / ROOT / tactic, "expect.json")
    return tuple(read_golden(library, path.relative_to(library.root).as_posix()) for path in found)


def read_golden(library: Library, name: str) -> GoldenSource:
    """Return the record in the file ``name``; raise ``BadInput`` when it is not one."""
    fields = Fields(library.read_object(name), library.location(name))
    fields.close(("format", "tactic", "symbol", "specialization", "history", *DIGESTS))
    fields.word("format", (FORMAT,))
    folder = name.removesuffix("/expect.json")
    tactic, _, variant = folder.removeprefix(ROOT + "/").partition("/")
    fields.word("tactic", (tactic,))
    constants = fields.child("specialization")
    return GoldenSource(
        tactic=tactic,
        variant=variant,
        folder=folder,
        symbol=fields.text("symbol"),
        specialization={key: constants.integer(key) for key in constants.value},
        digests={key: fields.digest(key) for key in DIGESTS},
        history=tuple(_reason(entry) for entry in fields.objects("history")),
    )


def _reason(entry: Fields) -> str:
    entry.close("reason")
    return entry.text("reason")


def match_golden(
    sources: Sequence[GoldenSource], specialization: Mapping[str, int]
) -> GoldenSource | None:
    """Return the source whose constants are the ones asked for, or None."""
    wanted = dict(specialization)
    return next((one for one in sources if dict(one.specialization) == wanted), None)


@dataclass(frozen=True)
class Evidence:
    """One observation of one specialization of a tactic.

    ``launches`` and ``elements`` count what was run and compared, ``mismatches`` the elements
    that differed. Hardware evidence also names the ``device`` and the ``hsaco_sha256`` of the
    code object that ran there, and the ``replays`` that gave the same bytes.
    """

    tactic: str
    variant: str
    scope: str
    text_sha256: str
    launches: int
    elements: int
    mismatches: int
    cases: tuple[str, ...] = ()
    device: str | None = None
    hsaco_sha256: str | None = None
    replays: int | None = None
    notes: str = ""

    @property
    def label(self) -> str:
        """Tactic and variant, as golden sources are called."""
        return source_label(self.tactic, self.variant)

    @property
    def file_name(self) -> str:
        """Name of the record below the evidence folder."""
        return f"{self.label}.{self.scope}.json"

    def document(self) -> dict[str, Json]:
        """Return the record as it is written."""
        unused = () if self.scope == HARDWARE else HARDWARE_KEYS
        record = {key: value for key, value in lower(self).items() if key not in unused}
        return {"format": EVIDENCE_FORMAT, **record}


_KEYS = frozenset(["$schema", "format", *(field.name for field in dataclass_fields(Evidence))])


def has_evidence(library: Library) -> bool:
    """Tell whether the library keeps evidence records at all."""
    return library.disk.is_folder(library.root / EVIDENCE_FOLDER)


def evidence_of(library: Library, golden: GoldenSource) -> tuple[Evidence, ...]:
    """Return the records about one golden source's tactic and variant, by scope."""
    names = (f"{EVIDENCE_FOLDER}/{golden.label}.{scope}.json" for scope in SCOPES)
    return tuple(
        read_evidence(library.read(name), library.location(name))
        for name in names
        if library.has(name)
    )


def require_evidence(library: Library, golden: GoldenSource, maturity: str) -> None:
    """Raise unless evidence of these very bytes carries ``maturity``.

    ``verified`` needs any scope, ``accepted`` hardware. A record about other bytes is
    ``Refused``, a missing one ``EvidenceIncomplete``.
    """
    for evidence in evidence_of(library, golden):
        if evidence.text_sha256 != golden.digests["text_sha256"]:
            raise Refused(
                f"evidence of {golden.label} speaks of another .text",
                location=f"{EVIDENCE_FOLDER}/{evidence.file_name}",
                expected=golden.digests["text_sha256"],
                got=evidence.text_sha256,
                hint="run the kernel again and netra evidence add the new report",
            )
        if evidence.scope == HARDWARE:
            return
        if maturity == "verified":
            _require_seeds(evidence)
            return
    wanted = "hardware evidence" if maturity == "accepted" else "evidence"
    raise EvidenceIncomplete(
        f"{golden.label} cannot be {maturity} without {wanted} of its .text",
        location=EVIDENCE_FOLDER,
        hint="netra evidence add FILE brings it",
    )


def _require_seeds(evidence: Evidence) -> None:
    """Raise ``EvidenceIncomplete`` when the random inputs ran with too few seeds."""
    counts = dict(case.rsplit(" x", 1) for case in evidence.cases if " x" in case)
    seeds = counts.get("random", "0")
    if not seeds.isdecimal() or int(seeds) < LEAST_SEEDS:
        raise EvidenceIncomplete(
            "simulated evidence has too few seeds",
            location=f"{EVIDENCE_FOLDER}/{evidence.file_name}",
            expected=f"at least {LEAST_SEEDS}",
            got=seeds,
            hint=f"scons check-numerics tactic={evidence.tactic} makes a report of 50",
        )


def read_evidence(data: bytes, location: str) -> Evidence:
    """Return one evidence record, or the evidence that a numeric report is."""
    fields = Fields(parse_object(data, location), location)
    if fields.text("format") == NUMERICS_FORMAT:
        return _from_numerics(fields)
    fields.word("format", (EVIDENCE_FORMAT,))
    scope = fields.word("scope", SCOPES)
    is_hardware = scope == HARDWARE
    fields.close(_KEYS if is_hardware else _KEYS.difference(HARDWARE_KEYS))
    return Evidence(
        tactic=fields.text("tactic"),
        variant=fields.text("variant", empty=True),
        scope=scope,
        text_sha256=fields.digest("text_sha256"),
        launches=fields.integer("launches", low=1),
        elements=fields.integer("elements", low=1),
        mismatches=_no_mismatch(fields),
        cases=fields.texts("cases", []),
        device=fields.text("device") if is_hardware else None,
        hsaco_sha256=fields.digest("hsaco_sha256") if is_hardware else None,
        replays=fields.integer("replays", low=1) if is_hardware else None,
        notes=fields.text("notes", "", empty=True),
    )


def _no_mismatch(fields: Fields) -> int:
    mismatches = fields.integer("mismatches", low=0)
    if mismatches:
        fact = "evidence records mismatches"
        raise Refused(fact, location=fields.place("mismatches"), expected=0, got=mismatches)
    return mismatches


def _from_numerics(fields: Fields) -> Evidence:
    """Return simulated evidence from a report of the numeric checks; runs are summed up."""
    fields.word("verdict", ("passed",))
    runs = list(fields.objects("runs"))
    return Evidence(
        tactic=fields.text("tactic"),
        variant=fields.text("variant", "", empty=True),
        scope=SIMULATED,
        text_sha256=fields.digest("text_sha256"),
        launches=len(runs),
        elements=sum(run.integer("elements", low=0) for run in runs),
        mismatches=sum(run.integer("differing", low=0) for run in runs),
        cases=_cases(run.text("label") for run in runs),
        notes="functional model; not run on hardware",
    )


def _cases(labels: Iterable[str]) -> tuple[str, ...]:
    """Return the input cases of run labels with the number of seeds of each."""
    cases = (label.split("/")[-2] if label.count("/") >= 2 else label for label in labels)
    return tuple(f"{case} x{count}" for case, count in Counter(cases).items())
