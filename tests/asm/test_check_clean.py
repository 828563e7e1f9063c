"""Clean kernels are silent; a wait or a no-op taken out of them is noticed."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.listings import parse_disassembly
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.hazards.checker import check_code_object
from netra_build.checkasm.hazards.findings import Finding

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "golden/gfx950"
GOLDEN_NAMES = sorted(
    path.relative_to(GOLDEN).parent.as_posix() for path in GOLDEN.rglob("kernel.s")
)
OPTIMISATIONS = ("-O1", "-O2", "-O3", "-Os")

UNNOTICED = {"gdn_verify_precompute_m12": 1}
"""Mutations that change nothing. The one: behind two square roots in a row the first has its
wait state already, and only the first is read next."""

Objects = Callable[[bytes], tuple[Finding, ...]]


@pytest.fixture(scope="module")
def check_object(toolchain: Toolchain) -> Objects:
    """Return a function from a code object's bytes to findings."""

    def run(hsaco: bytes) -> tuple[Finding, ...]:
        disassembly = parse_disassembly(toolchain.disassemble(hsaco))
        return check_code_object(read_code_object(hsaco, "object"), disassembly)

    return run


def build(toolchain: Toolchain, source: str) -> bytes:
    """Assemble and link one unit."""
    return toolchain.link([toolchain.assemble(source.encode())])


def severe(findings: tuple[Finding, ...]) -> list[str]:
    """Return errors and warnings as lines; notes are not faults."""
    return [finding.line() for finding in findings if finding.severity != "note"]


@pytest.mark.parametrize("name", GOLDEN_NAMES)
def test_golden_kernel_is_silent(toolchain: Toolchain, check_object: Objects, name: str) -> None:
    """No error and no warning on any hand-written kernel of ours."""
    source = (GOLDEN / name / "kernel.s").read_text()
    assert severe(check_object(build(toolchain, source))) == []


@pytest.mark.parametrize("name", ["moe_gate_up_decode_m1", "moe_down_reduce_decode_m1"])
def test_golden_kernel_reads_all_its_arguments(
    toolchain: Toolchain, check_object: Objects, name: str
) -> None:
    """Not even a note."""
    source = (GOLDEN / name / "kernel.s").read_text()
    assert check_object(build(toolchain, source)) == ()


@pytest.mark.parametrize("level", OPTIMISATIONS)
def test_compiled_kernels_are_silent(
    toolchain: Toolchain, check_object: Objects, level: str, tmp_path: Path
) -> None:
    """The compiler places its waits and no-ops by the same rules, at every level."""
    target = tmp_path / "kernels.hsaco"
    clang = toolchain.disassembler.path.parent / "clang"
    command = [clang, "-x", "cl", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx950", "-nogpulib"]
    command += ["-cl-std=CL2.0", "-w", level, "-o", target, ROOT / "tests/asm/check_kernels.cl"]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert answer.returncode == 0, answer.stderr
    hsaco = target.read_bytes()
    assert len(read_code_object(hsaco, "object").kernels) == 21
    assert severe(check_object(hsaco)) == []


def mutations(source: str) -> Iterator[tuple[str, str]]:
    """Yield what was taken out and the source without it: each wait, each no-op by one state."""
    lines = source.splitlines()
    for number, line in enumerate(lines):
        match = re.match(r"\s+(s_waitcnt|s_nop)\b\s*(\w+)?", line)
        if match is None:
            continue
        left = int(match[2], 0) - 1 if match[1] == "s_nop" else -1
        instead = f"\ts_nop {left}" if left >= 0 else ""
        changed = [*lines[:number], instead, *lines[number + 1 :]]
        yield f"{number + 1}: {line.strip()}", "\n".join(changed) + "\n"


def rules(findings: tuple[Finding, ...]) -> Counter:
    """Count errors and warnings by rule; addresses shift, so messages are not compared."""
    return Counter(finding.rule for finding in findings if finding.severity != "note")


@pytest.mark.parametrize("name", GOLDEN_NAMES)
def test_missing_waits_and_no_ops_are_noticed(
    toolchain: Toolchain,
    check_object: Objects,
    sample: Callable[[list, int], list],
    name: str,
) -> None:
    """The mutation score: every one of the sampled mutations is named, but those justified."""
    source = (GOLDEN / name / "kernel.s").read_text()
    chosen = sample(list(mutations(source)), 3)
    missed = [
        label for label, mutant in chosen if not rules(check_object(build(toolchain, mutant)))
    ]
    assert len(missed) <= UNNOTICED.get(name, 0), missed


def test_mutations_are_made_of_waits_and_no_ops() -> None:
    """The mutator itself, on three lines."""
    source = "\ts_nop 2\n\ts_waitcnt vmcnt(0)  // loads\n\ts_nop 0\n"
    assert [mutant for _, mutant in mutations(source)] == [
        "\ts_nop 1\n\ts_waitcnt vmcnt(0)  // loads\n\ts_nop 0\n",
        "\ts_nop 2\n\n\ts_nop 0\n",
        "\ts_nop 2\n\ts_waitcnt vmcnt(0)  // loads\n\n",
    ]
