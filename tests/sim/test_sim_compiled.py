"""Kernels that the OpenCL compiler made run correctly and without a finding."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from netra_build.asm.tools.toolchain import Toolchain
from netra_build.checkasm.model.launch import Outcome, launch

PRELUDE = """
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define gid() __builtin_amdgcn_workgroup_id_x()
#define lid() __builtin_amdgcn_workitem_id_x()
#define size() __builtin_amdgcn_workgroup_size_x()
#define barrier() do { __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup"); \\
  __builtin_amdgcn_s_barrier(); __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup"); } while (0)
typedef float f4 __attribute__((ext_vector_type(4)));
typedef float f16v __attribute__((ext_vector_type(16)));
typedef int i4 __attribute__((ext_vector_type(4)));
typedef int i8v __attribute__((ext_vector_type(8)));
typedef __bf16 b8 __attribute__((ext_vector_type(8)));
"""


@pytest.fixture
def run(toolchain: Toolchain, tmp_path: Path):
    """Return ``run(source, grid, block, *args)``: compile kernel ``k`` and launch it."""

    def go(source: str, grid: int, block: int, *args: object, level: str = "-O2") -> Outcome:
        (tmp_path / "k.cl").write_text(PRELUDE + source)
        clang = toolchain.assembler.path.parent / "clang"
        words = [clang, "-x", "cl", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx950", "-nogpulib"]
        words += [level, "-cl-std=CL2.0", "-w", "-o", "k.hsaco", "k.cl"]
        subprocess.run([str(word) for word in words], cwd=tmp_path, check=True, timeout=120)
        hsaco = (tmp_path / "k.hsaco").read_bytes()
        outcome = launch(hsaco, "k", (grid, 1, 1), (block, 1, 1), args, toolchain=toolchain)
        assert [finding.line() for finding in outcome.report.findings] == []
        return outcome

    return go


def only(outcome: Outcome, at: int = 0) -> np.ndarray:
    return outcome.outputs[f"arg{at}"]


def singles(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


@pytest.fixture
def numbers() -> np.random.Generator:
    return np.random.default_rng(11)


def test_copy_of_a_ragged_length(run):
    source = """__kernel void k(__global int* out, __global const int* in, int n) {
      int i = gid() * size() + lid(); if (i < n) out[i] = in[i]; }"""
    data = np.arange(1000, 1300, dtype=np.int32)
    outcome = run(source, 3, 128, np.zeros(300, np.int32), data, 300)
    assert only(outcome).tolist() == data.tolist()


def test_saxpy_uses_one_rounding(run, numbers):
    source = """__kernel void k(__global float* y, __global const float* x, float a, int n) {
      int i = gid() * size() + lid(); if (i < n) y[i] = __builtin_fmaf(a, x[i], y[i]); }"""
    x, y = singles(numbers, 500), singles(numbers, 500)
    a = np.float32(1.7)
    outcome = run(source, 4, 128, y, x, float(a), 500)
    exact = x.astype(np.longdouble) * np.longdouble(a) + y.astype(np.longdouble)
    assert np.array_equal(only(outcome), exact.astype(np.float32))


def test_reduction_through_lds_with_barriers(run, numbers):
    source = """__kernel void k(__global float* out, __global const float* in, int n) {
      __local float t[256]; int l = lid(); int g = gid() * 256 + l;
      t[l] = g < n ? in[g] : 0.0f; barrier();
      for (int s = size() / 2; s > 0; s >>= 1) { if (l < s) t[l] += t[l + s]; barrier(); }
      if (l == 0) out[gid()] = t[0]; }"""
    data = singles(numbers, 1000)
    outcome = run(source, 4, 256, np.zeros(4, np.float32), data, 1000)
    tree = np.concatenate([data, np.zeros(24, np.float32)]).reshape(4, 256)
    while tree.shape[1] > 1:
        half = tree.shape[1] // 2
        tree = tree[:, :half] + tree[:, half:]
    assert np.array_equal(only(outcome), tree[:, 0])


def test_loop_with_a_different_count_per_item(run):
    source = """__kernel void k(__global uint* out, __global const uint* in) {
      int i = gid() * size() + lid(); uint v = in[i], steps = 0;
      while (v != 1) { v = (v & 1) ? 3 * v + 1 : v / 2; ++steps; } out[i] = steps; }"""
    data = np.arange(1, 129, dtype=np.uint32)

    def steps(value: int) -> int:
        count = 0
        while value != 1:
            value = 3 * value + 1 if value % 2 else value // 2
            count += 1
        return count

    outcome = run(source, 2, 64, np.zeros(128, np.uint32), data)
    assert only(outcome).tolist() == [steps(int(v)) for v in data]


def test_nested_divergent_branches(run):
    source = """__kernel void k(__global int* out, __global const int* in) {
      int i = lid(); int v = in[i];
      if (v % 3 == 0) { if (v % 5 == 0) v = -v; else v += 1000; }
      else if (v & 1) { for (int j = 0; j < v % 7; ++j) v += j * j; }
      out[i] = v; }"""
    data = np.arange(192, dtype=np.int32)

    def value(v: int) -> int:
        if v % 3 == 0:
            return -v if v % 5 == 0 else v + 1000
        if v & 1:
            # The bound is read again in every turn.
            j = 0
            while j < v % 7:
                v += j * j
                j += 1
        return v

    outcome = run(source, 1, 192, np.zeros(192, np.int32), data)
    assert only(outcome).tolist() == [value(int(v)) for v in data]


def test_conversion_to_bf16_and_back(run, numbers):
    source = """__kernel void k(__global ushort* out, __global float* wide,
                                __global const float* in) {
      int i = lid(); __bf16 h = (__bf16)in[i]; out[i] = __builtin_bit_cast(ushort, h);
      wide[i] = (float)h * 3.0f; }"""
    data = singles(numbers, 256) * np.float32(2.0) ** numbers.integers(-60, 60, 256)
    data = data.astype(np.float32)
    zeros = np.zeros(256, np.uint16)
    outcome = run(source, 1, 256, zeros, np.zeros(256, np.float32), data)
    half = data.astype(ml_dtypes.bfloat16)
    assert only(outcome).tolist() == half.view(np.uint16).tolist()
    assert np.array_equal(only(outcome, 1), half.astype(np.float32) * np.float32(3))


def test_conversion_to_fp8_and_back(run, numbers):
    source = """__kernel void k(__global int* out, __global f4* wide, __global const f4* in) {
      int i = lid(); f4 v = in[i];
      int w = __builtin_amdgcn_cvt_pk_fp8_f32(v.x, v.y, 0, 0);
      w = __builtin_amdgcn_cvt_pk_fp8_f32(v.z, v.w, w, 1); out[i] = w;
      wide[i] = (f4)(__builtin_amdgcn_cvt_f32_fp8(w, 0), __builtin_amdgcn_cvt_f32_fp8(w, 1),
                     __builtin_amdgcn_cvt_f32_fp8(w, 2), __builtin_amdgcn_cvt_f32_fp8(w, 3)); }"""
    data = singles(numbers, 64, 4) * 20
    outcome = run(source, 1, 64, np.zeros(64, np.int32), np.zeros((64, 4), np.float32), data)
    codes = data.astype(ml_dtypes.float8_e4m3fn)
    assert np.array_equal(only(outcome).view(np.uint8), codes.view(np.uint8).reshape(-1))
    assert np.array_equal(only(outcome, 1), codes.astype(np.float32))


def test_bf16_matrix_product(run, numbers):
    source = """__kernel void k(__global float* d, __global const b8* a, __global const b8* b) {
      int l = lid(); f4 c = (f4)(0.0f);
      c = __builtin_amdgcn_mfma_f32_16x16x32_bf16(a[l], b[l], c, 0, 0, 0);
      for (int r = 0; r < 4; ++r) d[(4 * (l / 16) + r) * 16 + l % 16] = c[r]; }"""
    a = numbers.integers(-8, 8, (16, 32)).astype(ml_dtypes.bfloat16)
    b = numbers.integers(-8, 8, (32, 16)).astype(ml_dtypes.bfloat16)
    # Lane (g, c) holds row or column c and k = 8 g to 8 g + 7.
    lanes_a = a.reshape(16, 4, 8).transpose(1, 0, 2)
    lanes_b = b.T.reshape(16, 4, 8).transpose(1, 0, 2)
    first, second = (np.ascontiguousarray(m).view(np.uint16) for m in (lanes_a, lanes_b))
    outcome = run(source, 1, 64, np.zeros((16, 16), np.float32), first, second)
    assert np.array_equal(only(outcome), a.astype(np.float32) @ b.astype(np.float32))


def test_fp8_matrix_product_accumulates_in_a_loop(run, numbers):
    source = """__kernel void k(__global float* d, __global const i8v* a, __global const i8v* b) {
      int l = lid(); f4 c = (f4)(0.0f);
      for (int t = 0; t < 4; ++t)
        c = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(
              a[t * 64 + l], b[t * 64 + l], c, 0, 0, 0, 127, 0, 127);
      for (int r = 0; r < 4; ++r) d[(4 * (l / 16) + r) * 16 + l % 16] = c[r]; }"""
    a = numbers.integers(-4, 5, (16, 512)).astype(ml_dtypes.float8_e4m3fn)
    b = numbers.integers(-4, 5, (16, 512)).astype(ml_dtypes.float8_e4m3fn)

    def lanes(matrix: np.ndarray) -> np.ndarray:
        # Register 0 to 3 hold k = 16 g ..., register 4 to 7 hold k = 64 + 16 g ...
        tiles = matrix.view(np.uint8).reshape(16, 4, 2, 4, 16)
        return np.ascontiguousarray(tiles.transpose(1, 3, 0, 2, 4))

    outcome = run(source, 1, 64, np.zeros((16, 16), np.float32), lanes(a), lanes(b))
    assert np.array_equal(only(outcome), a.astype(np.float32) @ b.astype(np.float32).T)


def test_atomic_counters_in_global_memory_and_lds(run):
    source = """__kernel void k(__global uint* bins, __global const uint* in) {
      __local uint t[8]; int l = lid(); if (l < 8) t[l] = 0; barrier();
      __opencl_atomic_fetch_add((__local atomic_uint*)&t[in[gid() * size() + l] & 7], 1,
                                __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_WORK_GROUP);
      barrier();
      if (l < 8) __opencl_atomic_fetch_add((__global atomic_uint*)&bins[l], t[l],
                                __ATOMIC_RELAXED, __OPENCL_MEMORY_SCOPE_DEVICE); }"""
    data = (np.arange(512, dtype=np.uint32) * 7919) % 13
    outcome = run(source, 2, 256, np.zeros(8, np.uint32), data.astype(np.uint32))
    assert only(outcome).tolist() == np.bincount(data & 7, minlength=8).tolist()


def test_wave_sum_by_lane_exchange(run, numbers):
    source = """__kernel void k(__global float* out, __global const float* in) {
      int l = lid(); float v = in[l];
      for (int d = 32; d > 0; d >>= 1)
        v += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(
               ((l ^ d) & 63) << 2, __builtin_bit_cast(int, v)));
      out[l] = v; }"""
    data = singles(numbers, 64)
    outcome = run(source, 1, 64, np.zeros(64, np.float32), data)
    total = data
    for distance in (32, 16, 8, 4, 2, 1):
        total = total + total[np.arange(64) ^ distance]
    assert np.array_equal(only(outcome), total)


def test_double_precision_and_integer_division(run, numbers):
    source = """__kernel void k(__global double* out, __global int* q, __global const int* in) {
      int i = lid(); int v = in[i]; q[i] = v / 7 + v % 13;
      double x = v; out[i] = x * x * 0.5 + 1.0 / (x + 0.25); }"""
    data = numbers.integers(-100000, 100000, 64).astype(np.int32)
    zeros = np.zeros(64, np.float64)
    outcome = run(source, 1, 64, zeros, np.zeros(64, np.int32), data)
    x = data.astype(np.float64)
    assert np.allclose(only(outcome), x * x * 0.5 + 1.0 / (x + 0.25), rtol=1e-15, atol=0)
    expected = [int(v / 7) + int(np.fmod(v, 13)) for v in data.astype(np.float64)]
    assert only(outcome, 1).tolist() == expected


def test_constant_table_in_the_code_object(run):
    source = """__constant int table[16] = {3,1,4,1,5,9,2,6,5,3,5,8,9,7,9,3};
      __kernel void k(__global int* out, __global const int* in) {
      out[lid()] = table[in[lid()] & 15]; }"""
    data = np.arange(64, dtype=np.int32) * 5
    outcome = run(source, 1, 64, np.zeros(64, np.int32), data)
    table = [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3]
    assert only(outcome).tolist() == [table[v & 15] for v in data]


def test_half_precision_arithmetic(run, numbers):
    source = """__kernel void k(__global half* out, __global const half* a,
                                __global const half* b) {
      int i = lid(); out[i] = a[i] * b[i] + (half)1.5f; }"""
    a, b = (numbers.standard_normal(64).astype(np.float16) for _ in range(2))
    outcome = run(source, 1, 64, np.zeros(64, np.float16), a, b)
    exact = a.astype(np.float64) * b.astype(np.float64) + 1.5
    assert np.array_equal(only(outcome), exact.astype(np.float16))


def shapes() -> Sequence[tuple[int, int]]:
    return [(1, 1), (1, 63), (1, 65), (3, 200)]


@pytest.mark.parametrize(("grid", "block"), shapes())
def test_partial_wavefronts_have_only_their_lanes(run, grid, block):
    source = """__kernel void k(__global int* out) { out[gid() * size() + lid()] = lid() + 1; }"""
    outcome = run(source, grid, block, np.zeros(grid * block, np.int32))
    assert only(outcome).tolist() == list(range(1, block + 1)) * grid
