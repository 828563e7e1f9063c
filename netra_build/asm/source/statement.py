"""One statement of assembly text: what kind it is, its name and its canonical text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple


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
