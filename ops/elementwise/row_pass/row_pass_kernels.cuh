// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The kernels of a pass over the rows of a matrix. cuda_row_pass.cpp defines before this text the
// types T and I, and WIDTH, PACKS, THREADS, ROWS, FINISH_THREADS, FINISH_COLUMNS; and puts the
// programs in the place of PASS_PARAMETERS and EVALUATE_ROW, which computes `weight` from
// `product`, FINISH_PARAMETERS and EVALUATE_SUM, which uses `sum`, and RESULT, that of a column.

struct alignas(sizeof(T) * WIDTH) Pack {
  T x[WIDTH];
};
// The elements of a row that belong to a thread; 0 beyond the row.
SW_FN void load_row(T (&to)[PACKS][WIDTH], const T* row, I columns) {
#pragma unroll
  for (int k = 0; k < PACKS; ++k) {
    const I c = ((I)k * THREADS + threadIdx.x) * WIDTH;
    if (c + WIDTH <= columns) {
      const Pack pack = *(const Pack*)(row + c);
#pragma unroll
      for (int j = 0; j < WIDTH; ++j) to[k][j] = pack.x[j];
    } else {
#pragma unroll
      for (int j = 0; j < WIDTH; ++j) to[k][j] = c + j < columns ? row[c + j] : T(0);
    }
  }
}
extern "C" __global__ void __launch_bounds__(THREADS)
    pass(const T* x, I x_row, const T* w, I w_step, I rows, I columns, PASS_PARAMETERS T* partial,
         I partial_row) {
  __shared__ T parts[ROWS][THREADS / 32];
  __shared__ T weights[ROWS];
  const int thread = threadIdx.x;
  T v[ROWS][PACKS][WIDTH], factors[PACKS][WIDTH], sums[PACKS][WIDTH];
#pragma unroll
  for (int k = 0; k < PACKS; ++k)
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) {
      const I c = ((I)k * THREADS + thread) * WIDTH + j;
      factors[k][j] = c < columns ? w[c * w_step] : T(0);
      sums[k][j] = 0;
    }
  T total = 0;
  for (I first = (I)blockIdx.x * ROWS; first < rows; first += (I)gridDim.x * ROWS) {
#pragma unroll
    for (int r = 0; r < ROWS; ++r)
      load_row(v[r], x + (first + r) * x_row, first + r < rows ? columns : 0);
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      T dot = 0;
#pragma unroll
      for (int k = 0; k < PACKS; ++k)
#pragma unroll
        for (int j = 0; j < WIDTH; ++j) dot = fma(v[r][k][j], factors[k][j], dot);
#pragma unroll
      for (int half = 16; half > 0; half /= 2) dot += __shfl_down_sync(~0u, dot, half);
      if (thread % 32 == 0) parts[r][thread / 32] = dot;
    }
    __syncthreads();
    if (thread < ROWS) {
      const I row = first + thread;
      T weight = 0;
      if (row < rows) {
        T product = 0;
#pragma unroll
        for (int i = 0; i < THREADS / 32; ++i) product += parts[thread][i];
        EVALUATE_ROW
      }
      weights[thread] = weight;
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < ROWS; ++r) {
      const T weight = weights[r];
      total += weight;
#pragma unroll
      for (int k = 0; k < PACKS; ++k)
#pragma unroll
        for (int j = 0; j < WIDTH; ++j) sums[k][j] = fma(weight, v[r][k][j], sums[k][j]);
    }
  }
  partial += blockIdx.x * partial_row;
#pragma unroll
  for (int k = 0; k < PACKS; ++k)
#pragma unroll
    for (int j = 0; j < WIDTH; ++j) {
      const I c = ((I)k * THREADS + thread) * WIDTH + j;
      if (c < columns) partial[c] = sums[k][j];
    }
  if (thread == 0) partial[columns] = total;
}
extern "C" __global__ void __launch_bounds__(FINISH_THREADS)
    finish(const T* partial, I partial_row, int count, I columns, T alpha, T beta,
           FINISH_PARAMETERS) {
  __shared__ T sums[FINISH_THREADS];
  const int thread = threadIdx.x;
  const I c = (I)blockIdx.x * FINISH_COLUMNS + thread % FINISH_COLUMNS;
  T sum = 0;
  if (c <= columns) {
#pragma unroll 4
    for (int i = thread / FINISH_COLUMNS; i < count; i += FINISH_THREADS / FINISH_COLUMNS)
      sum += partial[i * partial_row + c];
  }
  sums[thread] = sum;
  __syncthreads();
  for (int half = FINISH_THREADS / 2; half >= FINISH_COLUMNS; half /= 2) {
    if (thread < half) sums[thread] += sums[thread + half];
    __syncthreads();
  }
  if (thread >= FINISH_COLUMNS) return;
  sum = sums[thread];
  if (c < columns) {
    result[c] = RESULT;
  } else if (c == columns) {
    EVALUATE_SUM
  }
}
