// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The kernels of lines/user_kernels_cpu.py as plain loops in C++.

extern "C" {

void plain_axpy(float* z, float a, const float* x, const float* y, long n) {
  for (long i = 0; i < n; ++i) z[i] = a * x[i] + y[i];
}

void plain_add_row(float* z, const float* x, const float* row, long rows, long columns) {
  for (long i = 0; i < rows; ++i)
    for (long k = 0; k < columns; ++k) z[i * columns + k] = x[i * columns + k] + row[k];
}

float plain_dot(const float* x, const float* y, long n) {
  float sum = 0;
  for (long i = 0; i < n; ++i) sum += x[i] * y[i];
  return sum;
}

void plain_running_sum(float* z, const float* x, long n) {
  float sum = 0;
  for (long i = 0; i < n; ++i) z[i] = sum += x[i];
}
}
