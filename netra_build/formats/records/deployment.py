"""Deployment recipes of the published format: code objects with legacy symbols and locks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

UNLOCKED = "0" * 64
"""The lock of an experiment that nobody has measured yet."""


@dataclass(frozen=True)
class DeploymentMember:
    """One kernel of a code object: tactic id without target, symbol and closed constants."""

    tactic: str
    symbol: str
    definitions: Mapping[str, int]
    macro_symbols: tuple[str, ...]
    location: str


@dataclass(frozen=True)
class DeploymentArtifact:
    """One code object with the digests (SHA-256) that it was locked to."""

    name: str
    locked_text_sha256: str
    locked_hsaco_sha256: str
    members: tuple[DeploymentMember, ...]
    location: str


@dataclass(frozen=True)
class Deployment:
    """A whole recipe and the SHA-256 of its file."""

    name: str
    artifacts: tuple[DeploymentArtifact, ...]
    manifest_sha256: str
    location: str
