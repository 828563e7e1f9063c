"""Kernels of a plan that have the same code under several names, found before a graph exists."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from netra_build.asm.source.blocks import shared_text
from netra_build.asm.source.closure import Closure, flatten, include_closure, prune_macros
from netra_build.formats.contracts import FixedContract
from netra_build.formats.plan import EnginePlan, KernelInstance, OperationPlan
from netra_build.plan.instances import unit_source


def code_leaders(kernels: Sequence[KernelInstance], sources: Mapping[str, bytes]) -> dict[str, str]:
    """Return, by symbol, the symbol of the first kernel with the same code.

    ``sources`` holds the library files of all closures. Only kernels of one tactic are compared
    whose contracts agree on the code object: kernargs, work-group and LDS.
    """
    by_form: dict[tuple[object, ...], list[KernelInstance]] = {}
    for kernel in kernels:
        by_form.setdefault(_form(kernel), []).append(kernel)
    leader_by_symbol: dict[str, str] = {}
    for members in by_form.values():
        texts = _texts(members, sources)
        leader_by_text: dict[bytes, str] = {}
        for kernel in members:
            text = texts[kernel.constants]
            leader_by_symbol[kernel.symbol] = leader_by_text.setdefault(text, kernel.symbol)
    return leader_by_symbol


def _form(kernel: KernelInstance) -> tuple[object, ...]:
    contract = kernel.contract
    launch = contract.launch
    names = tuple(name for name, _ in kernel.constants)
    sizes = (contract.kernarg_size, launch.block, launch.lds_bytes, launch.dynamic_lds_bytes)
    return (kernel.tactic.name, names, len(kernel.macro_symbols), *sizes)


def _texts(
    members: Sequence[KernelInstance], sources: Mapping[str, bytes]
) -> dict[tuple[tuple[str, int], ...], bytes]:
    """Return the texts of the members by their constants; equal texts give equal code."""
    first = {kernel.constants: kernel for kernel in reversed(members)}
    if len(first) == 1:
        return dict.fromkeys(first, b"")
    kernel = members[0]
    closure = include_closure(kernel.template, sources.__getitem__, kernel.tactic.location)
    return {constants: _text(item, closure) for constants, item in first.items()}


def _text(kernel: KernelInstance, closure: Closure) -> bytes:
    location = kernel.source_name
    flat = prune_macros(flatten(unit_source(kernel), closure, location), location)
    return shared_text(flat, kernel.macro_symbols, [name for name, _ in kernel.constants])


def share_code(plan: EnginePlan) -> EnginePlan:
    """Return the plan with one code object for all operations whose code is the same.

    Each operation keeps its own contract and launch; symbol and code object are the leader's.
    """
    leaders = code_leaders(plan.kernels, plan.include_by_name)
    operations = tuple(_led(operation, leaders) for operation in plan.operations)
    kept = tuple(kernel for kernel in plan.kernels if leaders[kernel.symbol] == kernel.symbol)
    return replace(plan, operations=operations, kernels=kept)


def _led(plan: OperationPlan, leaders: Mapping[str, str]) -> OperationPlan:
    contract = plan.selection.contract
    if not isinstance(contract, FixedContract):
        return plan
    symbol = leaders[contract.symbol]
    contract = replace(contract, symbol=symbol)
    selection = replace(plan.selection, contract=contract, symbol=symbol)
    return replace(plan, selection=selection, hsaco=f"hsaco/{symbol}.hsaco")
