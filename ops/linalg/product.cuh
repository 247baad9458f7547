// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Products of matrices of any strides; after product_problem.cuh.

FN A left_at(const PackedProblem& problem, const Pointers& pointers, I row, I k) {
  A value = A();
  if (row < problem.rows && k < problem.depth)
    read(value, pointers.left[row * problem.left.row + k * problem.left.column]);
  return CONJUGATE ? conjugated(value) : value;
}
FN A right_at(const PackedProblem& problem, const Pointers& pointers, I k, I column) {
  A value = A();
  if (k < problem.depth && column < problem.columns)
    read(value, pointers.right[k * problem.right.row + column * problem.right.column]);
  return value;
}
FN I magnitude(I stride) { return stride < 0 ? -stride : stride; }

#define TILE 64
#define STEP 16
#define EACH 4

// One block of 256 threads per tile of 64 x 64; each thread computes 4 x 4 elements, 16 apart.
extern "C" __global__ void __launch_bounds__(256) tiles(const PackedProblem problem) {
  __shared__ A left[STEP][TILE + 1];
  __shared__ A right[STEP][TILE + 1];
  const int thread = threadIdx.x, down = thread / 16, across = thread % 16;
  const I tiles_across = (problem.columns + TILE - 1) / TILE;
  const I row = (I)blockIdx.x / tiles_across * TILE, column = (I)blockIdx.x % tiles_across * TILE;
  // Neighbouring threads read along the shorter stride.
  const bool left_is_down = magnitude(problem.left.row) < magnitude(problem.left.column);
  const bool right_is_down = magnitude(problem.right.row) < magnitude(problem.right.column);
  for (I batch = blockIdx.y; batch < problem.batches; batch += gridDim.y) {
    const Pointers pointers = pointers_at(problem, batch);
    A sums[EACH][EACH];
#pragma unroll
    for (int i = 0; i < EACH; ++i)
#pragma unroll
      for (int j = 0; j < EACH; ++j) sums[i][j] = A();
    for (I start = 0; start < problem.depth; start += STEP) {
#pragma unroll
      for (int part = 0; part < EACH; ++part) {
        const int at = thread + 256 * part;
        const int long_side = at % TILE, short_side = at / TILE;
        const int k_first = at % STEP, other = at / STEP;
        if (left_is_down)
          left[short_side][long_side] =
              left_at(problem, pointers, row + long_side, start + short_side);
        else
          left[k_first][other] = left_at(problem, pointers, row + other, start + k_first);
        if (right_is_down)
          right[k_first][other] = right_at(problem, pointers, start + k_first, column + other);
        else
          right[short_side][long_side] =
              right_at(problem, pointers, start + short_side, column + long_side);
      }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < STEP; ++k) {
        A a[EACH], b[EACH];
#pragma unroll
        for (int i = 0; i < EACH; ++i) {
          a[i] = left[k][down + 16 * i];
          b[i] = right[k][across + 16 * i];
        }
#pragma unroll
        for (int i = 0; i < EACH; ++i)
#pragma unroll
          for (int j = 0; j < EACH; ++j) add_product(sums[i][j], a[i], b[j]);
      }
      __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < EACH; ++i)
#pragma unroll
      for (int j = 0; j < EACH; ++j) {
        const I r = row + down + 16 * i, c = column + across + 16 * j;
        if (r < problem.rows && c < problem.columns) store(problem, pointers, r, c, sums[i][j]);
      }
  }
}

// One block of 256 threads per element of the result, for few elements with long sums.
extern "C" __global__ void __launch_bounds__(256) lines(const PackedProblem problem) {
  __shared__ A parts[256];
  const int thread = threadIdx.x;
  const I each = problem.rows * problem.columns, all = each * problem.batches;
  for (I index = blockIdx.x; index < all; index += gridDim.x) {
    const Pointers pointers = pointers_at(problem, index / each);
    const I row = index % each / problem.columns, column = index % each % problem.columns;
    A sum = A();
    for (I k = thread; k < problem.depth; k += 256)
      add_product(sum, left_at(problem, pointers, row, k), right_at(problem, pointers, k, column));
    parts[thread] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half /= 2) {
      if (thread < half) add(parts[thread], parts[thread + half]);
      __syncthreads();
    }
    if (thread == 0) store(problem, pointers, row, column, parts[0]);
    __syncthreads();
  }
}
