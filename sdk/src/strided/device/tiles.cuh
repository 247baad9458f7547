// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Arrays that are contiguous along another axis (s) than the written ones (t). A block reads a tile
// of side_s * side_t elements of such an array along s into shared memory, and reads it from there
// along t.

namespace spanwise {

// The index of element (s, t) in a tile. The 16-byte parts of a row are permuted so that neither
// filling nor reading the tile has bank conflicts.
template <int side_t, class T>
__device__ __forceinline__ int tile_index(int s, int t) {
  constexpr int part = 16 / (int)sizeof(T), parts = side_t / part;
  return (s * parts + (t / part ^ s / part % (parts < 8 ? parts : 8))) * part + t % part;
}

// Fills a tile from its corner `a` by `threads` threads. With n > 1, accesses are aligned and read
// n elements that are adjacent along s. left_s * left_t elements of the tile exist; all of them if
// `whole`.
template <int side_s, int side_t, int threads, int n, bool whole, class T>
__device__ __forceinline__ void fill_tile(T* tile, const T* a, long long by_s, long long by_t,
                                          int left_s, int left_t) {
  // A warp reads adjacent lines of t, 128 bytes of each.
  constexpr int across = side_s / n, wanted = n > 1 ? 8 : 32;
  constexpr int group = across < wanted ? across : wanted;
  constexpr int accesses = across * side_t, each = (accesses + threads - 1) / threads;
  constexpr int max_batch = n > 1 ? 4 : 8, batch = each < max_batch ? each : max_batch;
  // All loads of a batch are issued before the first store. All counts are powers of two.
  for (int first = threadIdx.x; first < accesses; first += threads * batch) {
    Pack<T, n> values[batch];
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int access = first + b * threads, rest = access / group;
      const int s = (rest / side_t * group + access % group) * n, t = rest % side_t;
      const T* source = a + s * by_s + t * by_t;
      if (n > 1)
        values[b] = load_pack<n>(source);
      else if (whole || (s < left_s && t < left_t))
        values[b].x[0] = *source;
    }
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int access = first + b * threads, rest = access / group;
      const int s = (rest / side_t * group + access % group) * n, t = rest % side_t;
#pragma unroll
      for (int k = 0; k < n; ++k)
        if (whole || (s < left_s && t < left_t))
          tile[tile_index<side_t, T>(s + k, t)] = values[b].x[k];
    }
  }
}

}  // namespace spanwise
