"""Functional model of the gfx950 wave64 machine: run a linked code object on numpy arrays.

Agreement with silicon is unproven: the model idealises transcendentals (correctly rounded) and
MFMA (exact dot product, one rounding), and knows no timing.
"""

from __future__ import annotations

from netra_build.simulate.findings import KINDS, Finding, Report
from netra_build.simulate.isa.catalogue import Coverage, coverage
from netra_build.simulate.launch import Options, Outcome, Prepared, launch, prepare
from netra_build.simulate.machine import Checks

__all__ = [
    "KINDS",
    "Checks",
    "Coverage",
    "Finding",
    "Options",
    "Outcome",
    "Prepared",
    "Report",
    "coverage",
    "launch",
    "prepare",
]
