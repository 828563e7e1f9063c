"""Include closures: the files that a template reaches, their identities, and the flat unit."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from netra_build.asm.source.include_rules import Include
from netra_build.asm.source.includes import (
    Reader,
    source_closure_sha256,
    walk_includes,
)
from netra_build.asm.source.lexer import Block
from netra_build.asm.source.source_file import (
    INCLUDED,
    SourceFile,
    read_source,
    scan,
)
from netra_build.core.digests import blake3_hex
from netra_build.core.errors import BadInput

MAX_UNIT_BYTES = 32 * 1024 * 1024
ENTRY_COST = 64
"""What opening a file counts towards that size, even when it holds nothing."""


@dataclass(frozen=True)
class Closure:
    """Every file that a template reaches by ``.include``, depth first, each once at first visit.

    ``data_by_name`` keeps that order; names are POSIX paths relative to the library root.
    """

    data_by_name: Mapping[str, bytes]
    files: tuple[SourceFile, ...]
    macros: Mapping[str, bool] = field(default_factory=dict)
    """Every macro name of the closure, and whether it takes the rest of its line."""

    @property
    def names(self) -> tuple[str, ...]:
        """The files' names in order of traversal."""
        return tuple(self.data_by_name)

    @property
    def source_closure_sha256(self) -> str:
        """SHA-256 over names and bytes, as the published format defines it."""
        return source_closure_sha256(self.data_by_name)


def include_closure(template: str, read: Reader, location: str) -> Closure:
    """Follow the includes of ``template`` and verify every file.

    Raises ``BadInput``: what ``walk_includes`` and ``read_source`` refuse, and an include guard
    whose symbol is set anywhere else.
    """
    seen: dict[str, Sequence[int]] = {}

    def looked_at(name: str, data: bytes) -> Iterable[tuple[int, str]]:
        includes = scan(name, data).includes
        seen[name] = [line for line, _ in includes]
        return includes

    try:
        closure = _closure(walk_includes(template, read, location, looked_at))
        if all([one.line for one in file.includes] == seen[file.name] for file in closure.files):
            return closure
    except (BadInput, LookupError):
        pass
    # Only statements tell what is wrong, or that a line merely looks like an include.
    return _closure(walk_includes(template, read, location, _certain))


def _certain(name: str, data: bytes) -> Iterable[tuple[int, str]]:
    return ((include.line, include.name) for include in read_source(name, data, {}).includes)


def _closure(data_by_name: Mapping[str, bytes]) -> Closure:
    macros = _joined(scan(name, data).macros for name, data in data_by_name.items())
    files = tuple([read_source(name, data, macros) for name, data in data_by_name.items()])
    refuse_shared_guards(files)
    return Closure(data_by_name, files, macros)


def _joined(macros: Iterable[Mapping[str, bool]]) -> dict[str, bool]:
    """Return the macros that any of the files may define."""
    found: dict[str, bool] = {}
    for own in macros:
        for macro, takes_rest in own.items():
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


def flatten(instance_source: bytes, closure: Closure, location: str = "unit.s") -> bytes:
    """Return the instance with every include replaced by its text and every comment gone.

    A file met again gives its text again, but for statements under ``.ifndef SYMBOL`` that set
    the symbol at once: those would be skipped. The flat unit and the tree of files give the same
    object. Raises ``BadInput`` for an include outside the closure, a file that includes itself
    under no guard, a unit over ``MAX_UNIT_BYTES``, and what ``read_source`` refuses.
    """
    blocks = _flat_blocks(instance_source, closure, location)
    return "".join([block.text for block in blocks]).encode("utf-8")


def flat_unit(instance_source: bytes, closure: Closure, location: str) -> bytes:
    """Return what ``flatten`` does without the macros that nothing reaches.

    So what a unit does not use cannot change it. A macro counts as reached when its name stands
    anywhere in text that is reached: as a statement's first word, as an argument, or as the fixed
    parts of a word that an expansion completes. What could be called and still be missed - a name
    that is put together of arguments alone and passed on as an argument - is refused by the
    assembler as unknown: only names with a capital letter, which no instruction has, are dropped.
    """
    blocks = _flat_blocks(instance_source, closure, location)
    waiting = [block for block in blocks if block.macro == block.macro.lower()]
    dropped = [block for block in blocks if block.macro != block.macro.lower()]
    while waiting and dropped:
        reached = _reached({block.macro for block in dropped}, waiting)
        waiting = [block for block in dropped if block.macro in reached]
        dropped = [block for block in dropped if block.macro not in reached]
    gone = set(map(id, dropped))
    return "".join([block.text for block in blocks if id(block) not in gone]).encode("utf-8")


def _flat_blocks(instance_source: bytes, closure: Closure, location: str) -> list[Block]:
    """Expand includes with a stack of its own, so that deep chains are no danger."""
    main = read_source(location, instance_source, closure.macros)
    refuse_shared_guards((*closure.files, main))
    files = {file.name: file for file in closure.files}
    blocks: list[Block] = []
    held, seen, open_count = 0, {main.name}, Counter([main.name])
    stack = [(main.name, iter(main.first_pieces))]
    while stack:
        name, pieces = stack[-1]
        piece = next(pieces, None)
        if piece is None:
            stack.pop()
            open_count[name] -= 1
            continue
        blocks += piece.blocks
        held += piece.size + (ENTRY_COST if piece.include else 0)
        if held > MAX_UNIT_BYTES:
            most = f"at most {MAX_UNIT_BYTES} bytes"
            raise BadInput("flat unit is too large", location=name, expected=most, got="more")
        if piece.include is not None:
            file = _included(piece.include, f"{name}:{piece.include.line}", files, open_count)
            again = file.name in seen
            stack.append((file.name, iter(file.later_pieces if again else file.first_pieces)))
            seen.add(file.name)
            open_count[file.name] += 1
    return blocks


def _included(
    include: Include, place: str, files: Mapping[str, SourceFile], open_count: Counter[str]
) -> SourceFile:
    """Return the file that is included; once open twice, its guards skip nothing more."""
    if include.name not in files:
        raise BadInput(f'included file "{include.name}" is not in the closure', location=place)
    if open_count[include.name] == 2:
        raise BadInput(
            f'file "{include.name}" includes itself',
            location=place,
            hint="put the include under the file's own include guard",
        )
    return files[include.name]


def _reached(macros: set[str], blocks: Iterable[Block]) -> set[str]:
    """Return those of the macros whose name stands in a block, or may when it is expanded."""
    reached: set[str] = set()
    patterns: set[re.Pattern[str]] = set()
    for block in blocks:
        words, open_words = block.words
        reached |= macros & words
        patterns |= open_words
    left = macros - reached
    return reached | {macro for macro in left if any(p.fullmatch(macro) for p in patterns)}
