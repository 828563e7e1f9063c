"""``netra check``: static checks of a code object."""

from __future__ import annotations

import argparse
from pathlib import Path

from netra_build import __version__
from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.disassembly import parse_disassembly
from netra_build.checkasm.hazards.checker import MACH_BY_TARGET, check_code_object, has_errors
from netra_build.checkasm.hazards.report import json_report, sarif_report, text_report
from netra_build.cli.options import add_toolchain, programs_of
from netra_build.core.canonical_json import pretty_bytes
from netra_build.core.disk import RealDisk
from netra_build.core.errors import EXIT_DONE, EXIT_REFUSED

HELP = "check a code object for waits, hazards, register allocation and kernargs"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("hsaco", type=Path, metavar="HSACO", help="linked code object")
    parser.add_argument("--symbol", metavar="S", help="check this kernel only")
    parser.add_argument(
        "--target", choices=sorted(MACH_BY_TARGET), default="gfx950", help="declared target"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print findings as JSON")
    form.add_argument("--sarif", action="store_true", help="print findings as SARIF 2.1.0")
    add_toolchain(parser, "llvm-objdump")


def run(options: argparse.Namespace) -> int:
    """Print the findings; 1 when one of them is an error, else 0."""
    label = str(options.hsaco)
    data = RealDisk().read_bytes(options.hsaco)
    code = read_code_object(data, label)
    toolchain = programs_of(options)
    disassembly = parse_disassembly(toolchain.disassemble(data, label=label), label)
    findings = check_code_object(
        code, disassembly, symbol=options.symbol, target=options.target, location=label
    )
    if options.json:
        report = pretty_bytes(json_report(findings, label)).decode()
    elif options.sarif:
        report = pretty_bytes(sarif_report(findings, label, __version__)).decode()
    else:
        report = text_report(findings, label) + "\n"
    print(report, end="")
    return EXIT_REFUSED if has_errors(findings) else EXIT_DONE
