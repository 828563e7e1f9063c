"""Kernel symbols and macro symbols of a specialization."""

from __future__ import annotations

from netra_build.core.canonical_json import stable_hash
from netra_build.core.errors import BadInput
from netra_build.formats.catalogs.tactic import FixedTactic
from netra_build.formats.launch import Extent
from netra_build.formats.vocabulary import TARGET

Constants = tuple[tuple[str, int], ...]


def kernel_symbol(tactic: FixedTactic, specialization: Constants, grid: Extent) -> str:
    """Return the symbol of a tactic at one specialization and grid."""
    digest = stable_hash(
        {
            "tactic": tactic.stable_id,
            "constants": {name: list(values) for name, values in tactic.contract_constants},
            "specialization": dict(specialization),
            "grid": list(grid),
        }
    )
    return f"netra_{tactic.operation}_{digest[:16]}_{TARGET}"


def default_macro_symbols(tactic: FixedTactic, symbol: str) -> tuple[str, ...]:
    """Return one symbol per macro parameter, the kernel symbol first."""
    further = (
        f"{symbol}_{parameter.removesuffix('_symbol')}" for parameter in tactic.macro_parameters[1:]
    )
    return (symbol, *further)


def checked_macro_symbols(
    tactic: FixedTactic, symbols: tuple[str, ...], location: str
) -> tuple[str, ...]:
    """Return ``symbols`` if the macro takes that many; raise ``BadInput`` otherwise."""
    if len(symbols) != len(tactic.macro_parameters):
        raise BadInput(
            f'macro of "{tactic.name}" takes another number of symbols',
            location=location,
            expected=len(tactic.macro_parameters),
            got=len(symbols),
        )
    return symbols
