"""The 64-byte kernel descriptor that tells the hardware how to start a kernel (gfx90a family)."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from netra_build.core.errors import BadInput

DESCRIPTOR_BYTES = 64

VGPR_GRANULE = 8
SGPR_GRANULE = 16
ACCUM_GRANULE = 4


@dataclass(frozen=True)
class Field:
    """One field: its name and where it lies, in bits counted from the descriptor's first bit."""

    name: str
    bit: int
    width: int


_LAYOUT = """
0   group_segment_fixed_size:32 private_segment_fixed_size:32 kernarg_size:32 reserved_12:32
16  entry_byte_offset:64 reserved_24:160
44  accum_offset_granules:6 reserved_rsrc3_6:10 tg_split:1 reserved_rsrc3_17:15
48  vgpr_granules:6 sgpr_granules:4 priority:2 float_round_mode_32:2 float_round_mode_16_64:2
    float_denorm_mode_32:2 float_denorm_mode_16_64:2 privileged:1 dx10_clamp:1 debug_mode:1
    ieee_mode:1 bulky:1 cdbg_user:1 fp16_overflow:1 reserved_rsrc1_27:5
52  enable_private_segment:1 user_sgpr_count:5 trap_handler:1 workgroup_id_x:1 workgroup_id_y:1
    workgroup_id_z:1 workgroup_info:1 workitem_id_mode:2 exception_address_watch:1
    exception_memory:1 lds_granules:9 exception_fp_invalid:1 exception_fp_denorm_source:1
    exception_fp_divide_by_zero:1 exception_fp_overflow:1 exception_fp_underflow:1
    exception_fp_inexact:1 exception_int_divide_by_zero:1 reserved_rsrc2_31:1
56  user_sgpr_private_segment_buffer:1 user_sgpr_dispatch_ptr:1 user_sgpr_queue_ptr:1
    user_sgpr_kernarg_segment_ptr:1 user_sgpr_dispatch_id:1 user_sgpr_flat_scratch_init:1
    user_sgpr_private_segment_size:1 reserved_properties_7:3 wavefront_size32:1
    uses_dynamic_stack:1 reserved_properties_12:4 kernarg_preload_length:7
    kernarg_preload_offset:9
60  reserved_60:32
"""
"""The fields with their widths in bits; a number says at which byte a line begins."""


def _fields(layout: str) -> Iterator[Field]:
    bit = 0
    for name, width in re.findall(r"(\w+):(\d+)", layout):
        yield Field(name, bit, int(width))
        bit += int(width)


FIELDS = tuple(_fields(_LAYOUT))
"""Every bit of the descriptor, in order and without gaps; reserved runs are fields of their own."""

_MASKS = tuple((field.name, field.bit, (1 << field.width) - 1) for field in FIELDS)

_USER_SGPR_DWORDS = (
    ("user_sgpr_private_segment_buffer", 4),
    ("user_sgpr_dispatch_ptr", 2),
    ("user_sgpr_queue_ptr", 2),
    ("user_sgpr_kernarg_segment_ptr", 2),
    ("user_sgpr_dispatch_id", 2),
    ("user_sgpr_flat_scratch_init", 2),
    ("user_sgpr_private_segment_size", 1),
)


@dataclass(frozen=True)
class KernelDescriptor:
    """A decoded kernel descriptor. Sizes are bytes; register counts are what is allocated."""

    raw: bytes
    group_segment_fixed_size: int
    private_segment_fixed_size: int
    kernarg_size: int
    entry_byte_offset: int
    allocated_vgprs: int
    """VGPRs and AGPRs of one work-item together."""
    accum_offset: int
    """Index at which the AGPRs start in that allocation."""
    allocated_sgprs: int
    float_round_mode_32: int
    float_round_mode_16_64: int
    float_denorm_mode_32: int
    float_denorm_mode_16_64: int
    ieee_mode: bool
    dx10_clamp: bool
    fp16_overflow: bool
    enable_private_segment: bool
    user_sgpr_count: int
    workgroup_id_x: bool
    workgroup_id_y: bool
    workgroup_id_z: bool
    workitem_id_mode: int
    user_sgpr_private_segment_buffer: bool
    user_sgpr_dispatch_ptr: bool
    user_sgpr_queue_ptr: bool
    user_sgpr_kernarg_segment_ptr: bool
    user_sgpr_dispatch_id: bool
    user_sgpr_flat_scratch_init: bool
    user_sgpr_private_segment_size: bool
    wavefront_size32: bool
    uses_dynamic_stack: bool
    kernarg_preload_length: int
    """Kernarg dwords that the hardware loads into user SGPRs before the first instruction."""
    kernarg_preload_offset: int
    """Dword of the kernarg segment at which that preload starts."""

    def normalised(self) -> bytes:
        """Return the 64 bytes with the entry offset (bytes 16 to 23) set to zero."""
        return self.raw[:16] + bytes(8) + self.raw[24:]

    def fields(self) -> dict[str, int]:
        """Return every field by name in bit order, reserved runs included; nothing is lost."""
        return _decode_bits(self.raw)

    def reserved(self) -> dict[str, int]:
        """Return the reserved fields that are not zero; empty for a well-formed descriptor."""
        return {k: v for k, v in self.fields().items() if k.startswith("reserved_") and v}

    def user_sgpr_dwords(self) -> int:
        """Return how many user SGPRs the enable bits and the kernarg preload ask for."""
        fields = self.fields()
        enabled = sum(dwords for name, dwords in _USER_SGPR_DWORDS if fields[name])
        return enabled + self.kernarg_preload_length


_CHOSEN = tuple(
    (name, annotation.type == "bool")
    for name, annotation in KernelDescriptor.__dataclass_fields__.items()
    if name != "raw"
)
"""Every field of the record behind the raw bytes, in order, and whether it is true or false."""


def read_descriptor(raw: bytes, location: str) -> KernelDescriptor:
    """Decode a descriptor; ``BadInput`` unless ``raw`` holds exactly 64 bytes."""
    if len(raw) != DESCRIPTOR_BYTES:
        raise BadInput(
            "kernel descriptor has the wrong size",
            location=location,
            expected=f"{DESCRIPTOR_BYTES} bytes",
            got=len(raw),
        )
    fields = _decode_bits(raw)
    derived = {
        "allocated_vgprs": (fields["vgpr_granules"] + 1) * VGPR_GRANULE,
        "allocated_sgprs": (fields["sgpr_granules"] // 2 + 1) * SGPR_GRANULE,
        "accum_offset": (fields["accum_offset_granules"] + 1) * ACCUM_GRANULE,
    }
    values = {**fields, **derived}
    chosen: list[Any] = [
        bool(values[name]) if is_flag else values[name] for name, is_flag in _CHOSEN
    ]
    return KernelDescriptor(bytes(raw), *chosen)


def _decode_bits(raw: bytes) -> dict[str, int]:
    whole = int.from_bytes(raw, "little")
    result = {name: whole >> bit & mask for name, bit, mask in _MASKS}
    result["entry_byte_offset"] = struct.unpack_from("<q", raw, 16)[0]
    return result
