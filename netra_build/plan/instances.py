"""Close a tactic: its contract, its instance source and its kernel instance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from netra_build.core.errors import BadInput
from netra_build.formats.catalogs.tactic import FixedTactic
from netra_build.formats.contracts import FixedContract
from netra_build.formats.launch import Extent, Launch
from netra_build.formats.plan import KernelInstance
from netra_build.formats.vocabulary import WAVE_SIZE
from netra_build.plan.symbols import (
    Constants,
    checked_macro_symbols,
    default_macro_symbols,
    kernel_symbol,
)
from netra_build.stages.instantiate import instance_source

MACHINE_LINES: Constants = (("NETRA_TARGET_GFX", 950), ("NETRA_WAVE_SIZE", WAVE_SIZE))


@dataclass(frozen=True)
class Closing:
    """What a caller decides about a tactic: constants, grid, fallback and own symbol names."""

    constants: Mapping[str, int]
    grid: Extent
    fallback: str
    symbol: str | None = None
    macro_symbols: tuple[str, ...] = ()


def close_contract(tactic: FixedTactic, closing: Closing, location: str) -> FixedContract:
    """Return the contract of a tactic with every constant closed.

    Raises ``BadInput`` when the resolved work-group is larger than the code object allows.
    """
    names = [name for name, _ in tactic.compile_definitions]
    names += [item.name for item in tactic.compile_ranges]
    specialization = tuple((name, closing.constants[name]) for name in names)
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
        symbol=closing.symbol or kernel_symbol(tactic, specialization, closing.grid),
        constants=tuple((name, values[0]) for name, values in tactic.contract_constants),
        specialization=specialization,
        semantics=tactic.semantics,
        kernarg_size=tactic.kernarg_size,
        launch=Launch(closing.grid, (width, 1, 1), tactic.lds_bytes, tactic.dynamic_lds_bytes),
        workspace=tactic.workspace,
        graph_capture=tactic.graph_capture,
        deterministic=tactic.deterministic,
        fallback=closing.fallback,
        maturity=tactic.maturity,
        source_refs=(tactic.template,),
        evidence_refs=tactic.evidence_refs,
    )


def instantiate(
    tactic: FixedTactic, contract: FixedContract, macro_symbols: tuple[str, ...], location: str
) -> KernelInstance:
    """Return the kernel instance of a contract; ``macro_symbols`` may be empty for defaults."""
    symbols = macro_symbols or default_macro_symbols(tactic, contract.symbol)
    symbols = checked_macro_symbols(tactic, symbols, location)
    constants = (*MACHINE_LINES, *contract.constants, *contract.specialization)
    return KernelInstance(
        symbol=contract.symbol,
        macro_symbols=symbols,
        tactic=tactic,
        contract=contract,
        constants=constants,
    )


def unit_source(instance: KernelInstance) -> bytes:
    """Return the text of an instance's translation unit, as the stage ``instantiate`` makes it."""
    return instance_source(
        tactic=instance.tactic.name,
        contract_id=instance.contract.id,
        constants=instance.constants,
        template=instance.template,
        macro=instance.tactic.instantiation_macro,
        macro_symbols=instance.macro_symbols,
    )
