"""Recipes of ours: the few lines that ask for one engine or for a set of code objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.core.canonical_json import Json
from netra_build.formats.records.vocabulary import PLACEMENTS

FORMAT = "netra-recipe-1"
GOLDEN_REQUIRED = "required"
GOLDEN_OPTIONAL = "optional"
GOLDEN_POLICIES = (GOLDEN_REQUIRED, GOLDEN_OPTIONAL)
CHECKS_ALL, CHECKS_STATIC, CHECKS_NONE = "all", "static", "none"
CHECKS_POLICIES = (CHECKS_ALL, CHECKS_STATIC, CHECKS_NONE)


@dataclass(frozen=True)
class EngineRecipe:
    """Asks for one engine directory.

    ``golden`` tells whether a kernel without a golden source is refused (``required``) or left
    unproven (``optional``). ``share_code`` gives operations of equal code one code object.
    ``allow_fallback`` lets the framework run a kernel operation that no tactic meets.
    ``candidates`` are tactic ids that are built and proven beside the engine, never selected.
    ``location`` is the recipe's file, for messages. ``is_strict`` is False for a published model
    description that is planned as ``netra compile`` plans it. ``builder`` is the URI that the
    provenance of a release names; it decides nothing in the engine.
    """

    name: str
    location: str
    model: str
    profile: str
    allow_experimental: bool = False
    golden: str = GOLDEN_REQUIRED
    checkpoint_hash: str | None = None
    share_code: bool = False
    placement: str = PLACEMENTS[0]
    candidates: tuple[str, ...] = ()
    allow_fallback: bool = False
    is_strict: bool = True
    builder: str | None = None

    def document(self) -> Json:
        """Return the recipe as it is recorded in the engine; file names left out."""
        return {
            "format": FORMAT,
            "kind": "engine",
            "name": self.name,
            "model": self.model,
            "profile": self.profile,
            "allow_experimental": self.allow_experimental,
            "golden": self.golden,
            "checkpoint_hash": self.checkpoint_hash,
            "share_code": self.share_code,
            "placement": self.placement,
            "candidates": list(self.candidates),
            "allow_fallback": self.allow_fallback,
            "strict": self.is_strict,
        }


@dataclass(frozen=True)
class MemberRecipe:
    """One kernel of a code object: tactic, public symbol and selectable constants."""

    tactic: str
    symbol: str
    definitions: Mapping[str, int]
    macro_symbols: tuple[str, ...] = ()
    location: str = ""

    def document(self) -> Json:
        """Return the member as plain JSON."""
        return {
            "tactic": self.tactic,
            "symbol": self.symbol,
            "definitions": dict(self.definitions),
            "macro_symbols": list(self.macro_symbols),
        }


@dataclass(frozen=True)
class ArtifactRecipe:
    """One code object with its members, and the ``.text`` digest it is locked to, if any."""

    name: str
    members: tuple[MemberRecipe, ...]
    locked_text_sha256: str | None = None
    locked_hsaco_sha256: str | None = None


@dataclass(frozen=True)
class ObjectsRecipe:
    """Asks for a set of code objects under the symbols of a deployment.

    ``checks`` is one of ``CHECKS_POLICIES``.
    """

    name: str
    location: str
    deployment: str
    artifacts: tuple[ArtifactRecipe, ...]
    allow_experimental: bool = False
    builder: str | None = None
    checks: str = CHECKS_ALL

    @property
    def is_checked(self) -> bool:
        """Tell whether they are held against their contracts and golden sources."""
        return self.checks != CHECKS_NONE

    @property
    def is_simulated(self) -> bool:
        """Tell whether they are simulated as well."""
        return self.checks == CHECKS_ALL


Recipe = EngineRecipe | ObjectsRecipe
