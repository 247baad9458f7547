// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Grey from interleaved colour (ITU-R BT.601 weights). `pixels` may have any strides: a region of a
// larger picture, mirrored, every second pixel, RGB out of RGBA, all without a copy.

#include <spanwise/view.cuh>

__global__ void luma(spanwise::View<const unsigned char, 3> pixels, float* grey) {
  const long long x = blockIdx.x * blockDim.x + threadIdx.x;
  const long long y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= pixels.shape[1] || y >= pixels.shape[0]) return;
  grey[y * pixels.shape[1] + x] =
      0.299f * pixels(y, x, 0) + 0.587f * pixels(y, x, 1) + 0.114f * pixels(y, x, 2);
}
