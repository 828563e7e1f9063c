"""Deployment recipes of the published format: code objects with legacy symbols and locks."""

from __future__ import annotations

import re
from typing import NamedTuple

from netra_build.core.canonical_json import parse_object
from netra_build.core.digests import sha256_hex
from netra_build.formats.build_recipe import ArtifactRecipe, MemberRecipe
from netra_build.formats.fields import Fields, first_repeated
from netra_build.formats.vocabulary import FORMAT_DEPLOYMENT, TARGET, WAVE_SIZE

UNLOCKED = "0" * 64
"""The lock of an experiment that nobody has measured yet."""

RECIPE_KEYS = "$schema format target wave_size deployment evidence serving_evidence artifacts"
EVIDENCE_KEYS = (
    "lock lock_sha256 source_revision safe_default_lock safe_default_lock_sha256 "
    "producer_selection_provenance producer_selection_provenance_sha256"
)
_FILE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,199}\Z")
_SYMBOL = re.compile(r"[A-Za-z_.$][A-Za-z0-9_.$]{0,254}\Z")
LOWEST = -(2**63)


class Deployment(NamedTuple):
    """The code objects of a recipe and the SHA-256 of its file."""

    artifacts: tuple[ArtifactRecipe, ...]
    manifest_sha256: str


def read_deployment(data: bytes, location: str) -> Deployment:
    """Return the recipe in ``data``; raise ``BadInput`` with its pointer."""
    fields = Fields(parse_object(data, location), location)
    for key, value in (("format", FORMAT_DEPLOYMENT), ("target", TARGET), ("wave_size", WAVE_SIZE)):
        got = fields.get(key)
        fields.equal(f'deployment recipe has another "{key}"', key, expected=value, got=got)
    fields.close(RECIPE_KEYS)
    evidence = fields.child("evidence")
    evidence.close(EVIDENCE_KEYS)
    evidence.text("lock")
    evidence.digest("lock_sha256")
    artifacts = tuple(_artifact(item) for item in fields.objects("artifacts"))
    if not artifacts:
        fields.refuse("deployment recipe names no artifact", "artifacts")
    twice = first_repeated(artifact.name for artifact in artifacts)
    if twice is not None:
        fields.refuse(f'two artifacts are named "{twice}"', "artifacts")
    fields.text("deployment")
    return Deployment(artifacts, sha256_hex(data))


def _artifact(fields: Fields) -> ArtifactRecipe:
    fields.close("name locked_text_sha256 locked_hsaco_sha256 members")
    if not _FILE.match(fields.text("name")):
        fields.refuse(f'"{fields.text("name")}" is not a plain file name', "name")
    members = tuple(_member(item) for item in fields.objects("members"))
    if not members:
        fields.refuse("artifact has no member", "members")
    twice = first_repeated(member.symbol for member in members)
    if twice is not None:
        fields.refuse(f'two members have the symbol "{twice}"', "members")
    locks = (fields.digest("locked_text_sha256"), fields.digest("locked_hsaco_sha256"))
    place = fields.place("locked_text_sha256")
    return ArtifactRecipe(fields.text("name"), members, *locks, place)


def _member(fields: Fields) -> MemberRecipe:
    fields.close("tactic symbol definitions macro_symbols")
    definitions = fields.child("definitions", {})
    symbols = fields.texts("macro_symbols", [])
    for symbol in (fields.text("symbol"), *symbols):
        if not _SYMBOL.match(symbol):
            fields.refuse(f'"{symbol}" is not an assembler symbol')
    return MemberRecipe(
        tactic=fields.text("tactic"),
        symbol=fields.text("symbol"),
        definitions={key: definitions.integer(key, low=LOWEST) for key in definitions.value},
        macro_symbols=symbols,
        location=fields.place(),
    )
