"""All static checks of a code object, with those that need no data flow.

These are target, registers, LDS, wave size, the metadata's own numbers, and overlaps of a matrix
instruction's result with its sources.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from netra_build.asm.objects.code_object import (
    PROCESSOR_BY_MACH,
    TARGET_PREFIX,
    CodeObject,
    Kernel,
)
from netra_build.asm.objects.listings import Disassembly
from netra_build.checkasm.hazards.effects import (
    AGPR_BASE,
    SGPR_BASE,
    SGPR_COUNT,
    VCC_MASK,
    VGPR_BASE,
    describe,
    highest,
    union,
)
from netra_build.checkasm.hazards.findings import ERROR, Finding, make_finding, sort_findings
from netra_build.checkasm.hazards.flow import BudgetExceeded, Flow, build_flow
from netra_build.checkasm.hazards.hazard_table import matrix_sources
from netra_build.checkasm.hazards.kernargs import check_kernargs
from netra_build.checkasm.hazards.waits import check_hazards, check_waits

LDS_LIMIT_BYTES = 163_840
WAVE_SIZE = 64
VGPR_LIMIT = 512
TARGETS = tuple(sorted(PROCESSOR_BY_MACH.values()))
UNUSUAL_FEATURES = ("sramecc-", "xnack+")
_LDS_TRAITS = {"lds_read", "lds_write", "lds_dma"}
MAX_INSTRUCTIONS = 100_000
"""Per kernel; the largest kernels of the public catalog have about 5,000."""

SMALL_RESULT_REGISTERS = 4
"""Results of up to 128 bits are written after the last source was read."""


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
    # A work-group may hold more than one wavefront.
    shares_lds = kernel.metadata is None or kernel.metadata.max_flat_workgroup_size > WAVE_SIZE
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


def _lds_without_barrier(flow: Flow) -> str:
    traits: set[str] = set()
    for index in flow.reachable:
        effects = flow.effects[index]
        traits |= effects.traits
        if effects.kind == "barrier":
            return ""
    shared = "lds_read" in traits and bool(traits & {"lds_write", "lds_dma"})
    return "the kernel writes and reads LDS and has no s_barrier" if shared else ""


def check_target(code: CodeObject, kernel: str, target: str) -> list[Finding]:
    """Compare the target, on which ELF flags and metadata agree, with the declared processor."""
    processor, *features = code.target.removeprefix(TARGET_PREFIX).split(":")
    texts = [
        f"code object needs {feature}, which an ordinary {target} does not run"
        for feature in features
        if feature in UNUSUAL_FEATURES
    ]
    if processor != target:
        texts.append(
            f'code object is for another processor; expected "{target}", got "{processor}"'
        )
    return [make_finding("target", kernel, text) for text in texts]


def check_allocation(kernel: Kernel, flow: Flow) -> list[Finding]:
    """Return the findings about registers, LDS, wave size and the metadata's own numbers."""
    used = _used_registers(flow)
    texts = [
        *_register_faults(kernel, used),
        *_limit_faults(kernel, flow),
        *_metadata_faults(kernel, used),
    ]
    return [make_finding(rule, kernel.symbol, text) for rule, text in texts]


Fault = tuple[str, str]


class _Used(NamedTuple):
    """One more than the highest register used of each file, and whether VCC is."""

    vgprs: int
    agprs: int
    sgprs: int
    has_vcc: bool


def _used_registers(flow: Flow) -> _Used:
    effects = [flow.effects[index] for index in flow.reachable]
    used = union(one.reads | one.writes for one in effects)
    return _Used(
        vgprs=highest(used, VGPR_BASE, 256),
        agprs=highest(used, AGPR_BASE, 256),
        sgprs=highest(used, SGPR_BASE, SGPR_COUNT),
        has_vcc=bool(used & VCC_MASK),
    )


def _register_faults(kernel: Kernel, used: _Used) -> Iterator[Fault]:
    descriptor = kernel.descriptor
    vgprs, agprs, sgprs, has_vcc = used
    allocated, offset = descriptor.allocated_vgprs, descriptor.accum_offset
    needed = offset + agprs if agprs else vgprs
    if max(needed, vgprs) > allocated:
        yield (
            "vgpr-allocation",
            f"{vgprs} VGPRs and {agprs} AGPRs (from {offset}) are used; "
            f"expected at most {allocated}, got {max(needed, vgprs)}",
        )
    if not 4 <= offset <= 256 or offset > VGPR_LIMIT:
        yield "accum-offset", f"accum_offset is out of range; expected 4 to 256, got {offset}"
    if vgprs > offset:
        rule = "accum-offset" if agprs else "accum-offset-vgpr"
        yield rule, f"VGPRs reach above accum_offset; expected at most {offset}, got {vgprs}"
    extra = 2 if has_vcc else 0
    if sgprs + extra > descriptor.allocated_sgprs:
        what = f"{sgprs} SGPRs{' and vcc' if extra else ''} are used"
        yield (
            "sgpr-allocation",
            f"{what}; expected at most {descriptor.allocated_sgprs}, got {sgprs + extra}",
        )


def _limit_faults(kernel: Kernel, flow: Flow) -> Iterator[Fault]:
    descriptor = kernel.descriptor
    size = descriptor.group_segment_fixed_size
    if size > LDS_LIMIT_BYTES:
        yield "lds-size", f"static LDS is too large; expected at most {LDS_LIMIT_BYTES}, got {size}"
    if size == 0 and any(flow.effects[i].traits & _LDS_TRAITS for i in flow.reachable):
        yield "lds-undeclared", "the kernel touches LDS and the descriptor declares none"
    if text := _scratch_fault(descriptor.private_segment_fixed_size, flow):
        yield "scratch", text
    if descriptor.wavefront_size32:
        yield "wave-size", "descriptor asks for wavefronts of 32; expected 64"


def _scratch_fault(size: int, flow: Flow) -> str:
    """Return what is wrong with private memory: none is declared, or an offset is outside."""
    for index in flow.reachable:
        instruction, effects = flow.instructions[index], flow.effects[index]
        if not instruction.mnemonic.startswith("scratch_"):
            continue
        if not size:
            return f'"{instruction.text}" uses private memory and the descriptor declares none'
        given = dict(one.split(":", 1) for one in effects.modifiers if ":" in one)
        offset = int(given.get("offset", "0"), 0)
        if effects.operands.count("off") == 2 and not 0 <= offset < size:
            return f'"{instruction.text}" is outside private memory of {size} bytes'
    return ""


def _metadata_faults(kernel: Kernel, used: _Used) -> Iterator[Fault]:
    metadata, descriptor = kernel.metadata, kernel.descriptor
    if metadata is None:
        yield "metadata-missing", "the code object metadata does not list the kernel"
        return
    if metadata.wavefront_size != WAVE_SIZE:
        got = metadata.wavefront_size
        yield "wave-size", f"metadata states another wavefront size; expected 64, got {got}"
    lds, private = "group_segment_fixed_size", "private_segment_fixed_size"
    for name, key, real in (
        ("kernarg size", "kernarg_segment_size", descriptor.kernarg_size),
        ("LDS size", lds, descriptor.group_segment_fixed_size),
        ("private segment size", private, descriptor.private_segment_fixed_size),
    ):
        if (stated := getattr(metadata, key)) != real:
            text = f"{name} of metadata and descriptor differ; expected {real}, got {stated}"
            yield "metadata-mismatch", text
    vgprs, agprs, sgprs, _ = used
    total = descriptor.accum_offset + agprs if agprs else vgprs
    counts = (
        (".vgpr_count", metadata.vgpr_count, total if metadata.agpr_count is not None else vgprs),
        (".agpr_count", metadata.agpr_count, agprs),
        (".sgpr_count", metadata.sgpr_count, sgprs),
    )
    for key, stated_count, needed in counts:
        if stated_count is not None and stated_count < needed:
            text = f'metadata "{key}" is too small; expected at least {needed}, got {stated_count}'
            yield "metadata-count", text


def check_accumulators(flow: Flow) -> list[Finding]:
    """Return a finding for every result that overlaps srcA or srcB, or srcC only in part.

    A wide result is written pass by pass while the sources are still being read.
    """
    findings = []
    for index in flow.reachable:
        effects = flow.effects[index]
        if effects.kind != "mfma" or "sparse" in effects.traits:
            continue
        if effects.writes.bit_count() <= SMALL_RESULT_REGISTERS:
            continue
        others, accumulator = matrix_sources(effects)
        is_part = bool(effects.writes & accumulator) and accumulator != effects.writes
        for registers, what in (
            (effects.writes & others, "a source"),
            (effects.writes & accumulator * is_part, "only part of the accumulator"),
        ):
            if registers:
                text = f"result overlaps {what} at {describe(registers)}"
                place = flow.instructions[index]
                findings.append(make_finding("accumulator-overlap", flow.kernel, text, place))
    return findings
