// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Positions of the true elements of a mask. The including text defines the rank of the mask, RANK,
// the threads of a block, BLOCK and, for the scan, SCAN, and the bytes of a tile, TILE; one block
// counts and writes one tile. Tiles are in memory order; a tile has rows of one byte per thread, so
// that the true bytes are ordered by (row, warp, lane).

#define ROWS (TILE / BLOCK)
#define WARPS (BLOCK / 32)

extern "C" __global__ void count_tiles(const unsigned char* mask, long long n, long long* counts) {
  __shared__ int warps[WARPS];
  const long long start = (long long)blockIdx.x * TILE;
  int count = 0;
  for (int row = 0; row < ROWS; ++row) {
    const long long i = start + row * BLOCK + (int)threadIdx.x;
    count += i < n && mask[i] != 0;
  }
  for (int step = 16; step > 0; step /= 2) count += __shfl_down_sync(0xffffffffu, count, step);
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = count;
  __syncthreads();
  if (threadIdx.x == 0) {
    long long total = 0;
    for (int warp = 0; warp < WARPS; ++warp) total += warps[warp];
    counts[blockIdx.x] = total;
  }
}

// Exclusive scan in one block: counts[i] becomes the sum of counts[0..i), counts[tiles] the total.
extern "C" __global__ void scan_tiles(long long* counts, long long tiles) {
  __shared__ long long sums[SCAN];
  long long before = 0;
  for (long long start = 0; start < tiles; start += SCAN) {
    const long long i = start + threadIdx.x;
    const long long own = i < tiles ? counts[i] : 0;
    sums[threadIdx.x] = own;
    __syncthreads();
    for (int step = 1; step < SCAN; step *= 2) {
      const long long preceding = threadIdx.x >= step ? sums[threadIdx.x - step] : 0;
      __syncthreads();
      sums[threadIdx.x] += preceding;
      __syncthreads();
    }
    if (i < tiles) counts[i] = before + sums[threadIdx.x] - own;
    before += sums[SCAN - 1];
    __syncthreads();
  }
  if (threadIdx.x == 0) counts[tiles] = before;
}

struct MaskShape {
  long long extents[RANK];
};

// positions has one row of `total` indices per axis.
extern "C" __global__ void write_positions(const unsigned char* mask, long long n,
                                           const long long* before, long long* positions,
                                           long long total, const MaskShape shape) {
  __shared__ int warps[WARPS];
  const long long start = (long long)blockIdx.x * TILE;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  long long done = before[blockIdx.x];
  for (int row = 0; row < ROWS; ++row) {
    const long long i = start + row * BLOCK + (int)threadIdx.x;
    const bool is_true = i < n && mask[i] != 0;
    const unsigned votes = __ballot_sync(0xffffffffu, is_true);
    if (lane == 0) warps[warp] = __popc(votes);
    __syncthreads();
    int before_warp = 0, in_row = 0;
    for (int w = 0; w < WARPS; ++w) {
      if (w < warp) before_warp += warps[w];
      in_row += warps[w];
    }
    if (is_true) {
      const long long column = done + before_warp + __popc(votes & ((1u << lane) - 1u));
      long long index = i;
#pragma unroll
      for (int axis = RANK - 1; axis >= 0; --axis) {
        const long long extent = shape.extents[axis];
        positions[axis * total + column] = axis > 0 ? index % extent : index;
        index = axis > 0 ? index / extent : 0;
      }
    }
    done += in_row;
    __syncthreads();
  }
}