"""Whether a freshly built library gives what the programs give, asked before it is kept."""

from __future__ import annotations

from pathlib import Path

from netra_build.asm.native.session import (
    NativeToolchain,
    library_at,
    no_native_part,
    with_native_part,
)
from netra_build.asm.tools.programs import AssemblyFailed
from netra_build.asm.tools.toolchain import Toolchain

GOOD_UNIT = b"""\
\t.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
\t.set ROUNDS, 3
\t.text
\t.globl probe
\t.p2align 8
\t.type probe,@function
probe:
\ts_mov_b32 s0, ROUNDS
again:
\tv_mfma_f32_16x16x32_bf16 v[0:3], v[4:7], v[8:11], v[0:3]
\ts_sub_u32 s0, s0, 1
\ts_cmp_lg_u32 s0, 0
\ts_cbranch_scc1 again
\t.long 0xffffffff
\t.fill 6, 4, 0
\ts_endpgm
\t.size probe, .-probe
\t.section .rodata,"a",@progbits
\t.p2align 6
\t.amdhsa_kernel probe
\t\t.amdhsa_next_free_vgpr 12
\t\t.amdhsa_next_free_sgpr 8
\t\t.amdhsa_accum_offset 12
\t.end_amdhsa_kernel
"""

FAULTY_TREE = {
    "main.s": b'.include "steps.inc"\nSTEP 3\n\tv_nothing v0\n',
    "steps.inc": b'.macro STEP n\n\t.if \\n > 2\n\t.error "too many steps"\n\t.endif\n.endm\n',
}


def prove(programs: Toolchain, path: Path) -> None:
    """Compare the library at ``path`` with ``programs`` on a good unit and on a faulty tree.

    Raises ``ToolchainFailed`` when anything differs or the library cannot be loaded.
    """
    native = with_native_part(programs, None)
    native.native.use(programs, library_at(programs, path))
    try:
        _compare(programs, native)
    finally:
        native.close()
    if native.native.absence:
        raise no_native_part(native.native.absence)


def _compare(programs: Toolchain, native: NativeToolchain) -> None:
    unit = programs.assemble(GOOD_UNIT)
    _same("objects", unit, native.assemble(GOOD_UNIT))
    linked = programs.link([unit])
    _same("linked code objects", linked, native.link([unit]))
    if programs.disassembler is not None:
        _same("listings", programs.disassemble(linked), native.disassemble(linked))
    _same("diagnostics", _fault(programs), _fault(native))


def _fault(tools: Toolchain) -> str:
    """Return the raw report on the faulty tree."""
    try:
        tools.assemble_tree(FAULTY_TREE, "main.s")
    except AssemblyFailed as error:
        return error.raw
    return ""


def _same(what: str, expected: object, got: object) -> None:
    if expected != got:
        raise no_native_part(f"the native part and the programs give different {what}")
