"""Control flow, waits and wait states on instructions written by hand, without any tool."""

from __future__ import annotations

import pytest

from netra_build.asm.objects.code_object import Kernel
from netra_build.asm.objects.descriptor import read_descriptor
from netra_build.asm.objects.listings import Disassembly, Instruction, branch_target
from netra_build.checkasm.hazards.flow import (
    BudgetExceeded,
    Flow,
    build_flow,
    run_forward,
)
from netra_build.checkasm.hazards.waits import check_hazards, check_waits, wait_counts

LOAD = "global_load_dword v1, v0, s[4:5]"
STORE = "global_store_dword v0, v2, s[4:5]"
USE = "v_mov_b32_e32 v3, v1"
WAIT_WORD = 0xBF8C0000


def wait(vmcnt: int, lgkmcnt: int) -> tuple[str, int]:
    """Return an s_waitcnt with its word: vmcnt in bits 0-3 and 14-15, lgkmcnt in 8-11."""
    word = WAIT_WORD | vmcnt & 15 | vmcnt >> 4 << 14 | 7 << 4 | lgkmcnt << 8
    return f"s_waitcnt vmcnt({vmcnt}) lgkmcnt({lgkmcnt})", word


def branch(name: str, dwords: int) -> tuple[str, int]:
    """Return a branch whose offset is ``dwords`` from the next instruction."""
    return f"{name} {dwords & 0xFFFF}", 0xBF820000 | dwords & 0xFFFF


def flow_of(*lines: str | tuple[str, int]) -> tuple[Flow, list]:
    """Build the flow of one kernel at address 0x100, four bytes per instruction."""
    instructions = []
    for number, line in enumerate(lines):
        text, word = line if isinstance(line, tuple) else (line, 0)
        mnemonic, _, operands = text.partition(" ")
        address = 0x100 + 4 * number
        instructions.append(Instruction(address, mnemonic, operands, (word,), 4, text))
    kernel = Kernel("k", read_descriptor(bytes(64), "test"), 0, 0x100, bytes(4 * len(lines)), None)
    return build_flow(kernel, Disassembly(tuple(instructions), ()))


def wait_rules(*lines: str | tuple[str, int], shares_lds: bool = True) -> list[str]:
    """Return rule and address of every finding of the wait analysis."""
    flow, _ = flow_of(*lines)
    return [f"{f.rule} {f.pc:#x}" for f in check_waits(flow, shares_lds=shares_lds)]


def test_wait_counts_are_decoded() -> None:
    """Both halves of vmcnt; all ones in the largest."""
    flow, _ = flow_of(wait(63, 15), wait(37, 4), "s_endpgm")
    counts = [wait_counts(instruction) for instruction in flow.instructions[:2]]
    assert [(c.vmcnt, c.lgkmcnt) for c in counts] == [(63, 15), (37, 4)]


def test_branch_target_is_relative_to_the_next_instruction() -> None:
    """Forwards and backwards."""
    flow, _ = flow_of(branch("s_cbranch_scc0", 1), branch("s_branch", -2), "s_endpgm")
    assert [branch_target(i) for i in flow.instructions[:2]] == [0x108, 0x100]


def test_unreachable_code_is_not_looked_at() -> None:
    """What stands behind the end of the program may be anything, as prefetch padding is."""
    flow, findings = flow_of("s_endpgm", ".long 0xffffffff", LOAD, USE)
    assert (flow.reachable, findings) == ((0,), [])


def test_blocks_end_at_branches_and_start_at_targets() -> None:
    """A diamond has four blocks."""
    flow, _ = flow_of(
        branch("s_cbranch_scc0", 2), "s_nop 0", branch("s_branch", 1), "s_nop 0", "s_endpgm"
    )
    spans = [(block.start, block.end, block.successors) for block in flow.blocks]
    assert spans == [(0, 1, (2, 1)), (1, 3, (3,)), (3, 4, (3,)), (4, 5, ())]


def test_a_full_counter_retires_the_oldest() -> None:
    """With 63 younger operations issued the counter was full: the first load has landed."""
    assert wait_rules(LOAD, *[STORE] * 62, wait(62, 15), USE, "s_endpgm") == []
    assert wait_rules(LOAD, *[STORE] * 61, wait(62, 15), USE, "s_endpgm") == ["missing-wait 0x1fc"]
    behind = branch("s_cbranch_scc0", 0)
    assert wait_rules(LOAD, *[STORE] * 63, behind, USE, "s_endpgm") == []
    assert wait_rules(LOAD, *[STORE] * 62, behind, USE, "s_endpgm") == ["missing-wait 0x200"]


def test_the_path_with_fewer_younger_operations_decides() -> None:
    """vmcnt(1) covers the load on the path with a store, not on the one without."""
    skip = branch("s_cbranch_scc0", 1)
    assert wait_rules(LOAD, skip, STORE, wait(1, 15), USE, "s_endpgm") == ["missing-wait 0x110"]
    assert wait_rules(LOAD, skip, STORE, wait(0, 15), USE, "s_endpgm") == []


def test_local_operations_count_apart_from_scalar_loads() -> None:
    """lgkmcnt(1) with one younger LDS read covers the LDS read, never the scalar load."""
    older, younger = "ds_read_b32 v1, v0", "ds_read_b32 v4, v0"
    scalar = "s_load_dword s4, s[0:1], 0x0"
    assert wait_rules(older, younger, wait(63, 1), USE, "s_endpgm") == []
    assert wait_rules(older, scalar, wait(63, 1), USE, "s_endpgm") == ["missing-wait 0x10c"]
    use_scalar = "s_mov_b32 s6, s4"
    assert wait_rules(scalar, younger, wait(63, 1), use_scalar, "s_endpgm") == [
        "missing-wait 0x10c"
    ]


def test_each_load_is_reported_once_per_use() -> None:
    """The first use names the load; later ones of the same path do not repeat it."""
    assert wait_rules(LOAD, USE, USE, "s_endpgm") == ["missing-wait 0x104"]


def test_one_wavefront_needs_no_wait_at_a_barrier() -> None:
    """LDS is shared only when a work-group can hold more than one wavefront."""
    lines = ("ds_write_b32 v0, v1", "s_barrier", "s_endpgm")
    assert wait_rules(*lines) == ["lds-write-at-barrier 0x104"]
    assert wait_rules(*lines, shares_lds=False) == []


def test_states_add_up_over_no_ops_and_blocks() -> None:
    """s_nop N gives N+1 states, a branch one; the shortest path counts."""
    matrix = "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[8:9], v[10:11], 0"
    nop = ("s_nop 6", 0xBF800006)

    def messages(*lines: str | tuple[str, int]) -> list[str]:
        return [finding.message for finding in check_hazards(flow_of(*lines)[0])]

    text = (
        'v1 needs 8 wait states after "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[8:9], v[10:11], 0" '
        "at 0x100, has {} (xdl4-to-vector-read)"
    )
    skip = branch("s_cbranch_scc0", 1)
    assert messages(matrix, nop, USE, "s_endpgm") == [text.format(7)]
    assert messages(matrix, skip, nop, USE, "s_endpgm") == [text.format(1)]
    assert messages(matrix, nop, branch("s_cbranch_scc0", 0), USE, "s_endpgm") == []


def test_the_worst_row_of_a_pair_is_reported() -> None:
    """A store reads what a transcendental VALU wrote through an SGPR base: one finding."""
    flow, _ = flow_of("v_readfirstlane_b32 s4, v5", LOAD, "s_endpgm")
    (finding,) = check_hazards(flow)
    assert finding.message == (
        's4 needs 5 wait states after "v_readfirstlane_b32 s4, v5" at 0x100, has 0 '
        "(valu-sgpr-to-vmem)"
    )


def test_budget_is_linear_in_the_kernel() -> None:
    """A state that never settles is given up."""

    def older(_: int, state: dict[int, int]) -> None:
        state[0] += 1

    flow, _ = flow_of("s_nop 0", branch("s_branch", -2))
    with pytest.raises(BudgetExceeded):
        run_forward(flow, {0: 0}, older, lambda left, right: max(left, right, key=lambda x: x[0]))
