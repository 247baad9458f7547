// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Products of a matrix of any strides and a vector; after product_problem.cuh, with BATCH 0. `left`
// is the matrix, `right` the vector: one column. Blocks of 256 threads.

// A vector load of 16 bytes.
#define PACK (16 / (int)sizeof(E))
struct alignas(16) Pack {
  E element[PACK];
};

// The elements from `from` on, `count` of at most W. W > 1: adjacent and aligned.
template <int W>
FN void load(A (&to)[W], const E* from, I count) {
  if (W > 1 && count >= W) {
    const Pack pack = *(const Pack*)from;
#pragma unroll
    for (int i = 0; i < W; ++i) {
      to[i] = A();
      read(to[i], pack.element[i]);
    }
  } else {
#pragma unroll
    for (int i = 0; i < W; ++i) {
      to[i] = A();
      if (i < count) read(to[i], from[i]);
    }
  }
}
FN A vector_at(const PackedProblem& problem, const Pointers& pointers, I k) {
  A value = A();
  if (k < problem.depth) read(value, pointers.right[k * problem.right.row]);
  return value;
}

// `lanes` neighbouring threads compute one element of the result.
template <int W>
FN void multiply_rows(const PackedProblem& problem, int lanes) {
  __shared__ A parts[256];
  const int thread = threadIdx.x, lane = thread % lanes;
  const I row = (I)blockIdx.x * (256 / lanes) + thread / lanes;
  const Pointers pointers = pointers_at(problem, 0);
  A sum = A();
  if (row < problem.rows) {
    const E* matrix = pointers.left + row * problem.left.row;
#pragma unroll 4
    for (I k = (I)lane * W; k < problem.depth; k += (I)lanes * W) {
      A a[W];
      load(a, matrix + k * problem.left.column, problem.depth - k);
#pragma unroll
      for (int i = 0; i < W; ++i)
        add_product(sum, CONJUGATE ? conjugated(a[i]) : a[i], vector_at(problem, pointers, k + i));
    }
  }
  parts[thread] = sum;
  __syncthreads();
  for (int half = lanes / 2; half > 0; half /= 2) {
    if (lane < half) add(parts[thread], parts[thread + half]);
    __syncthreads();
  }
  if (lane == 0 && row < problem.rows) store(problem, pointers, row, 0, parts[thread]);
}

// Each thread adds W neighbouring elements of the result along every `down`-th column of the
// matrix; `across` threads of a block are neighbours along the rows.
template <int W>
FN void multiply_columns(const PackedProblem& problem, int across) {
  __shared__ A parts[256][W];
  const int thread = threadIdx.x, down = 256 / across;
  const I row = ((I)blockIdx.x * across + thread % across) * W;
  const Pointers pointers = pointers_at(problem, 0);
  A sums[W];
#pragma unroll
  for (int i = 0; i < W; ++i) sums[i] = A();
  if (row < problem.rows) {
    const E* matrix = pointers.left + row * problem.left.row;
#pragma unroll 4
    for (I k = thread / across; k < problem.depth; k += down) {
      A a[W];
      load(a, matrix + k * problem.left.column, problem.rows - row);
      const A x = vector_at(problem, pointers, k);
#pragma unroll
      for (int i = 0; i < W; ++i) add_product(sums[i], CONJUGATE ? conjugated(a[i]) : a[i], x);
    }
  }
#pragma unroll
  for (int i = 0; i < W; ++i) parts[thread][i] = sums[i];
  __syncthreads();
  for (int half = down / 2; half > 0; half /= 2) {
    if (thread < half * across)
#pragma unroll
      for (int i = 0; i < W; ++i) add(parts[thread][i], parts[thread + half * across][i]);
    __syncthreads();
  }
  // The sums of the block, one for each thread.
  for (int i = thread; i < across * W; i += 256) {
    const I r = (I)blockIdx.x * across * W + i;
    if (r < problem.rows) store(problem, pointers, r, 0, parts[i / W][i % W]);
  }
}

extern "C" __global__ void __launch_bounds__(256) rows(const PackedProblem problem, int lanes) {
  multiply_rows<1>(problem, lanes);
}
extern "C" __global__ void __launch_bounds__(256) columns(const PackedProblem problem, int across) {
  multiply_columns<1>(problem, across);
}
// For a matrix whose rows or columns are contiguous and aligned to 16 bytes.
extern "C" __global__ void __launch_bounds__(256)
    packed_rows(const PackedProblem problem, int lanes) {
  multiply_rows<PACK>(problem, lanes);
}
extern "C" __global__ void __launch_bounds__(256)
    packed_columns(const PackedProblem problem, int across) {
  multiply_columns<PACK>(problem, across);
}
