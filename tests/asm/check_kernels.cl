// Kernels for the checker's clean set: each exercises one kind of dependence that the compiler
// has to guard. Built without a device library, so everything is a builtin.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable

typedef unsigned int uint;
typedef unsigned char uchar;
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float16v __attribute__((ext_vector_type(16)));
typedef int int8v __attribute__((ext_vector_type(8)));
typedef uint uint2 __attribute__((ext_vector_type(2)));
typedef __bf16 bf16x8 __attribute__((ext_vector_type(8)));
typedef _Float16 half2v __attribute__((ext_vector_type(2)));

static inline int local_id(void) { return __builtin_amdgcn_workitem_id_x(); }
static inline int group(void) { return __builtin_amdgcn_workgroup_id_x(); }
static inline int global_id(void) {
  return group() * __builtin_amdgcn_workgroup_size_x() + local_id();
}
static inline void join(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}

kernel void copy(global const float *a, global float *b) { b[global_id()] = a[global_id()]; }

kernel void saxpy(global const float *x, global float *y, float a, int n) {
  int i = global_id();
  if (i < n) y[i] = a * x[i] + y[i];
}

kernel void reduce(global const float *x, global float *y, local float *s) {
  int l = local_id();
  s[l] = x[global_id()];
  join();
  for (int d = 128; d > 0; d >>= 1) {
    if (l < d) s[l] += s[l + d];
    join();
  }
  if (!l) y[group()] = s[0];
}

kernel void reduce_static(global const float *x, global float *y) {
  local float s[256];
  int l = local_id();
  s[l] = x[global_id()];
  join();
  for (int d = 128; d > 0; d >>= 1) {
    if (l < d) s[l] += s[l + d];
    join();
  }
  if (!l) y[group()] = s[0];
}

kernel void transcendental(global float *x) {
  int i = global_id();
  x[i] = __builtin_amdgcn_exp2f(x[i]) + __builtin_amdgcn_rsqf(x[i]) / x[i] +
         __builtin_amdgcn_sinf(x[i]);
}

kernel void divide(global float *x, global const float *y) {
  int i = global_id();
  x[i] = x[i] / y[i] + __builtin_elementwise_sqrt(y[i]);
}

kernel void matrix_scaled(global const int8v *a, global const int8v *b, global float4 *c) {
  int i = global_id();
  float4 d = c[i];
  d = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(a[i], b[i], d, 0, 0, 0, 0, 0, 0);
  d = __builtin_amdgcn_mfma_scale_f32_16x16x128_f8f6f4(b[i], a[i], d, 0, 0, 0, 0, 0, 0);
  c[i] = d * 2.0f;
}

kernel void matrix_loop(global const bf16x8 *a, global const bf16x8 *b, global float16v *c) {
  int i = global_id();
  float16v d = c[i];
  for (int k = 0; k < 4; k++)
    d = __builtin_amdgcn_mfma_f32_32x32x16_bf16(a[i + k * 64], b[i + k * 64], d, 0, 0, 0);
  c[i] = d + 1.0f;
}

kernel void wide_integers(global long *x, global const long *y, int n) {
  long s = 0;
  for (int i = 0; i < n; i++) s += x[i] * y[i] / (y[i] | 1);
  x[global_id()] = s;
}

kernel void doubles(global double *x, global const double *y) {
  int i = global_id();
  x[i] = x[i] / y[i] + __builtin_elementwise_sqrt(y[i]);
}

kernel void divergent(global int *x, int n) {
  int i = global_id(), v = x[i];
  while (v != 1 && n-- > 0) v = v & 1 ? 3 * v + 1 : v >> 1;
  x[i] = v;
}

kernel void atomics(global int *x, global int *y) {
  y[global_id()] = __atomic_fetch_add(x, 1, __ATOMIC_RELAXED);
  __atomic_fetch_max(x + 1, 3, __ATOMIC_RELAXED);
}

kernel void cross_lane(global int *x) {
  int i = global_id(), v = x[i];
  v += __builtin_amdgcn_update_dpp(0, v, 0x111, 0xf, 0xf, true);
  v += __builtin_amdgcn_update_dpp(v, v, 0x142, 0xa, 0xf, false);
  x[i] = v + __builtin_amdgcn_readlane(v, 63) + __builtin_amdgcn_ds_bpermute(i * 4, v);
}

kernel void fp8(global int *x, global const float *f) {
  int i = global_id();
  int v = __builtin_amdgcn_cvt_pk_fp8_f32(f[2 * i], f[2 * i + 1], 0, false);
  v = __builtin_amdgcn_cvt_pk_fp8_f32(f[2 * i + 2], f[2 * i + 3], v, true);
  x[i] = v * 3;
}

kernel void halves(global half *x, global const half *y) {
  int i = global_id();
  x[i] = x[i] * y[i] + x[i];
}

kernel void private_array(global int *x, int k) {
  int a[64];
  for (int i = 0; i < 64; i++) a[i] = x[i] * k;
  x[global_id()] = a[x[k] & 63];
}

kernel void generic_pointer(global int *x, local int *l, int k) {
  int *p = k ? (int *)x : (int *)l;
  *p += k;
  p[3] = x[1];
}

kernel void load_to_lds(global uint *x, global uint *y) {
  local uint s[256];
  int l = local_id();
  __builtin_amdgcn_global_load_lds(x + l, s + (l & ~63), 4, 0, 0);
  join();
  y[l] = s[l ^ 65];
}

kernel void lane_swap(global uint *x) {
  int i = global_id();
  uint2 r = __builtin_amdgcn_permlane32_swap(x[i], x[i + 1], false, false);
  x[i] = r.x * r.y;
}

kernel void wide_store(global float4 *x, global const float4 *y, float4 k) {
  int i = global_id();
  x[i] = x[i] * y[i] + k;
}

kernel void dot(global float *x, global const half2v *a) {
  int i = global_id();
  float s = x[i];
  for (int k = 0; k < 8; k++) s = __builtin_amdgcn_fdot2(a[i + k], a[i - k], s, false);
  x[i] = s;
}
