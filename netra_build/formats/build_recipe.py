"""Recipes of ours (``recipes/*.yaml``): the few lines that ask for one engine or for code objects.

They are normalised to records before any digest is taken.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, TypeVar

from netra_build.core.canonical_json import Json, lower
from netra_build.core.disk import relative_name
from netra_build.core.errors import nearest_hint
from netra_build.formats.fields import first_repeated
from netra_build.formats.vocabulary import ENGINE, PLACEMENTS
from netra_build.formats.yaml_text import Located, parse_yaml

FORMAT = "netra-recipe-1"
GOLDEN_REQUIRED, GOLDEN_OPTIONAL = "required", "optional"
CHECKS_ALL, CHECKS_NONE = "all", "none"
CHECKS_POLICIES = (CHECKS_ALL, "static", CHECKS_NONE)

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.\-]{0,127}")
_SYMBOL = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,254}")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]{0,127}")
_URI = re.compile(r"[a-z][a-z0-9+.\-]{0,31}:[!-~]{1,500}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


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
        record = {"format": FORMAT, "kind": ENGINE, **lower(self), "strict": self.is_strict}
        unrecorded = ("location", "is_strict", "builder")
        return {key: value for key, value in record.items() if key not in unrecorded}


@dataclass(frozen=True)
class MemberRecipe:
    """One kernel of a code object: tactic id without target, public symbol, closed constants."""

    tactic: str
    symbol: str
    definitions: Mapping[str, int] = field(default_factory=dict)
    macro_symbols: tuple[str, ...] = ()
    location: str = ""


@dataclass(frozen=True)
class ArtifactRecipe:
    """One code object with its members, and the digests (SHA-256) that it is locked to, if any.

    ``lock_location`` is where a recipe states the digest of ``.text``.
    """

    name: str
    members: tuple[MemberRecipe, ...]
    locked_text_sha256: str | None = None
    locked_hsaco_sha256: str | None = None
    lock_location: str = ""


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
Readers = Mapping[str, Callable[[Located], Any]]
"""How each key of a mapping is read, in the order in which they are."""

T = TypeVar("T")


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


def _definitions(node: Located) -> dict[str, int]:
    for key, value in node.items().items():
        if not _CONSTANT.fullmatch(key):
            value.refuse(f'"{key}" is not an assembler constant')
    return {key: value.integer() for key, value in node.items().items()}


def _symbol(node: Located) -> str:
    return _matching(node, _SYMBOL, "an assembler symbol")


def _sha256(node: Located) -> str:
    return _matching(node, _SHA256, "64 lower-case hexadecimal digits")


def _uri(node: Located) -> str:
    return _matching(node, _URI, "a URI")


def _distinct(
    node: Located, read: Callable[[Located], T], name: Callable[[T], str]
) -> tuple[T, ...]:
    """Return what stands in a sequence; refuse a name that is there twice."""
    found = tuple(read(item) for item in node.sequence())
    names = [name(one) for one in found]
    twice = first_repeated(names)
    if twice is not None:
        again = names.index(twice, names.index(twice) + 1)
        node.sequence()[again].refuse(f'"{twice}" is named twice')
    return found


def _read(node: Located, required: Readers, optional: Readers) -> dict[str, Any]:
    """Return what is given, read key by key; for the rest the records have their defaults."""
    entries = node.mapping(required.keys(), optional.keys())
    readers = {**required, **optional}
    return {key: read(entries[key]) for key, read in readers.items() if key in entries}


_MEMBER: Readers = {"tactic": Located.text, "symbol": _symbol}
_MEMBER_OPTIONS: Readers = {
    "definitions": _definitions,
    "macro_symbols": lambda node: tuple(_symbol(item) for item in node.sequence()),
}


def _member(node: Located) -> MemberRecipe:
    return MemberRecipe(location=node.location, **_read(node, _MEMBER, _MEMBER_OPTIONS))


_ARTIFACT: Readers = {
    "members": lambda node: _distinct(node, _member, lambda member: member.symbol),
    "name": lambda node: _matching(node, _NAME, "a plain file name"),
}
_LOCK = "locked_text_sha256"


def _artifact(node: Located) -> ArtifactRecipe:
    found = _read(node, _ARTIFACT, {_LOCK: _sha256})
    lock = node.items().get(_LOCK)
    return ArtifactRecipe(lock_location=lock.location if lock else "", **found)


_COMMON: Readers = {
    "format": lambda node: _one_of(node, (FORMAT,)),
    "kind": lambda node: _one_of(node, ("code_objects", "engine")),
}
_ENGINE: Readers = {
    "model": lambda node: relative_name(node.text(), node.location),
    "profile": Located.text,
}
_ENGINE_OPTIONS: Readers = {
    "allow_experimental": Located.boolean,
    "golden": lambda node: _one_of(node, (GOLDEN_REQUIRED, GOLDEN_OPTIONAL)),
    "checkpoint_hash": _sha256,
    "share_code": Located.boolean,
    "placement": lambda node: _one_of(node, PLACEMENTS),
    "allow_fallback": Located.boolean,
    "candidates": lambda node: _distinct(node, Located.text, str),
    "builder": _uri,
}
_OBJECTS: Readers = {
    "artifacts": lambda node: _distinct(node, _artifact, lambda artifact: artifact.name),
    "deployment": Located.text,
}
_OBJECTS_OPTIONS: Readers = {
    "allow_experimental": Located.boolean,
    "builder": _uri,
    "checks": lambda node: _one_of(node, CHECKS_POLICIES),
}


def read_recipe(data: bytes, location: str) -> Recipe:
    """Return the recipe in ``data``; its name is the file's stem. Raise ``BadInput``."""
    document = parse_yaml(data, location)
    name = PurePosixPath(location).stem
    if not _NAME.fullmatch(name):
        document.refuse(f'recipe name "{name}" is not a plain file name')
    own = (_ENGINE, _OBJECTS, _ENGINE_OPTIONS, _OBJECTS_OPTIONS)
    entries = document.mapping(_COMMON.keys(), frozenset().union(*own))
    kind = [read(entries[key]) for key, read in _COMMON.items()][-1]
    kinds: dict[str, tuple[Callable[..., Recipe], Readers, Readers]] = {
        "engine": (EngineRecipe, _ENGINE, _ENGINE_OPTIONS),
        "code_objects": (ObjectsRecipe, _OBJECTS, _OBJECTS_OPTIONS),
    }
    record, required, optional = kinds[kind]
    found = _read(document, {**_COMMON, **required}, optional)
    given = {key: value for key, value in found.items() if key not in _COMMON}
    return record(name=name, location=location, **given)
