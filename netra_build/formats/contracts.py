"""Contracts: what a kernel computes and how it is launched, independent of any model.

Each contract has an ``identity`` (the object whose digest is the contract id) and a ``document``
(the record in contracts.json). Evidence, maturity, fallback and names stay outside the identity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from netra_build.core.canonical_json import Json, lower, plain_stable_hash
from netra_build.formats.launch import Launch, Workspace
from netra_build.formats.vocabulary import KIND_GOLDEN, KIND_TEMPLATE, TARGET, WAVE_SIZE


class Contract(ABC):
    """What has an identity, and an id that is the digest of it."""

    prefix: ClassVar[str] = "nk_"
    artifact_kind: ClassVar[str | None] = None
    """What runs an operation of this contract, as engine.json says."""

    launch: Launch | None
    workspace: Workspace
    maturity: str | None

    @abstractmethod
    def identity(self) -> dict[str, Json]:
        """Return the object whose digest is the contract id."""

    @abstractmethod
    def document(self) -> dict[str, Json]:
        """Return the record of contracts.json."""

    @cached_property
    def id(self) -> str:
        """Contract id: ``prefix`` and the first 24 hexadecimal digits of the digest."""
        return self.prefix + plain_stable_hash(self.identity())[:24]


@dataclass(frozen=True, kw_only=True)
class KernelContract(Contract):
    """What the contracts of all kernels state, whatever the kernel is."""

    launch: Launch
    workspace: Workspace
    graph_capture: bool
    deterministic: bool
    fallback: str
    maturity: str
    source_refs: tuple[str, ...]
    evidence_refs: tuple[str, ...]

    outside: ClassVar[tuple[str, ...]] = ("fallback", "maturity", "source_refs", "evidence_refs")
    """What is no part of the identity."""

    def identity(self) -> dict[str, Json]:
        """Return the object whose digest is the contract id."""
        stated = {key: value for key, value in lower(self).items() if key not in self.outside}
        return {"target": TARGET, "wave_size": WAVE_SIZE, **stated}

    def document(self) -> dict[str, Json]:
        """Return the record of contracts.json."""
        rest = {key: lower(getattr(self, key)) for key in self.outside}
        return {**self.identity(), "id": self.id, **rest}


@dataclass(frozen=True, kw_only=True)
class ObjectContract(KernelContract):
    """What the contracts of kernels state that come as a code object."""

    operation: str
    symbol: str
    kernarg_size: int

    def document(self) -> dict[str, Json]:
        """Return the record of contracts.json."""
        return {**super().document(), "artifact_kind": self.artifact_kind}


@dataclass(frozen=True, kw_only=True)
class FixedContract(ObjectContract):
    """Contract of an assembly template with every constant closed."""

    family: str
    constants: tuple[tuple[str, int], ...]
    specialization: tuple[tuple[str, int], ...]
    semantics: tuple[tuple[str, str], ...]

    artifact_kind = KIND_TEMPLATE
    outside = (*KernelContract.outside, "symbol")

    @property
    def hsaco_path(self) -> str:
        """Path of the code object inside the engine directory."""
        return f"hsaco/{self.symbol}.hsaco"

    def identity(self) -> dict[str, Json]:
        """Return the object whose digest is the contract id."""
        pairs = {
            key: dict(getattr(self, key)) for key in ("constants", "specialization", "semantics")
        }
        return {**super().identity(), **pairs}


@dataclass(frozen=True, kw_only=True)
class GoldenContract(ObjectContract):
    """Contract of a golden code object that is shipped as it is; ``arguments`` without offsets."""

    tactic: str
    hsaco_name: str
    hsaco_sha256: str
    arguments: tuple[Mapping[str, Json], ...]

    artifact_kind = KIND_GOLDEN

    @property
    def hsaco_path(self) -> str:
        """Path of the code object inside the engine directory."""
        return f"hsaco/{self.hsaco_name}"
