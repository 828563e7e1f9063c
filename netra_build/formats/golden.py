"""Golden sources: hand-written kernels kept as the reference that a template must equal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from netra_build.core.canonical_json import Json
from netra_build.formats.fields import Fields
from netra_build.formats.library import Library

FORMAT = "netra-golden-1"
ROOT = "golden/gfx950"
DIGESTS = ("text_sha256", "descriptor_sha256", "metadata_sha256")


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
