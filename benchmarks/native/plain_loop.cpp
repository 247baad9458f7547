// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The elementwise kernel of lines/kernel_cpu.py as a plain loop in C++: the peer of the kernel's
// CUDA C on the CPU.

extern "C" void plain_add(float* z, const float* x, const float* y, int n) {
  for (int i = 0; i < n; ++i) z[i] = x[i] + y[i];
}
