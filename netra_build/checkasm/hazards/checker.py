"""All static checks of a code object: the entry point of this folder."""

from __future__ import annotations

from collections.abc import Callable

from netra_build.asm.objects.code_object import CodeObject, Kernel
from netra_build.asm.objects.disassembly import Disassembly
from netra_build.checkasm.hazards.accumulators import check_accumulators
from netra_build.checkasm.hazards.allocation import check_allocation, check_target
from netra_build.checkasm.hazards.dataflow import BudgetExceeded
from netra_build.checkasm.hazards.findings import ERROR, Finding, make_finding, sort_findings
from netra_build.checkasm.hazards.flow import Flow, build_flow
from netra_build.checkasm.hazards.hazards import check_hazards
from netra_build.checkasm.hazards.kernargs import check_kernargs
from netra_build.checkasm.hazards.waits import check_waits

WAVE_SIZE = 64
MAX_INSTRUCTIONS = 100_000
"""Per kernel; the largest kernels of the public catalog have about 5,000."""


def check_code_object(
    code: CodeObject,
    disassembly: Disassembly,
    *,
    symbol: str | None = None,
    target: str = "gfx950",
    location: str = "code object",
) -> tuple[Finding, ...]:
    """Return the findings of every static check, for one kernel or for all of them.

    ``target`` is the declared target, ``gfx950`` or ``gfx942``. Raises ``BadInput`` at
    ``location`` when ``symbol`` is no kernel of the code object.
    """
    kernels = code.kernels if symbol is None else (code.kernel(symbol, location),)
    findings: list[Finding] = []
    for kernel in kernels:
        findings += check_target(code, kernel.symbol, target)
        findings += check_kernel(kernel, disassembly)
    return sort_findings(findings)


def check_kernel(kernel: Kernel, disassembly: Disassembly) -> list[Finding]:
    """Return the findings of one kernel, in the order of the checks."""
    if len(kernel.code) > 4 * MAX_INSTRUCTIONS:
        text = f"kernel has {len(kernel.code)} bytes; expected at most {4 * MAX_INSTRUCTIONS}"
        return [make_finding("analysis-limit", kernel.symbol, text)]
    flow, findings = build_flow(kernel, disassembly)
    findings += check_allocation(kernel, flow)
    findings += check_accumulators(flow)
    shares_lds = _shares_lds(kernel)
    if shares_lds and (text := _lds_without_barrier(flow)):
        findings.append(make_finding("lds-without-barrier", kernel.symbol, text))
    analyses: tuple[tuple[str, Callable[[], list[Finding]]], ...] = (
        ("wait", lambda: check_waits(flow, shares_lds=shares_lds)),
        ("wait-state", lambda: check_hazards(flow)),
        ("kernarg", lambda: check_kernargs(kernel, flow)),
    )
    for name, analysis in analyses:
        try:
            findings += analysis()
        except BudgetExceeded:
            text = f"the {name} analysis gave up: too many paths"
            findings.append(make_finding("analysis-limit", kernel.symbol, text))
    return findings


def has_errors(findings: tuple[Finding, ...]) -> bool:
    """Tell whether any finding is an error."""
    return any(finding.severity == ERROR for finding in findings)


def _shares_lds(kernel: Kernel) -> bool:
    """Tell whether a work-group of this kernel may hold more than one wavefront."""
    return kernel.metadata is None or kernel.metadata.max_flat_workgroup_size > WAVE_SIZE


def _lds_without_barrier(flow: Flow) -> str:
    traits: set[str] = set()
    for index in flow.reachable:
        effects = flow.effects[index]
        traits |= effects.traits
        if effects.kind == "barrier":
            return ""
    shared = "lds_read" in traits and bool(traits & {"lds_write", "lds_dma"})
    return "the kernel writes and reads LDS and has no s_barrier" if shared else ""
