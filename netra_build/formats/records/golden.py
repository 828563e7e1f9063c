"""Golden sources: hand-written kernels kept as the reference that a template must equal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.core.canonical_json import Json

FORMAT = "netra-golden-1"


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
        """Tactic and variant, as tables name this source."""
        return f"{self.tactic}/{self.variant}" if self.variant else self.tactic

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
