// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Kernels with one fault each, for test_kernel_check_faults.py. The error must name the line with the
// comment FAULT; that of null_read, the line of add_one, which reads through the null pointer.

__device__ int total;
__device__ int last[4];
__constant__ int table[4];
__device__ int add_one(int *p) { return *p + 1; }
struct Pair { int a, b; };

// ---- indices ----
__global__ void behind(int *x, int n) { x[threadIdx.x + 1] = 1; }  // FAULT
__global__ void before(int *x, int n) { x[(int)threadIdx.x - 1] = 1; }  // FAULT
__global__ void unguarded(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] = 2 * x[i];  // FAULT
}
__global__ void off_by_one(int *x, int n) {
  int i = threadIdx.x;
  if (i <= n) x[i] = 1;  // FAULT
}
__global__ void far(int *x, int n) { x[1LL << 40] = 1; }  // FAULT
__global__ void far_read(int *x, int n) { x[0] = x[1LL << 33]; }  // FAULT
__global__ void far_behind(int *x, int n) { x[100 << 20] = 1; }  // FAULT
__global__ void far_before(int *x, int n) { x[-(50LL << 20)] = 1; }  // FAULT
__global__ void null(int *x, int n) { int *p = n ? nullptr : x; p[threadIdx.x] = 1; }  // FAULT
__global__ void null_read(int *x, int n) { int *p = n ? nullptr : x; x[0] = add_one(p); }
__global__ void signed_index(int *x, int n) {
  x[(threadIdx.x - 1) / 2] = 1;  // FAULT
}
__global__ void misread_struct(int *x, int n) {
  Pair *pairs = (Pair *)x;
  x[threadIdx.x] = pairs[n - 1].a;  // FAULT
}
__global__ void copies_too_much(int *x, int n) {
  int local[80];
  memcpy(local, x, 4 * (n + 1));  // FAULT
  x[0] = local[n];
}
__global__ void clears_too_much(int *x, int n) { memset(x, 0, 4 * n + 1); }  // FAULT
__global__ void fixed_shared(int *x, int n) {
  __shared__ int s[64];
  s[threadIdx.x + 1] = 1;  // FAULT
  x[threadIdx.x] = s[threadIdx.x + 1];
}
__global__ void pointer_to_shared(int *x, int n) {
  __shared__ int s[64];
  int *p = n ? s : x;  // not known to be s, where clang removes a store behind its end
  for (int i = 0; i <= 64 + (int)threadIdx.x * 64; i += 64) p[i] = i;  // FAULT
  x[0] = p[0];
}
__global__ void dynamic_shared(int *x, int n) {
  extern __shared__ int d[];
  d[threadIdx.x] = 1;  // FAULT
  __syncthreads();
  x[threadIdx.x] = d[threadIdx.x];
}
__global__ void local_array(int *x, int n) {
  int local[4] = {0, 1, 2, 3};
  x[threadIdx.x] = local[threadIdx.x];  // FAULT
}
__global__ void variable(int *x, int n) { last[threadIdx.x] = 1; }  // FAULT

// ---- races within a block ----
__global__ void lost_update(int *x, int n) { x[0] = x[0] + threadIdx.x; }  // FAULT
__global__ void increment(int *x, int n) { x[0]++; }  // FAULT
__global__ void no_barrier(int *x, int n) {
  __shared__ int s[64];
  s[threadIdx.x] = x[threadIdx.x];  // FAULT
  x[threadIdx.x] = s[63 - threadIdx.x];
}
__global__ void in_place_shift(int *x, int n) {
  int i = threadIdx.x;
  if (i + 1 < n) x[i] = x[i + 1];  // FAULT
}
__global__ void one_buffer(int *x, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int step = 1; step < 64; step *= 2) {
    if (t >= step) s[t] += s[t - step];  // FAULT
    __syncthreads();
  }
  x[t] = s[t];
}
__global__ void reduce_without_barrier(int *x, int n) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (int step = 32; step > 0; step /= 2)
    if (t < step) s[t] += s[t + step];  // FAULT
  if (t == 0) x[0] = s[0];
}
__global__ void first_writes_others_read(int *x, int n) {
  __shared__ int size;
  if (threadIdx.x == 0) size = n;
  x[threadIdx.x] = size;  // FAULT
}
__global__ void last_writes_others_read(int *x, int n) {
  __shared__ int size;
  if (threadIdx.x == 63) size = n;  // FAULT
  x[threadIdx.x] = size;
}
__global__ void reset_beside_atomics(int *x, int n) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  atomicAdd(&count, 1);  // FAULT
  __syncthreads();
  x[threadIdx.x] = count;
}
__global__ void read_beside_atomics(int *x, int n) {
  __shared__ int count;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  atomicAdd(&count, 1);
  x[threadIdx.x] = count;  // FAULT
}
__global__ void bins(int *x, int n) {
  __shared__ int bin[8];
  if (threadIdx.x < 8) bin[threadIdx.x] = 0;
  __syncthreads();
  bin[x[threadIdx.x] % 8] += 1;  // FAULT
  __syncthreads();
  if (threadIdx.x < 8) x[threadIdx.x] = bin[threadIdx.x];
}
__global__ void reuse_without_barrier(int *x, int n) {
  __shared__ int s[64];
  for (int round = 0; round < 3; ++round) {
    s[threadIdx.x] = x[threadIdx.x] + round;  // FAULT
    __syncthreads();
    x[threadIdx.x] = s[63 - threadIdx.x];
  }
}
__global__ void warp_without_sync(int *x, int n) {
  volatile __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  if (t < 32) {
    for (int step = 32; step > 0; step /= 2) s[t] += s[t + step];  // FAULT
  }
  if (t == 0) x[0] = s[0];
}
__global__ void dynamic_race(int *x, int n) {
  extern __shared__ int d[];
  d[threadIdx.x / 2] = threadIdx.x;  // FAULT
  __syncthreads();
  x[threadIdx.x] = d[threadIdx.x / 2];
}
__global__ void bytes(int *x, int n) {
  char *c = (char *)x;
  c[threadIdx.x / 2] = threadIdx.x;  // FAULT
}

// ---- races between blocks ----
__global__ void blocks_add(int *x, int n) {
  if (threadIdx.x == 0) x[0] = x[0] + 1;  // FAULT
}
__global__ void blocks_write(int *x, int n) { x[threadIdx.x] = blockIdx.x; }  // FAULT
__global__ void blocks_variable(int *x, int n) {
  if (threadIdx.x == 0) total += 1;  // FAULT
}
__global__ void neighbour_block(int *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] += x[(i + 16) % n];  // FAULT
}
__global__ void no_fence(int *x, int n) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    x[1 + blockIdx.x] = 10 + blockIdx.x;
    is_last = atomicAdd(&x[0], 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0)
    for (int i = 1; i < (int)gridDim.x; ++i) x[40] += x[i];  // FAULT
}

// ---- barriers, warps, undefined values ----
__global__ void barrier_in_if(int *x, int n) {
  if (threadIdx.x < 16) __syncthreads();  // FAULT
  x[threadIdx.x] = 1;
}
__global__ void two_barriers(int *x, int n) {
  if (threadIdx.x < 16)
    __syncthreads();  // FAULT
  else
    __syncthreads();
}
__global__ void barrier_in_loop(int *x, int n) {
  for (int i = threadIdx.x; i < 100; i += 64) {
    x[threadIdx.x] += i;
    __syncthreads();  // FAULT
  }
}
__global__ void mask_names_others(int *x, int n) {
  if (threadIdx.x < 16) x[threadIdx.x] = __shfl_down_sync(0xffffffffu, 5, 1);  // FAULT
}
__global__ void mask_leaves_out_itself(int *x, int n) {
  x[threadIdx.x] = __shfl_sync(0x0000ffffu, 5, 0);  // FAULT
}
__global__ void mask_too_small(int *x, int n) {
  int v = x[threadIdx.x];
  if (threadIdx.x < 16) x[threadIdx.x] = v + __shfl_down_sync(0x0000ffffu, v, 16);  // FAULT
}
__global__ void width_not_power_of_two(int *x, int n) { x[threadIdx.x] = __shfl_sync(~0u, 1, 0, 12); }  // FAULT
__global__ void undefined_shared(int *x, int n) {
  __shared__ int s[64];
  if (threadIdx.x < 32) s[threadIdx.x] = 1;
  __syncthreads();
  x[threadIdx.x] = s[threadIdx.x];  // FAULT
}
__global__ void never_written_shared(int *x, int n) {
  __shared__ int s[64];
  x[threadIdx.x] = s[threadIdx.x];  // FAULT
}
__global__ void undefined_sum(int *x, int n) {
  __shared__ int sum;
  atomicAdd(&sum, x[threadIdx.x]);  // FAULT
  __syncthreads();
  if (threadIdx.x == 0) x[0] = sum;
}
__global__ void undefined_dynamic(int *x, int n) {
  extern __shared__ int d[];
  x[threadIdx.x] = d[threadIdx.x];  // FAULT
}
__global__ void failed_assert(int *x, int n) { assert(x[threadIdx.x] < 40); }  // FAULT
