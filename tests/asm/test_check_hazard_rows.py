"""Every row of the wait-state table against llc, and against our own check of real code.

Each case is one dependent pair, written twice: as machine IR for ``llc -run-pass
post-RA-hazard-rec``, which answers with the no-ops it inserts, and as assembly for our check.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from hazard_cases import ADD, DPP, LOAD, MX, Case, X, all_cases, v

from netra_build.asm.objects.code_object import Kernel, read_code_object
from netra_build.asm.objects.listings import Disassembly, parse_disassembly
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.hazards.flow import build_flow
from netra_build.checkasm.hazards.hazard_table import ROWS
from netra_build.checkasm.hazards.waits import check_hazards

CASES = all_cases()
LLVM_VERSION = "22.1.8"
LLVM_ONLY = {
    "packed-result-to-valu": (
        1,
        "LLVM 22 takes op_sel_hi of packed instructions for a half-register write and asks for 1 "
        "state; the instruction set documents list no such hazard",
    ),
    "load-to-dpp": (
        2,
        "LLVM 22 counts loads as writers in front of DPP; the wait for the load covers them",
    ),
}
"""Rows that LLVM asks for and that are not checked, each with its reason."""
CASE_BY_NAME = {case.name: case for case in CASES}

KERNEL = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.amdhsa_code_object_version 6
.text
.globl base
.p2align 8
.type base,@function
base: s_endpgm
.size base, .-base
.rodata
.p2align 6
.amdhsa_kernel base
 .amdhsa_next_free_vgpr 256
 .amdhsa_next_free_sgpr 96
 .amdhsa_accum_offset 256
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: base
    .symbol: base.kd
    .kernarg_segment_size: 0
    .kernarg_segment_align: 8
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .wavefront_size: 64
    .sgpr_count: 102
    .vgpr_count: 256
    .max_flat_workgroup_size: 64
...
.end_amdgpu_metadata
.text
"""


def llc_states(toolchain: Toolchain, folder: Path, processor: str, cases: list) -> dict[str, int]:
    """Return the wait states that llc puts between each pair."""
    source = "".join(
        f"---\nname: c{number}\ntracksRegLiveness: false\nbody: |\n  bb.0:\n"
        f"    {case.mir[0]}\n    {case.mir[1]}\n...\n"
        for number, case in enumerate(cases)
    )
    path = folder / "pairs.mir"
    path.write_text(source)
    llc = toolchain.disassembler.path.parent / "llc"
    command = [llc, "-mtriple=amdgcn-amd-amdhsa", f"-mcpu={processor}"]
    command += ["-run-pass", "post-RA-hazard-rec", "-o", "-", path]
    answer = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert answer.returncode == 0, answer.stderr[:2000]
    found = {}
    name = ""
    for line in answer.stdout.splitlines():
        if line.startswith("name:"):
            name = cases[int(line.split()[1][1:])].name
            found[name] = 0
        elif match := re.match(r"\s+S_NOP (\d+)", line):
            found[name] += int(match[1]) + 1
    return found


def differing_rows(cases: list, found: dict[str, int], column: str) -> list[str]:
    """Name the rows whose number of states is not the tool's."""
    return [
        f"{case.name}: table {getattr(case, column)}, llc {found[case.name]}"
        for case in cases
        if getattr(case, column) != found[case.name]
    ]


def test_every_row_has_a_pair() -> None:
    """A row without a pair would be a row without proof."""
    covered = {case.name.split(".")[0] for case in CASES}
    assert {row.id for row in ROWS} - covered == set()


def test_gfx950_states_are_those_of_llc(toolchain: Toolchain, tmp_path: Path) -> None:
    """Another LLVM is named together with the rows that it answers differently."""
    found = llc_states(toolchain, tmp_path, "gfx950", CASES)
    differing = differing_rows(CASES, found, "gfx950")
    assert differing == [], f"table is of LLVM {LLVM_VERSION}, this is {toolchain.version}"


def test_gfx942_states_are_those_of_llc(toolchain: Toolchain, tmp_path: Path) -> None:
    """The second column, for the rows whose instructions gfx942 has."""
    cases = [case for case in CASES if case.gfx942 is not None and "SCALEF32" not in case.mir[0]]
    found = llc_states(toolchain, tmp_path, "gfx942", cases)
    differing = differing_rows(cases, found, "gfx942")
    assert differing == [], f"table is of LLVM {LLVM_VERSION}, this is {toolchain.version}"


def test_differing_rows_are_named() -> None:
    """The comparison itself sees a wrong number."""
    case = replace(CASES[0], name="seeded", states=3)
    assert differing_rows([case], {"seeded": 2}, "states") == ["seeded: table 3, llc 2"]


def test_rows_left_out_are_still_what_llc_says(toolchain: Toolchain, tmp_path: Path) -> None:
    """When LLVM changes its mind about a row that we do not check, we want to know."""
    packed = f"{v(0, 2)} = V_PK_ADD_F32 8, {v(2, 2)}, 8, {v(4, 2)}, 0, 0, 0, 0, 0, {MX}"
    pairs = {
        "packed-result-to-valu": (packed, ADD[0]),
        "load-to-dpp": (LOAD[0], DPP[0]),
    }
    cases = [Case(name, mir, ("", ""), LLVM_ONLY[name][0], None) for name, mir in pairs.items()]
    assert set(pairs) == set(LLVM_ONLY)
    assert differing_rows(cases, llc_states(toolchain, tmp_path, "gfx950", cases), "states") == []
    assert X in cases[1].mir[0]


def gap(states: int) -> list[str]:
    """Return no-ops that give exactly ``states`` wait states."""
    return [f"s_nop {min(16, left) - 1}" for left in range(states, 0, -16)]


@pytest.fixture(scope="module")
def checked(toolchain: Toolchain) -> dict[str, list]:
    """Assemble all pairs at once, at the table's distance and one state closer; check each."""
    lines = []
    for number, case in enumerate(CASES):
        for suffix, states in (("far", case.states), ("near", case.states - 1)):
            if states < 0:
                continue
            name = f"c{number}_{suffix}"
            lines += [f".globl {name}", f".type {name},@function", f"{name}:"]
            lines += [case.asm[0], *gap(states), case.asm[1], "s_endpgm", f".size {name}, .-{name}"]
    unit = KERNEL + "\n".join(lines) + "\n"
    hsaco = toolchain.link([toolchain.assemble(unit.encode())])
    code = read_code_object(hsaco, "pairs")
    disassembly = parse_disassembly(toolchain.disassemble(hsaco))
    return {
        symbol.name: findings_of(code.kernels[0], symbol, disassembly)
        for symbol in code.symbols
        if symbol.name.startswith("c")
    }


def findings_of(base: Kernel, symbol, disassembly: Disassembly) -> list:
    """Check one function as if it were the kernel."""
    kernel = replace(
        base, symbol=symbol.name, entry_address=symbol.address, code=bytes(symbol.size)
    )
    flow, faults = build_flow(kernel, disassembly)
    assert {fault.rule for fault in faults} <= {"indirect-branch"}
    return check_hazards(flow)


@pytest.mark.parametrize("name", CASE_BY_NAME)
def test_pair_is_flagged_one_state_short_only(checked: dict[str, list], name: str) -> None:
    """At the table's distance the check is silent, one state closer it names both instructions."""
    case = CASE_BY_NAME[name]
    number = CASES.index(case)
    assert checked[f"c{number}_far"] == []
    if case.states:
        rule = "accumulator-opcode" if case.source == "CHANGE" else "wait-states"
        (finding,) = [one for one in checked[f"c{number}_near"] if one.rule == rule]
        assert f"needs {case.states} wait states after" in finding.message
        assert f", has {case.states - 1} (" in finding.message
