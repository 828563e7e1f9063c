"""The assembly text that we accept, cut into statements; most lines are of one plain statement."""

from __future__ import annotations

import re
from collections.abc import Mapping

from netra_build.asm.source.statement import (
    MACRO_ENDS,
    METADATA_END,
    METADATA_START,
    REPEAT_ENDS,
    REPEATS,
    Cursor,
    Kind,
    Logical,
    Statement,
    classify,
    decode_source,
    macro_names,
    make_statement,
    metadata_line,
    split_labels,
    takes_text,
)
from netra_build.core.errors import BadInput

_PLAIN_STRING = r'"[ !#-\[\]-~]*+"'
_SIMPLE = re.compile(
    r"[ \t]*+([A-Za-z_.][A-Za-z0-9_.$]*+)"
    rf"(?:[ \t]++(?:[!#-&(-.0-9<>-~]|{_PLAIN_STRING})"
    rf"(?:[\t !#-&(-.0-:<-~]++|{_PLAIN_STRING})*+)?"
)
"""A line of one statement without label, assignment and comment, as most lines are."""

_INSTRUCTIONS = re.compile(
    r"^(?:[ \t]*+(([A-Za-z_][A-Za-z0-9_.$]*+)"
    r"(?: ([!#-&(-.0-9<>-~](?: ?[!#-&(-.0-:<-~]++)*+))?)$|.*$)",
    re.MULTILINE,
)
"""Every line of a text: canonical text, first word and operands of one that is simple and no
directive, so that it is its own statement unless the word is a macro; of any other nothing."""

_NOTHING = re.compile(r"[ \t]*+(?:\Z|//|;|#)")
"""A line without any statement, as far as its beginning tells."""

_DIRECTIVE, _PLAIN_KIND = Kind.DIRECTIVE, Kind.INSTRUCTION


def lex(data: bytes, location: str, macros: Mapping[str, bool]) -> tuple[Statement, ...]:
    """Cut one source into statements; ``macros`` are those that other files define.

    Raises ``BadInput`` at file and line for what ``decode_source`` refuses and for unterminated
    strings, characters and comments, control characters and non-ASCII text in statements, and
    unusual text in a metadata block.
    """
    lines = decode_source(data, location)
    reading = _Reading(lines, location, {**macros, **macro_names(lines)})
    reading.run()
    return tuple(reading.statements)


class _Reading:
    """Collects the statements of one source while its lines go by."""

    def __init__(self, lines: list[str], location: str, known: Mapping[str, bool]) -> None:
        self.location = location
        self.known = known
        self.cursor = Cursor(lines, location)
        self.statements: list[Statement] = []
        self.depth = 0

    def run(self) -> None:
        """Read all lines; most are of one statement, the others are cut out with care."""
        cursor, lines, known = self.cursor, self.cursor.lines, self.known
        plain = _INSTRUCTIONS.findall("\n".join(lines))
        while (number := cursor.number) <= len(lines):
            text, name, operands = plain[number - 1]
            if text and name not in known:
                cursor.number += 1
                row = (number, _PLAIN_KIND, name, operands, text, self.depth, False)
                self.statements.append(tuple.__new__(Statement, row))
                continue
            line = lines[number - 1]
            simple = _SIMPLE.fullmatch(line)
            if simple is not None:
                cursor.number += 1
                start, end = simple.span(1)
                name, rest = line[start:end], line[end:]
                self._add(classify(name, rest, number, self.depth, False, known))
                if name == METADATA_START and not rest.strip():
                    self._metadata()
            elif _NOTHING.match(line):
                cursor.number += 1
            else:
                self._unusual(cursor.statement())

    def _unusual(self, logical: Logical) -> None:
        """Add the labels and the statement of a line that holds more than plain words."""
        labels, text = split_labels(logical.text)
        for label in labels:
            self._add(Statement(logical.line, Kind.LABEL, label, "", f"{label}:", self.depth))
        if text:
            has_comment = logical.has_comment
            statement = make_statement(text, logical.line, self.depth, has_comment, self.known)
            _refuse_unclear(statement, logical, labels, self.location)
            self._add(statement)
        if logical.text.strip() == METADATA_START:
            self._metadata()

    def _metadata(self) -> None:
        """Add the lines of a metadata block, its end included, as finished statements."""
        cursor = self.cursor
        while cursor.has_more():
            number = cursor.number
            text = metadata_line(cursor.take(), f"{self.location}:{number}")
            if text.strip() == METADATA_END:
                end = Statement(number, _DIRECTIVE, METADATA_END, "", METADATA_END, self.depth)
                return self._add(end)
            if text:
                self._add(Statement(number, Kind.METADATA, "", "", text, self.depth))
        raise BadInput(f'"{METADATA_START}" is never ended', location=self.location)

    def _add(self, statement: Statement) -> None:
        """Add a statement of the depth reached; an end lies as deep as what it ends."""
        if statement.kind is _DIRECTIVE:
            name = statement.name
            if name == ".macro" or name in REPEATS:
                self.depth += 1
            elif name in MACRO_ENDS or name in REPEAT_ENDS:
                self.depth -= 1
                statement = statement._replace(depth=self.depth)
        self.statements.append(statement)


def _refuse_unclear(
    statement: Statement, logical: Logical, labels: tuple[str, ...], location: str
) -> None:
    place = f"{location}:{logical.line}"
    if logical.has_inner_comment and takes_text(statement):
        raise BadInput(
            "block comment among arguments that are taken as text",
            location=place,
            hint="put the comment on a line of its own",
        )
    if labels and statement.name == METADATA_START:
        raise BadInput("metadata block must begin on a line of its own", location=place)
