"""Contracts by tactic id: arguments, launch, shapes, expected outputs and tolerance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from netra_build.checkasm.numerics.moe_decode import down_reduce, gate_up, silu_quant
from netra_build.core.errors import BadInput
from netra_build.core.nearest import nearest_hint

Array = npt.NDArray[Any]
Values = Mapping[str, "Array | int"]
"""Argument name to array (pointers) or integer (scalars)."""
Shape = tuple[int, ...]

HIDDEN = 2048
INTERMEDIATE = 512
SLOTS = 9
BLOCK = 128
FULL_EXPERTS = 257
QUICK_EXPERTS = 12
MOST_TOKENS = 1024


@dataclass(frozen=True)
class Sizes:
    """What may vary between two launches of one contract.

    ``tokens`` rows of activations (1 to 32 deployed) and ``experts`` resident in the weight
    arrays; ids stay below ``experts``, so that a quick run need not hold 257 of them.
    """

    tokens: int = 1
    experts: int = QUICK_EXPERTS

    def __post_init__(self) -> None:
        if not 1 <= self.tokens <= MOST_TOKENS or not 1 <= self.experts <= FULL_EXPERTS:
            raise BadInput(
                "sizes are out of range",
                expected=f"1 to {MOST_TOKENS} tokens and 1 to {FULL_EXPERTS} experts",
                got=f"{self.tokens} and {self.experts}",
            )


@dataclass(frozen=True)
class Argument:
    """One kernarg. ``kind`` is ``pointer`` or ``u32``, ``access`` ``read``, ``write`` or
    ``value``; ``dtype`` is numpy's and ``shape`` gives the elements for some sizes.
    """

    name: str
    offset: int
    size: int
    kind: str
    access: str
    dtype: str
    shape: Callable[[Sizes], Shape]


@dataclass(frozen=True)
class Tolerance:
    """How far outputs may be from the reference: ``exact``, or ``ulps`` of each element."""

    kind: str = "exact"
    ulps: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Contract:
    """One tactic's contract. Grid counts work-groups, block counts work-items."""

    tactic: str
    arguments: tuple[Argument, ...]
    kernarg_bytes: int
    block: Shape
    grid: Callable[[Sizes], Shape]
    expected: Callable[[Values], dict[str, Array]]
    tolerance: Tolerance = field(default_factory=Tolerance)

    def outputs(self) -> tuple[Argument, ...]:
        """Return the arguments that the kernel writes, in kernarg order."""
        return tuple(a for a in self.arguments if a.access == "write")

    def argument(self, name: str) -> Argument:
        """Return the argument of this name; ``BadInput`` when there is none."""
        for argument in self.arguments:
            if argument.name == name:
                return argument
        known = [argument.name for argument in self.arguments]
        hint = nearest_hint(name, known)
        raise BadInput(f'unknown argument "{name}"', location=self.tactic, hint=hint)


def contract_of(tactic: str) -> Contract:
    """Return the contract of a tactic id; ``BadInput`` with the nearest known id."""
    if tactic not in CONTRACTS:
        hint = nearest_hint(tactic, CONTRACTS)
        raise BadInput(f'no reference for tactic "{tactic}"', hint=hint)
    return CONTRACTS[tactic]


def _pointer(
    name: str, offset: int, dtype: str, shape: Callable[[Sizes], Shape], access: str = "read"
) -> Argument:
    return Argument(name, offset, 8, "pointer", access, dtype, shape)


def _array(values: Values, name: str) -> Array:
    found = values[name]
    if isinstance(found, int):
        raise BadInput(f'argument "{name}" is not an array')
    return found


def _gate_up(values: Values) -> dict[str, Array]:
    names = ("hidden", "hidden_scale", "w13", "w13_scale", "topk_ids")
    return {"out": gate_up(*(_array(values, name) for name in names))}


def _silu_quant(values: Values) -> dict[str, Array]:
    codes, scale = silu_quant(_array(values, "in"))
    return {"out": codes, "scale": scale}


def _down_reduce(values: Values) -> dict[str, Array]:
    names = ("act", "act_scale", "w2", "w2_scale", "topk_weights", "topk_ids")
    return {"out": down_reduce(*(_array(values, name) for name in names))}


GATE_UP = Contract(
    tactic="moe_gate_up_decode_m1",
    arguments=(
        _pointer("hidden", 0, "uint8", lambda s: (s.tokens, HIDDEN)),
        _pointer("hidden_scale", 8, "float32", lambda s: (s.tokens, HIDDEN // BLOCK)),
        _pointer("w13", 16, "uint8", lambda s: (s.experts, 2 * INTERMEDIATE, HIDDEN)),
        _pointer("w13_scale", 24, "float32", lambda s: (s.experts, 8, 16)),
        _pointer("topk_ids", 32, "int32", lambda s: (s.tokens, SLOTS)),
        _pointer("out", 40, "float32", lambda s: (s.tokens * SLOTS, 1024), "write"),
    ),
    kernarg_bytes=48,
    block=(64, 1, 1),
    grid=lambda s: (576, s.tokens, 1),
    expected=_gate_up,
)
SILU_QUANT = Contract(
    tactic="moe_silu_quant_decode_m1",
    arguments=(
        _pointer("in", 0, "float32", lambda s: (s.tokens * SLOTS, 2, INTERMEDIATE)),
        _pointer("out", 8, "uint8", lambda s: (s.tokens * SLOTS, INTERMEDIATE), "write"),
        _pointer("scale", 16, "float32", lambda s: (s.tokens * SLOTS, 4), "write"),
        Argument("rows", 24, 4, "u32", "value", "uint32", lambda s: ()),
    ),
    kernarg_bytes=32,
    block=(64, 1, 1),
    grid=lambda s: (s.tokens * SLOTS, 1, 1),
    expected=_silu_quant,
)
DOWN_REDUCE = Contract(
    tactic="moe_down_reduce_decode_m1",
    arguments=(
        _pointer("act", 0, "uint8", lambda s: (s.tokens, SLOTS, INTERMEDIATE)),
        _pointer("act_scale", 8, "float32", lambda s: (s.tokens, SLOTS, 4)),
        _pointer("w2", 16, "uint8", lambda s: (s.experts, HIDDEN, INTERMEDIATE)),
        _pointer("w2_scale", 24, "float32", lambda s: (s.experts, 16, 4)),
        _pointer("topk_weights", 32, "float32", lambda s: (s.tokens, SLOTS)),
        _pointer("topk_ids", 40, "int32", lambda s: (s.tokens, SLOTS)),
        _pointer("out", 48, "uint16", lambda s: (s.tokens, HIDDEN), "write"),
    ),
    kernarg_bytes=56,
    block=(128, 1, 1),
    grid=lambda s: (128, s.tokens, 1),
    expected=_down_reduce,
)

CONTRACTS: dict[str, Contract] = {c.tactic: c for c in (GATE_UP, SILU_QUANT, DOWN_REDUCE)}
"""Every tactic that has a reference here."""
