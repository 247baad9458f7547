// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// A scan on the CPU: one thread a tile of a line. Tiles are combined in two passes, the second of
// which knows what stands before each.
__device__ inline void sw_scan_totals(sw_scan_parameters) {
  const sw_scan_tile tile(sw_walk, sw_tiles);
  const T* const x = sw_x + tile.x;
  const long long count = tile.count(sw_length, sw_per_tile);
  const long long first = tile.first(sw_per_tile);
  // Runs side by side: each waits for its last result only.
  constexpr int runs = 8;
  const long long each = count / runs;
  long long k = 0;
  T total;
  if (each > 0) {
    T part[runs];
    for (int r = 0; r < runs; ++r) part[r] = x[(first + r * each) * sw_x_step];
    for (k = 1; k < each; ++k)
      for (int r = 0; r < runs; ++r)
        part[r] = sw_combine(part[r], x[(first + r * each + k) * sw_x_step]);
    total = part[0];
    for (int r = 1; r < runs; ++r) total = sw_combine(total, part[r]);
    k = runs * each;
  } else {
    total = x[first * sw_x_step];
    k = 1;
  }
  for (; k < count; ++k) total = sw_combine(total, x[(first + k) * sw_x_step]);
  sw_totals[blockIdx.x] = total;
}

__device__ inline void sw_scan_carries(sw_scan_parameters) {
  T* const totals = sw_totals + blockIdx.x * sw_tiles;
  for (long long k = 1; k < sw_tiles; ++k) totals[k] = sw_combine(totals[k - 1], totals[k]);
}

__device__ inline void sw_scan_run(sw_scan_parameters) {
  const sw_scan_tile tile(sw_walk, sw_tiles);
  const T* const x = sw_x + tile.x;
  T* const z = sw_z + tile.z;
  const long long first = tile.first(sw_per_tile);
  const long long end = first + tile.count(sw_length, sw_per_tile);
  bool has = tile.number > 0;
  T before;
  if (has) before = sw_totals[blockIdx.x - 1];
  for (long long k = first; k < end; ++k) {
    const T element = x[k * sw_x_step];
    const T through = has ? sw_combine(before, element) : element;
    z[k * sw_z_step] = sw_scan_result(has, before, through);
    before = through;
    has = true;
  }
}
