"""``netra check`` and ``simulate``: a code object checked statically, and run in a model."""

from __future__ import annotations

import argparse
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from netra_build import __version__
from netra_build.asm.objects.code_object import CodeObject, read_code_object
from netra_build.asm.objects.listings import Disassembly, parse_disassembly
from netra_build.checkasm.hazards.checker import TARGETS, check_code_object, has_errors
from netra_build.checkasm.hazards.findings import json_report, sarif_report, text_report
from netra_build.cli.options import DISASSEMBLER, JSON, at_path, command, either, flag, option
from netra_build.cli.places import programs_of
from netra_build.core.canonical_json import Json, pretty_bytes
from netra_build.core.digests import blake3_hex
from netra_build.core.disk import RealDisk
from netra_build.core.errors import EXIT_DONE, EXIT_REFUSED, BadInput, ToolchainFailed

if TYPE_CHECKING:
    from netra_build.checkasm.model.isa.catalogue import Coverage
    from netra_build.checkasm.model.launch import Outcome


@command(
    "check a code object for waits, hazards, register allocation and kernargs",
    at_path("hsaco", "linked code object", metavar="HSACO"),
    option("--symbol", metavar="S", help="check this kernel only"),
    option("--target", choices=TARGETS, default="gfx950", help="declared target"),
    either(
        flag("--json", "print findings as JSON"),
        flag("--sarif", "print findings as SARIF 2.1.0"),
    ),
    DISASSEMBLER,
)
def check_command(options: argparse.Namespace) -> int:
    """Print the findings; 1 when one of them is an error, else 0."""
    label = str(options.hsaco)
    data = RealDisk().read_bytes(options.hsaco)
    code = read_code_object(data, label, TARGETS)
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


NO_SILICON = "agreement with hardware is unproven: this is a functional model"


@command(
    "run a kernel in the functional model with every dynamic check on",
    at_path("hsaco", "linked code object", metavar="HSACO", nargs="?"),
    option("--symbol", metavar="S", help="kernel to run; needed if there are several"),
    option("--grid", metavar="X,Y,Z", default="1", help="work-groups"),
    option("--block", metavar="X,Y,Z", default="64", help="work-items per work-group"),
    option(
        "--arg",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a kernarg: a number, null, FILE.npy, or zeros, count or random as in zeros:f32:4x16",
    ),
    option(
        "--output",
        action="append",
        default=[],
        metavar="NAME=FILE.npy",
        help="write a buffer after the run",
    ),
    option("--dynamic-lds", type=int, default=0, metavar="BYTES"),
    option("--seed", type=int, default=1, help="seed of random arrays and junk"),
    option("--budget", type=int, metavar="N", help="instructions a batch may take"),
    flag("--coverage", "list what the model executes, of HSACO if one is given"),
    JSON,
    DISASSEMBLER,
)
def simulate_command(options: argparse.Namespace) -> int:
    """Run the kernel and print the report; 1 when a check found something, else 0."""
    try:
        from netra_build.checkasm.hazards.effects import base_mnemonic, known_mnemonics
        from netra_build.checkasm.hazards.kernel_statistics import code_of
        from netra_build.checkasm.model.isa.catalogue import coverage
    except ModuleNotFoundError as error:
        raise ToolchainFailed(
            f'the functional model needs "{error.name}"', hint="install netra-build[simulate]"
        ) from None
    if options.coverage:
        used = None
        if options.hsaco is not None:
            code = code_of(_disassembled(options))
            used = {base_mnemonic(instruction.mnemonic) for instruction in code}
        _print_coverage(coverage(known_mnemonics(), used), options.json)
        return EXIT_DONE
    if options.hsaco is None:
        raise BadInput("no code object is given", hint="netra simulate -h shows the options")
    outcome = _launch(options)
    _write_outputs(options, outcome)
    _print(options, outcome)
    return EXIT_DONE if outcome.report.is_clean else EXIT_REFUSED


def _disassembled(options: argparse.Namespace) -> Disassembly:
    label, data = str(options.hsaco), RealDisk().read_bytes(options.hsaco)
    read_code_object(data, label)
    return parse_disassembly(programs_of(options).disassemble(data, label=label), label)


def _launch(options: argparse.Namespace) -> Outcome:
    from netra_build.checkasm.model.arguments import read_arguments, read_sizes
    from netra_build.checkasm.model.launch import DEFAULT_BUDGET, Options, prepare

    if options.seed < 0:
        raise BadInput(
            "number is out of range", location="--seed", expected=">= 0", got=options.seed
        )
    label = str(options.hsaco)
    disk = RealDisk()
    data = disk.read_bytes(options.hsaco)
    symbol = options.symbol or _only_kernel(read_code_object(data, label), label)
    args = read_arguments(options.arg, lambda name: disk.read_bytes(Path(name)), options.seed)
    toolchain = programs_of(options)
    budget = DEFAULT_BUDGET if options.budget is None else options.budget
    how = Options(options.dynamic_lds, budget=budget, seed=options.seed)
    grid, block = read_sizes(options.grid, "grid"), read_sizes(options.block, "block")
    return prepare(data, symbol, toolchain, label).launch(grid, block, args, how)


def _only_kernel(code: CodeObject, label: str) -> str:
    names = [kernel.symbol for kernel in code.kernels]
    if len(names) == 1:
        return names[0]
    listed = ", ".join(f'"{name}"' for name in names) or "none"
    raise BadInput(
        f"code object has {len(names)} kernels: {listed}", location=label, hint="give --symbol"
    )


def _write_outputs(options: argparse.Namespace, outcome: Outcome) -> None:
    from netra_build.checkasm.model.arguments import saved

    for word in options.output:
        name, _, file_name = word.partition("=")
        if name not in outcome.outputs or not file_name.endswith(".npy"):
            raise BadInput(f'"{word}" names no buffer and file', expected="NAME=FILE.npy", got=word)
        RealDisk().write_bytes(Path(file_name), saved(outcome.outputs[name]))


def _print(options: argparse.Namespace, outcome: Outcome) -> None:
    report = outcome.report
    if options.json:
        print(pretty_bytes(_as_json(outcome)).decode(), end="")
        return
    for finding in report.findings:
        print(finding.line())
    rest = sum(report.counts.values()) - len(report.findings)
    if rest:
        print(f"{rest} more findings")
    for name, array in outcome.outputs.items():
        shape = "x".join(str(size) for size in array.shape)
        print(f'buffer "{name}": {array.dtype} {shape}, blake3 {blake3_hex(array.tobytes())[:16]}')
    total = sum(report.counts.values())
    verdict = "clean" if not total else f"{total} finding{'s' if total > 1 else ''}"
    print(f"{report.wave_instructions} wave-instructions, {verdict}; {NO_SILICON}")


def _as_json(outcome: Outcome) -> Json:
    report = outcome.report
    buffers: dict[str, Json] = {
        name: {
            "shape": list(array.shape),
            "dtype": str(array.dtype),
            "blake3": blake3_hex(array.tobytes()),
        }
        for name, array in outcome.outputs.items()
    }
    return {
        "format": "netra-simulation-1",
        "scope": "simulated",
        "findings": [asdict(finding) for finding in report.findings],
        "counts": dict(report.counts),
        "wave_instructions": report.wave_instructions,
        "instructions": dict(report.instructions_by_mnemonic),
        "buffers": buffers,
    }


def _print_coverage(found: Coverage, as_json: bool) -> None:
    if as_json:
        parts = ("implemented", "missing", "from_notes")
        document: Json = {part: list(getattr(found, part)) for part in parts}
        print(pretty_bytes(document).decode(), end="")
        return
    print(found.line())
    print("lane maps from programming notes only: " + (", ".join(found.from_notes) or "none"))
    print("refused: " + (" ".join(found.missing) or "none"))
