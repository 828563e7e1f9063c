"""The action digest, and the digest of the code behind a stage that is part of it.

The action digest is the name under which the store knows what an action makes. It covers all that
can change an output, and nothing that cannot: no path, no name of a place, no product folder. A
stage sees bytes by role, parameters and the tool chain, so these are what counts; a name that a
stage prints is one of its parameters.

The code is our modules that the stage reaches by import, as they are executed, Python, and the
libraries it uses: a
command never enters the digest of a stage that does not import it, and a new release of a library
enters exactly the stages that import it.
"""

from __future__ import annotations

import ast
import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from netra_build.build.digests.distributions import DISTRIBUTION_BY_IMPORT, installed_version
from netra_build.build.graph.actions import Action
from netra_build.core.canonical_json import Json, canonical_bytes, lower
from netra_build.core.digests import blake3_hex
from netra_build.core.errors import ToolchainFailed
from netra_build.core.own_code import own_bytes

PACKAGE = "netra_build"
SHORT_DIGEST = 16
TEXT_SUFFIXES = (".css", ".html")
"""Files that count as code of the module they stand beside: ``page.html`` of ``page.py``."""

PACKAGE_FOLDER = Path(os.path.abspath(__file__)).parents[2]
"""Where the package was imported from; a link is left, since another folder may take its place."""
TOOLCHAINS = PACKAGE_FOLDER.parent / ".toolchain"
"""What this installation brings along: unpacked packages of tools, and the native part."""


FORMAT = "netra-action-1"

_ENCODER = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def action_digest(
    action: Action, input_digests: Mapping[str, str], identity: Callable[[], Mapping[str, str]]
) -> str:
    """Return the BLAKE3 (hexadecimal) of an action whose inputs have these BLAKE3s, by role.

    Roles and parameters are in order (``Stage.apply``). Keys *inside* a parameter stay in the
    order in which the stage sees them: it may go through them, so another order is another action.
    """
    stage = action.stage
    document = {
        "format": FORMAT,
        "stage": stage.name,
        "code": code_digest(stage.module),
        "tools": identity() if stage.uses_tools else None,
        "parameters": [[name, value] for name, value in action.parameters],
        "inputs": [[role, input_digests[role]] for role, _ in action.inputs],
        "outputs": [role for role, _ in action.outputs],
    }
    return blake3_hex(_document_text(document).encode("utf-8", "surrogatepass"))


def _document_text(document: Json) -> str:
    """Return the JSON of a document, lowered only if it has to be: that takes most of the time."""
    try:
        return _ENCODER.encode(document)
    except TypeError:
        return _ENCODER.encode(lower(document))


@dataclass(frozen=True)
class CodeReach:
    """Modules of ours (name to source digest) and distributions (name to version) of one root."""

    modules: tuple[tuple[str, str], ...]
    distributions: tuple[tuple[str, str], ...]


@cache
def code_digest(module: str) -> str:
    """Return the BLAKE3 of all code that ``module`` reaches by import."""
    reach = code_reach(module)
    identity = {
        "python": python_version(),
        "modules": dict(reach.modules),
        "distributions": dict(reach.distributions),
    }
    return blake3_hex(canonical_bytes(identity))


def python_version() -> str:
    """Return name and version of the running Python, for example ``cpython 3.11.7``."""
    return f"{sys.implementation.name} {'.'.join(map(str, sys.version_info[:3]))}"


@cache
def code_parts(module: str) -> Mapping[str, str]:
    """Return what ``code_digest`` speaks of, by name; of our modules the head of their digest."""
    reach = code_reach(module)
    return MappingProxyType(
        {
            "Python": python_version(),
            **{f"module {name}": digest[:SHORT_DIGEST] for name, digest in reach.modules},
            **{f"library {name}": version for name, version in reach.distributions},
        }
    )


@cache
def code_reach(module: str) -> CodeReach:
    """Return what ``module`` reaches, itself included, over imports anywhere in the source.

    Raises ``ToolchainFailed`` when a library that it imports is not installed.
    """
    ours: dict[str, str] = {}
    others: set[str] = set()
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in ours:
            continue
        digest, imports = _read_module(name)
        ours[name] = digest
        for imported in imports:
            if imported.split(".")[0] == PACKAGE:
                waiting.append(imported)
            elif imported.split(".")[0] in DISTRIBUTION_BY_IMPORT:
                others.add(DISTRIBUTION_BY_IMPORT[imported.split(".")[0]])
    versions = tuple((name, _installed_version(name)) for name in sorted(others))
    return CodeReach(tuple(sorted(ours.items())), versions)


def _installed_version(distribution: str) -> str:
    version = installed_version(distribution)
    if version is None:
        raise ToolchainFailed(
            f'Python package "{distribution}" is not installed',
            hint=f"pip install {distribution}, or the extra of netra-build that brings it",
        )
    return version


@cache
def _read_module(name: str) -> tuple[str, tuple[str, ...]]:
    path = module_path(name)
    if path is None:
        raise ValueError(f"no module {name}")
    source = own_bytes(str(path))
    imports = set(imported_modules(import_tree(source, name)))
    texts = (path.with_suffix(suffix) for suffix in TEXT_SUFFIXES)
    read_as_code = b"".join(own_bytes(str(text)) for text in texts if text.is_file())
    return blake3_hex(source + read_as_code), tuple(sorted(imports))


def imported_modules(tree: ast.AST) -> Iterator[str]:
    """Yield the absolute name of every module that ``tree`` imports, packages of ours resolved."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            if node.module.split(".")[0] == PACKAGE:
                for alias in node.names:
                    if module_path(f"{node.module}.{alias.name}") is not None:
                        yield f"{node.module}.{alias.name}"


@cache
def module_path(name: str) -> Path | None:
    """Return the source file of a module of ours, or None if there is no such module."""
    parts = name.split(".")
    if parts[0] != PACKAGE:
        return None
    folder = PACKAGE_FOLDER.joinpath(*parts[1:])
    if (folder / "__init__.py").is_file():
        return folder / "__init__.py"
    file = folder.with_suffix(".py")
    return file if len(parts) > 1 and file.is_file() else None


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
        statements = None if _ELSEWHERE.search(text) else _import_statements(text)
        if statements is not None:
            return ast.parse("\n".join(statements), filename=name)
    except (UnicodeDecodeError, SyntaxError):
        pass
    return ast.parse(source, filename=name)


def _import_statements(text: str) -> list[str] | None:
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
