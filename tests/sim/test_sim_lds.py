"""LDS accesses against what bytes in work-group memory must become."""

from __future__ import annotations

import numpy as np

PROLOGUE = """
s_load_dwordx2 s[2:3], s[0:1], 0x0
v_lshlrev_b32 v1, 2, v0
v_lshlrev_b32 v2, 4, v0
s_waitcnt lgkmcnt(0)
"""
COUNT = np.arange(1024, dtype=np.uint32)
RANDOM = np.random.default_rng(2).integers(0, 1 << 32, 1024, dtype=np.uint32)


def after(bench, body: str, data=COUNT, **options) -> np.ndarray:
    outcome = bench.launch(PROLOGUE + body, {"data": data.copy()}, **options)
    assert bench.lines(outcome) == []
    return outcome.outputs["data"]


def lds(bench, body: str, data=RANDOM, size: int = 8192, **options) -> np.ndarray:
    """Run with the first 1024 dwords of the buffer in LDS; copy LDS back to the buffer."""
    fill = "\n".join(
        f"global_load_dwordx4 v[60:63], v2, s[2:3] offset:{at}\ns_waitcnt vmcnt(0)\n"
        f"ds_write_b128 v2, v[60:63] offset:{at}"
        for at in (0, 1024, 2048, 3072)
    )
    drain = "\n".join(
        f"ds_read_b128 v[60:63], v2 offset:{at}\ns_waitcnt lgkmcnt(0)\n"
        f"global_store_dwordx4 v2, v[60:63], s[2:3] offset:{at}"
        for at in (0, 1024, 2048, 3072)
    )
    text = f"{fill}\ns_waitcnt lgkmcnt(0)\n{body}\ns_waitcnt lgkmcnt(0)\n{drain}"
    return after(bench, text, data, lds=size, **options)


def test_narrow_lds_accesses(bench):
    body = """
    ds_read_u8 v4, v1 offset:1
    ds_read_i8 v5, v1 offset:2
    ds_read_u16 v6, v1 offset:2
    ds_read_i16 v7, v1
    s_waitcnt lgkmcnt(0)
    ds_write_b8 v1, v4 offset:1024
    ds_write_b16 v1, v5 offset:1026
    ds_write_b32 v1, v6 offset:1280
    ds_write_b32 v1, v7 offset:1536
    ds_write_b8_d16_hi v1, v7 offset:1792
    ds_write_b16_d16_hi v1, v5 offset:1794
    """
    result = lds(bench, body).tolist()
    memory = RANDOM.tolist()

    def signed(value: int, bits: int) -> int:
        return (value - (1 << bits) if value >> (bits - 1) else value) & 0xFFFFFFFF

    for i in range(64):
        word = memory[i]
        byte1, byte2 = word >> 8 & 0xFF, signed(word >> 16 & 0xFF, 8)
        half0 = signed(word & 0xFFFF, 16)
        keep = memory[256 + i] & 0x0000FF00
        assert result[256 + i] == byte1 | keep | (byte2 & 0xFFFF) << 16
        assert result[320 + i] == word >> 16
        assert result[384 + i] == half0
        assert result[448 + i] & 0xFF == half0 >> 16 & 0xFF
        assert result[448 + i] >> 16 == byte2 >> 16


def test_two_address_forms(bench):
    body = """
    v_lshlrev_b32 v3, 3, v0
    ds_read2_b32 v[4:5], v1 offset0:0 offset1:64
    ds_read2st64_b32 v[6:7], v1 offset0:1 offset1:2
    ds_read2_b64 v[8:11], v3 offset0:0 offset1:64
    s_waitcnt lgkmcnt(0)
    v_add_u32 v4, v4, v5
    v_add_u32 v6, v6, v7
    v_add_u32 v8, v8, v11
    ds_write2_b32 v1, v4, v6 offset0:128 offset1:192
    ds_write2st64_b64 v3, v[8:9], v[4:5] offset0:4 offset1:5
    """
    memory = RANDOM.tolist()
    result = lds(bench, body, RANDOM).tolist()
    for i in range(64):
        first = (memory[i] + memory[64 + i]) & 0xFFFFFFFF
        second = (memory[64 + i] + memory[128 + i]) & 0xFFFFFFFF
        third = (memory[2 * i] + memory[128 + 2 * i + 1]) & 0xFFFFFFFF
        assert result[128 + i] == first
        assert result[192 + i] == second
        assert result[512 + 2 * i : 514 + 2 * i] == [third, memory[2 * i + 1]]
        assert result[640 + 2 * i : 642 + 2 * i] == [first, memory[64 + i]]


def test_transposing_reads_of_bytes_and_halves(bench):
    """Row addresses follow the rule: per 16 lanes, lane 2 r + h gives row r, half h of 16 bytes."""
    body = """
    v_lshlrev_b32 v3, 3, v0
    ds_read_b64_tr_b8 v[4:5], v3
    ds_read_b64_tr_b16 v[6:7], v3
    ds_read_b64_tr_b4 v[8:9], v3
    s_waitcnt lgkmcnt(0)
    ds_write_b64 v3, v[4:5] offset:1024
    ds_write_b64 v3, v[6:7] offset:2048
    ds_write_b64 v3, v[8:9] offset:3072
    """
    result = lds(bench, body)
    raw = RANDOM.tobytes()[:512]
    octets = np.frombuffer(raw, np.uint8).reshape(4, 8, 16)
    halves = np.frombuffer(raw, np.uint16).reshape(4, 4, 16)
    nibbles = np.array([[b & 15, b >> 4] for b in raw]).reshape(4, 16, 16)
    assert result[256:384].tobytes() == octets.transpose(0, 2, 1).tobytes()
    assert result[512:640].tobytes() == halves.transpose(0, 2, 1).tobytes()
    turned = nibbles.transpose(0, 2, 1).reshape(-1, 2)
    packed = bytes(int(low) | int(high) << 4 for low, high in turned)
    assert result[768:896].tobytes() == packed


def test_lds_atomics(bench):
    body = """
    v_and_b32 v3, 3, v0
    v_lshlrev_b32 v3, 2, v3
    v_mov_b32 v4, 1
    v_mov_b32 v5, 1.0
    ds_add_rtn_u32 v6, v3, v4
    ds_max_u32 v3, v0 offset:16
    ds_add_f32 v3, v5 offset:32
    s_waitcnt lgkmcnt(0)
    ds_write_b32 v1, v6 offset:1024
    """
    data = np.zeros(1024, np.uint32)
    data[8:12] = np.float32(0.5).view(np.uint32)
    result = lds(bench, body, data)
    assert result[0:4].tolist() == [16] * 4
    assert result[4:8].tolist() == [60, 61, 62, 63]
    assert result[8:12].view(np.float32).tolist() == [16.5] * 4
    assert result[256:320].tolist() == [i // 4 for i in range(64)]


def test_exchange_between_lanes(bench, case):
    lanes = list(range(64))
    address = [4 * ((i * 7 + 3) % 64) for i in lanes]
    jobs = [
        case("ds_bpermute_b32 v40, v11, v10", {10: lanes, 11: address}),
        case("ds_permute_b32 v40, v11, v10", {10: lanes, 11: address}),
        case("ds_swizzle_b32 v40, v10 offset:swizzle(QUAD_PERM,3,2,0,1)", {10: lanes}),
        case("ds_swizzle_b32 v40, v10 offset:0x041f", {10: lanes}),
        case(
            "s_mov_b64 exec, 0xffff\nds_bpermute_b32 v40, v11, v10",
            {10: lanes, 11: address, 40: lanes},
        ),
    ]
    pulled, pushed, quad, flipped, some = (r[0].tolist() for r in bench.run(jobs))
    source = [a // 4 for a in address]
    assert pulled == source
    expected = [0] * 64
    for lane in lanes:
        expected[source[lane]] = lane
    assert pushed == expected
    assert quad == [i // 4 * 4 + (3, 2, 0, 1)[i % 4] for i in lanes]
    assert flipped == [i ^ 1 for i in lanes]
    assert some[:16] == [s if s < 16 else 0 for s in source[:16]]
    assert some[16:] == lanes[16:]


def test_loads_to_lds_place_lanes_one_after_another(bench):
    body = """
    s_mov_b32 m0, 0x1000
    v_lshrrev_b32 v3, 1, v1
    v_lshlrev_b32 v3, 2, v3
    v_sub_u32 v3, 0xfc, v1
    global_load_lds_dword v3, s[2:3] offset:0
    s_mov_b32 m0, 0x1200
    v_lshlrev_b32 v4, 4, v0
    global_load_lds_dwordx4 v4, s[2:3]
    s_waitcnt vmcnt(0)
    v_add_u32 v5, 0x1000, v1
    v_add_u32 v6, 0x1200, v2
    ds_read_b32 v8, v5
    ds_read_b128 v[12:15], v6
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v8, s[2:3] offset:2048
    v_lshlrev_b32 v7, 4, v0
    v_add_u32 v7, 0x900, v7
    global_store_dwordx4 v7, v[12:15], s[2:3]
    """
    result = after(bench, body, RANDOM, lds=8192)
    assert result[512:576].tolist() == RANDOM[63::-1].tolist()
    assert result[576:832].tolist() == RANDOM[:256].tolist()
