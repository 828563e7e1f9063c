"""The heads of all entries of the record of runs as one JSON document, a column for each part.

They are read in every build that runs something, however many actions that does not concern.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any

from netra_build.build.record.run_entry import Head, counted
from netra_build.core.stamps import check_texts, groups_in


def heads_document(heads: Sequence[Head]) -> dict[str, Any]:
    """Return heads as plain JSON; what many have in common stands there once, as their kind."""
    kinds = [(head.graph, head.stage, head.code_key, head.tools_key) for head in heads]
    number = {kind: index for index, kind in enumerate(dict.fromkeys(kinds))}
    return {
        "outputs": list(chain.from_iterable([head.outputs for head in heads])),
        "counts": [len(head.outputs) for head in heads],
        "kinds": list(map(list, number)),
        "kind": [number[kind] for kind in kinds],
        "subjects": [head.subject for head in heads],
        "last": [head.last for head in heads],
    }


def read_heads(document: Any) -> list[Head]:
    """Return heads from their document.

    Raises ``KeyError``, ``TypeError`` or ``ValueError`` for any other.
    """
    outputs, subjects, last = (document[part] for part in ("outputs", "subjects", "last"))
    kinds, numbers = document["kinds"], document["kind"]
    check_texts(outputs)
    check_texts(subjects)
    "".join(chain(outputs, subjects)).encode()  # a lone surrogate could not be written again
    groups = groups_in(outputs, document["counts"])
    if sum(map(len, groups)) != len(outputs):
        raise ValueError("outputs that no action makes")
    for builds in {*last}:
        counted(builds)
    kind_of = {index: _kind(kind) for index, kind in enumerate(kinds)}
    if {*map(type, (*last, *numbers))} - {int}:
        raise TypeError("not a list of numbers")
    return [
        Head(paths, graph, stage, subject, builds, code_key, tools_key)
        for paths, subject, builds, (graph, stage, code_key, tools_key) in zip(
            groups, subjects, last, map(kind_of.__getitem__, numbers), strict=True
        )
    ]


def _kind(texts: Any) -> tuple[str, str, str, str]:
    check_texts(texts)
    "".join(texts).encode()
    graph, stage, code_key, tools_key = texts
    return graph, stage, code_key, tools_key
