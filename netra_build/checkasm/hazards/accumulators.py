"""Overlap of a matrix instruction's result with its own sources."""

from __future__ import annotations

from netra_build.checkasm.hazards.findings import Finding, make_finding
from netra_build.checkasm.hazards.flow import Flow
from netra_build.checkasm.hazards.hazards import matrix_sources
from netra_build.checkasm.hazards.registers import describe

SMALL_RESULT_REGISTERS = 4
"""Results of up to 128 bits are written after the last source was read."""


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
        messages = []
        if effects.writes & others:
            shared = describe(effects.writes & others)
            messages.append(f"result overlaps a source at {shared}")
        if effects.writes & accumulator and accumulator != effects.writes:
            shared = describe(effects.writes & accumulator)
            messages.append(f"result overlaps only part of the accumulator at {shared}")
        findings += [
            make_finding("accumulator-overlap", flow.kernel, text, flow.instructions[index])
            for text in messages
        ]
    return findings
