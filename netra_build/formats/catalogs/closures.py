"""Include closures as the published reader follows them, refused where it would be misled.

The published scan of a closure's text is textual: a line in a block comment counts as well. It
decides identities, so it is kept exactly. What is taken from a file's text is taken once, however
many closures the file is in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from itertools import chain
from typing import NamedTuple

from netra_build.asm.source.includes import (
    INCLUDE,
    REQUIREMENT,
    Requirement,
    published_computational_sha256,
    published_includes,
    published_requirements,
    published_text,
    source_closure_sha256,
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

_MACRO = re.compile(r"^\s*\.macro\s+(\S+)(?:[ \t]+([^\n]*))?$", re.MULTILINE)
_PARAMETER = re.compile(r"[A-Za-z_.$][A-Za-z0-9_.$]*\Z")
_LITERALS = {
    "kernarg_segment_size": re.compile(r"\.amdhsa_kernarg_size\s+([0-9]{1,9})\b"),
    "group_segment_fixed_size": re.compile(r"\.amdhsa_group_segment_fixed_size\s+([0-9]{1,9})\b"),
    "max_flat_workgroup_size": re.compile(r"\.max_flat_workgroup_size:\s*([0-9]{1,9})\b"),
}
Literals = Mapping[str, frozenset[int]]
"""The distinct numbers that a text states for each launch property, by its metadata name."""

NONE: frozenset[int] = frozenset()
MACHINE_CONSTANTS = frozenset({"NETRA_TARGET_GFX", "NETRA_WAVE_SIZE"})


class SourceFile(NamedTuple):
    """One file of closures: its bytes, and what the published reader takes from its text.

    ``hidden`` is the first line that this reader would not see, with its number.
    """

    data: bytes
    sha256: str
    includes: tuple[tuple[int, str], ...]
    guards: tuple[Requirement, ...]
    literals: Literals
    hidden: tuple[int, str] | None


class Closure(NamedTuple):
    """The closure of one template: its text, and what all files say together."""

    text: str
    guards: tuple[Requirement, ...]
    literals: Literals
    source_sha256: str
    computational_sha256: str
    files: tuple[tuple[str, str], ...]
    """Names and digests, depth first."""


class Closures:
    """The closures of the templates of one library."""

    def __init__(self, library: Library) -> None:
        self.source_by_name: dict[str, bytes] = {}
        self._library = library
        self._files: dict[str, SourceFile] = {}
        self._closures: dict[str, Closure] = {}
        self._straight: set[str] = set()
        """Files from which no chain of includes leads back to themselves."""

    def of(self, template: str, place: str) -> Closure:
        """Return the closure of ``template``.

        Raises ``BadInput`` for a missing or escaping file, an include cycle, and a line that the
        published reader would not see (an include or guard that is not bare).
        """
        if template not in self._closures:
            files = self._walked(template, place)
            data = {name: file.data for name, file in files.items()}
            self.source_by_name.update(data)
            found = [file.literals for file in files.values()]
            literals = {key: NONE.union(*(one.get(key, ()) for one in found)) for key in _LITERALS}
            self._closures[template] = Closure(
                published_text(data[template], template),
                tuple(guard for file in files.values() for guard in file.guards),
                literals,
                source_closure_sha256(data),
                published_computational_sha256(data),
                tuple((name, file.sha256) for name, file in files.items()),
            )
        return self._closures[template]

    def _walked(self, template: str, place: str) -> dict[str, SourceFile]:
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
        """Refuse a file that includes itself through others, named from the first of them on."""
        included = {
            name: [relative_name(written, name) for _, written in file.includes]
            for name, file in files.items()
            if name not in self._straight
        }
        if self._straight.issuperset(chain.from_iterable(included.values())):
            self._straight.update(included)
            return
        try:
            TopologicalSorter(included).prepare()
            self._straight.update(included)
        except CycleError as error:
            cycle = error.args[1][1:]  # each file is included by the next, the last by the first
            order = list(files)
            first = min(range(len(cycle)), key=lambda index: order.index(cycle[index]))
            through = cycle[(first + 1) % len(cycle)]
            fact = f'file includes itself through "{through}"'
            raise BadInput(fact, location=self._library.location(cycle[first])) from None


def _scanned(name: str, data: bytes) -> SourceFile:
    text = published_text(data, name)
    literals = {key: pattern.findall(text) for key, pattern in _LITERALS.items()}
    return SourceFile(
        data,
        sha256_hex(data),
        tuple(published_includes(text)),
        published_requirements({name: data}) if "NETRA_REQUIRE_EQ" in text else (),
        {key: frozenset(map(int, numbers)) for key, numbers in literals.items() if numbers},
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


def guarded_constants(
    guards: Iterable[Requirement], declared: Iterable[str], location: str
) -> dict[str, int]:
    """Return the constants that guard lines fix, without ``declared`` and machine constants.

    Raises ``BadInput`` when two guards fix one constant to different values.
    """
    skipped = MACHINE_CONSTANTS.union(declared)
    fixed: dict[str, int] = {}
    for guard in guards:
        value = guard.value if guard.name in skipped else fixed.setdefault(guard.name, guard.value)
        if value != guard.value:
            raise BadInput(
                f'guards fix "{guard.name}" to {value} and to {guard.value}',
                location=location,
                hint="state the value of this tactic under contract_constants",
            )
    return fixed


def macro_parameters(template: str, macro: str, location: str) -> tuple[str, ...]:
    """Return the parameters of ``macro``, which the template itself has to define.

    Raises ``BadInput`` when the macro is absent or its first parameter is not ``symbol``.
    """
    match = next((match for match in _MACRO.finditer(template) if match[1] == macro), None)
    if match is None:
        raise BadInput(f'template defines no macro "{macro}"', location=location)
    parts = (match[2] or "").split(",")
    names = tuple(part.strip().split("=", 1)[0] for part in parts)
    if not all(_PARAMETER.match(name.rstrip()) for name in names):
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
