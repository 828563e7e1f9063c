"""Recipes of ours: the few lines that ask for one engine or for a set of code objects."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TypeVar

from netra_build.core.canonical_json import Json
from netra_build.core.disk import relative_name
from netra_build.core.nearest import nearest_hint
from netra_build.formats.vocabulary import PLACEMENTS
from netra_build.formats.yaml_text import Located, parse_yaml

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


Value = TypeVar("Value")

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,127}")
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]{0,127}")
_URI = re.compile(r"[a-z][a-z0-9+.\-]{0,31}:[!-~]{1,500}")
_SHA256 = re.compile(r"[0-9a-f]{64}")

_COMMON = frozenset({"format", "kind"})
_ENGINE_KEYS = frozenset({"model", "profile"})
_ENGINE_OPTIONS = frozenset(
    {
        "allow_experimental",
        "golden",
        "checkpoint_hash",
        "share_code",
        "placement",
        "candidates",
        "allow_fallback",
        "builder",
    }
)
_OBJECTS_KEYS = frozenset({"deployment", "artifacts"})
_OBJECTS_OPTIONS = frozenset({"allow_experimental", "builder", "checks"})


def read_recipe(data: bytes, location: str) -> Recipe:
    """Return the recipe in ``data``; its name is the file's stem. Raise ``BadInput``."""
    document = parse_yaml(data, location)
    name = PurePosixPath(location).stem
    if not _NAME.fullmatch(name):
        document.refuse(f'recipe name "{name}" is not a plain file name')
    everything = _ENGINE_KEYS | _ENGINE_OPTIONS | _OBJECTS_KEYS | _OBJECTS_OPTIONS
    entries = document.mapping(_COMMON, everything)
    _one_of(entries["format"], (FORMAT,))
    kind = _one_of(entries["kind"], ("code_objects", "engine"))
    reader = _read_engine if kind == "engine" else _read_objects
    return reader(document, name, location)


def _read_engine(document: Located, name: str, location: str) -> EngineRecipe:
    entries = document.mapping(_COMMON | _ENGINE_KEYS, _ENGINE_OPTIONS)
    model = entries["model"]
    return EngineRecipe(
        name=name,
        location=location,
        model=relative_name(model.text(), model.location),
        profile=entries["profile"].text(),
        allow_experimental=_optional(entries, "allow_experimental", Located.boolean, False),
        golden=_optional(
            entries, "golden", lambda node: _one_of(node, GOLDEN_POLICIES), GOLDEN_REQUIRED
        ),
        checkpoint_hash=_optional(entries, "checkpoint_hash", _sha256, None),
        share_code=_optional(entries, "share_code", Located.boolean, False),
        placement=_optional(
            entries, "placement", lambda node: _one_of(node, PLACEMENTS), PLACEMENTS[0]
        ),
        allow_fallback=_optional(entries, "allow_fallback", Located.boolean, False),
        candidates=_optional(entries, "candidates", _texts, ()),
        builder=_optional(entries, "builder", _uri, None),
    )


def _read_objects(document: Located, name: str, location: str) -> ObjectsRecipe:
    entries = document.mapping(_COMMON | _OBJECTS_KEYS, _OBJECTS_OPTIONS)
    artifacts = tuple(_read_artifact(node) for node in entries["artifacts"].sequence())
    _refuse_repeats(
        [(a.name, n) for a, n in zip(artifacts, entries["artifacts"].sequence(), strict=True)]
    )
    return ObjectsRecipe(
        name=name,
        location=location,
        deployment=entries["deployment"].text(),
        artifacts=artifacts,
        allow_experimental=_optional(entries, "allow_experimental", Located.boolean, False),
        builder=_optional(entries, "builder", _uri, None),
        checks=_optional(
            entries, "checks", lambda node: _one_of(node, CHECKS_POLICIES), CHECKS_ALL
        ),
    )


def _read_artifact(node: Located) -> ArtifactRecipe:
    entries = node.mapping(frozenset({"name", "members"}), frozenset({"locked_text_sha256"}))
    members = tuple(_read_member(member) for member in entries["members"].sequence())
    _refuse_repeats(
        [(m.symbol, n) for m, n in zip(members, entries["members"].sequence(), strict=True)]
    )
    return ArtifactRecipe(
        name=_matching(entries["name"], _NAME, "a plain file name"),
        members=members,
        locked_text_sha256=_optional(entries, "locked_text_sha256", _sha256, None),
    )


def _read_member(node: Located) -> MemberRecipe:
    entries = node.mapping(
        frozenset({"tactic", "symbol"}), frozenset({"definitions", "macro_symbols"})
    )
    return MemberRecipe(
        tactic=entries["tactic"].text(),
        symbol=_matching(entries["symbol"], _SYMBOL, "an assembler symbol"),
        definitions=_optional(entries, "definitions", _definitions, {}),
        macro_symbols=_optional(entries, "macro_symbols", _symbols, ()),
        location=node.location,
    )


def _definitions(node: Located) -> dict[str, int]:
    for key, value in node.items().items():
        if not _CONSTANT.fullmatch(key):
            value.refuse(f'"{key}" is not an assembler constant')
    return {key: value.integer() for key, value in node.items().items()}


def _symbols(node: Located) -> tuple[str, ...]:
    return tuple(_matching(item, _SYMBOL, "an assembler symbol") for item in node.sequence())


def _texts(node: Located) -> tuple[str, ...]:
    items = node.sequence()
    _refuse_repeats([(item.text(), item) for item in items])
    return tuple(item.text() for item in items)


def _sha256(node: Located) -> str:
    return _matching(node, _SHA256, "64 lower-case hexadecimal digits")


def _uri(node: Located) -> str:
    return _matching(node, _URI, "a URI")


def _matching(node: Located, pattern: re.Pattern[str], what: str) -> str:
    text = node.text()
    if not pattern.fullmatch(text):
        node.refuse(f'"{text}" is not {what}')
    return text


def _one_of(node: Located, known: tuple[str, ...]) -> str:
    text = node.text()
    if text not in known:
        hint = nearest_hint(text, known)
        node.refuse(f'unknown value "{text}"; {hint}')
    return text


def _optional(
    entries: dict[str, Located], key: str, read: Callable[[Located], Value], default: Value
) -> Value:
    return read(entries[key]) if key in entries else default


def _refuse_repeats(names: list[tuple[str, Located]]) -> None:
    seen: set[str] = set()
    for name, node in names:
        if name in seen:
            node.refuse(f'"{name}" is named twice')
        seen.add(name)
