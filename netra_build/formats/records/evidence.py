"""Evidence: what was seen of a kernel, where, and the digest of the ``.text`` it speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.core.canonical_json import Json

FORMAT = "netra-evidence-1"
SIMULATED = "simulated"
HARDWARE = "hardware"
SCOPES = (SIMULATED, HARDWARE)


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
        return f"{self.tactic}/{self.variant}" if self.variant else self.tactic

    @property
    def file_name(self) -> str:
        """Name of the record below the evidence folder."""
        return f"{self.label}.{self.scope}.json"

    def document(self) -> Mapping[str, Json]:
        """Return the record as it is written."""
        document: dict[str, Json] = {
            "format": FORMAT,
            "tactic": self.tactic,
            "variant": self.variant,
            "scope": self.scope,
            "text_sha256": self.text_sha256,
            "launches": self.launches,
            "elements": self.elements,
            "mismatches": self.mismatches,
            "cases": list(self.cases),
            "notes": self.notes,
        }
        if self.scope == HARDWARE:
            document["device"] = self.device
            document["hsaco_sha256"] = self.hsaco_sha256
            document["replays"] = self.replays
        return document
