"""The action digest, and what goes into it as named texts that can be compared and shown.

It is the name under which the store knows what an action makes. It covers all that can change an
output, and nothing that cannot: no path, no name of a place, no product folder. A stage sees bytes
by role, parameters and the tool chain, so these are what counts; a name that a stage prints is one
of its parameters.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from netra_build.build.digests.code_digest import code_digest, code_parts
from netra_build.build.graph.actions import Action, Place
from netra_build.core.canonical_json import Json, canonical_text, lower, plain_text
from netra_build.core.digests import blake3_hex

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


LONGEST_TEXT = 120
"""Characters of a parameter that are kept as they are; of a longer one its digest is kept."""
MOST_PARTS, DEEPEST = 64, 3
"""How far a parameter is taken apart: into how many named parts, over how many levels."""
SHORT_DIGEST = 12


class Input(NamedTuple):
    """One input: its path on this machine, its name below its root and the BLAKE3 of its bytes.

    The digest is empty as long as it is not known, because the input is yet to be made.
    """

    path: str
    name: str
    digest: str


@dataclass(frozen=True)
class Ingredients:
    """Inputs by role, parameters, code and tools by name.

    ``code_key`` and ``tools_key`` are digests of the whole ``code`` and ``tools``.
    """

    inputs: Mapping[str, Input]
    parameters: Mapping[str, str]
    code_key: str
    code: Mapping[str, str]
    tools_key: str
    tools: Mapping[str, str]


def ingredients_of(
    action: Action,
    path_of: Callable[[Place], str],
    digest_of: Callable[[str, Place], str],
    identity: Callable[[], Mapping[str, str]],
) -> Ingredients:
    """Return the ingredients of ``action``.

    ``digest_of`` tells the BLAKE3 of an input, ``identity`` that of the tools, if it uses them.
    """
    tools = identity() if action.stage.uses_tools else {}
    return Ingredients(
        inputs={
            role: Input(path_of(place), place.name, digest_of(role, place))
            for role, place in action.inputs
        },
        parameters=dict(parameter_texts(action.parameters)),
        code_key=code_digest(action.stage.module),
        code=code_parts(action.stage.module),
        tools_key=_tools_key(tuple(tools.items())) if tools else "",
        tools=tools,
    )


def shown_digest(digest: str) -> str:
    """Return a BLAKE3 as it is shown to people."""
    return f"b3:{digest[:SHORT_DIGEST]}" if digest else "not made yet"


def parameter_texts(parameters: Iterable[tuple[str, Json]]) -> Iterator[tuple[str, str]]:
    """Yield name and text of each parameter, objects and lists of named values taken apart."""
    for name, value in parameters:
        if not isinstance(value, dict | list):
            yield name, _text(value)
            continue
        for depth in (DEEPEST, 1, 0):
            parts = list(_parts(name, value, depth))
            if len(parts) <= MOST_PARTS or depth == 0:
                yield from ((part, _text(leaf)) for part, leaf in parts)
                break


def _parts(name: str, value: Json, depth: int) -> Iterator[tuple[str, Json]]:
    below = _members(value) if depth else {}
    if not below:
        yield name, value
    for key, part in below.items():
        yield from _parts(f"{name}.{key}", part, depth - 1)


def _members(value: Json) -> dict[str, Json]:
    """Return the named parts of an object, or of a list of pairs with names that all differ."""
    if isinstance(value, dict):
        return value
    if not isinstance(value, list):
        return {}
    pairs = [(pair[0], pair[1]) for pair in value if isinstance(pair, list) and len(pair) == 2]
    named = {name: part for name, part in pairs if isinstance(name, str)}
    return named if len(named) == len(value) else {}


@lru_cache(maxsize=16)
def _tools_key(tools: tuple[tuple[str, str], ...]) -> str:
    return blake3_hex(canonical_text(dict(tools)).encode())


def _text(value: Json) -> str:
    try:
        text = plain_text(value)
    except TypeError:  # lowering takes longer than all the rest, and few values need it
        text = canonical_text(value).rstrip()
    if len(text) <= LONGEST_TEXT:
        return text
    return f"{shown_digest(blake3_hex(text.encode()))} ({len(text)} characters)"
