// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// y = x / sqrt(mean(x * x) + epsilon) * weight for each row x, and its derivatives. T is the dtype
// letter of the ops' declarations.

constexpr int threads = 128;

__device__ T sum_over_block(T value) {
  __shared__ T partial[threads];
  partial[threadIdx.x] = value;
  __syncthreads();
  for (int step = threads / 2; step > 0; step /= 2) {
    if (threadIdx.x < step) partial[threadIdx.x] += partial[threadIdx.x + step];
    __syncthreads();
  }
  const T sum = partial[0];
  __syncthreads();
  return sum;
}

__device__ T inverse_of(T squares, int w) { return T(1) / sqrt(squares / T(w) + T(1e-6)); }

// A block for each row.
__global__ void rms_norm(const T* x, const T* weight, T* y, int w) {
  const long long row = blockIdx.x * (long long)w;
  T squares = 0;
  for (int i = threadIdx.x; i < w; i += threads) squares += x[row + i] * x[row + i];
  const T inverse = inverse_of(sum_over_block(squares), w);
  for (int i = threadIdx.x; i < w; i += threads) y[row + i] = x[row + i] * inverse * weight[i];
}

__global__ void rms_norm_dx(const T* x, const T* weight, const T* dy, T* dx, int w) {
  const long long row = blockIdx.x * (long long)w;
  T squares = 0, product = 0;
  for (int i = threadIdx.x; i < w; i += threads) {
    squares += x[row + i] * x[row + i];
    product += x[row + i] * dy[row + i] * weight[i];
  }
  const T inverse = inverse_of(sum_over_block(squares), w);
  const T along = sum_over_block(product) * inverse * inverse / T(w);
  for (int i = threadIdx.x; i < w; i += threads)
    dx[row + i] = inverse * (dy[row + i] * weight[i] - x[row + i] * along);
}

// A column for each thread. Each block computes the norm of each row again, which costs less than
// to keep them in a second output while w is a few thousands.
__global__ void rms_norm_dweight(const T* x, const T* dy, T* dweight, int h, int w) {
  const int column = blockIdx.x * threads + threadIdx.x;
  T total = 0;
  for (int k = 0; k < h; ++k) {
    const long long row = k * (long long)w;
    T squares = 0;
    for (int i = threadIdx.x; i < w; i += threads) squares += x[row + i] * x[row + i];
    const T inverse = inverse_of(sum_over_block(squares), w);
    if (column < w) total += dy[row + column] * x[row + column] * inverse;
  }
  if (column < w) dweight[column] = total;
}
