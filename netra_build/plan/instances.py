"""Find a tactic and close it: symbols, contract, kernel instance and the text of its unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from netra_build.core.canonical_json import stable_hash
from netra_build.core.errors import BadInput, Refused, nearest_hint
from netra_build.formats.catalogs.tactic import Catalog, FixedTactic
from netra_build.formats.contracts import FixedContract
from netra_build.formats.launch import Extent, Launch
from netra_build.formats.plan import KernelInstance
from netra_build.formats.vocabulary import TARGET
from netra_build.stages.instantiate import instance_source

Constants = tuple[tuple[str, int], ...]

INCLUDES = "generated/includes"
"""Where an engine directory keeps the files that its units include."""


def find_tactic(catalog: Catalog, asked: str, location: str) -> FixedTactic:
    """Return a tactic by its id; raise with the reason or with the nearest known id."""
    found = catalog.tactic_by_name.get(f"{TARGET}.{asked}")
    if found is not None:
        return found
    for fault in catalog.faults:
        if fault.tactic.endswith(f".{asked}"):
            raise fault.error
    known = [tactic_id(tactic) for tactic in catalog.tactics]
    raise BadInput(f'unknown tactic "{asked}"', location=location, hint=nearest_hint(asked, known))


def tactic_id(tactic: FixedTactic) -> str:
    """Return the catalog id of a tactic: its name without the target."""
    return tactic.name.removeprefix(f"{tactic.target}.")


def refuse_unpinned(tactics: Sequence[FixedTactic]) -> None:
    """Raise ``Refused`` for the first tactic whose pins differ from its files."""
    for tactic in tactics:
        if not tactic.is_pinned:
            raise Refused(
                f'"{tactic_id(tactic)}" is not pinned to its template and closure',
                location=tactic.location,
                hint="run netra pin",
            )


def unpinned(tactics: Sequence[FixedTactic]) -> tuple[str, ...]:
    """Return the sorted ids of the tactics whose pins differ from their files."""
    return tuple(sorted({tactic_id(tactic) for tactic in tactics if not tactic.is_pinned}))


def close_contract(
    tactic: FixedTactic,
    constants: Mapping[str, int],
    grid: Extent,
    fallback: str,
    location: str,
    symbol: str | None = None,
) -> FixedContract:
    """Return the contract of a tactic with every constant closed; it has a symbol of its own.

    Raises ``BadInput`` when the resolved work-group is larger than the code object allows.
    """
    names = [name for name, _ in tactic.compile_definitions]
    names += [item.name for item in tactic.compile_ranges]
    specialization = tuple((name, constants[name]) for name in names)
    width = tactic.launch_block.resolve(dict(specialization))
    if not 1 <= width <= tactic.max_threads:
        raise BadInput(
            f'work-group of "{tactic.name}" is larger than its code object allows',
            location=location,
            expected=f"at most {tactic.max_threads} work-items",
            got=width,
        )
    return FixedContract(
        operation=tactic.operation,
        family=tactic.family,
        symbol=symbol or kernel_symbol(tactic, specialization, grid),
        constants=tuple((name, values[0]) for name, values in tactic.contract_constants),
        specialization=specialization,
        semantics=tactic.semantics,
        kernarg_size=tactic.kernarg_size,
        launch=Launch(grid, (width, 1, 1), tactic.lds_bytes, tactic.dynamic_lds_bytes),
        workspace=tactic.workspace,
        graph_capture=tactic.graph_capture,
        deterministic=tactic.deterministic,
        fallback=fallback,
        maturity=tactic.maturity,
        source_refs=(tactic.template,),
        evidence_refs=tactic.evidence_refs,
    )


def close_tactic(
    tactic: FixedTactic,
    constants: Mapping[str, int],
    symbol: str,
    location: str,
    macro_symbols: tuple[str, ...] = (),
) -> KernelInstance:
    """Return the kernel instance of a tactic that is built on its own, outside any engine."""
    grid, fallback = (1, 1, 1), tactic.fallback
    contract = close_contract(tactic, constants, grid, fallback, location, symbol)
    return instantiate(tactic, contract, macro_symbols, location)


def instantiate(
    tactic: FixedTactic, contract: FixedContract, macro_symbols: tuple[str, ...], location: str
) -> KernelInstance:
    """Return the kernel instance of a contract; ``macro_symbols`` may be empty for defaults.

    Raises ``BadInput`` when the macro takes another number of them.
    """
    symbols = macro_symbols or default_macro_symbols(tactic, contract.symbol)
    if len(symbols) != len(tactic.macro_parameters):
        raise BadInput(
            f'macro of "{tactic.name}" takes another number of symbols',
            location=location,
            expected=len(tactic.macro_parameters),
            got=len(symbols),
        )
    return KernelInstance(tactic, contract, symbols)


def unit_source(instance: KernelInstance) -> bytes:
    """Return the text of an instance's translation unit, as the stage ``instantiate`` makes it."""
    return instance_source(
        tactic=instance.tactic.name,
        contract_id=instance.contract.id,
        constants=instance.constants,
        template=instance.tactic.template,
        macro=instance.tactic.instantiation_macro,
        macro_symbols=instance.macro_symbols,
    )


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
