"""Required wait states between dependent instructions, as versioned data.

Source: the hazard recogniser of LLVM 22.1.8 (``llc -run-pass post-RA-hazard-rec``), run row by
row for gfx950 and gfx942, and the data hazard chapters of the CDNA3 and CDNA4 instruction set
documents. One wait state is one issued instruction that is not ``s_nop``; ``s_nop N`` gives N+1.
A test runs the installed ``llc`` on every row and names the rows for which another LLVM gives other
states.

Known differences: newer LLVM requires extra states when matrix instructions of different opcodes
share an accumulator, and 1 state after every scalef32 convert; LLVM before the gfx950 fix
looked back 19 states instead of 20.
"""

from __future__ import annotations

from dataclasses import dataclass

OVERLAP = "overlap"
PARTIAL = "partial"
EXACT = "exact"
OTHER_MNEMONIC = "other_mnemonic"
SAME_MNEMONIC = "same_mnemonic"


@dataclass(frozen=True)
class Row:
    """``states`` wait states between a producer's registers and a consumer's (gfx950).

    ``gfx942`` is the same for that target, None where it has no such instructions. ``relation``
    says how the registers or mnemonics must relate for the row to apply.
    """

    id: str
    producer: str
    consumer: str
    states: int
    gfx942: int | None
    relation: str = OVERLAP


VECTOR_ROWS = (
    Row("valu-vgpr-to-matrix", "valu_vgpr", "matrix_source", 2, 2),
    Row("valu-vgpr-to-dpp", "valu_vgpr", "dpp_source", 2, 2),
    Row("valu-vgpr-to-permlane", "valu_vgpr", "permlane_source", 2, None),
    Row("valu-vgpr-to-readlane", "valu_vgpr", "readlane_source", 1, 1),
    Row("valu-exec-to-dpp", "valu_exec", "dpp_exec", 5, 5),
    Row("valu-exec-to-permlane", "valu_exec", "permlane_exec", 4, None),
    Row("valu-exec-to-matrix", "valu_exec", "matrix_exec", 4, 4),
    Row("valu-exec-to-lane", "valu_exec", "lane_exec", 4, 4),
    Row("valu-sgpr-to-valu", "valu_sgpr", "valu_scalar", 2, 2),
    Row("valu-sgpr-to-vmem", "valu_sgpr", "vmem_scalar", 5, 5),
    Row("valu-sgpr-to-lane-select", "valu_sgpr", "lane_select", 4, 4),
    Row("valu-vcc-to-div-fmas", "valu_sgpr", "div_fmas_vcc", 4, 4),
    Row("transcendental-to-valu", "transcendental_vgpr", "plain_valu_read", 1, 1),
    Row("partial-write-to-valu", "partial_vgpr", "valu_read", 1, 1),
    Row("partial-write-to-valu-write", "partial_vgpr", "valu_write", 1, 1),
    Row("dot-to-other-read", "dot_vgpr", "vector_read", 3, 3, OTHER_MNEMONIC),
    Row("dot-to-other-write", "dot_vgpr", "vector_write", 3, 3, OTHER_MNEMONIC),
    Row("dot-to-same-source", "dot_vgpr", "dot_source_ab", 3, 3, SAME_MNEMONIC),
    Row("wide-store-to-valu-write", "wide_store_data", "valu_write", 2, 2),
    Row("wide-store-to-matrix-write", "wide_store_data", "matrix_write", 2, 2),
    Row("setreg-to-getreg", "setreg", "getreg", 2, 2),
    Row("setreg-to-setreg", "setreg", "setreg", 2, 2),
    Row("salu-m0-to-use", "salu_m0", "m0_use", 1, 1),
)


def _result_rows(
    kind: str, states: tuple[int, int], partial: dict[str, tuple[int, int]]
) -> list[Row]:
    """Rows of a matrix result with the same states for every consumer; pairs are gfx950, gfx942."""
    producer = f"{kind}_result"
    rows = [
        Row(f"{kind}-to-{consumer.replace('_', '-')}", producer, consumer, *states)
        for consumer in ("vector_read", "vector_write", "matrix_ab")
    ]
    rows += [
        Row(f"{kind}-to-{other}-accumulator", producer, f"{other}_c", *pair, PARTIAL)
        for other, pair in partial.items()
    ]
    return rows


def _alike(states: int, gfx942: int) -> dict[str, tuple[int, int]]:
    return dict.fromkeys(("xdl", "sgemm", "dgemm"), (states, gfx942))


def _single(states: int) -> dict[str, tuple[int, int]]:
    return dict.fromkeys(("sgemm", "dgemm"), (states, states))


def _double_rows(
    kind: str,
    *,
    valu: tuple[int, int],
    memory: tuple[int, int],
    write: tuple[int, int],
    ab: tuple[int, int],
) -> list[Row]:
    """Rows of a float64 matrix result, which differ by consumer."""
    producer = f"{kind}_result"
    return [
        Row(f"{kind}-to-valu-read", producer, "valu_read", *valu),
        Row(f"{kind}-to-memory-read", producer, "memory_read", *memory),
        Row(f"{kind}-to-vector-write", producer, "vector_write", *write),
        Row(f"{kind}-to-matrix-ab", producer, "matrix_ab", *ab),
    ]


def _accumulator_rows(kind: str, states: int) -> Row:
    return Row(f"{kind}-accumulator-overwrite", f"{kind}_c", "vector_write", states, states)


MATRIX_ROWS = (
    *_result_rows("xdl2", (5, 5), {"xdl": (4, 3), **_single(3)}),
    *_result_rows("xdl4", (8, 7), _alike(6, 5)),
    *_result_rows("xdl8", (12, 11), _alike(10, 9)),
    *_result_rows("xdl16", (20, 19), _alike(18, 17)),
    *_result_rows("sgemm2", (4, 4), _single(2)),
    *_result_rows("sgemm8", (10, 10), _single(8)),
    *_result_rows("sgemm16", (18, 18), _single(16)),
    *_double_rows("dgemm4", valu=(6, 6), memory=(9, 9), write=(6, 6), ab=(6, 6)),
    *_double_rows("dgemm16", valu=(19, 11), memory=(18, 18), write=(11, 11), ab=(19, 11)),
    Row("xdl2-to-same-accumulator", "xdl2_result", "matrix_c", 2, 2, EXACT),
    Row("sgemm2-to-same-accumulator", "sgemm2_result", "matrix_c", 2, 2, EXACT),
    Row("dgemm4-to-same-accumulator", "dgemm4_result", "dgemm_c", 4, 4, EXACT),
    Row("dgemm4-to-dgemm-accumulator", "dgemm4_result", "dgemm_c", 4, 4, PARTIAL),
    Row("dgemm4-to-sgemm-accumulator", "dgemm4_result", "sgemm_c", 4, 4, PARTIAL),
    Row("dgemm16-to-dgemm-accumulator", "dgemm16_result", "dgemm_c", 17, 9, PARTIAL),
    Row("dgemm16-to-sgemm-accumulator", "dgemm16_result", "sgemm_c", 17, 9, PARTIAL),
    _accumulator_rows("xdl2", 1),
    _accumulator_rows("xdl4", 3),
    _accumulator_rows("xdl8", 7),
    _accumulator_rows("xdl16", 15),
)

ROWS: tuple[Row, ...] = (*VECTOR_ROWS, *MATRIX_ROWS)
