"""Include closures: which files a template reaches, in order, and the identities made of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from netra_build.asm.source.includes import (
    Reader,
    published_computational_sha256,
    source_closure_sha256,
    walk_includes,
)
from netra_build.asm.source.source_file import INCLUDED, PlainSource, SourceFile, plain_source
from netra_build.core.digests import blake3_hex
from netra_build.core.errors import BadInput


@dataclass(frozen=True)
class Closure:
    """Every file that a template reaches by ``.include``, depth first, each once at first visit.

    ``data_by_name`` keeps that order; names are POSIX paths relative to the library root.
    """

    data_by_name: Mapping[str, bytes]
    files: tuple[SourceFile, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The files' names in order of traversal."""
        return tuple(self.data_by_name)

    @property
    def source_closure_sha256(self) -> str:
        """SHA-256 over names and bytes, as the published format defines it."""
        return source_closure_sha256(self.data_by_name)

    @property
    def published_computational_sha256(self) -> str:
        """SHA-256 over the text without comments, as the published format defines it."""
        return published_computational_sha256(self.data_by_name)

    @cached_property
    def macros(self) -> Mapping[str, bool]:
        """Every macro name of the closure, and whether it takes the rest of its line."""
        return macros_of(self.files)


def include_closure(template: str, read: Reader, location: str) -> Closure:
    """Follow the includes of ``template`` and verify every file.

    Raises ``BadInput``: what ``walk_includes`` and ``read_source`` refuse, and an include guard
    whose symbol is set anywhere else.
    """
    plain: dict[str, PlainSource] = {}

    def includes(name: str, data: bytes) -> Iterator[tuple[int, str]]:
        plain[name] = plain_source(name, data)
        return ((include.line, include.name) for include in plain[name].file.includes)

    data_by_name = walk_includes(template, read, location, includes)
    macros = macros_of(source.file for source in plain.values())
    files = tuple(plain[name].with_macros(macros) for name in data_by_name)
    refuse_shared_guards(files)
    return Closure(data_by_name, files)


def macros_of(files: Iterable[SourceFile]) -> dict[str, bool]:
    """Return the macros that any of the files may define."""
    found: dict[str, bool] = {}
    for file in files:
        for macro, takes_rest in file.macros.items():
            found[macro] = found.get(macro, False) or takes_rest
    return found


def refuse_shared_guards(files: Sequence[SourceFile]) -> None:
    """Refuse an include guard whose symbol anything but the guard itself sets."""
    guards: dict[str, str] = {}
    for file in files:
        for guard in file.guards:
            if guard.holds_include:
                place = f"{file.name}:{file.statements[guard.first].line}"
                guards.setdefault(guard.symbol, place)
    for symbol, place in guards.items():
        places = [f"{file.name}:{line}" for file in files for line in file.settings.get(symbol, ())]
        if len(places) > 1:
            raise BadInput(
                f'symbol "{symbol}" of an include guard is also set elsewhere',
                location=place,
                expected="one place",
                got=", ".join(places[:4]),
            )


def computational_identity(closure: Closure) -> str:
    """Return the BLAKE3 over the closure's statements, file by file in order of traversal.

    Comments, blanks, file names, include paths, debug lines and debug sections are no part of
    it; an include counts as the index of the file that it opens.
    """
    index_by_name = {name: str(index) for index, name in enumerate(closure.names)}
    files = (_identity_text(file, index_by_name) for file in closure.files)
    return blake3_hex(f"[{','.join(files)}]\n".encode())


def _identity_text(file: SourceFile, index_by_name: Mapping[str, str]) -> str:
    """Return one file's statements as a canonical JSON list, each include as a number."""
    if not file.includes:
        return file.computed_text
    numbers = [index_by_name[include.name] for include in file.includes]
    parts = file.computed_text.split(INCLUDED)
    return "".join(part for pair in zip(parts, [*numbers, ""], strict=True) for part in pair)
