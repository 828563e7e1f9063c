"""Read the shape profiles of a kernel library and bind their tensor parallel degree."""

from __future__ import annotations

from netra_build.core.errors import BadInput
from netra_build.core.nearest import nearest_hint
from netra_build.formats.catalogs.library import Library
from netra_build.formats.fields import Fields
from netra_build.formats.records.profiles import Guard, Profile
from netra_build.formats.records.vocabulary import FORMAT_PROFILE, TARGET, UINT64_MAX

PROFILE_KEYS = (
    "$schema",
    "format",
    "name",
    "guards",
    "quantization",
    "tensor_parallel",
    "priority",
)
MAX_PRIORITY = 2**31 - 1


def load_profiles(library: Library, tensor_parallel: int) -> tuple[Profile, ...]:
    """Return every profile sorted by name; ``deployment`` binds the model's degree.

    Raises ``BadInput`` for a broken file, a repeated name and an empty registry.
    """
    folder = f"manifests/{TARGET}/profiles"
    profiles = [
        _read_profile(library, name, tensor_parallel) for name in library.json_names(folder)
    ]
    if not profiles:
        raise BadInput("no profile is defined", location=library.location(folder))
    first: dict[str, Profile] = {}
    for profile in profiles:
        other = first.setdefault(profile.name, profile)
        if other is not profile:
            raise BadInput(
                f'profile "{profile.name}" is defined twice',
                location=profile.location,
                hint=f"the other one is {other.location}",
            )
    return tuple(sorted(profiles, key=lambda profile: profile.name))


def choose_profile(profiles: tuple[Profile, ...], name: str, location: str) -> Profile:
    """Return the profile called ``name``; refuse an unknown name with the nearest known one."""
    for profile in profiles:
        if profile.name == name:
            return profile
    raise BadInput(
        f'unknown profile "{name}"',
        location=location,
        hint=nearest_hint(name, [profile.name for profile in profiles]),
    )


def _read_profile(library: Library, name: str, tensor_parallel: int) -> Profile:
    fields = Fields(library.read_object(name), library.location(name))
    if fields.text("format") != FORMAT_PROFILE:
        fields.refuse(
            "profile has an unknown format",
            "format",
            expected=f'"{FORMAT_PROFILE}"',
            got=f'"{fields.text("format")}"',
        )
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
    value = fields.get("tensor_parallel", "deployment")
    if value == "deployment":
        return tensor_parallel
    return fields.integer("tensor_parallel", low=1, high=2**31 - 1)


def _read_guards(fields: Fields) -> tuple[Guard, ...]:
    if not fields.value:
        fields.refuse("profile guards no dimension")
    guards = []
    for dimension in sorted(fields.value):
        bounds = fields.child(dimension)
        bounds.close(("min", "max"))
        low = bounds.integer("min", high=UINT64_MAX)
        high = bounds.integer("max", high=UINT64_MAX)
        if low > high:
            bounds.refuse(f"guard is empty: its minimum {low} is above its maximum {high}")
        guards.append(Guard(dimension, low, high))
    return tuple(guards)


def matching_profiles(
    profiles: tuple[Profile, ...], quantization: str, tensor_parallel: int, shape: dict[str, int]
) -> tuple[Profile, ...]:
    """Return the profiles that serve a shape, best first (priority, then name).

    Every guarded dimension has to be given and lie within its bounds; without a match the
    framework's fallback serves the shape.
    """
    found = [
        profile
        for profile in profiles
        if profile.quantization == quantization
        and profile.tensor_parallel == tensor_parallel
        and all(
            guard.minimum <= shape.get(guard.dimension, -1) <= guard.maximum
            for guard in profile.guards
        )
    ]
    return tuple(sorted(found, key=lambda profile: (-profile.priority, profile.name)))
