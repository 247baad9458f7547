// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Operands that are contiguous along another axis (s) than the result (t). A block reads a tile of
// SIDE_S * SIDE_T elements of such an operand along s into shared memory, and reads it from there
// along t.

#define BLOCK 256
#define TILES_S ((unsigned int)((walk.shape[RANK - 2] + SIDE_S - 1) / SIDE_S))
#define TILES_T ((unsigned int)((walk.shape[RANK - 1] + SIDE_T - 1) / SIDE_T))
// Rows that a block processes at a time.
#define ROWS (BLOCK * WIDTH / SIDE_T)

__device__ __forceinline__ int elements_left(long long left, int side) {
  return left < side ? (int)left : side;
}
// The index of element (s, t) in a tile. The 16-byte parts of a row are permuted so that neither
// filling nor reading the tile has bank conflicts.
template <class T>
__device__ __forceinline__ int tile_index(int s, int t) {
  constexpr int part = 16 / (int)sizeof(T), parts = SIDE_T / part;
  return (s * parts + (t / part ^ s / part % (parts < 8 ? parts : 8))) * part + t % part;
}

// Fills a tile from its corner `a`. With n > 1, accesses are aligned and read n elements that are
// adjacent along s. left_s * left_t elements of the tile exist; all of them if `whole`.
template <int n, bool whole, class T>
__device__ __forceinline__ void fill(T* tile, const T* a, long long by_s, long long by_t,
                                     int left_s, int left_t) {
  // A warp reads adjacent lines of t, 128 bytes of each.
  constexpr int across = SIDE_S / n, wanted = n > 1 ? 8 : 32;
  constexpr int group = across < wanted ? across : wanted;
  constexpr int accesses = across * SIDE_T, each = (accesses + BLOCK - 1) / BLOCK;
  constexpr int max_batch = n > 1 ? 4 : 8, batch = each < max_batch ? each : max_batch;
  // All loads of a batch are issued before the first store. All counts are powers of two.
  for (int first = threadIdx.x; first < accesses; first += BLOCK * batch) {
    spanwise::Pack<T, n> values[batch];
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int access = first + b * BLOCK, rest = access / group;
      const int s = (rest / SIDE_T * group + access % group) * n, t = rest % SIDE_T;
      const T* source = a + s * by_s + t * by_t;
      if (n > 1)
        values[b] = spanwise::load_pack<n>(source);
      else if (whole || (s < left_s && t < left_t))
        values[b].x[0] = *source;
    }
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int access = first + b * BLOCK, rest = access / group;
      const int s = (rest / SIDE_T * group + access % group) * n, t = rest % SIDE_T;
#pragma unroll
      for (int k = 0; k < n; ++k)
        if (whole || (s < left_s && t < left_t)) tile[tile_index<T>(s + k, t)] = values[b].x[k];
    }
  }
}
