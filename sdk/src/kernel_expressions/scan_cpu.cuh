// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// A scan on the CPU: one thread per tile of a line. sw_scan_totals() computes the total of each
// tile, sw_scan_carries() that of each tile and those before it, sw_scan_run() the scan of each
// tile.
#define sw_scan_parameters                                                                      \
  const T *sw_x, T *sw_z, const sw_scan_walk sw_walk, long long sw_x_step, long long sw_z_step, \
      long long sw_length, long long sw_tiles, long long sw_per_tile, T *sw_totals
#define sw_scan_arguments \
  sw_x, sw_z, sw_walk, sw_x_step, sw_z_step, sw_length, sw_tiles, sw_per_tile, sw_totals
// The tile of the calling block, and the offsets of its line.
struct sw_scan_tile : sw_scan_line {
  long long number;
  __device__ sw_scan_tile(const sw_scan_walk& walk, long long tiles)
      : sw_scan_line(walk, blockIdx.x / tiles), number(blockIdx.x % tiles) {}
  __device__ long long first(long long per_tile) const { return number * per_tile; }
  __device__ long long count(long long length, long long per_tile) const {
    const long long remaining = length - first(per_tile);
    return remaining < per_tile ? remaining : per_tile;
  }
};

__device__ inline void sw_scan_totals(sw_scan_parameters) {
  const sw_scan_tile tile(sw_walk, sw_tiles);
  const T* const x = sw_x + tile.x;
  const long long count = tile.count(sw_length, sw_per_tile);
  const long long first = tile.first(sw_per_tile);
  // Independent runs, whose dependency chains overlap.
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
  bool has_before = tile.number > 0;
  T before;
  if (has_before) before = sw_totals[blockIdx.x - 1];
  for (long long k = first; k < end; ++k) {
    const T element = x[k * sw_x_step];
    const T through = has_before ? sw_combine(before, element) : element;
    z[k * sw_z_step] = sw_scan_result(has_before, before, through);
    before = through;
    has_before = true;
  }
}
