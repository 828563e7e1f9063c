"""Strict planning: placeholder."""

from __future__ import annotations

from collections.abc import Mapping

from netra_build.records.abi import KernelAbi
from netra_build.records.plan import EnginePlan


def check_strictly(plan: EnginePlan, abi_by_tactic: Mapping[str, KernelAbi]) -> None:
    """Refuse what the published compiler lets through; raise ``BadInput``."""
    if plan.problems:
        raise plan.problems[0]
