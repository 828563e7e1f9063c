"""The kernel that is mutated, and everything that its mutants are held against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from netra_build.checkasm.hazards.conformity import abi_facts
from netra_build.checkasm.mutate.intervals import Bounds
from netra_build.formats.abi import KernelAbi
from netra_build.formats.catalogs.tactic import FixedTactic
from netra_build.formats.golden import GoldenSource


@dataclass(frozen=True)
class Subject:
    """The kernel to be mutated. Without a ``tactic`` there is no launch to compare with."""

    name: str
    unit: bytes
    tactic: str = ""
    specialization: Mapping[str, int] = field(default_factory=dict)
    seed: int = 1
    contract: Mapping[str, Any] = field(default_factory=dict)
    """What ``conform`` holds the code object against; nothing is held against an empty one."""
    bounds: Bounds | None = None
    """What the contract limits; without it no interval proves a value mutant harmless."""


def golden_subject(
    golden: GoldenSource, unit: bytes, tactic: FixedTactic | None, abi: KernelAbi | None
) -> Subject:
    """Return the subject of one golden source; ``unit`` is its text.

    ``tactic`` and ``abi`` are its catalog entry and its ABI record, None where there is none.
    """
    specialization = dict(golden.specialization)
    block = tactic.launch_block.resolve(_constants(tactic, specialization)) if tactic else 0
    return Subject(
        name=golden.source,
        unit=unit,
        tactic=golden.tactic,
        specialization=specialization,
        contract=_contract(tactic, abi, block) if tactic else {},
        bounds=_bounds(abi, block) if tactic and abi else None,
    )


def _constants(tactic: FixedTactic, specialization: Mapping[str, int]) -> dict[str, int]:
    return {**{name: values[0] for name, values in tactic.contract_constants}, **specialization}


def _contract(tactic: FixedTactic, abi: KernelAbi | None, block: int) -> dict[str, Any]:
    return {
        "kernarg_size": tactic.kernarg_size,
        "launch": {"block": [block, 1, 1], "lds_bytes": tactic.lds_bytes},
        **(abi_facts(abi, tactic.max_threads) if abi else {}),
    }


def _bounds(abi: KernelAbi, block: int) -> Bounds | None:
    """Return what the record limits, None when it limits nothing."""
    if abi.limits is None:
        return None
    return Bounds(abi.limits.grid, block, dict(abi.limits.elements), dict(abi.limits.values))
