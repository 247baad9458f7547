// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Continues correct_kernels.cu, whose macros and variables it uses: the test compiles both as one text.

// ---- warps ----
__global__ void warp_sum(ARGS) {
  float v = g[I];
  for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(0xffffffffu, v, k);
  if (T % 32 == 0) f[I] = v;
}
__global__ void butterfly(ARGS) {
  float v = g[I];
  for (int k = 1; k < 32; k *= 2) v += __shfl_xor_sync(0xffffffffu, v, k);
  f[I] = v;
}
__global__ void segments(ARGS) {
  int v = x[I];
  for (int k = 1; k < 8; k *= 2) {
    int below = __shfl_up_sync(0xffffffffu, v, k, 8);
    if (T % 8 >= k) v += below;
  }
  x[I] = v;
}
__global__ void half_warp(ARGS) {
  if (T % 32 >= 16) return;
  int v = x[I];
  for (int k = 8; k > 0; k /= 2) v += __shfl_down_sync(0x0000ffffu, v, k);
  if (T % 32 == 0) x[I] = v;
}
__global__ void condition_mask(ARGS) {
  unsigned mask = __ballot_sync(0xffffffffu, x[I] % 3 == 0);
  if (x[I] % 3 == 0) x[I] = __popc(mask) + __shfl_sync(mask, x[I], __ffs(mask) - 1);
}
__global__ void warp_shared(ARGS) {
  __shared__ int s[64];
  s[T] = x[I];
  __syncwarp();
  for (int k = 16; k > 0; k /= 2) {
    int v = T % 32 < k ? s[T] + s[T + k] : 0;
    __syncwarp();
    if (T % 32 < k) s[T] = v;
    __syncwarp();
  }
  if (T % 32 == 0) x[I] = s[T];
}
__global__ void warps_then_block(ARGS) {
  __shared__ float s[2];
  float v = g[I];
  for (int k = 16; k > 0; k /= 2) v += __shfl_down_sync(~0u, v, k);
  if (T % 32 == 0) s[T / 32] = v;
  __syncthreads();
  if (T == 0) f[blockIdx.x] = s[0] + s[1];
}
__global__ void groups(ARGS) {
  cg::thread_block block = cg::this_thread_block();
  auto tile = cg::tiled_partition<16>(block);
  __shared__ int s[64];
  s[T] = tile.shfl_down(x[I], 1);
  block.sync();
  x[I] = s[63 - T];
}

// ---- atomics, blocks, variables ----
__global__ void atomic_total(ARGS) { atomicAdd(&x[0], 1); atomicMax(&x[1], (int)I); }
__global__ void atomic_float(ARGS) { if (I > 0) atomicAdd(&f[0], 1.0f); }
__global__ void append(ARGS) {
  int *count = x, *list = x + 1;
  if (I == 0 || g[I] < 0.8f) return;
  list[atomicAdd(count, 1)] = I;
}
__global__ void exchanged(ARGS) { if (I > 0) atomicExch(&x[1 + I % 3], 7); }
__global__ void compared(ARGS) {
  int old = x[0], assumed;
  do { assumed = old; old = atomicCAS(&x[0], assumed, assumed + 4); } while (old != assumed);
}
__global__ void last_block(ARGS) {
  __shared__ bool is_last;
  if (T == 0) {
    f[blockIdx.x] = g[I];
    __threadfence();
    is_last = atomicAdd(&done, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (!is_last) return;
  __threadfence();
  if (T == 0) {
    for (int b = 1; b < (int)gridDim.x; ++b) f[0] += f[b];
    done = 0;
  }
}
__global__ void locked(ARGS) {
  if (T != 0) return;
  while (atomicCAS(&lock, 0, 1) != 0) {}
  __threadfence();
  x[0] += 3;
  __threadfence();
  atomicExch(&lock, 0);
}
__global__ void counted(ARGS) { if (I == 0) ++calls; x[I] += I == 0 ? 0 : 1; }
__global__ void variable_table(ARGS) {
  if (blockIdx.x == 0 && T < 8) table[T] = g[T];
  f[I] = g[I];
}
__global__ void flag_from_all_blocks(ARGS) { if (g[I] > 0.5f) x[0] = 1; }
__global__ void allocated(ARGS) {
  int *p = (int *)malloc(16);
  p[I % 4] = I;
  x[I] = p[I % 4];
  free(p);
}
__global__ void printing(ARGS) { if (I == 0) printf("%d elements\n", n); f[I] = 1; }
