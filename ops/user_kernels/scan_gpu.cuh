// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// A scan on a GPU: one block a tile of a line, some neighbouring elements a thread. Tiles are
// combined in two passes, the second of which knows what stands before each.

// Every thread's value with those of the threads before it, of the first `count` threads; for the
// others nothing. (Hillis and Steele, "Data Parallel Algorithms", 1986.)
__device__ inline void sw_scan_block(T* shared, int count) {
  const int at = threadIdx.x;
  __syncthreads();
  for (int step = 1; step < sw_threads; step *= 2) {
    T through;
    const bool takes_part = at >= step && at < count;
    if (takes_part) through = sw_combine(shared[at - step], shared[at]);
    __syncthreads();
    if (takes_part) shared[at] = through;
    __syncthreads();
  }
}

// Threads that have elements, of a tile of `count`.
__device__ inline int sw_scan_busy(long long count) {
  return (int)((count + sw_items - 1) / sw_items);
}

__device__ inline void sw_scan_totals(sw_scan_parameters) {
  __shared__ alignas(16) unsigned char bytes[sw_threads * sizeof(T)];
  T* const shared = (T*)bytes;
  const sw_scan_tile tile(sw_walk, sw_tiles);
  const T* const x = sw_x + tile.x;
  const long long count = tile.count(sw_length, sw_per_tile);
  const long long first = tile.first(sw_per_tile), mine = (long long)threadIdx.x * sw_items;
  if (mine < count) {
    T total = x[(first + mine) * sw_x_step];
#pragma unroll
    for (int k = 1; k < sw_items; ++k)
      if (mine + k < count) total = sw_combine(total, x[(first + mine + k) * sw_x_step]);
    shared[threadIdx.x] = total;
  }
  const int busy = sw_scan_busy(count);
  sw_scan_block(shared, busy);
  if (threadIdx.x == 0) sw_totals[blockIdx.x] = shared[busy - 1];
}

// One block a line; each thread has some neighbouring tiles.
__device__ inline void sw_scan_carries(sw_scan_parameters) {
  __shared__ alignas(16) unsigned char bytes[sw_threads * sizeof(T)];
  T* const shared = (T*)bytes;
  T* const totals = sw_totals + blockIdx.x * sw_tiles;
  const long long each = (sw_tiles + sw_threads - 1) / sw_threads;
  const long long first = threadIdx.x * each;
  const long long end = first + each < sw_tiles ? first + each : sw_tiles;
  if (first < end) {
    T total = totals[first];
    for (long long k = first + 1; k < end; ++k) total = sw_combine(total, totals[k]);
    shared[threadIdx.x] = total;
  }
  sw_scan_block(shared, (int)((sw_tiles + each - 1) / each));
  if (first < end) {
    T total = totals[first];
    if (threadIdx.x > 0) total = sw_combine(shared[threadIdx.x - 1], total);
    totals[first] = total;
    for (long long k = first + 1; k < end; ++k) totals[k] = total = sw_combine(total, totals[k]);
  }
}

__device__ inline void sw_scan_run(sw_scan_parameters) {
  __shared__ alignas(16) unsigned char bytes[sw_threads * sizeof(T)];
  T* const shared = (T*)bytes;
  const sw_scan_tile tile(sw_walk, sw_tiles);
  const T* const x = sw_x + tile.x;
  T* const z = sw_z + tile.z;
  const long long count = tile.count(sw_length, sw_per_tile);
  const long long first = tile.first(sw_per_tile), mine = (long long)threadIdx.x * sw_items;
  // All are read before any is written: input and output may be one array.
  T through[sw_items];
#pragma unroll
  for (int k = 0; k < sw_items; ++k) {
    if (mine + k >= count) continue;
    const T element = x[(first + mine + k) * sw_x_step];
    through[k] = k > 0 ? sw_combine(through[k > 0 ? k - 1 : 0], element) : element;
    shared[threadIdx.x] = through[k];
  }
  sw_scan_block(shared, sw_scan_busy(count));
  if (mine >= count) return;
  bool has = tile.number > 0;
  T before;
  if (has) before = sw_totals[blockIdx.x - 1];
  if (threadIdx.x > 0) {
    before = has ? sw_combine(before, shared[threadIdx.x - 1]) : shared[threadIdx.x - 1];
    has = true;
  }
  T last = before;
  bool has_last = has;
#pragma unroll
  for (int k = 0; k < sw_items; ++k) {
    if (mine + k >= count) continue;
    const T all = has ? sw_combine(before, through[k]) : through[k];
    z[(first + mine + k) * sw_z_step] = sw_scan_result(has_last, last, all);
    last = all;
    has_last = true;
  }
}
