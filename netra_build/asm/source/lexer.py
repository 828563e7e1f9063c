"""The assembly text that we accept, cut into statements, and statements into blocks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

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

_WORD = re.compile(r"(?:[A-Za-z0-9_.$@?]|\\(?:\(\)|@|[A-Za-z0-9_.$]+)?)+")
_BOUNDS = MACRO_ENDS | {".macro"}
PLAIN_WORD = re.compile(r"[A-Za-z0-9_.$@?]+")
_EXPANDED = re.compile(r"\\(?:\(\)|@|[A-Za-z0-9_.$]+)?")
_PARAMETER = re.compile(r"(?:\\\(\))*\\[A-Za-z0-9_.$]+(?:\\\(\))*")
"""A word that is one whole argument: it stands as a word of its own where the macro is called."""
_SET = re.compile(r"\s*\.set\s+([A-Za-z_.$][A-Za-z0-9_.$]*)\s*,\s*-?[0-9]+\s*\Z")


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


@dataclass(frozen=True, eq=False)
class Block:
    """Consecutive lines of a unit: one macro's definition, or text between definitions."""

    macro: str
    """The macro's name; empty for text between definitions."""
    text: str
    """The lines, each with its end."""

    @cached_property
    def words(self) -> tuple[frozenset[str], frozenset[re.Pattern[str]]]:
        """The words that stand here whole, and patterns of those that an expansion completes.

        Of the whole ones those with a capital letter: only macros that have one are looked for.
        """
        lines = self.text.split("\n")
        plain = [line for line in lines if "\\" not in line and not line.islower()]
        words = set(PLAIN_WORD.findall("\n".join(plain)))
        open_words: set[str] = set()
        for line in lines:
            if "\\" not in line:
                continue
            for position, word in enumerate(_WORD.findall(line)):
                if "\\" not in word:
                    words.add(word)
                elif not _PARAMETER.fullmatch(word) and (position == 0 or _EXPANDED.sub("", word)):
                    open_words.add(word)
        return frozenset(words), frozenset(map(_pattern, open_words))


def macro_blocks(statements: Sequence[Statement]) -> Iterator[Block]:
    """Yield the definitions that stand outside every other body, and the text between them."""
    start, macro, depth = 0, "", 0
    for index, statement in enumerate(statements):
        if statement.name not in _BOUNDS:
            continue
        starts = statement.name == ".macro"
        if starts and depth == 0 and statement.depth == 0:
            if start < index:
                yield _block("", statements[start:index])
            start, macro = index, re.split(r"[\s,]", statement.operands.strip(), maxsplit=1)[0]
        if not macro:
            continue
        depth += 1 if starts else -1
        if depth == 0:
            yield _block(macro, statements[start : index + 1])
            start, macro = index + 1, ""
    if start < len(statements):
        yield _block(macro if depth else "", statements[start:])


def shared_text(flat: bytes, symbols: Sequence[str], constants: Iterable[str]) -> bytes:
    """Return the flat unit with its symbols numbered and without constants that nothing reads.

    ``symbols`` are those of the macro call, ``constants`` the names that the unit sets first. Units
    of one tactic differ in these only; those that say the same share one assembly.
    """
    lines = flat.decode("utf-8").split("\n")
    settable = set(constants)
    set_at = {index: found[1] for index, line in enumerate(lines) if (found := _SET.match(line))}
    first = {index: name for index, name in set_at.items() if name in settable}
    once = {name for name in first.values() if list(set_at.values()).count(name) == 1}
    others = [line for index, line in enumerate(lines) if first.get(index) not in once]
    read = _read(others, once)
    kept = [line for index, line in enumerate(lines) if first.get(index) not in once - read]
    number = {symbol: f"?symbol{index}?" for index, symbol in enumerate(symbols)}
    text = "\n".join(kept)
    return _WORD.sub(lambda word: number.get(word[0], word[0]), text).encode("utf-8")


def _block(macro: str, statements: Sequence[Statement]) -> Block:
    lines = [statement.text for statement in statements]
    return Block(macro, "\n".join([*lines, ""]))


def _pattern(word: str) -> re.Pattern[str]:
    fixed = [re.escape(part) for part in _EXPANDED.split(word)]
    return re.compile(".*".join(fixed))


def _read(lines: Iterable[str], names: set[str]) -> set[str]:
    """Return the names that the lines could read, also as words that an expansion completes."""
    read: set[str] = set()
    open_words: set[str] = set()
    for line in lines:
        for word in _WORD.findall(line):
            if "\\" not in word:
                read.add(word)
            elif not _PARAMETER.fullmatch(word):
                open_words.add(word)
    patterns = list(map(_pattern, open_words))
    return {name for name in names if name in read or any(p.fullmatch(name) for p in patterns)}
