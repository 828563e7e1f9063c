"""The import statements of a module without a parse of all the rest of it."""

from __future__ import annotations

import ast
import re

_FIRST_LINE = re.compile(r"^[ \t\f]*((?:from|import)[ \t\\(].*)$", re.MULTILINE)
_ELSEWHERE = re.compile(r"[:;][ \t\f]*(?:from|import)\b|\r")
"""An import behind something else in its line, or lines that end in another way."""


def import_tree(source: bytes, name: str) -> ast.Module:
    """Return a tree that holds every import statement of ``source``, if not its other statements.

    Only they are parsed. A module in which something else looks like one, or one is not the first
    in its line, is parsed as a whole.
    """
    try:
        text = source.decode("utf-8")
        statements = None if _ELSEWHERE.search(text) else _statements(text)
        if statements is not None:
            return ast.parse("\n".join(statements), filename=name)
    except (UnicodeDecodeError, SyntaxError):
        pass
    return ast.parse(source, filename=name)


def _statements(text: str) -> list[str] | None:
    """Return all that begins like an import statement, up to the end of its line or brackets.

    None if one stands in a long text, as far as its quotes tell.
    """
    found: list[str] = []
    for match in _FIRST_LINE.finditer(text):
        if text.count('"""', 0, match.start()) % 2 or text.count("'''", 0, match.start()) % 2:
            return None
        statement, end = match[1], match.end()
        while statement.count("(") > statement.count(")") or statement.endswith("\\"):
            start, end = end, text.find("\n", end + 1)
            if end < 0:
                return [*found, text[match.start() :].lstrip()]
            statement += text[start:end]
        found.append(statement)
    return found
