"""The committed answers of LLVM's hazard recogniser against our check, by member and operands."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import bench_hazards
from test_check_hazard_rows import KERNEL

from netra_build.asm.objects.code_object import read_code_object
from netra_build.asm.objects.listings import parse_disassembly
from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.hazards.flow import build_flow
from netra_build.checkasm.hazards.waits import check_hazards

TABLE = Path(__file__).resolve().parent.parent / "data/hazard_states.txt"


SPACE = ["s_nop 15", "s_nop 15"]
"""More wait states than any row asks for."""


def checked_states(toolchain: Toolchain, pairs: list) -> list[int]:
    """Return the wait states that our check asks for between each pair, all in one kernel."""
    body = []
    for number, (producer, consumer, _) in enumerate(pairs):
        skip = [f"s_cbranch_scc0 .L{number}"] if "rfe" in consumer else []
        body += [
            *skip,
            f".Lp{number}:",
            producer,
            f".Lc{number}:",
            consumer,
            f".L{number}:",
            *SPACE,
        ]
    marks = [f".globl {end}\n.set {end}, .L{end}" for end in ends(len(pairs))]
    function = [".globl all", ".type all,@function", "all:", *body, "s_endpgm", ".size all, .-all"]
    hsaco = toolchain.link(
        [toolchain.assemble("\n".join([KERNEL, *function, *marks, ""]).encode())]
    )
    code = read_code_object(hsaco, "pairs")
    symbols = {symbol.name: symbol for symbol in code.symbols}
    listing = parse_disassembly(toolchain.disassemble(hsaco))
    symbol = symbols["all"]
    kernel = replace(
        code.kernels[0],
        symbol="all",
        entry_address=symbol.address,
        code=bytes(symbol.size),
    )
    needed: dict[int | None, int] = {}
    for one in check_hazards(build_flow(kernel, listing)[0]):
        if one.severity == "error":
            states = int(re.search(r"needs (\d+) wait states", one.message)[1])
            needed[one.pc] = max(states, needed.get(one.pc, 0))
    return [needed.get(symbols[end].address, 0) for end in ends(len(pairs))]


def ends(count: int) -> list[str]:
    """Return the symbols of the second instruction of each pair."""
    return [f"c{number}" for number in range(count)]


KNOWN = {
    "v_pk_add_f16": "op_sel_hi of packed instructions, as LLVM_ONLY says",
    "v_dot2_f32_f16": "op_sel_hi of packed instructions, as LLVM_ONLY says",
    "v_dot2_f32_bf16": "op_sel_hi of packed instructions, as LLVM_ONLY says",
    "v_dot2_i32_i16": "op_sel_hi of packed instructions, as LLVM_ONLY says",
    "v_dot2_u32_u16": "op_sel_hi of packed instructions, as LLVM_ONLY says",
    "buffer_store_dwordx3": "rows of another source than LLVM",
    "buffer_store_dwordx4": "rows of another source than LLVM",
    "buffer_store_format_xyzw": "rows of another source than LLVM",
}
"""Instructions for which we ask for other states, and why."""


def test_every_member_and_operand_class_needs_what_the_recogniser_says(
    toolchain: Toolchain,
) -> None:
    """The check's own table, member by member, is the committed one."""
    pairs = list(bench_hazards.all_pairs())
    ours = bench_hazards.table(pairs, checked_states(toolchain, pairs)).splitlines()
    theirs = TABLE.read_text().splitlines()
    differing = [f"{a} // {b}" for a, b in zip(ours, theirs, strict=True) if a != b]
    assert {one.split()[0] for one in differing} == set(KNOWN), differing
    assert len(differing) == len(KNOWN), differing
