"""What the published catalog reader takes from the text of an include closure.

The published scan is textual: a line in a block comment counts as well. It decides identities,
so it is kept exactly; what it would miss is refused elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from netra_build.asm.source.published_scan import Requirement
from netra_build.core.errors import BadInput

_MACRO = re.compile(r"^\s*\.macro\s+(\S+)(?:[ \t]+([^\n]*))?$", re.MULTILINE)
_PARAMETER = re.compile(r"[A-Za-z_.$][A-Za-z0-9_.$]*\Z")
_LITERALS = {
    "kernarg_segment_size": re.compile(r"\.amdhsa_kernarg_size\s+([0-9]{1,9})\b"),
    "group_segment_fixed_size": re.compile(r"\.amdhsa_group_segment_fixed_size\s+([0-9]{1,9})\b"),
    "max_flat_workgroup_size": re.compile(r"\.max_flat_workgroup_size:\s*([0-9]{1,9})\b"),
}
Literals = Mapping[str, frozenset[int]]
"""The numbers that a text states for a launch property; one that it does not speak of is absent."""

MACHINE_CONSTANTS = frozenset({"NETRA_TARGET_GFX", "NETRA_WAVE_SIZE"})


def literal_values(text: str) -> Literals:
    """Return the distinct literal numbers of each launch property, by its metadata name."""
    found = {key: pattern.findall(text) for key, pattern in _LITERALS.items()}
    return {key: frozenset(map(int, numbers)) for key, numbers in found.items() if numbers}


def joined_literals(parts: Iterable[Literals]) -> dict[str, frozenset[int]]:
    """Return what any of the parts states, with an entry for each launch property."""
    found: dict[str, frozenset[int]] = dict.fromkeys(_LITERALS, frozenset())
    for part in parts:
        for key, values in part.items():
            found[key] |= values
    return found


def guarded_constants(
    guards: Iterable[Requirement], declared: Iterable[str], location: str
) -> dict[str, int]:
    """Return the constants that guard lines fix, without ``declared`` and machine constants.

    Raises ``BadInput`` when two guards fix one constant to different values.
    """
    skipped = MACHINE_CONSTANTS.union(declared)
    first: dict[str, Requirement] = {}
    for guard in guards:
        if guard.name in skipped:
            continue
        other = first.setdefault(guard.name, guard)
        if other.value != guard.value:
            raise BadInput(
                f'guards fix "{guard.name}" to {other.value} and to {guard.value}',
                location=location,
                hint="state the value of this tactic under contract_constants",
            )
    return {name: guard.value for name, guard in first.items()}


def macro_parameters(template: str, macro: str, location: str) -> tuple[str, ...]:
    """Return the parameters of ``macro``, which the template itself has to define.

    Raises ``BadInput`` when the macro is absent or its first parameter is not ``symbol``.
    """
    heads = (match for match in _MACRO.finditer(template) if match[1] == macro)
    match = next(heads, None)
    if match is None:
        raise BadInput(f'template defines no macro "{macro}"', location=location)
    parts = (match[2] or "").split(",")
    names = tuple(part.strip().split("=", 1)[0] for part in parts)
    for name in names:
        if not _PARAMETER.match(name.rstrip()):
            raise BadInput(
                f'parameter list of macro "{macro}" cannot be read',
                location=location,
                hint="separate plain names by commas",
            )
    if names[0] != "symbol":
        raise BadInput(
            f'first parameter of macro "{macro}" is not "symbol"',
            location=location,
            expected='"symbol"',
            got=f'"{names[0]}"',
        )
    return names
