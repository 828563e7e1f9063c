"""Each shared primitive, assembled alone, gives the instructions that its comment promises."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from primitive_listings import LISTINGS

from netra_build.asm.objects.code_object import CodeObject, read_code_object
from netra_build.asm.objects.listings import parse_disassembly
from netra_build.asm.tools.programs import AssemblyFailed
from netra_build.asm.tools.toolchain import Toolchain

COMMON = "kernels/gfx950/templates/common"

COVERED = (
    "addressing",
    "descriptor",
    "guards",
    "kernargs",
    "memory",
    "metadata",
    "mfma",
    "module",
    "numerics",
    "reductions",
    "regs",
    "waits",
)
"""The files whose primitives are all tested here."""


FRAME = """
NETRA_ARGUMENTS_BEGIN
NETRA_POINTER_ARGUMENT ARG_X, 0, x, read_only
NETRA_POINTER_ARGUMENT ARG_Y, 8, y, write_only
NETRA_U32_ARGUMENT ARG_N, 16, n
NETRA_GFX950_MODULE_HEADER
NETRA_KERNEL_ENTRY framed
v_mov_b32 v40, 0
s_mov_b32 s20, ARG_Y+ARG_N
s_endpgm
NETRA_KERNEL_FUNCTION_END framed
NETRA_KERNEL_DESCRIPTOR framed, 20, 256, 2
NETRA_KERNEL_METADATA framed, 20, 256, 128
"""
"""A kernel made of the frame alone."""

ELSEWHERE = {
    "NETRA_REQUIRE_EQ",
    "NETRA_REQUIRE_GFX950_WAVE64",
    "NETRA_REQUIRE_POWER_OF_TWO",
    "NETRA_REFUSE_VALUE",
    "NETRA_REFUSE_SHIFT",
}
"""Macros of the guards, which have tests of their own."""

INNER = {
    "NETRA_COUNT_STATES",
    "NETRA_TAKE_LOG2",
    "NETRA_MFMA_STARTED",
    "NETRA_MFMA_FINISH",
    "NETRA_ROW16_MAX_STEP",
    "NETRA_WITH_ARGUMENTS",
    "NETRA_USE_ARGUMENTS",
    "NETRA_METADATA_SIZES",
    "NETRA_METADATA_COUNTS",
    "NETRA_METADATA_NOTE",
}
"""Macros that only other primitives call; the tests reach them through those."""


def lines(text: str) -> list[str]:
    """Return the lines of a block without indentation and empty lines."""
    return [line.strip() for line in text.splitlines() if line.strip()]


def build(root: Path, toolchain: Toolchain, includes: str, body: str) -> bytes:
    """Assemble and link a unit that uses some of the shared files."""
    files = {f"{COMMON}/{path.name}": path.read_bytes() for path in (root / COMMON).glob("*.inc")}
    unit = [f'.include "{COMMON}/{name}.inc"' for name in includes.split()]
    files["unit.s"] = ("\n".join([*unit, *lines(body)]) + "\n").encode()
    return toolchain.link([toolchain.assemble_tree(files, "unit.s")])


def listing(root: Path, toolchain: Toolchain, includes: str, body: str) -> list[str]:
    """Return the disassembly of a unit, one line an instruction."""
    framed = f".text\nunit:\n{body}\ns_endpgm\n.size unit, .-unit\n"
    linked = build(root, toolchain, includes, framed)
    found = [i.text for i in parse_disassembly(toolchain.disassemble(linked)).instructions]
    return [re.sub(r"\s+", " ", text).strip() for text in found]


def frame(root: Path, toolchain: Toolchain, body: str = FRAME) -> CodeObject:
    """Return the code object of a kernel made of the frame macros."""
    linked = build(root, toolchain, "module kernargs descriptor metadata", body)
    return read_code_object(linked, "frame.hsaco")


@pytest.mark.parametrize("name", LISTINGS)
def test_a_primitive_gives_its_instructions(root: Path, toolchain: Toolchain, name: str) -> None:
    includes, body, expected = LISTINGS[name]
    assert listing(root, toolchain, includes, body) == [*lines(expected), "s_endpgm"]


def test_the_frame_describes_the_kernel(root: Path, toolchain: Toolchain) -> None:
    code = frame(root, toolchain)
    kernel = code.kernel("framed", "frame.hsaco")
    descriptor = kernel.descriptor
    assert code.target == "amdgcn-amd-amdhsa--gfx950"
    assert kernel.entry_address % 256 == 0
    assert kernel.code[:4] == bytes.fromhex("8002507e")
    assert (descriptor.kernarg_size, descriptor.group_segment_fixed_size) == (20, 256)
    assert (descriptor.workgroup_id_x, descriptor.workgroup_id_y) == (True, True)
    assert (descriptor.workgroup_id_z, descriptor.workitem_id_mode) == (False, 0)
    assert (descriptor.user_sgpr_count, descriptor.private_segment_fixed_size) == (2, 0)
    assert descriptor.user_sgpr_kernarg_segment_ptr
    assert (descriptor.accum_offset, descriptor.allocated_vgprs) == (44, 48)
    assert (descriptor.float_denorm_mode_32, descriptor.float_denorm_mode_16_64) == (3, 3)
    assert (descriptor.float_round_mode_32, descriptor.float_round_mode_16_64) == (0, 0)
    assert (descriptor.ieee_mode, descriptor.dx10_clamp) == (True, True)
    assert not descriptor.fp16_overflow


def test_the_frame_writes_the_note(root: Path, toolchain: Toolchain) -> None:
    pointer = {"size": 8, "kind": "global_buffer", "space": "global"}
    assert dict(frame(root, toolchain).metadata) == {
        "amdhsa.version": [1, 2],
        "amdhsa.target": "amdgcn-amd-amdhsa--gfx950",
        "amdhsa.kernels": [
            {
                ".name": "framed",
                ".symbol": "framed.kd",
                ".kernarg_segment_size": 20,
                ".kernarg_segment_align": 8,
                ".group_segment_fixed_size": 256,
                ".private_segment_fixed_size": 0,
                ".wavefront_size": 64,
                ".max_flat_workgroup_size": 128,
                ".vgpr_count": 41,
                ".agpr_count": 0,
                ".sgpr_count": 21,
                ".args": [
                    {
                        ".name": name,
                        ".offset": offset,
                        ".size": pointer["size"],
                        ".value_kind": pointer["kind"],
                        ".address_space": pointer["space"],
                        ".actual_access": access,
                    }
                    for name, offset, access in (("x", 0, "read_only"), ("y", 8, "write_only"))
                ]
                + [{".name": "n", ".offset": 16, ".size": 4, ".value_kind": "by_value"}],
            }
        ],
    }


def test_register_counts_follow_the_code(root: Path, toolchain: Toolchain) -> None:
    """A register used anywhere in the kernel is in the counts; none has to be stated."""
    body = FRAME.replace("v_mov_b32 v40, 0", "v_mov_b32 v40, 0\nv_mov_b32 v99, s77")
    metadata = frame(root, toolchain, body).kernels[0].metadata
    assert metadata is not None
    assert (metadata.vgpr_count, metadata.sgpr_count) == (100, 78)


def test_a_kernel_without_arguments_has_an_empty_list(root: Path, toolchain: Toolchain) -> None:
    body = "\n".join(line for line in FRAME.splitlines() if "_ARGUMENT " not in line)
    body = body.replace("ARG_Y+ARG_N", "0")
    metadata = frame(root, toolchain, body).kernels[0].metadata
    assert metadata is not None
    assert metadata.arguments == ()


def test_a_file_of_primitives_may_be_included_twice(root: Path, toolchain: Toolchain) -> None:
    names = " ".join(sorted(path.stem for path in (root / COMMON).glob("*.inc")))
    assert listing(root, toolchain, f"{names} {names}", "NETRA_BARRIER") == [
        "s_barrier",
        "s_endpgm",
    ]


def test_a_load_displacement_beyond_its_field_is_refused(root: Path, toolchain: Toolchain) -> None:
    with pytest.raises(AssemblyFailed) as failed:
        build(root, toolchain, "addressing", "NETRA_GLOBAL_LOAD_U32X4 4, 1, 2, 4096")
    assert failed.value.fact == "expected a 13-bit signed offset"


def test_every_primitive_has_a_test(root: Path) -> None:
    """Of the files that this module covers; other files have modules of their own."""
    texts = [(root / COMMON / f"{name}.inc").read_text(encoding="utf-8") for name in COVERED]
    defined = set(re.findall(r"^\s*\.macro (\w+)", "\n".join(texts), re.MULTILINE))
    bodies = [FRAME, *(body for _, body, _ in LISTINGS.values())]
    used = {word for body in bodies for word in re.findall(r"NETRA_\w+", body)}
    assert defined - used == ELSEWHERE | INNER


def test_primitives_are_shared_and_one_is_not(root: Path) -> None:
    """A change of one primitive must reach the kernels that use it, and no other."""
    leaves = {
        path.stem: path.read_text(encoding="utf-8")
        for path in (root / "kernels/gfx950/templates/moe").glob("*.inc")
        if "symbol" in path.read_text(encoding="utf-8")
    }
    assert set(leaves) == {"gate_up_fp8_mfma", "silu_quant", "down_reduce_fp8_mfma_2wave"}

    def users(word: str) -> set[str]:
        return {name for name, text in leaves.items() if re.search(rf"\b{word}\b", text)}

    assert users("NETRA_ROW16_MAX_F32") == {"silu_quant"}
    assert users("NETRA_ROUND_F32_TO_BF16_PAIR") == {"down_reduce_fp8_mfma_2wave"}
    assert users("NETRA_BLOCK_STREAM") == {"gate_up_fp8_mfma", "down_reduce_fp8_mfma_2wave"}
    assert users("NETRA_ADD_ROWS_U64") == set(leaves)
