"""Kernel descriptors: every field at its bit, and derived values."""

from __future__ import annotations

import struct

import pytest

from netra_build.asm.objects.descriptor import FIELDS, read_descriptor
from netra_build.core.errors import BadInput

# The two descriptors of tests/unit/asm_samples/two_kernels.s, as llvm-mc 22.1.8 encodes them.
FIRST = bytes.fromhex(
    "00020000 00000000 18000000 00000000 c0100000 00000000 00000000 00000000"
    "00000000 00000000 00000000 04000000 8200ac00 84010000 08000000 00000000"
)
SECOND = bytes.fromhex(
    "00000000 10000000 10000000 00000000 80110000 00000000 00000000 00000000"
    "00000000 00000000 00000000 0f000100 8c110f04 0f120020 0a088300 00000000"
)


def test_fields_cover_every_bit_once():
    at = 0
    for field in FIELDS:
        assert field.bit == at, field.name
        at += field.width
    assert at == 64 * 8
    assert len({field.name for field in FIELDS}) == len(FIELDS)


def test_a_plain_descriptor_is_decoded():
    read = read_descriptor(FIRST, "k")
    assert read.raw == FIRST
    assert (read.group_segment_fixed_size, read.private_segment_fixed_size) == (512, 0)
    assert (read.kernarg_size, read.entry_byte_offset) == (24, 0x10C0)
    assert (read.allocated_vgprs, read.accum_offset, read.allocated_sgprs) == (24, 20, 32)
    assert (read.user_sgpr_count, read.user_sgpr_dwords()) == (2, 2)
    assert read.user_sgpr_kernarg_segment_ptr is True
    assert (read.workgroup_id_x, read.workgroup_id_y, read.workgroup_id_z) == (True, True, False)
    assert (read.ieee_mode, read.dx10_clamp, read.fp16_overflow) == (True, True, False)
    assert (read.float_round_mode_32, read.float_denorm_mode_16_64) == (0, 3)
    assert read.float_denorm_mode_32 == 0
    assert read.reserved() == {}


def test_a_descriptor_with_every_option_is_decoded():
    read = read_descriptor(SECOND, "k")
    assert (read.private_segment_fixed_size, read.kernarg_size) == (16, 16)
    assert (read.allocated_vgprs, read.accum_offset, read.allocated_sgprs) == (104, 64, 64)
    assert (read.kernarg_preload_length, read.kernarg_preload_offset) == (3, 1)
    assert (read.user_sgpr_count, read.user_sgpr_dwords()) == (7, 7)
    assert read.user_sgpr_dispatch_ptr is True
    assert (read.workgroup_id_x, read.workgroup_id_z, read.workitem_id_mode) == (False, True, 2)
    assert (read.ieee_mode, read.dx10_clamp, read.fp16_overflow) == (False, False, True)
    assert (read.float_round_mode_32, read.float_denorm_mode_32) == (1, 3)
    assert (read.fields()["tg_split"], read.enable_private_segment) == (1, True)
    assert (read.uses_dynamic_stack, read.wavefront_size32) == (True, False)
    assert read.fields()["exception_fp_inexact"] == 1
    assert read.reserved() == {}


def test_only_the_entry_offset_is_normalised():
    assert read_descriptor(FIRST, "k").normalised() == FIRST[:16] + bytes(8) + FIRST[24:]


def test_a_negative_entry_offset_stays_negative():
    raw = FIRST[:16] + struct.pack("<q", -256) + FIRST[24:]
    read = read_descriptor(raw, "k")
    assert (read.entry_byte_offset, read.fields()["entry_byte_offset"]) == (-256, -256)


@pytest.mark.parametrize(
    ("byte", "name", "value"),
    [
        (12, "reserved_12", 1),
        (43, "reserved_24", 1 << 152),
        (45, "reserved_rsrc3_6", 4),
        (47, "reserved_rsrc3_17", 1 << 7),
        (60, "reserved_60", 1),
    ],
)
def test_reserved_bits_are_reported(byte, name, value):
    raw = bytearray(FIRST)
    raw[byte] |= 1
    assert read_descriptor(bytes(raw), "k").reserved() == {name: value}


def test_every_flipped_bit_shows_as_one_field():
    base = read_descriptor(FIRST, "k")
    for field in FIELDS:
        whole = int.from_bytes(FIRST, "little") ^ (1 << field.bit)
        other = read_descriptor(whole.to_bytes(64, "little"), "k")
        changed = {n for n, v in other.fields().items() if v != base.fields()[n]}
        assert changed == {field.name}


def test_a_wrong_size_is_refused():
    with pytest.raises(BadInput) as caught:
        read_descriptor(FIRST[:63], "k.hsaco")
    assert str(caught.value) == (
        "k.hsaco: kernel descriptor has the wrong size; expected 64 bytes, got 63"
    )
