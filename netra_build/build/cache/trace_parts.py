"""The two parts of a trace: what was asked, which tells traces apart, and what was made of it.

Each is a JSON document of its own in the store. Of the traces that are kept for a request nearly
all are of other sources: of those the first part is read alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from netra_build.build.record.tally import Paths
from netra_build.core.canonical_json import Json, parse_object, plain_canonical_bytes
from netra_build.core.errors import BadInput
from netra_build.core.stamps import check_texts, groups_in

OTHER_FORM = (KeyError, TypeError, ValueError, AttributeError)


def not_a_trace() -> BadInput:
    """Return the error for a document that is none of ours."""
    return BadInput("not a trace", location="store")


@dataclass(frozen=True)
class Asked:
    """What decided about a request, by paths relative to its checkout."""

    inputs: Mapping[str, str]
    """The BLAKE3 of each file that was read."""
    answers: tuple[tuple[str, str, bool], ...] = ()
    """Kind of question, path and answer."""
    listings: tuple[tuple[str, str, tuple[str, ...]], ...] = ()
    """Folder, suffix and the names below it."""

    def document(self) -> dict[str, Json]:
        """Return what was asked as plain JSON."""
        return {
            "names": list(self.inputs),
            "digests": list(self.inputs.values()),
            "answers": [list(answer) for answer in self.answers],
            "listings": [[folder, suffix, [*names]] for folder, suffix, names in self.listings],
        }


def read_asked(document: Json) -> Asked:
    """Return what was asked from its document; ``BadInput`` for any other."""
    try:
        return Asked(
            inputs=_digests(document),
            answers=tuple((str(kind), str(n), bool(a)) for kind, n, a in document["answers"]),
            listings=tuple((str(f), str(s), _texts(n)) for f, s, n in document["listings"]),
        )
    except OTHER_FORM:
        raise not_a_trace() from None


@dataclass(frozen=True)
class TracedProduct:
    """A folder that a request makes whole: its seal and the names of all its files."""

    folder: str
    seal: str
    names: tuple[str, ...]


@dataclass(frozen=True)
class Made:
    """All that a request made, by paths relative to its checkout."""

    outputs: Mapping[str, str]
    """The BLAKE3 of each file, those of the actions one after the other first."""
    actions: tuple[tuple[str, int], ...] = ()
    """Each action digest, and how many files were made by it."""
    products: tuple[TracedProduct, ...] = ()
    said: tuple[str, ...] = ()
    requests: Mapping[str, Json] = field(default_factory=dict)
    """What was asked for, as the record of runs has it."""

    def makers(self) -> list[tuple[str, Paths]]:
        """Return each action digest with what was made by it, in the order of its roles."""
        groups = groups_in(self.outputs, [count for _, count in self.actions])
        return [(action, names) for (action, _), names in zip(self.actions, groups, strict=True)]

    def document(self) -> dict[str, Json]:
        """Return what was made as plain JSON."""
        return {
            "names": list(self.outputs),
            "digests": list(self.outputs.values()),
            "actions": [action for action, _ in self.actions],
            "counts": [count for _, count in self.actions],
            "products": [[product.folder, product.seal] for product in self.products],
            "said": list(self.said),
            "requests": dict(self.requests),
        }


def read_made(document: Json) -> Made:
    """Return what was made from its document; ``BadInput`` for any other."""
    try:
        outputs, actions = _digests(document), _texts(document["actions"])
        counts = [len(group) for group in groups_in(outputs, document["counts"])]
        return Made(
            outputs=outputs,
            actions=tuple(zip(actions, counts, strict=True)),
            products=tuple(
                TracedProduct(str(folder), str(seal), outputs_below(outputs, str(folder)))
                for folder, seal in document["products"]
            ),
            said=_texts(document["said"]),
            requests=_requests(document["requests"]),
        )
    except OTHER_FORM:
        raise not_a_trace() from None


def outputs_below(outputs: Sequence[str] | Mapping[str, str], folder: str) -> tuple[str, ...]:
    """Return the names below a folder of the outputs that lie in it."""
    prefix = f"{folder}/"
    return tuple(name.removeprefix(prefix) for name in outputs if name.startswith(prefix))


def part_bytes(document: dict[str, Json]) -> bytes:
    """Return a part as it is kept."""
    return plain_canonical_bytes(document)


def part_of(data: bytes | None) -> dict[str, Json]:
    """Return the document of a part; ``BadInput`` when there is none."""
    if data is None:
        raise BadInput("a part of a trace is gone", location="store")
    return parse_object(data, "store")


def _digests(document: Any) -> dict[str, str]:
    names, digests = document["names"], document["digests"]
    check_texts(names)
    check_texts(digests)
    found = dict(zip(names, digests, strict=True))
    if len(found) != len(names):
        raise ValueError("a file is named twice")
    return found


def _requests(value: Any) -> dict[str, Json]:
    check_texts(list(value))
    if not all(isinstance(one, dict) and isinstance(one["graph"], str) for one in value.values()):
        raise TypeError("not a request")
    return dict(value)


def _texts(value: Any) -> tuple[str, ...]:
    check_texts(value)
    return tuple(value)
