"""Where the published scanners and the assembler read a template differently."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from netra_build.asm.source.closure import Closure
from netra_build.asm.source.includes import (
    Reader,
    Requirement,
    published_includes,
    published_requirements,
    published_text,
    walk_includes,
)
from netra_build.asm.source.source_file import SourceFile
from netra_build.asm.source.statement import Kind

GUARD_MACRO = "NETRA_REQUIRE_EQ"

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]{1,16}|0[bB][01]{1,64}|[0-9]{1,20})")


@dataclass(frozen=True)
class Gap:
    """One place where the published scanners and the assembler read a file differently."""

    file: str
    line: int
    what: str


def published_closure(template: str, read: Reader, location: str) -> dict[str, bytes]:
    """Return the closure that the published pattern finds: names to bytes, depth first."""
    return walk_includes(
        template,
        read,
        location,
        lambda name, data: published_includes(published_text(data, name)),
    )


def guard_requirements(closure: Closure) -> tuple[Requirement, ...]:
    """Return every fixed constant that a guard asks for with a literal value, in closure order.

    Decimal, hexadecimal and binary values count, and a comment may follow; the published scanner
    (``published_requirements``) sees bare decimal lines only. Values made by a macro are left out.
    """
    found = []
    for file in closure.files:
        for statement in file.statements:
            if statement.name != GUARD_MACRO or statement.kind is Kind.LABEL:
                continue
            name, separator, value = (part.strip() for part in statement.operands.partition(","))
            if separator and _NAME.fullmatch(name) and _INTEGER.fullmatch(value):
                found.append(Requirement(name, _integer(value), file.name, statement.line))
    return tuple(found)


def published_gaps(closure: Closure) -> tuple[Gap, ...]:
    """Return where the published scanners miss what the assembler sees, or see what it does not.

    Compared are includes, guard lines and the line that opens each macro.
    """
    gaps: list[Gap] = []
    requirements = guard_requirements(closure)
    published = published_requirements(closure.data_by_name)
    for file in closure.files:
        text = published_text(closure.data_by_name[file.name], file.name)
        ours = {(include.line, f'include "{include.name}"') for include in file.includes}
        theirs = {(line, f'include "{_plain(path)}"') for line, path in published_includes(text)}
        ours |= {(r.line, _guard(r)) for r in requirements if r.file == file.name}
        theirs |= {(r.line, _guard(r)) for r in published if r.file == file.name}
        ours |= {(line, f'macro "{name}"') for line, name in _macros(file)}
        theirs |= {(line, f'macro "{name}"') for line, name in _published_macros(text)}
        gaps += [Gap(file.name, line, f"{what} is not seen") for line, what in ours - theirs]
        gaps += [Gap(file.name, line, f"{what} is no statement") for line, what in theirs - ours]
    return tuple(sorted(gaps, key=lambda gap: (closure.names.index(gap.file), gap.line, gap.what)))


def _macros(file: SourceFile) -> Iterator[tuple[int, str]]:
    for statement in file.statements:
        if statement.kind is Kind.DIRECTIVE and statement.name == ".macro":
            yield statement.line, _macro_line(statement.operands)


def _published_macros(text: str) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(text.split("\n"), start=1):
        words = line.strip().split(None, 1)
        if len(words) == 2 and words[0] == ".macro":
            yield number, _macro_line(words[1])


def _macro_line(operands: str) -> str:
    return " ".join(operands.split())


def _guard(requirement: Requirement) -> str:
    return f'guard "{requirement.name}, {requirement.value}"'


def _plain(path: str) -> str:
    """Return a path as written without ``.`` segments and doubled slashes."""
    return "/".join(part for part in path.split("/") if part not in ("", "."))


def _integer(text: str) -> int:
    digits = text.lstrip("+-")
    if digits[:2].lower() in ("0x", "0b"):
        value = int(digits, 0)
    else:
        value = int(digits, 8 if len(digits) > 1 and digits[0] == "0" else 10)
    return -value if text.startswith("-") else value
