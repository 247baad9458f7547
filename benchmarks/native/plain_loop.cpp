// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// What a programmer would write in C++ for the elementwise kernel of lines/cpu_kernel.py: the peer
// of the same kernel's CUDA C run on the CPU.

extern "C" void plain_add(float* z, const float* x, const float* y, int n) {
  for (int i = 0; i < n; ++i) z[i] = x[i] + y[i];
}
