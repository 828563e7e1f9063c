"""Include closures as the published reader follows them, refused where it would be misled.

What is taken from a file's text is taken once, however many closures the file is in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from netra_build.asm.source.includes import (
    INCLUDE,
    REQUIREMENT,
    Requirement,
    published_includes,
    published_requirements,
    published_text,
    walk_includes,
)
from netra_build.core.digests import sha256_hex
from netra_build.core.disk import relative_name
from netra_build.core.errors import BadInput
from netra_build.formats.library import Library

_ANY_INCLUDE = re.compile(r"^[ \t]*\.(?:include|incbin)\b.*$", re.MULTILINE)
_ANY_GUARD = re.compile(
    r"^[ \t]*NETRA_REQUIRE_EQ[ \t]+[A-Za-z0-9_]+[ \t]*,[ \t]*[-+]?[0-9].*$", re.MULTILINE
)
_SCANS = (("NETRA_REQUIRE_EQ", _ANY_GUARD, REQUIREMENT), (".inc", _ANY_INCLUDE, INCLUDE))
"""A word without which nothing is found, what looks like such a line, and what is seen of it."""


@dataclass(frozen=True, slots=True)
class SourceFile:
    """One file of closures: its bytes, and what the published reader takes from its text.

    ``hidden`` is the first line that this reader would not see, with its number.
    """

    data: bytes
    sha256: str
    includes: tuple[tuple[int, str], ...]
    guards: tuple[Requirement, ...]
    literals: Literals
    hidden: tuple[int, str] | None


class SourceTree:
    """The files that the templates of one library include."""

    def __init__(self, library: Library) -> None:
        self._library = library
        self._files: dict[str, SourceFile] = {}
        self._straight: set[str] = set()
        """Files from which no chain of includes leads back to itself."""

    def closure(self, template: str, place: str) -> dict[str, SourceFile]:
        """Return the closure of ``template``, names to files, depth first.

        Raises ``BadInput`` for a missing or escaping file, an include cycle, and a line that the
        published reader would not see (an include or guard that is not bare).
        """
        found = walk_includes(
            template,
            lambda name: self._library.read(name, place),
            place,
            lambda name, data: self._file(name, data).includes,
        )
        files = {name: self._files[name] for name in found}
        for name, file in files.items():
            if file.hidden is not None:
                line, text = file.hidden
                raise BadInput(
                    f"line is not seen by the published reader: {text}",
                    location=f"{self._library.location(name)}:{line}",
                    hint="write it bare: a quoted path or a decimal value, nothing behind it",
                )
        self._refuse_cycles(files)
        return files

    def _file(self, name: str, data: bytes) -> SourceFile:
        if name not in self._files:
            self._files[name] = _scanned(name, data)
        return self._files[name]

    def _refuse_cycles(self, files: Mapping[str, SourceFile]) -> None:
        """Refuse a file that includes itself through others, without recursion."""
        for start in files:
            path: set[str] = set()
            stack = [] if start in self._straight else [(start, 0)]
            while stack:
                name, index = stack.pop()
                if index == 0:
                    if name in self._straight:
                        continue
                    path.add(name)
                includes = files[name].includes
                if index == len(includes):
                    path.discard(name)
                    self._straight.add(name)
                    continue
                stack.append((name, index + 1))
                following = relative_name(includes[index][1], name)
                if following in path:
                    raise BadInput(
                        f'file includes itself through "{name}"',
                        location=self._library.location(following),
                    )
                stack.append((following, 0))


def _scanned(name: str, data: bytes) -> SourceFile:
    text = published_text(data, name)
    return SourceFile(
        data,
        sha256_hex(data),
        tuple(published_includes(text)),
        published_requirements({name: data}) if "NETRA_REQUIRE_EQ" in text else (),
        literal_values(text),
        _hidden_line(text),
    )


def _hidden_line(text: str) -> tuple[int, str] | None:
    """Return number and beginning of the first line that looks like one the reader would see."""
    found = []
    for word, loose, exact in _SCANS:
        lines = loose.finditer(text) if word in text else ()
        match = next((line for line in lines if not exact.match(line.group())), None)
        if match is not None:
            number = text.count("\n", 0, match.start()) + 1
            found.append((number, match.group().strip()[:120]))
    return min(found, default=None)


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
