// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The kernels with barriers of lines/kernel_cpu.py, split by hand: a loop over the threads of a
// block for each part between two barriers.
#include <algorithm>

extern "C" {

void split_tree(float* out, const float* in, int n) {
  for (int block = 0; block < n / 256; ++block) {
    float s[256];
    for (int t = 0; t < 256; ++t) s[t] = in[block * 256 + t];
    for (int k = 128; k > 0; k >>= 1)
      for (int t = 0; t < 256; ++t)
        if (t < k) s[t] += s[t + k];
    out[block] = s[0];
  }
}

void split_matmul(float* c, const float* a, const float* b, int n) {
  for (int by = 0; by < n / 16; ++by)
    for (int bx = 0; bx < n / 16; ++bx) {
      float as[16][16], bs[16][16], sum[16][16] = {};
      for (int m = 0; m < n / 16; ++m) {
        for (int y = 0; y < 16; ++y)
          for (int x = 0; x < 16; ++x) {
            as[y][x] = a[(by * 16 + y) * n + m * 16 + x];
            bs[y][x] = b[(m * 16 + y) * n + bx * 16 + x];
          }
        for (int y = 0; y < 16; ++y)
          for (int x = 0; x < 16; ++x)
            for (int k = 0; k < 16; ++k) sum[y][x] += as[y][k] * bs[k][x];
      }
      for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) c[(by * 16 + y) * n + bx * 16 + x] = sum[y][x];
    }
}

void split_naive(float* c, const float* a, const float* b, int n) {
  for (int row = 0; row < n; ++row) {
    float* sums = c + row * n;
    for (int column = 0; column < n; ++column) sums[column] = 0;
    for (int k = 0; k < n; ++k)
      for (int column = 0; column < n; ++column) sums[column] += a[row * n + k] * b[k * n + column];
  }
}

void split_blur(float* out, const float* in, int n) {
  for (int by = 0; by < n / 16; ++by)
    for (int bx = 0; bx < n / 16; ++bx) {
      float s[20][20];
      for (int j = 0; j < 20; ++j)
        for (int i = 0; i < 20; ++i)
          s[j][i] =
              in[std::clamp(by * 16 + j - 2, 0, n - 1) * n + std::clamp(bx * 16 + i - 2, 0, n - 1)];
      for (int y = 0; y < 16; ++y)
        for (int x = 0; x < 16; ++x) {
          float sum = 0;
          for (int j = 0; j < 5; ++j)
            for (int i = 0; i < 5; ++i) sum += s[y + j][x + i];
          out[(by * 16 + y) * n + bx * 16 + x] = sum / 25;
        }
    }
}

void split_shuffle(float* out, const float* in, int n) {
  for (int block = 0; block < n / 256; ++block) {
    float v[256], w[256], sum = 0;
    for (int t = 0; t < 256; ++t) v[t] = in[block * 256 + t];
    for (int k = 16; k > 0; k >>= 1) {
      for (int t = 0; t < 256; ++t) w[t] = v[t];
      for (int t = 0; t < 256; ++t) v[t] += w[t % 32 + k < 32 ? t + k : t];
    }
    for (int warp = 0; warp < 8; ++warp) sum += v[warp * 32];
    out[block] = sum;
  }
}

void split_hist(int* out, const int* in, int n) {
  int bins[256] = {};
  for (int i = 0; i < n; ++i) ++bins[in[i]];
  for (int b = 0; b < 256; ++b) out[b] += bins[b];
}
}
