"""What an engine directory holds apart from its kernels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.core.canonical_json import Json
from netra_build.formats.contracts import GoldenContract
from netra_build.formats.plan import EnginePlan


@dataclass(frozen=True)
class GoldenObject:
    """A code object that a user brings: its file name and what it must be."""

    name: str
    wanted: Mapping[str, Json]


@dataclass(frozen=True)
class EngineParts:
    """What the engine directory holds apart from its kernels.

    ``documents`` by file name, ``golden_objects`` that are to be copied, ``recipe`` as recorded.
    """

    name: str
    documents: Mapping[str, Json]
    golden_objects: tuple[GoldenObject, ...]
    recipe: Json
    not_pinned: tuple[str, ...]
    notes: tuple[str, ...] = ()


def golden_objects(plan: EnginePlan) -> tuple[GoldenObject, ...]:
    """Return the golden code objects that a plan names, by file name."""
    found = {}
    for operation in plan.operations:
        contract = operation.selection.contract
        if isinstance(contract, GoldenContract):
            wanted: dict[str, Json] = {
                "sha256": contract.hsaco_sha256,
                "symbol": contract.symbol,
                "kernarg_size": contract.kernarg_size,
                "lds_bytes": contract.launch.lds_bytes,
                "block": contract.launch.work_items,
            }
            found[contract.hsaco_name] = GoldenObject(contract.hsaco_name, wanted)
    return tuple(found[name] for name in sorted(found))
