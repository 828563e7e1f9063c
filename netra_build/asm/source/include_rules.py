"""What is certain of a file from its text alone: includes and include guards, or a refusal."""

from __future__ import annotations

import re
from dataclasses import dataclass

from netra_build.asm.source.statement import MACRO_ENDS, REPEAT_ENDS, REPEATS, Kind, Statement
from netra_build.core.disk import relative_name
from netra_build.core.errors import BadInput

SETTERS = frozenset({".set", ".equ", ".equiv"})
_DIRECTIVE = Kind.DIRECTIVE
_QUOTED_PATH = re.compile(r'"([^"\\]+)"')
_CAN_TRICK = re.compile(r'"|\.inc', re.IGNORECASE)
_READS_FILES = re.compile(r"\.inc(?:lude|bin)\b", re.IGNORECASE)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_SYMBOL = re.compile(r"[A-Za-z_.$][A-Za-z0-9_.$]*")
_ANGLE_TEXT = re.compile(r'<[^>]*"[^>]*>')


@dataclass(frozen=True)
class Include:
    """One ``.include``: where it stands and the root-relative name that it asks for."""

    line: int
    statement_index: int
    name: str


@dataclass(frozen=True)
class GuardSpan:
    """``.ifndef SYMBOL`` that at once sets the symbol: its statements are assembled only once.

    ``first`` and ``last`` are the statements ``.ifndef`` and ``.endif``. A span that holds an
    include is the file's include guard; the others give a constant its default.
    """

    symbol: str
    first: int
    last: int
    holds_include: bool


def verify(
    name: str, statements: tuple[Statement, ...]
) -> tuple[tuple[Include, ...], tuple[GuardSpan, ...]]:
    """Return the includes and guards of a file; ``BadInput`` at file and line for what is unclear.

    Refused: ``.incbin``, ``.end``, an include that is not certain, unbalanced conditions, macros
    or repeats, and text that could become an include when a macro expands.
    """
    walk = _Walk(name, statements)
    for index, statement in enumerate(statements):
        operands = statement.operands
        if statement.kind is _DIRECTIVE or '"' in operands or "." in operands:
            walk.visit(index)
    walk.finish()
    return tuple(walk.includes), tuple(walk.guards)


@dataclass
class _Open:
    """One construct that waits for its end."""

    kind: str
    line: int
    index: int
    guard_symbol: str = ""


class _Walk:
    """Keeps the open conditions, macros and repeats while the statements go by."""

    def __init__(self, name: str, statements: tuple[Statement, ...]) -> None:
        self.name = name
        self.statements = statements
        self.open: list[_Open] = []
        self.includes: list[Include] = []
        self.guards: list[GuardSpan] = []

    def visit(self, index: int) -> None:
        """Look at a statement; those that are no directive matter for strings and dots alone."""
        statement = self.statements[index]
        if statement.kind is Kind.METADATA:
            return
        self._refuse_tricks(statement)
        if statement.kind is not _DIRECTIVE:
            return
        name = statement.name
        if name == ".include":
            self._include(statement, index)
        elif name == ".incbin":
            raise self._error(statement, '".incbin" reads a file that no closure holds')
        elif name == ".end":
            raise self._error(statement, '".end" hides the rest of the text')
        elif name == ".macro":
            self._macro(statement, index)
        elif name in REPEATS:
            self.open.append(_Open("repeat", statement.line, index))
        elif name in MACRO_ENDS:
            self._close(statement, "macro")
        elif name in REPEAT_ENDS:
            self._close(statement, "repeat")
        else:
            self._condition(statement, index)

    def finish(self) -> None:
        """Refuse what is still open at the end of the file."""
        if self.open:
            left = self.open[-1]
            raise BadInput(f"{left.kind} is never ended", location=f"{self.name}:{left.line}")

    def _condition(self, statement: Statement, index: int) -> None:
        name = statement.name
        if name.startswith(".if"):
            symbol = self._guard_symbol(index) if not self.open else ""
            self.open.append(_Open("condition", statement.line, index, symbol))
        elif name.startswith(".else"):
            if not self.open or self.open[-1].kind != "condition":
                raise self._error(statement, f'"{name}" without a condition')
            self.open[-1].guard_symbol = ""
        elif name == ".endif":
            closed = self._close(statement, "condition")
            if closed.guard_symbol:
                holds = any(found.statement_index > closed.index for found in self.includes[-1:])
                self.guards.append(GuardSpan(closed.guard_symbol, closed.index, index, holds))

    def _guard_symbol(self, index: int) -> str:
        """Return the symbol when ``.ifndef SYMBOL`` is followed at once by setting it."""
        condition = self.statements[index]
        following = self.statements[index + 1] if index + 1 < len(self.statements) else None
        if condition.name not in (".ifndef", ".ifnotdef") or following is None:
            return ""
        symbol = condition.operands
        sets = (
            following.name in SETTERS and following.operands.partition(",")[0].strip() == symbol
        ) or (following.kind is Kind.ASSIGNMENT and following.name == symbol)
        return symbol if sets and _SYMBOL.fullmatch(symbol) else ""

    def _include(self, statement: Statement, index: int) -> None:
        match = _QUOTED_PATH.fullmatch(statement.operands)
        if match is None:
            raise self._error(
                statement,
                'operand of ".include" is not one plain quoted path',
                'write .include "FOLDER/FILE"',
            )
        for around in self.open:
            if around.kind != "condition":
                raise self._error(statement, f'".include" inside a {around.kind}')
            if not around.guard_symbol:
                raise self._error(
                    statement,
                    '".include" under a condition',
                    "only the file's own include guard may surround an include",
                )
        place = f"{self.name}:{statement.line}"
        self.includes.append(Include(statement.line, index, relative_name(match[1], place)))

    def _macro(self, statement: Statement, index: int) -> None:
        if "\\" in statement.operands.replace(",", " ").partition(" ")[0]:
            raise self._error(statement, "macro whose name another macro makes")
        self.open.append(_Open("macro", statement.line, index))

    def _close(self, statement: Statement, kind: str) -> _Open:
        if not self.open or self.open[-1].kind != kind:
            raise self._error(statement, f'"{statement.name}" closes no {kind}')
        return self.open.pop()

    def _refuse_tricks(self, statement: Statement) -> None:
        """Refuse text from which an expansion could make a directive that reads a file."""
        operands = statement.operands
        if not _CAN_TRICK.search(operands):
            return
        if statement.kind is Kind.DIRECTIVE and statement.name not in (".irp", ".irpc", ".macro"):
            bare = _STRING.sub("", operands)
        else:
            bare = operands
        if _READS_FILES.search(bare):
            raise self._error(statement, "operand could become a directive that reads a file")
        if '"' not in operands:
            return
        if "\\" in statement.name and statement.kind is not Kind.LABEL:
            raise self._error(statement, "statement made by a macro takes a string")
        if statement.name == ".irpc" or (
            statement.kind is not Kind.DIRECTIVE
            and _ANGLE_TEXT.search(operands)
            and any(other.name == ".altmacro" for other in self.statements)
        ):
            raise self._error(statement, "quote could become part of a statement")

    def _error(self, statement: Statement, fact: str, hint: str = "") -> BadInput:
        return BadInput(fact, location=f"{self.name}:{statement.line}", hint=hint)
