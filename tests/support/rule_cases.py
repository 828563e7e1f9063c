"""Seeded faults for the static rules, each with its clean twin, as kernels in assembly."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Unit:
    """One kernel: its code, and what descriptor and metadata say about it."""

    body: str
    descriptor: dict[str, int] = field(default_factory=dict)
    metadata: dict[str, int] = field(default_factory=dict)
    arguments: tuple[tuple[int, int], ...] = ((0, 8), (8, 8), (16, 4))
    kind: str = "global_buffer"
    tail: str = ""

    def source(self) -> str:
        """Return the assembly text."""
        descriptor = {
            "user_sgpr_kernarg_segment_ptr": 1,
            "next_free_vgpr": 64,
            "next_free_sgpr": 32,
            "accum_offset": 64,
            "kernarg_size": 24,
            **self.descriptor,
        }
        metadata = {
            "kernarg_segment_size": descriptor["kernarg_size"],
            "kernarg_segment_align": 8,
            "group_segment_fixed_size": descriptor.get("group_segment_fixed_size", 0),
            "private_segment_fixed_size": 0,
            "wavefront_size": 64,
            "sgpr_count": 38,
            "vgpr_count": 64,
            "max_flat_workgroup_size": 256,
            **self.metadata,
        }
        directives = "\n".join(f" .amdhsa_{name} {value}" for name, value in descriptor.items())
        listed = "\n".join(f"    .{name}: {value}" for name, value in metadata.items())
        arguments = "\n".join(
            f"      - .offset: {offset}\n        .size: {size}\n        .value_kind: {self.kind}"
            for offset, size in self.arguments
        )
        return SOURCE.format(
            body=self.body.strip(),
            tail=self.tail,
            directives=directives,
            listed=listed,
            arguments=f"    .args:\n{arguments}" if arguments else "",
        )


SOURCE = """
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.amdhsa_code_object_version 6
.text
.globl k
.p2align 8
.type k,@function
k:
{body}
.Lend:
.size k, .Lend-k
{tail}
.rodata
.p2align 6
.amdhsa_kernel k
{directives}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
{listed}
{arguments}
...
.end_amdgpu_metadata
"""


MFMA_SMALL = "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[4:5], v[6:7], 0"
MFMA_OUT = "v_mfma_f32_32x32x8_f16"
LOAD_ALL = "s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_load_dword s8, s[0:1], 0x10\n"

# Rule, faulty body, clean body, what the message says about the fault.
BODIES = [
    (
        "missing-wait",
        "s_load_dword s4, s[0:1], 0x0\ns_mov_b32 s5, s4\ns_endpgm",
        "s_load_dword s4, s[0:1], 0x0\ns_waitcnt lgkmcnt(0)\ns_mov_b32 s5, s4\ns_endpgm",
        'reads s4 before lgkmcnt covers the load at @0 "s_load_dword s4, s[0:1], 0x0"',
    ),
    (
        "missing-wait",
        "s_load_dword s4, s[0:1], 0x0\ns_mov_b32 s4, 0\ns_endpgm",
        "s_load_dword s4, s[0:1], 0x0\ns_mov_b32 s5, 0\ns_endpgm",
        'overwrites s4 before lgkmcnt covers the load at @0 "s_load_dword s4, s[0:1], 0x0"',
    ),
    (  # scalar loads return in any order: a count above 0 covers none of them
        "missing-wait",
        "s_load_dword s4, s[0:1], 0x0\ns_load_dword s5, s[0:1], 0x4\ns_waitcnt lgkmcnt(1)\n"
        "s_mov_b32 s6, s4\ns_endpgm",
        "s_load_dword s4, s[0:1], 0x0\ns_load_dword s5, s[0:1], 0x4\ns_waitcnt lgkmcnt(0)\n"
        "s_mov_b32 s6, s4\ns_endpgm",
        "reads s4 before lgkmcnt covers",
    ),
    (  # vector loads return in order: vmcnt(1) covers the older one only
        "missing-wait",
        "global_load_dword v1, v0, s[4:5]\nglobal_load_dword v2, v0, s[4:5]\n"
        "s_waitcnt vmcnt(1)\nv_mov_b32 v3, v2\ns_endpgm",
        "global_load_dword v1, v0, s[4:5]\nglobal_load_dword v2, v0, s[4:5]\n"
        "s_waitcnt vmcnt(1)\nv_mov_b32 v3, v1\ns_endpgm",
        "reads v2 before vmcnt covers",
    ),
    (  # a store counts as well
        "missing-wait",
        "global_load_dword v1, v0, s[4:5]\ns_waitcnt vmcnt(1)\nv_mov_b32 v3, v1\ns_endpgm",
        "global_load_dword v1, v0, s[4:5]\nglobal_store_dword v0, v2, s[4:5]\n"
        "s_waitcnt vmcnt(1)\nv_mov_b32 v3, v1\ns_endpgm",
        "reads v1 before vmcnt covers",
    ),
    (  # the largest count is no wait
        "missing-wait",
        "global_load_dword v1, v0, s[4:5]\ns_waitcnt vmcnt(63)\nv_mov_b32 v3, v1\ns_endpgm",
        "global_load_dword v1, v0, s[4:5]\ns_waitcnt vmcnt(0)\nv_mov_b32 v3, v1\ns_endpgm",
        "reads v1 before vmcnt covers",
    ),
    (  # flat loads need both counters
        "missing-wait",
        "flat_load_dword v1, v[2:3]\ns_waitcnt vmcnt(0)\nv_mov_b32 v4, v1\ns_endpgm",
        "flat_load_dword v1, v[2:3]\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_mov_b32 v4, v1\ns_endpgm",
        "reads v1 before lgkmcnt covers",
    ),
    (  # an LDS read overtaken by a vector load into the same register
        "missing-wait",
        "ds_read_b32 v1, v0\nglobal_load_dword v1, v0, s[4:5]\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
        "s_endpgm",
        "ds_read_b32 v1, v0\nds_read_b32 v1, v2\ns_waitcnt lgkmcnt(0)\ns_endpgm",
        'overwrites v1 before lgkmcnt covers the load at @0 "ds_read_b32 v1, v0"',
    ),
    (  # the wait stands on one of two paths only
        "missing-wait",
        "global_load_dword v1, v0, s[4:5]\ns_cbranch_scc0 .Luse\ns_waitcnt vmcnt(0)\n"
        ".Luse:\nv_mov_b32 v3, v1\ns_endpgm",
        "global_load_dword v1, v0, s[4:5]\ns_cbranch_scc0 .Luse\ns_nop 0\n"
        ".Luse:\ns_waitcnt vmcnt(0)\nv_mov_b32 v3, v1\ns_endpgm",
        "reads v1 before vmcnt covers",
    ),
    (  # the load of the previous round
        "missing-wait",
        ".Lloop:\nv_mov_b32 v3, v1\nglobal_load_dword v1, v0, s[4:5]\ns_cbranch_scc0 .Lloop\n"
        "s_endpgm",
        ".Lloop:\nv_mov_b32 v3, v1\nglobal_load_dword v1, v0, s[4:5]\ns_waitcnt vmcnt(0)\n"
        "s_cbranch_scc0 .Lloop\ns_endpgm",
        "reads v1 before vmcnt covers",
    ),
    (
        "lds-write-at-barrier",
        "ds_write_b32 v0, v1\ns_barrier\nds_read_b32 v2, v0\ns_endpgm",
        "ds_write_b32 v0, v1\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_read_b32 v2, v0\ns_endpgm",
        '"ds_write_b32 v0, v1" at @0 may be outstanding here, lgkmcnt does not cover it',
    ),
    (
        "lds-read-at-barrier",
        "ds_read_b32 v2, v0\ns_barrier\ns_waitcnt lgkmcnt(0)\ns_endpgm",
        "ds_read_b32 v2, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\ns_endpgm",
        '"ds_read_b32 v2, v0" at @0 may be outstanding here, lgkmcnt does not cover it',
    ),
    (
        "lds-dma-at-barrier",
        "buffer_load_dword v0, s[4:7], 0 offen lds\ns_waitcnt vmcnt(1)\ns_barrier\n"
        "s_waitcnt vmcnt(0)\ns_endpgm",
        "buffer_load_dword v0, s[4:7], 0 offen lds\ns_waitcnt vmcnt(0)\ns_barrier\ns_endpgm",
        "may be outstanding here, vmcnt does not cover it",
    ),
    (
        "lds-dma-read",
        "global_load_lds_dword v[0:1], off\nds_read_b32 v2, v3\ns_waitcnt vmcnt(0)\ns_endpgm",
        "global_load_lds_dword v[0:1], off\ns_waitcnt vmcnt(0)\nds_read_b32 v2, v3\ns_endpgm",
        "may be outstanding here, vmcnt does not cover it",
    ),
    (
        "lds-dma-at-end",
        "global_load_lds_dword v[0:1], off\ns_endpgm",
        "global_load_lds_dword v[0:1], off\ns_waitcnt vmcnt(0)\ns_endpgm",
        "may be outstanding here, vmcnt does not cover it",
    ),
    (  # the shorter of two paths decides
        "wait-states",
        f"{MFMA_SMALL}\ns_cbranch_scc0 .Luse\ns_nop 6\n.Luse:\nv_add_f32 v20, v1, v1\ns_endpgm",
        f"{MFMA_SMALL}\ns_cbranch_scc0 .Luse\ns_nop 6\n.Luse:\ns_nop 6\nv_add_f32 v20, v1, v1\n"
        "s_endpgm",
        'v1 needs 8 wait states after "v_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[4:5], v[6:7], 0" at '
        "@0, has 1 (xdl4-to-vector-read)",
    ),
    (  # through the back edge of a loop
        "wait-states",
        ".Lloop:\nv_add_f32 v20, v1, v1\nv_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[4:5], v[6:7], 0\n"
        "s_branch .Lloop",
        ".Lloop:\nv_add_f32 v20, v9, v9\nv_mfma_f32_16x16x32_fp8_fp8 v[0:3], v[4:5], v[6:7], 0\n"
        "s_branch .Lloop",
        "at @4, has 1 (xdl4-to-vector-read)",
    ),
    (
        "accumulator-overlap",
        f"{MFMA_OUT} v[0:15], v[2:3], v[20:21], v[32:47]\ns_endpgm",
        f"{MFMA_OUT} v[0:15], v[22:23], v[20:21], v[32:47]\ns_endpgm",
        "result overlaps a source at v[2:3]",
    ),
    (  # the assembler refuses this one, so the words are written out: srcC is v[4:19]
        "accumulator-overlap",
        ".long 0xd3cc0000, 0x04122916\ns_endpgm",
        ".long 0xd3cc0000, 0x04022916\ns_endpgm",
        "result overlaps only part of the accumulator at v[4:15]",
    ),
    (
        "branch-target",
        "s_cbranch_scc0 .Lout\ns_endpgm",
        "s_cbranch_scc0 .Lin\n.Lin:\ns_endpgm",
        "branch to @8 leaves the kernel's code",
    ),
    ("falls-off-end", "s_nop 0", "s_endpgm", "execution runs past the end of the kernel"),
    (
        "indirect-branch",
        "s_setpc_b64 s[4:5]",
        "s_endpgm",
        "jump to a computed address is not followed",
    ),
    (
        "indirect-register",
        "s_mov_b32 m0, 0\ns_nop 0\ns_movrels_b32 s4, s5\ns_endpgm",
        "s_mov_b32 s4, s5\ns_endpgm",
        "registers are named at run time",
    ),
    (
        "unknown-instruction",
        ".long 0xffffffff\ns_endpgm",
        "s_endpgm\n.long 0xffffffff",
        'unknown instruction ".long 0xffffffff"',
    ),
    (
        "vgpr-allocation",
        "v_mov_b32 v64, 0\ns_endpgm",
        "v_mov_b32 v63, 0\ns_endpgm",
        "65 VGPRs and 0 AGPRs (from 64) are used; expected at most 64, got 65",
    ),
    (
        "sgpr-allocation",
        "s_mov_b32 s48, 0\ns_endpgm",
        "s_mov_b32 s47, 0\ns_endpgm",
        "49 SGPRs are used; expected at most 48, got 49",
    ),
    (
        "sgpr-allocation",
        "s_mov_b32 s47, 0\ns_mov_b64 vcc, 0\ns_endpgm",
        "s_mov_b32 s45, 0\ns_mov_b64 vcc, 0\ns_endpgm",
        "48 SGPRs and vcc are used; expected at most 48, got 50",
    ),
    (
        "metadata-count",
        "s_mov_b32 s39, 0\ns_endpgm",
        "s_mov_b32 s37, 0\ns_endpgm",
        'metadata ".sgpr_count" is too small; expected at least 40, got 38',
    ),
    (
        "kernarg-read",
        "s_load_dwordx4 s[4:7], s[0:1], 0x10\ns_endpgm",
        "s_load_dwordx2 s[4:5], s[0:1], 0x10\ns_endpgm",
        "reads kernarg bytes 16 to 31 of a segment of 24 bytes",
    ),
    (
        "kernarg-read",
        "s_load_dword s4, s[0:1], 0x14\ns_endpgm",
        "s_load_dword s4, s[0:1], 0x10\ns_endpgm",
        "reads kernarg bytes 20 to 23, which no argument owns",
    ),
    (  # through a copy of the pointer, an addition and a constant in a register
        "kernarg-read",
        "s_mov_b64 s[2:3], s[0:1]\ns_add_u32 s2, s2, 8\ns_addc_u32 s3, s3, 0\n"
        "s_movk_i32 s9, 0x10\ns_load_dword s4, s[2:3], s9\ns_endpgm",
        "s_mov_b64 s[2:3], s[0:1]\ns_add_u32 s2, s2, 8\ns_addc_u32 s3, s3, 0\n"
        "s_movk_i32 s9, 0x8\ns_load_dword s4, s[2:3], s9\ns_endpgm",
        "reads kernarg bytes 24 to 27 of a segment of 24 bytes",
    ),
    (
        "kernarg-read",
        "v_mov_b32 v0, 0\nglobal_load_dword v1, v0, s[0:1] offset:24\ns_endpgm",
        "v_mov_b32 v0, 0\nglobal_load_dword v1, v0, s[0:1] offset:16\ns_endpgm",
        "reads kernarg bytes 24 to 27 of a segment of 24 bytes",
    ),
]
OUTSIDE = ".Lout:\ns_endpgm"

UNITS = [
    (
        "accum-offset",
        Unit(
            "v_mov_b32 v63, 0\nv_accvgpr_write_b32 a0, 0\ns_endpgm",
            {"accum_offset": 60, "next_free_vgpr": 72},
        ),
        Unit(
            "v_mov_b32 v63, 0\nv_accvgpr_write_b32 a0, 0\ns_endpgm",
            {"accum_offset": 64, "next_free_vgpr": 72},
        ),
        "VGPRs reach above accum_offset; expected at most 60, got 64",
    ),
    (
        "accum-offset-vgpr",
        Unit("v_mov_b32 v63, 0\ns_endpgm", {"accum_offset": 60}),
        Unit("v_mov_b32 v59, 0\ns_endpgm", {"accum_offset": 60}),
        "VGPRs reach above accum_offset; expected at most 60, got 64",
    ),
    (
        "vgpr-allocation",
        Unit("v_accvgpr_write_b32 a8, 0\ns_endpgm", {"next_free_vgpr": 72}),
        Unit("v_accvgpr_write_b32 a7, 0\ns_endpgm", {"next_free_vgpr": 72}),
        "0 VGPRs and 9 AGPRs (from 64) are used; expected at most 72, got 73",
    ),
    (
        "lds-size",
        Unit("s_endpgm", {"group_segment_fixed_size": 163844}),
        Unit("s_endpgm", {"group_segment_fixed_size": 163840}),
        "static LDS is too large; expected at most 163840, got 163844",
    ),
    (
        "wave-size",
        Unit("s_endpgm", metadata={"wavefront_size": 32}),
        Unit("s_endpgm", metadata={"wavefront_size": 64}),
        "metadata states another wavefront size; expected 64, got 32",
    ),
    (
        "metadata-mismatch",
        Unit("s_endpgm", metadata={"kernarg_segment_size": 32}),
        Unit("s_endpgm", metadata={"kernarg_segment_size": 24}),
        "kernarg size of metadata and descriptor differ; expected 24, got 32",
    ),
    (
        "metadata-mismatch",
        Unit("s_endpgm", metadata={"group_segment_fixed_size": 4}),
        Unit("s_endpgm", {"group_segment_fixed_size": 4}),
        "LDS size of metadata and descriptor differ; expected 0, got 4",
    ),
    (
        "kernarg-layout",
        Unit("s_endpgm", arguments=((0, 8), (4, 8))),
        Unit("s_endpgm", arguments=((0, 8), (8, 8))),
        "kernarg at offset 4 overlaps the one before; expected an offset of at least 8",
    ),
    (
        "kernarg-layout",
        Unit("s_endpgm", arguments=((0, 8), (20, 8))),
        Unit("s_endpgm", arguments=((0, 8), (16, 8))),
        "kernarg at offset 20 leaves the segment; expected an end of at most 24, got 28",
    ),
    (
        "lds-undeclared",
        Unit("ds_write_b32 v0, v1\ns_endpgm", metadata={"max_flat_workgroup_size": 64}),
        Unit("ds_write_b32 v0, v1\ns_endpgm", {"group_segment_fixed_size": 64}),
        "the kernel touches LDS and the descriptor declares none",
    ),
    (
        "lds-without-barrier",
        Unit("ds_write_b32 v0, v1\nds_read_b32 v2, v3\ns_endpgm"),
        Unit(
            "ds_write_b32 v0, v1\nds_read_b32 v2, v3\ns_endpgm",
            metadata={"max_flat_workgroup_size": 64},
        ),
        "the kernel writes and reads LDS and has no s_barrier",
    ),
    (
        "kernarg-unread",
        Unit("s_load_dwordx4 s[4:7], s[0:1], 0x0\ns_endpgm"),
        Unit("s_load_dwordx8 s[4:11], s[0:1], 0x0\ns_endpgm", {"kernarg_size": 32}),
        "kernarg at offset 16 is never read",
    ),
    (
        "kernarg-unresolved",
        Unit("s_add_u32 s2, s0, s9\ns_addc_u32 s3, s1, 0\ns_load_dword s4, s[2:3], 0x0\ns_endpgm"),
        Unit("s_add_u32 s2, s0, 8\ns_addc_u32 s3, s1, 0\ns_load_dword s4, s[2:3], 0x0\ns_endpgm"),
        "a kernarg address is computed at run time and not followed",
    ),
]


def all_pairs() -> list[tuple[str, Unit, Unit, str]]:
    """Return every seeded fault with its clean twin as units."""
    pairs = [
        (rule, Unit(bad, tail=OUTSIDE), Unit(good, tail=OUTSIDE), message)
        for rule, bad, good, message in BODIES
    ]
    return [*pairs, *UNITS]
