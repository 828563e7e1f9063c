"""Loads, stores, atomics and LDS accesses against what bytes in memory must become."""

from __future__ import annotations

import numpy as np
import pytest

from netra_build.core.errors import BadInput

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


@pytest.mark.parametrize("dwords", [1, 2, 3, 4])
def test_wide_global_loads_and_stores(bench, dwords):
    suffix = "dword" + (f"x{dwords}" if dwords > 1 else "")
    span = f"v[4:{3 + dwords}]" if dwords > 1 else "v4"
    body = f"""
    global_load_{suffix} {span}, v2, s[2:3]
    s_waitcnt vmcnt(0)
    v_add_u32 v4, 0x1000, v4
    v_mov_b32 v10, s2
    v_mov_b32 v11, s3
    v_lshl_add_u64 v[10:11], v[10:11], 0, 0
    v_add_co_u32 v10, vcc, v10, v2
    v_addc_co_u32 v11, vcc, 0, v11, vcc
    global_store_{suffix} v[10:11], {span}, off offset:1024
    """
    result = after(bench, body)
    expected = COUNT.copy().reshape(-1, 4)
    moved = expected[:64].copy()
    moved[:, 0] += 0x1000
    expected[64:128, :dwords] = moved[:, :dwords]
    assert result.tolist() == expected.reshape(-1).tolist()


def test_unaligned_addresses(bench):
    body = """
    v_mul_u32_u24 v3, 5, v0
    global_load_dword v4, v3, s[2:3] offset:1
    global_load_ushort v5, v3, s[2:3] offset:3
    s_waitcnt vmcnt(0)
    global_store_dword v1, v4, s[2:3] offset:2048
    global_store_dword v1, v5, s[2:3] offset:2304
    """
    result = after(bench, body, RANDOM)
    raw = RANDOM.tobytes()
    words = [int.from_bytes(raw[5 * i + 1 : 5 * i + 5], "little") for i in range(64)]
    halves = [int.from_bytes(raw[5 * i + 3 : 5 * i + 5], "little") for i in range(64)]
    assert result[512:576].tolist() == words
    assert result[576:640].tolist() == halves


def test_half_register_loads_do_not_keep_the_other_half(bench):
    body = """
    v_mov_b32 v4, -1
    v_mov_b32 v5, -1
    global_load_short_d16 v4, v1, s[2:3]
    global_load_short_d16_hi v5, v1, s[2:3]
    s_waitcnt vmcnt(0)
    global_store_dword v1, v4, s[2:3] offset:1024
    global_store_dword v1, v5, s[2:3] offset:1280
    """
    result = after(bench, body)
    assert [word & 0xFFFF for word in result[256:320].tolist()] == list(range(64))
    assert [word >> 16 for word in result[320:384].tolist()] == list(range(64))
    assert all(word >> 16 != 0xFFFF for word in result[256:320].tolist())
    assert all(word & 0xFFFF != 0xFFFF for word in result[320:384].tolist())


BUFFER = """
s_mov_b32 s4, s2
s_or_b32 s5, s3, {stride}
s_mov_b32 s6, {records}
s_mov_b32 s7, 0x27000
"""


def test_raw_buffers_check_each_dword(bench):
    """Records end in the middle of lane 5's four dwords."""
    body = (
        BUFFER.format(stride=0, records=5 * 16 + 8)
        + """
    buffer_load_dwordx4 v[4:7], v2, s[4:7], 0 offen
    s_waitcnt vmcnt(0)
    global_store_dwordx4 v2, v[4:7], s[2:3] offset:1024
    """
    )
    result = after(bench, body, COUNT + 1)[256:512].tolist()
    assert result == [i + 1 if i < 22 else 0 for i in range(256)]


def test_scalar_and_immediate_offsets_of_a_buffer(bench):
    body = (
        BUFFER.format(stride=0, records=4096)
        + """
    s_mov_b32 s8, 0x100
    buffer_load_dword v4, v1, s[4:7], s8 offen offset:16
    s_waitcnt vmcnt(0)
    s_mov_b64 exec, 2
    buffer_store_dword v4, off, s[4:7], 0 offset:2048
    """
    )
    result = after(bench, body)
    assert result[512] == 0x100 // 4 + 16 // 4 + 1
    assert np.delete(result, 512).tolist() == np.delete(COUNT, 512).tolist()


def test_structured_buffers_count_records(bench):
    """Stride 12, six records: lane i reads dword 3 i + 1 while i is below six."""
    body = (
        BUFFER.format(stride=12 << 16, records=6)
        + """
    buffer_load_dword v4, v0, s[4:7], 0 idxen offset:4
    s_waitcnt vmcnt(0)
    global_store_dword v1, v4, s[2:3] offset:1024
    """
    )
    result = after(bench, body)[256:320].tolist()
    assert result == [3 * i + 1 if i < 6 else 0 for i in range(64)]


def test_swizzled_buffers_are_refused(bench):
    body = (
        BUFFER.format(stride=0x80000000, records=64) + "buffer_load_dword v4, v1, s[4:7], 0 offen"
    )
    with pytest.raises(BadInput) as caught:
        after(bench, body)
    assert caught.value.fact.startswith('cannot execute a swizzled buffer in "buffer_load_dword')


@pytest.mark.parametrize(
    ("name", "fold"),
    [
        ("add", lambda old, new: old + new),
        ("sub", lambda old, new: old - new),
        ("umax", max),
        ("smin", lambda old, new: min(old, new, key=lambda v: v - (v >> 31 << 32))),
        ("and", lambda old, new: old & new),
        ("xor", lambda old, new: old ^ new),
        ("inc", lambda old, new: 0 if old >= new else old + 1),
        ("dec", lambda old, new: new if old == 0 or old > new else old - 1),
        ("swap", lambda old, new: new),
    ],
)
def test_global_atomics_on_shared_addresses(bench, name, fold):
    """Lanes take turns on eight counters, lowest lane first, and see the value before."""
    body = f"""
    global_load_dword v4, v1, s[2:3]
    v_and_b32 v5, 7, v0
    v_lshlrev_b32 v5, 2, v5
    s_waitcnt vmcnt(0)
    global_atomic_{name} v6, v5, v4, s[2:3] offset:1024 sc0
    s_waitcnt vmcnt(0)
    global_store_dword v1, v6, s[2:3] offset:2048
    """
    result = after(bench, body, RANDOM).tolist()
    memory = RANDOM.tolist()
    counters = memory[256:264]
    before = []
    for lane in range(64):
        before.append(counters[lane % 8])
        counters[lane % 8] = fold(counters[lane % 8], memory[lane]) & 0xFFFFFFFF
    assert result[256:264] == counters
    assert result[512:576] == before


def test_compare_and_swap_takes_the_new_value_first(bench):
    body = """
    v_mov_b32 v4, 7
    v_mov_b32 v5, v0
    global_atomic_cmpswap v6, v1, v[4:5], s[2:3] offset:64 sc0
    s_waitcnt vmcnt(0)
    global_store_dword v1, v6, s[2:3] offset:2048
    """
    data = COUNT.copy()
    data[16:80] = np.where(np.arange(64) % 2, np.arange(64), 1000)
    result = after(bench, body, data)
    assert result[16:80].tolist() == [7 if i % 2 else 1000 for i in range(64)]
    assert result[512:576].tolist() == data[16:80].tolist()


def test_float_and_wide_atomics(bench):
    body = """
    v_mov_b32 v4, 1.0
    v_mov_b32 v5, 0
    v_mov_b32 v6, 0x3f803f80
    s_mov_b64 exec, 7
    v_mov_b32 v3, 0
    global_atomic_add_f32 v3, v4, s[2:3] offset:1024
    global_atomic_add_x2 v3, v[4:5], s[2:3] offset:1032
    global_atomic_pk_add_bf16 v3, v6, s[2:3] offset:1040
    """
    data = np.zeros(1024, np.uint32)
    data[258] = 0xFFFFFFFF
    result = after(bench, body, data)
    assert result[256:257].view(np.float32)[0] == 3.0
    assert int(result[258]) | int(result[259]) << 32 == 0xFFFFFFFF + 3 * 0x3F800000
    assert result[260] == 0x40404040


def test_work_items_and_work_groups_know_who_they_are(bench):
    body = """
    v_and_b32 v3, 0x3ff, v0
    v_bfe_u32 v4, v0, 10, 10
    v_bfe_u32 v5, v0, 20, 10
    v_lshlrev_b32 v6, 8, v4
    v_lshlrev_b32 v7, 16, v5
    v_or3_b32 v6, v3, v6, v7
    v_lshl_or_b32 v6, s4, 24, v6
    s_mul_i32 s8, s6, 2
    s_add_u32 s8, s8, s5
    v_mov_b32 v8, s8
    v_mul_u32_u24 v8, 24, v8
    v_mad_u32_u24 v8, v5, 12, v8
    v_mad_u32_u24 v8, v4, 4, v8
    v_add_u32 v8, v8, v3
    s_cmp_lg_u32 s4, 2
    s_cbranch_scc1 .Lskip
    v_lshlrev_b32 v8, 2, v8
    global_store_dword v8, v6, s[2:3]
    .Lskip:
    """
    prologue = "s_mov_b32 s6, s4\ns_mov_b32 s5, s3\ns_mov_b32 s4, s2\n"
    outcome = bench.launch(
        prologue
        + PROLOGUE.replace("v_lshlrev_b32 v1, 2, v0\nv_lshlrev_b32 v2, 4, v0\n", "")
        + body,
        {"data": np.zeros(144, np.uint32)},
        grid=(3, 2, 3),
        block=(4, 3, 2),
    )
    assert bench.lines(outcome) == []
    expected = [
        x | y << 8 | z << 16 | 2 << 24
        for _group in range(6)
        for z in range(2)
        for y in range(3)
        for x in range(4)
    ]
    assert outcome.outputs["data"].tolist() == expected
