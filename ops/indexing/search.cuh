// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Searches among sorted elements. The insertion point of a value is one of size + 1 positions.
// Element, RIGHT and MAX_THREADS are defined before this text.

// Whether the insertion point of `value` is after x; NaN sorts last.
__device__ __forceinline__ bool is_before(Element x, Element value) {
  return RIGHT ? (x <= value) | (value != value) : !(value <= x) & (x == x);
}

// The positions are divided into 2^levels ranges. Each block copies the elements before the limits
// of these ranges to shared memory, as a tree in breadth-first order: node n has the children 2n
// and 2n + 1, so that the nodes of a level are in different banks. A range is then searched in
// memory.
extern "C" __global__ void __launch_bounds__(MAX_THREADS)
    search(const Element* sorted, long long size, const Element* values, long long* positions,
           long long count, int levels) {
  extern __shared__ Element keys[];
  const long long insertion_points = size + 1;
  const int ranges = 1 << levels;
  for (int node = threadIdx.x + 1; node < ranges; node += blockDim.x) {
    const int level = 31 - __clz(node);
    const long long limit = (2ll * (node - (1 << level)) + 1) << (levels - 1 - level);
    keys[node] = sorted[(limit * insertion_points >> levels) - 1];
  }
  __syncthreads();
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {
    const Element value = values[i];
    int node = 1;
    for (int level = 0; level < levels; ++level)
      node = 2 * node + (is_before(keys[node], value) ? 1 : 0);
    const long long range = node - ranges;
    long long at = range * insertion_points >> levels;
    // Adjacent threads take the same number of steps, as ranges differ by one position at most.
    for (long long left = ((range + 1) * insertion_points >> levels) - at; left > 1;
         left -= left / 2)
      at += is_before(sorted[at + left / 2 - 1], value) ? left / 2 : 0;
    positions[i] = at;
  }
}
