"""Shape profiles: the serving shape that an engine is built for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from netra_build.core.canonical_json import Json
from netra_build.core.errors import BadInput, nearest_hint
from netra_build.formats.fields import Fields
from netra_build.formats.library import Library
from netra_build.formats.vocabulary import FORMAT_PROFILE, TARGET, UINT64_MAX

PROFILE_KEYS = "$schema format name guards quantization tensor_parallel priority"
MAX_PRIORITY = 2**31 - 1


class Guard(NamedTuple):
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
        guards = {one.dimension: {"min": one.minimum, "max": one.maximum} for one in self.guards}
        return {
            "name": self.name,
            "guards": guards,
            "quantization": self.quantization,
            "tensor_parallel": self.tensor_parallel,
            "priority": self.priority,
        }


def load_profiles(library: Library, tensor_parallel: int) -> tuple[Profile, ...]:
    """Return every profile sorted by name; ``deployment`` binds the model's degree.

    Raises ``BadInput`` for a broken file, a repeated name and an empty registry.
    """
    folder = f"manifests/{TARGET}/profiles"
    names = library.json_names(folder)
    profiles = [_read_profile(library, name, tensor_parallel) for name in names]
    if not profiles:
        raise BadInput("no profile is defined", location=library.location(folder))
    first: dict[str, Profile] = {}
    for profile in profiles:
        other = first.setdefault(profile.name, profile)
        if other is not profile:
            fact, hint = f'profile "{profile.name}" is defined twice', other.location
            raise BadInput(fact, location=profile.location, hint=f"the other one is {hint}")
    return tuple(sorted(profiles, key=lambda profile: profile.name))


def choose_profile(profiles: tuple[Profile, ...], name: str, location: str) -> Profile:
    """Return the profile called ``name``; refuse an unknown name with the nearest known one."""
    for profile in profiles:
        if profile.name == name:
            return profile
    hint = nearest_hint(name, [profile.name for profile in profiles])
    raise BadInput(f'unknown profile "{name}"', location=location, hint=hint)


def _read_profile(library: Library, name: str, tensor_parallel: int) -> Profile:
    fields = Fields(library.read_object(name), library.location(name))
    fields.hold_text("format", FORMAT_PROFILE, "profile has an unknown format")
    fields.close(PROFILE_KEYS)
    return Profile(
        name=fields.text("name"),
        guards=_read_guards(fields.child("guards")),
        quantization=fields.text("quantization"),
        tensor_parallel=_bind_degree(fields, tensor_parallel),
        priority=fields.integer("priority", 0, low=-MAX_PRIORITY, high=MAX_PRIORITY),
        location=fields.location,
    )


def _bind_degree(fields: Fields, tensor_parallel: int) -> int:
    if fields.get("tensor_parallel", "deployment") == "deployment":
        return tensor_parallel
    return fields.integer("tensor_parallel", low=1, high=2**31 - 1)


def _read_guards(fields: Fields) -> tuple[Guard, ...]:
    if not fields.value:
        fields.refuse("profile guards no dimension")
    guards = []
    for dimension in sorted(fields.value):
        bounds = fields.child(dimension)
        bounds.close("min max")
        low = bounds.integer("min", high=UINT64_MAX)
        high = bounds.integer("max", high=UINT64_MAX)
        if low > high:
            bounds.refuse(f"guard is empty: its minimum {low} is above its maximum {high}")
        guards.append(Guard(dimension, low, high))
    return tuple(guards)
