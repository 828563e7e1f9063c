"""Shape profiles: the serving shape that an engine is built for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from netra_build.core.canonical_json import Json


@dataclass(frozen=True)
class Guard:
    """Inclusive bounds of one dimension."""

    dimension: str
    minimum: int
    maximum: int

    @property
    def exact(self) -> int | None:
        """The only allowed value, or None when the guard is a range."""
        return self.minimum if self.minimum == self.maximum else None


@dataclass(frozen=True)
class Profile:
    """A named profile with its guards sorted by dimension; tensor_parallel is bound."""

    name: str
    guards: tuple[Guard, ...]
    quantization: str
    tensor_parallel: int
    priority: int
    location: str = ""

    @cached_property
    def exact_by_dimension(self) -> dict[str, int]:
        """Value of each dimension that the profile fixes."""
        pairs = ((guard.dimension, guard.exact) for guard in self.guards)
        return {dimension: value for dimension, value in pairs if value is not None}

    def document(self) -> Json:
        """Return the record of engine.json and explain.json."""
        return {
            "name": self.name,
            "guards": {
                guard.dimension: {"min": guard.minimum, "max": guard.maximum}
                for guard in self.guards
            },
            "quantization": self.quantization,
            "tensor_parallel": self.tensor_parallel,
            "priority": self.priority,
        }
