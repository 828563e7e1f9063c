"""What a layout plan says about checkpoint tensors, read; nothing of it is applied here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

JOIN_WEIGHTS = "concatenate_output_shards"
JOIN_SCALES = "concatenate_output_scale_shards_axis0"
SHUFFLE = "aiter_shuffle_16x16"
WIDEN = "widen_bf16_to_fp32_exact"

PARAMETERS_BY_WEIGHT_STEP: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"identity": (), JOIN_WEIGHTS: ("axis", "shards"), SHUFFLE: ("tile_m", "tile_k")}
)
SCALE_STEPS = (JOIN_SCALES, WIDEN)


@dataclass(frozen=True)
class WeightLayout:
    """How the weight ``tensor`` comes from checkpoint tensors: the transforms, in order."""

    tensor: str
    sources: tuple[str, ...]
    checkpoint_layout: str
    kernel_layout: str
    steps: tuple[str, ...]


@dataclass(frozen=True)
class ScaleLayout:
    """How the block scales ``tensor`` of a weight come from checkpoint tensors.

    ``block`` is the rows and columns of the weight that one scale stands for.
    """

    tensor: str
    sources: tuple[str, ...]
    checkpoint_dtype: str
    kernel_dtype: str
    block: tuple[int, int]
    steps: tuple[str, ...]


@dataclass(frozen=True)
class LayoutBinding:
    """One weight with its scales, and where the plan says so."""

    weight: WeightLayout
    scale: ScaleLayout | None
    location: str

    def tensors(self) -> tuple[str, ...]:
        """Return the names of the tensors that come of it."""
        return (self.weight.tensor, *([self.scale.tensor] if self.scale else []))

    def parts(self) -> tuple[WeightLayout, ScaleLayout | None]:
        """Return what it says, wherever it stands."""
        return self.weight, self.scale
