"""How the hardware starts wavefronts: scalar and vector registers before the first instruction."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from netra_build.asm.objects.descriptor import KernelDescriptor
from netra_build.checkasm.model.arguments import Geometry
from netra_build.checkasm.model.arrays import LANES, Array, masks_from_lanes
from netra_build.checkasm.model.batch import Batch
from netra_build.checkasm.model.group import UNSET, Group
from netra_build.checkasm.model.operands import EXEC
from netra_build.core.errors import BadInput

PRELOAD_ENTRY_BYTES = 256
"""Kernels with kernarg preload start here; what lies before is for firmware without it."""


@dataclass(frozen=True)
class Entry:
    """What all wavefronts of a launch start with."""

    descriptor: KernelDescriptor
    geometry: Geometry
    kernarg_address: int
    dispatch_address: int
    kernarg_words: Array
    """uint32[dwords] of the kernarg segment, for the preload."""
    pc: int
    seed: int


def refuse_unsupported(d: KernelDescriptor, location: str) -> None:
    """Refuse descriptors that need features the model lacks."""
    reasons = (
        (d.wavefront_size32, "wavefronts of 32 lanes"),
        (d.enable_private_segment or d.private_segment_fixed_size > 0, "private memory"),
        (d.uses_dynamic_stack, "a dynamic stack"),
        (d.user_sgpr_queue_ptr, "the queue pointer"),
        (d.float_round_mode_32 or d.float_round_mode_16_64, "a rounding mode other than nearest"),
        (d.float_denorm_mode_16_64 != 3, "flushing of half and double subnormals"),
        (not d.ieee_mode, "MODE without IEEE mode"),
        (not d.dx10_clamp, "MODE without DX10 clamping"),
        (d.workitem_id_mode > 2, "a reserved work-item id mode"),
        (d.user_sgpr_count > 16, "more than 16 user SGPRs"),
        (d.user_sgpr_count < d.user_sgpr_dwords(), "more user SGPRs than it counts"),
    )
    for is_asked, what in reasons:
        if is_asked:
            raise BadInput(f"kernel asks for {what}, which is not modelled", location=location)


def dispatch_packet(geometry: Geometry) -> Array:
    """Return the 64-byte AQL dispatch packet, as far as kernels read it."""
    block, grid = geometry.block, geometry.grid
    items = [block[at] * grid[at] for at in range(3)]
    head = struct.pack("<6H", 2, 3, *block, 0)
    return np.frombuffer(head + struct.pack("<3I", *items) + bytes(64 - 24), np.uint8)


def float_mode(d: KernelDescriptor) -> int:
    """Return the MODE register at the start."""
    return (
        d.float_round_mode_32
        | d.float_round_mode_16_64 << 2
        | d.float_denorm_mode_32 << 4
        | d.float_denorm_mode_16_64 << 6
        | d.dx10_clamp << 8
        | d.ieee_mode << 9
        | d.fp16_overflow << 23
    )


def start_group(batch: Batch, entry: Entry, workgroups: Array) -> Group:
    """Return all wavefronts of a batch at the entry; ``workgroups`` is int64[k, 3] of ids."""
    waves = batch.waves_per_workgroup
    n = len(workgroups) * waves
    g = Group(batch, n, entry.descriptor.allocated_vgprs)
    _fill_with_junk(g, entry.seed)
    g.wave = np.arange(n, dtype=np.int64)
    g.workgroup = g.wave // waves
    g.pc = entry.pc
    g.set_mode(float_mode(entry.descriptor))
    _start_lanes(g, entry.geometry, waves)
    _start_vectors(g, entry)
    _start_scalars(g, entry, workgroups)
    return g


def _fill_with_junk(g: Group, seed: int) -> None:
    """Registers start with reproducible junk and count as never written."""
    random = np.random.default_rng(seed)
    pattern = random.integers(0, 1 << 32, size=(LANES,), dtype=np.uint32)
    g.V[:] = pattern
    g.S[:] = random.integers(0, 1 << 32, size=(g.S.shape[0], 1), dtype=np.uint32)
    for state in (g.vstate, g.sstate):
        state[:] = bytes([UNSET]) * len(state)


def _start_lanes(g: Group, geometry: Geometry, waves: int) -> None:
    """Switch off the lanes beyond the last work-item of each work-group."""
    first = (g.wave % waves) * LANES
    lanes = first[:, None] + np.arange(LANES) < geometry.work_items
    g.S[EXEC], g.S[EXEC + 1] = masks_from_lanes(lanes)
    g.mark_written(EXEC)
    g.mark_written(EXEC + 1)
    g.exec_changed()


def _start_vectors(g: Group, entry: Entry) -> None:
    """v0 packs the work-item ids: x in bits 0-9, y in 10-19, z in 20-29."""
    sizes = entry.geometry.block
    item = (g.wave % g.batch.waves_per_workgroup * LANES)[:, None] + np.arange(LANES)
    x = item % sizes[0]
    packed = x
    if entry.descriptor.workitem_id_mode >= 1:
        packed = packed | (item // sizes[0] % sizes[1]) << 10
    if entry.descriptor.workitem_id_mode >= 2:
        packed = packed | (item // (sizes[0] * sizes[1]) % max(sizes[2], 1)) << 20
    g.V[0] = packed.astype(np.uint32)
    g.vinit[0] = True
    g.vstate[0] = 0


def _halves(address: int) -> tuple[int, int]:
    return address & 0xFFFFFFFF, address >> 32


def _user_scalars(entry: Entry) -> list[int | None]:
    """Return the user SGPRs in order; None is a register with no defined value."""
    d = entry.descriptor
    parts: tuple[tuple[bool, Sequence[int | None]], ...] = (
        (d.user_sgpr_private_segment_buffer, [None] * 4),
        (d.user_sgpr_dispatch_ptr, _halves(entry.dispatch_address)),
        (d.user_sgpr_kernarg_segment_ptr, _halves(entry.kernarg_address)),
        (d.user_sgpr_dispatch_id, [0, 0]),
        (d.user_sgpr_flat_scratch_init, [None] * 2),
        (d.user_sgpr_private_segment_size, [0]),
    )
    first = d.kernarg_preload_offset
    preloaded = entry.kernarg_words[first : first + d.kernarg_preload_length]
    return [*(word for is_wanted, words in parts if is_wanted for word in words), *preloaded]


def _start_scalars(g: Group, entry: Entry, workgroups: Array) -> None:
    d = entry.descriptor
    for at, value in enumerate(_user_scalars(entry)):
        if value is not None:
            g.S[at] = np.uint32(value)
            g.mark_written(at)
    at = d.user_sgpr_count
    ids = workgroups[g.workgroup]
    for axis, is_wanted in enumerate((d.workgroup_id_x, d.workgroup_id_y, d.workgroup_id_z)):
        if is_wanted:
            g.S[at] = ids[:, axis].astype(np.uint32)
            g.mark_written(at)
            at += 1
