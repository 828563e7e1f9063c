"""Contracts: what a kernel computes and how it is launched, independent of any model.

Each contract has an ``identity`` (the object whose digest is the contract id) and a ``document``
(the record in contracts.json). Evidence, maturity, fallback and names stay outside the identity.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from netra_build.core.canonical_json import Json, lower, plain_stable_hash
from netra_build.formats.launch import Launch, Workspace
from netra_build.formats.vocabulary import (
    KIND_FALLBACK,
    KIND_GOLDEN,
    KIND_TEMPLATE,
    TARGET,
    WAVE_SIZE,
)

DENSE_NUMERICAL = {
    "accumulation_dtype": "fp32",
    "output_rounding": "fp32_accumulate_then_rne_bf16_store",
    "reduction_order": "k_block_ascending_fixed",
    "nan_behavior": "ieee_preserve",
    "deterministic": True,
}

NO_WORKSPACE = Workspace()


class Identified(ABC):
    """What has an identity, and an id that is the digest of it."""

    prefix: ClassVar[str] = "nk_"

    @abstractmethod
    def identity(self) -> dict[str, Json]:
        """Return the object whose digest is the contract id."""

    @cached_property
    def id(self) -> str:
        """Contract id: ``prefix`` and the first 24 hexadecimal digits of the digest."""
        return self.prefix + plain_stable_hash(self.identity())[:24]


@dataclass(frozen=True, kw_only=True)
class KernelContract(Identified):
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
class FixedContract(KernelContract):
    """Contract of an assembly template with every constant closed."""

    operation: str
    family: str
    symbol: str
    constants: tuple[tuple[str, int], ...]
    specialization: tuple[tuple[str, int], ...]
    semantics: tuple[tuple[str, str], ...]
    kernarg_size: int

    outside = (*KernelContract.outside, "symbol")

    def identity(self) -> dict[str, Json]:
        """Return the object whose digest is the contract id."""
        pairs = {
            key: dict(getattr(self, key)) for key in ("constants", "specialization", "semantics")
        }
        return {**super().identity(), **pairs}

    def document(self) -> dict[str, Json]:
        """Return the record of contracts.json."""
        return {**super().document(), "artifact_kind": KIND_TEMPLATE}


@dataclass(frozen=True)
class DenseShape:
    """What a dense operation asks for: sizes, data types, quantization and layouts."""

    m: int
    n: int
    k: int
    input_dtype: str
    weight_dtype: str
    output_dtype: str
    activation_quantization: str
    weight_quantization: str
    activation_scale_block: int
    weight_scale_block: tuple[int, int]
    activation_layout: str
    weight_layout: str
    output_layout: str
    epilogue: str
    graph_capture: bool = True
    deterministic: bool = True
    activation_scale_layout: str | None = None
    weight_scale_layout: str | None = None

    def identity(self) -> dict[str, Json]:
        """Return the part of the identity that both dense contracts share."""
        return {
            "target": TARGET,
            "wave_size": WAVE_SIZE,
            "operation": "dense",
            "shape": [self.m, self.n, self.k],
            "dtypes": [self.input_dtype, self.weight_dtype, "fp32", self.output_dtype],
            "quantization": {
                "activation": self.activation_quantization,
                "weight": self.weight_quantization,
                "activation_scale_block": self.activation_scale_block,
                "weight_scale_block": list(self.weight_scale_block),
            },
            "layouts": [self.activation_layout, self.weight_layout, self.output_layout],
            "epilogue": self.epilogue,
            "graph_capture": self.graph_capture,
            "deterministic": self.deterministic,
            "numerical": dict(DENSE_NUMERICAL),
        }

    def scale_layouts(self) -> dict[str, str]:
        """Return the scale layouts that differ from row-major, by operand."""
        pairs = (("activation", self.activation_scale_layout), ("weight", self.weight_scale_layout))
        return {name: layout for name, layout in pairs if layout is not None}


@dataclass(frozen=True, kw_only=True)
class DenseContract(KernelContract):
    """Contract of a dense operation that a registered dense tactic meets."""

    shape: DenseShape
    tactic: str

    def identity(self) -> dict[str, Json]:
        """Return the object whose digest is the contract id."""
        stated = super().identity()
        del stated["shape"]
        return {**self.shape.identity(), **stated}


@dataclass(frozen=True)
class DenseFallbackContract(Identified):
    """Contract of a dense operation that the framework runs."""

    prefix: ClassVar[str] = "nkf_"

    shape: DenseShape
    fallback: str
    launch: None = None
    workspace: Workspace = NO_WORKSPACE

    def identity(self) -> dict[str, Json]:
        """Return the object whose digest is the contract id."""
        scales = self.shape.scale_layouts()
        return {**self.shape.identity(), **({"scale_layouts": scales} if scales else {})}

    def document(self) -> dict[str, Json]:
        """Return the record of contracts.json."""
        kind = {"artifact_kind": KIND_FALLBACK, "fallback": self.fallback}
        return {**self.identity(), "id": self.id, **kind}


@dataclass(frozen=True)
class GoldenArgument:
    """One kernarg of a golden code object; ``value`` only for u32 constants."""

    name: str
    kind: str
    access: str
    value: int | None = None

    def document(self) -> Json:
        """Return the published argument object."""
        return {key: value for key, value in vars(self).items() if value is not None}


@dataclass(frozen=True, kw_only=True)
class GoldenContract(KernelContract):
    """Contract of a golden code object that is shipped as it is."""

    operation: str
    tactic: str
    symbol: str
    hsaco_name: str
    hsaco_sha256: str
    kernarg_size: int
    arguments: tuple[GoldenArgument, ...]

    @property
    def hsaco_path(self) -> str:
        """Path of the code object inside the engine directory."""
        return f"hsaco/{self.hsaco_name}"

    def identity(self) -> dict[str, Json]:
        """Return the object whose digest is the contract id."""
        arguments = [argument.document() for argument in self.arguments]
        return {**super().identity(), "arguments": arguments}

    def document(self) -> dict[str, Json]:
        """Return the record of contracts.json."""
        return {**super().document(), "artifact_kind": KIND_GOLDEN}


Contract = FixedContract | DenseContract | DenseFallbackContract | GoldenContract
