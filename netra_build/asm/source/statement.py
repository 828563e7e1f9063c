"""The lines of assembly text and the statements on them: kind, name and canonical text.

The language is that of LLVM's assembler for AMDGPU: ``//`` and ``;`` start a comment, ``/* */``
is a blank, ``#`` comments a line that starts with it, and only a line's end separates statements.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from netra_build.core.errors import BadInput

MAX_SOURCE_BYTES = 16 * 1024 * 1024


class Kind(Enum):
    """What a statement is."""

    DIRECTIVE = "directive"
    LABEL = "label"
    ASSIGNMENT = "assignment"
    INSTRUCTION = "instruction"
    MACRO_CALL = "macro call"
    METADATA = "metadata"
    """One line of text between ``.amdgpu_metadata`` and its end, indentation kept."""


class Statement(NamedTuple):
    """One statement. ``line`` counts from one in the file that holds it.

    A library has millions of them: a tuple is made in a third of the time that a record takes.
    """

    line: int
    kind: Kind
    name: str
    """Directive (lower case), label or symbol set, mnemonic or macro; empty for metadata."""
    operands: str
    text: str
    """The canonical text: no comment, no blank that the assembler cannot see."""
    depth: int = 0
    """How many ``.macro`` or repeat bodies surround the statement."""
    has_comment: bool = False
    """Whether a comment follows on the same line."""


_DIRECTIVE, _INSTRUCTION, _MACRO_CALL = Kind.DIRECTIVE, Kind.INSTRUCTION, Kind.MACRO_CALL
"""By names of their own: to find a member in its class takes as long as to make a statement."""

REPEATS = frozenset({".rept", ".rep", ".irp", ".irpc"})
REPEAT_ENDS = frozenset({".endr"})
MACRO_ENDS = frozenset({".endm", ".endmacro"})
METADATA_START, METADATA_END = ".amdgpu_metadata", ".end_amdgpu_metadata"

BLANK_SENSITIVE = frozenset({".macro", ".irp", ".irpc", ".ifc", ".ifnc", ".ifb", ".ifnb"})
"""Directives whose operands are taken as text, so that blanks between them can matter."""

_WORD = r"(?:[A-Za-z0-9_.$@?]|\\(?:\(\))?)++"
_LABEL = re.compile(rf'({_WORD}|"(?:[^"\\]|\\.)*")[ \t]*:')
_ASSIGNMENT = re.compile(rf"({_WORD})[ \t]*(==?)(?!=)(.*)", re.DOTALL)
HEAD = re.compile(rf"{_WORD}")
_BLANKS = re.compile(r"[ \t]+")
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:\\.|[^\\])\'|[ \t]+')

_PLAIN = re.compile(r"[\t -~]*")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:\\.|[^\\\'])\'|//|;|/\*|["\']')
_METADATA_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|//|;|/\*|"')
_CONTROL = re.compile(r"[\x01-\x08\x0a-\x1f\x7f]")
_BEYOND_ASCII = re.compile(r"[^\x00-\x7f]")
_MACRO_LINE = re.compile(r"[ \t]*\.macro[ \t]+([^\s,]+)(.*)", re.IGNORECASE)
_BLOCK_SCALAR = re.compile(r"[:-][ \t]+[|>][-+0-9]*[ \t]*$")
_YAML_COMMENT = re.compile(r"(?:^|[ \t])#")


@dataclass(frozen=True)
class Logical:
    """One statement's text with comments cut out, and where it begins."""

    line: int
    text: str
    has_comment: bool
    has_inner_comment: bool = False
    """Whether a block comment stands behind the statement's first character."""


def decode_source(data: bytes, location: str) -> list[str]:
    """Return the lines of a source without line ends; ``BadInput`` with file and line otherwise.

    Refused: more than ``MAX_SOURCE_BYTES``, NUL bytes, invalid UTF-8, a carriage return that ends
    no line.
    """
    if len(data) > MAX_SOURCE_BYTES:
        raise BadInput(
            "source is too large",
            location=location,
            expected=f"at most {MAX_SOURCE_BYTES} bytes",
            got=len(data),
        )
    plain = data.replace(b"\r\n", b"\n")
    for byte, name in ((b"\0", "a NUL byte"), (b"\r", "a carriage return that ends no line")):
        if byte in plain:
            line = plain.count(b"\n", 0, plain.index(byte)) + 1
            raise BadInput(f"source holds {name}", location=f"{location}:{line}")
    try:
        return plain.decode("utf-8").split("\n")
    except UnicodeDecodeError as error:
        line = plain.count(b"\n", 0, error.start) + 1
        raise BadInput("source is not valid UTF-8", location=f"{location}:{line}") from None


def macro_names(lines: list[str]) -> dict[str, bool]:
    """Return every macro that a text may define and whether it takes the rest of the line."""
    return {
        match[1]: ":vararg" in match[2].lower()
        for line in lines
        if (".m" in line or ".M" in line) and (match := _MACRO_LINE.match(line))
    }


def split_labels(text: str) -> tuple[tuple[str, ...], str]:
    """Return the labels that lead a statement, and the rest of it without leading blanks."""
    labels = []
    at = 0
    while match := _LABEL.match(text, at):
        labels.append(match[1])
        at = match.end()
        while at < len(text) and text[at] in " \t":
            at += 1
    return tuple(labels), text[at:]


def takes_text(statement: Statement) -> bool:
    """Tell whether blanks and comments among the operands can reach the machine code."""
    return (
        statement.kind is Kind.MACRO_CALL
        or statement.name in BLANK_SENSITIVE
        or "\\" in statement.name
    )


def collapse_blanks(text: str) -> str:
    """Return ``text`` with each run of blanks outside strings made one space, none at the ends."""
    if '"' not in text and "'" not in text:
        if "\t" not in text and "  " not in text:
            return text.strip(" ")
        return _BLANKS.sub(" ", text).strip(" ")
    pieces = []
    at = 0
    for match in _PIECE.finditer(text):
        pieces.append(text[at : match.start()])
        pieces.append(match[0] if match[0][0] in "\"'" else " ")
        at = match.end()
    return "".join([*pieces, text[at:]]).strip(" ")


def make_statement(
    text: str, line: int, depth: int, has_comment: bool, macros: Mapping[str, bool]
) -> Statement:
    """Classify one label-free statement that starts with no blank and holds no comment.

    ``macros`` maps each known macro to whether its last parameter takes the rest of the line
    (``:vararg``); blanks in front of a comment then belong to that argument and are kept.
    """
    if match := _ASSIGNMENT.fullmatch(text):
        canonical = collapse_blanks(f"{match[1]} {match[2]} {match[3]}")
        operands = collapse_blanks(match[3])
        return Statement(line, Kind.ASSIGNMENT, match[1], operands, canonical, depth, has_comment)
    head = HEAD.match(text)
    name = head[0] if head else ""
    return classify(name, text[len(name) :], line, depth, has_comment, macros)


def classify(
    name: str, rest: str, line: int, depth: int, has_comment: bool, macros: Mapping[str, bool]
) -> Statement:
    """Return the statement of a first word and what follows it, when it is no assignment."""
    known = macros.get(name)
    if known is not None or "\\" in name:
        kind = _MACRO_CALL if known is not None else _INSTRUCTION
        operands = rest.lstrip(" \t") if known or "\\" in name else rest.strip(" \t")
    elif name[:1] == ".":
        kind, name = _DIRECTIVE, name.lower()
        operands = rest.strip(" \t") if name in BLANK_SENSITIVE else collapse_blanks(rest)
    else:
        kind, operands = _INSTRUCTION, collapse_blanks(rest)
    separator = " " if operands and (not rest or rest[0] in " \t") else ""
    canonical = f"{name}{separator}{operands}"
    return Statement(line, kind, name, operands, canonical, depth, has_comment)


class Cursor:
    """Reads physical lines and joins those that a block comment joins."""

    def __init__(self, lines: list[str], location: str) -> None:
        self.lines = lines
        self.location = location
        self.number = 1

    def has_more(self) -> bool:
        """Tell whether a line is left."""
        return self.number <= len(self.lines)

    def take(self) -> str:
        """Return the next line."""
        self.number += 1
        return self.lines[self.number - 2]

    def statement(self) -> Logical:
        """Return the next statement's text without comments, empty when nothing is left."""
        first = self.number
        text = self.take()
        pieces: list[str] = []
        starts_at = at = 0
        has_comment = False
        while match := _TOKEN.search(text, at):
            token, at = match[0], match.end()
            if token in ('"', "'"):
                fact = "string is not ended on its line" if token == '"' else "stray quote"
                raise BadInput(fact, location=f"{self.location}:{self.number - 1}")
            if token in ("//", ";"):
                has_comment = True
                text = text[: match.start()]
                break
            if token == "/*":
                piece = self._verified(text[starts_at : match.start()])
                if pieces or piece.strip(" \t"):
                    pieces.append(piece)
                text, at = self._behind_comment(text, at)
                starts_at = at
                first = first if pieces else self.number - 1
        whole = " ".join([*pieces, self._verified(text[starts_at:])]).lstrip(" \t")
        return Logical(first, whole, has_comment, bool(pieces))

    def _behind_comment(self, text: str, at: int) -> tuple[str, int]:
        """Return the line on which the block comment ends and the place behind it."""
        started = self.number - 1
        while (end := text.find("*/", at)) < 0:
            if not self.has_more():
                raise BadInput("comment is never ended", location=f"{self.location}:{started}")
            text, at = self.take(), 0
        return text, end + 2

    def _verified(self, text: str) -> str:
        """Return ``text``; refuse what no statement may hold outside its strings."""
        if _PLAIN.fullmatch(text):
            return text
        bare = _TOKEN.sub(lambda m: "" if len(m[0]) > 1 else m[0], text)
        if _CONTROL.search(text) or _BEYOND_ASCII.search(bare):
            raise BadInput(
                "statement holds a character that is not plain text",
                location=f"{self.location}:{self.number - 1}",
            )
        return text


def metadata_line(line: str, location: str) -> str:
    """Return one line of a metadata block without comments; empty when nothing is left."""
    text = line
    for match in _METADATA_TOKEN.finditer(line):
        if match[0] in ("//", ";"):
            text = line[: match.start()]
            break
        if match[0] in ('"', "/*") or "'" in line:
            raise BadInput("metadata line mixes quotes or holds a block comment", location=location)
    if not text.isprintable() and _CONTROL.search(text):
        raise BadInput("metadata line holds a control character", location=location)
    if _BLOCK_SCALAR.search(text):
        raise BadInput("metadata holds a block scalar", location=location)
    words = text.split(maxsplit=1)
    if words and words[0].lower() in MACRO_ENDS | {".macro"}:
        raise BadInput(f'"{words[0]}" inside a metadata block', location=location)
    if '"' not in text and "'" not in text and (comment := _YAML_COMMENT.search(text)):
        text = text[: comment.start()]
    return text.rstrip(" \t")
