"""Tactics: the ways to meet a contract that a kernel library offers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from netra_build.core.canonical_json import Json, lower, plain_stable_hash
from netra_build.core.errors import NetraError
from netra_build.formats.launch import Workspace
from netra_build.formats.vocabulary import KIND_TEMPLATE

ConstantValues = tuple[tuple[str, tuple[int, ...]], ...]

_DECISIVE = (
    *("operation", "family", "target", "wave_size", "computational_sha256", "contract_constants"),
    *("compile_definitions", "kernarg_size", "lds_bytes", "dynamic_lds_bytes"),
    *("graph_capture", "deterministic"),
)
"""What decides as it is, under its own name, what a tactic computes."""
_UNLISTED = (
    *("symbols", "launch_block", "max_threads", "lds_bytes", "dynamic_lds_bytes"),
    *("closure", "location", "is_pinned"),
)


class ConstantRange(NamedTuple):
    """Allowed values of a ranged constant: minimum, minimum + step, ... up to maximum."""

    name: str
    minimum: int
    maximum: int
    step: int = 1

    def accepts(self, value: object) -> bool:
        """Tell whether ``value`` is an integer on the steps of the range."""
        if isinstance(value, bool) or not isinstance(value, int):
            return False
        inside = self.minimum <= value <= self.maximum
        return inside and (value - self.minimum) % self.step == 0


class LaunchBlock(NamedTuple):
    """Width of the work-group: a number, or a number times the value of a constant."""

    constant: str | None
    multiplier: int

    def resolve(self, value_by_name: Mapping[str, int]) -> int:
        """Return the work-items along x for the given constants."""
        if self.constant is None:
            return self.multiplier
        return self.multiplier * value_by_name[self.constant]

    def document(self) -> Json:
        """Return the number or the object of list-tactics."""
        if self.constant is None:
            return self.multiplier
        return {"constant": self.constant, "multiplier": self.multiplier}


@dataclass(frozen=True)
class FixedTactic:
    """One entry of a tactic catalog with everything derived from its include closure."""

    name: str
    operation: str
    family: str
    target: str
    wave_size: int
    maturity: str
    acceptance_scope: str
    rank: int
    template: str
    template_sha256: str
    source_closure_sha256: str
    computational_sha256: str
    instantiation_macro: str
    macro_parameters: tuple[str, ...]
    contract_constants: ConstantValues
    compile_definitions: ConstantValues
    compile_ranges: tuple[ConstantRange, ...]
    semantics: tuple[tuple[str, str], ...]
    kernarg_size: int
    launch_block: LaunchBlock
    max_threads: int
    lds_bytes: int
    dynamic_lds_bytes: int
    workspace: Workspace
    graph_capture: bool
    deterministic: bool
    fallback: str
    symbols: tuple[str, ...]
    evidence_refs: tuple[str, ...]
    closure: tuple[tuple[str, str], ...]
    location: str = ""
    is_pinned: bool = True

    @cached_property
    def stable_id(self) -> str:
        """Digest of everything that decides what the tactic computes."""
        ranges = [[r.name, r.minimum, r.maximum, r.step] for r in self.compile_ranges]
        return plain_stable_hash(
            {
                **{key: getattr(self, key) for key in _DECISIVE},
                "compile_ranges": ranges,
                "semantics": dict(self.semantics),
                "launch_block_constant": self.launch_block.constant,
                "launch_block_multiplier": self.launch_block.multiplier,
                "threads_per_workgroup": self.max_threads,
                "workspace": self.workspace.document(),
            }
        )

    @cached_property
    def selectable_names(self) -> frozenset[str]:
        """Names of every constant that a request has to close."""
        names = [name for name, _ in self.contract_constants + self.compile_definitions]
        return frozenset([*names, *(r.name for r in self.compile_ranges)])

    def document(self) -> Json:
        """Return the record of list-tactics."""
        record = {key: value for key, value in lower(self).items() if key not in _UNLISTED}
        ranges = {
            r.name: {"min": r.minimum, "max": r.maximum, "step": r.step}
            for r in self.compile_ranges
        }
        return {
            **record,
            "stable_id": self.stable_id,
            "artifact_kind": KIND_TEMPLATE,
            "contract_constants": _unwrapped(self.contract_constants),
            "compile_definitions": _unwrapped(self.compile_definitions),
            "compile_ranges": ranges,
            "semantics": dict(self.semantics),
            "launch_constraints": {
                "max_threads_per_workgroup": self.max_threads,
                "block_x": self.launch_block.document(),
                "lds_bytes": self.lds_bytes,
                "dynamic_lds_bytes": self.dynamic_lds_bytes,
                "grid": "resolved_by_exact_engine_profile",
            },
            "compatibility_symbols": list(self.symbols),
        }


def _unwrapped(constants: ConstantValues) -> dict[str, Json]:
    """Return values by name, single ones without their list."""
    return {name: values[0] if len(values) == 1 else list(values) for name, values in constants}


class CatalogFault(NamedTuple):
    """A catalog entry that cannot be used, and why; it blocks only what would consider it."""

    tactic: str
    operation: str | None
    error: NetraError


@dataclass(frozen=True)
class Catalog:
    """Every usable tactic in (operation, rank, name) order, the faults and the source texts."""

    tactics: tuple[FixedTactic, ...]
    faults: tuple[CatalogFault, ...]
    source_by_name: Mapping[str, bytes]

    @cached_property
    def tactic_by_name(self) -> Mapping[str, FixedTactic]:
        """Usable tactics by full name."""
        return {tactic.name: tactic for tactic in self.tactics}

    def require_sound(self) -> None:
        """Raise the first fault, for commands that refuse a library with any bad entry."""
        if self.faults:
            raise self.faults[0].error
