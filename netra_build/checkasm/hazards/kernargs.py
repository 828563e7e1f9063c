"""The metadata's argument list: its own layout, and against the bytes that the code reads."""

from __future__ import annotations

from collections.abc import Iterator

from netra_build.asm.objects.code_object import Kernel
from netra_build.asm.objects.metadata import ArgumentMetadata
from netra_build.checkasm.hazards.findings import Finding, make_finding
from netra_build.checkasm.hazards.flow import Flow
from netra_build.checkasm.hazards.kernarg_reads import KernargRead, KernargUse, find_kernarg_reads

PADDING_BYTES = 16
"""A gap shorter than this between arguments, or behind the last, is alignment."""


def check_kernargs(kernel: Kernel, flow: Flow) -> list[Finding]:
    """Return the findings about kernargs; ``BudgetExceeded`` from the data flow.

    A read must touch an argument and may cover alignment gaps next to it, as wide loads do.
    """
    findings = []
    arguments = _sorted_arguments(kernel)
    size = kernel.descriptor.kernarg_size
    for text in _layout_faults(arguments, size):
        findings.append(make_finding("kernarg-layout", kernel.symbol, text))
    use = find_kernarg_reads(kernel, flow)
    for read in sorted(use.reads):
        text = _read_fault(read, arguments, size, has_metadata=kernel.metadata is not None)
        if text:
            instruction = flow.instructions[read.index]
            findings.append(make_finding("kernarg-read", kernel.symbol, text, instruction))
    findings += _unread(kernel, flow, arguments, use)
    return findings


def _sorted_arguments(kernel: Kernel) -> list[ArgumentMetadata]:
    arguments = kernel.metadata.arguments if kernel.metadata else ()
    return sorted(arguments, key=lambda argument: argument.offset)


def _layout_faults(arguments: list[ArgumentMetadata], size: int) -> Iterator[str]:
    end = 0
    for argument in arguments:
        place = _name(argument)
        if argument.offset < end:
            yield f"{place} overlaps the one before; expected an offset of at least {end}"
        end = max(end, argument.offset + argument.size)
        if argument.offset + argument.size > size:
            last = argument.offset + argument.size
            yield f"{place} leaves the segment; expected an end of at most {size}, got {last}"


def _read_fault(
    read: KernargRead, arguments: list[ArgumentMetadata], size: int, *, has_metadata: bool
) -> str:
    first, end = read.offset, read.offset + read.size
    span = f"reads kernarg bytes {first} to {end - 1}"
    if first < 0 or end > size:
        return f"{span} of a segment of {size} bytes"
    if not has_metadata:
        return ""
    touched = [a for a in arguments if a.offset < end and a.offset + a.size > first]
    if not touched:
        return f"{span}, which no argument owns"
    at = first
    for argument in [*touched, None]:
        begin = argument.offset if argument else end
        if begin - at >= PADDING_BYTES and not _near_hidden(touched):
            return f"{span}; no argument owns bytes {at} to {begin - 1}"
        at = max(at, argument.offset + argument.size) if argument else end
    return ""


def _near_hidden(arguments: list[ArgumentMetadata]) -> bool:
    """The runtime's own block of hidden arguments has reserved holes."""
    return any(argument.value_kind.startswith("hidden_") for argument in arguments)


def _unread(
    kernel: Kernel, flow: Flow, arguments: list[ArgumentMetadata], use: KernargUse
) -> list[Finding]:
    if use.unresolved:
        instruction = flow.instructions[min(use.unresolved)]
        text = "a kernarg address is computed at run time and not followed"
        return [make_finding("kernarg-unresolved", kernel.symbol, text, instruction)]
    findings = []
    for argument in arguments:
        last = argument.offset + argument.size
        read = any(r.offset < last and r.offset + r.size > argument.offset for r in use.reads)
        if not read and not argument.value_kind.startswith("hidden_"):
            text = f"{_name(argument)} is never read"
            findings.append(make_finding("kernarg-unread", kernel.symbol, text))
    return findings


def _name(argument: ArgumentMetadata) -> str:
    shown = f'kernarg "{argument.name}"' if argument.name else "kernarg"
    return f"{shown} at offset {argument.offset}"
