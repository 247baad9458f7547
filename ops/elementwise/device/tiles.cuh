// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Operands that run along another axis (s) than the result (t). A block reads a tile of SIDE_S *
// SIDE_T elements of such an operand by its own runs into shared memory, and takes them from there
// by the result's.

#define BLOCK 256
#define TILES_S ((unsigned int)((walk.shape[RANK - 2] + SIDE_S - 1) / SIDE_S))
#define TILES_T ((unsigned int)((walk.shape[RANK - 1] + SIDE_T - 1) / SIDE_T))
// Rows that a block has in hand at once.
#define ROWS (BLOCK * WIDTH / SIDE_T)

__device__ __forceinline__ int elements_left(long long left, int side) {
  return left < side ? (int)left : side;
}
// Where element (s, t) of a tile stands. The 16-byte parts of a row are in an order by which
// neither the threads that fill the tile nor those that read it meet in one bank.
template <class T>
__device__ __forceinline__ int cell(int s, int t) {
  constexpr int part = 16 / (int)sizeof(T), parts = SIDE_T / part;
  return (s * parts + (t / part ^ s / part % (parts < 8 ? parts : 8))) * part + t % part;
}

// Fills a tile from its corner `a`, with accesses of n elements along s, which then are neighbours,
// the whole aligned. Of the tile left_s * left_t elements are there; all of them where `whole`.
template <int n, bool whole, class T>
__device__ __forceinline__ void fill(T* tile, const T* a, long long by_s, long long by_t,
                                     int left_s, int left_t) {
  // A warp reads lines of t beside one another, 128 bytes of each.
  constexpr int across = SIDE_S / n, wanted = n > 1 ? 8 : 32;
  constexpr int group = across < wanted ? across : wanted;
  constexpr int accesses = across * SIDE_T, each = (accesses + BLOCK - 1) / BLOCK;
  constexpr int most = n > 1 ? 4 : 8, batch = each < most ? each : most;
  // All loads of a batch are under way before the first is kept. All counts are powers of two.
  for (int first = threadIdx.x; first < accesses; first += BLOCK * batch) {
    spanwise::Pack<T, n> values[batch];
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int access = first + b * BLOCK, rest = access / group;
      const int s = (rest / SIDE_T * group + access % group) * n, t = rest % SIDE_T;
      const T* place = a + s * by_s + t * by_t;
      if (n > 1)
        values[b] = spanwise::load_pack<n>(place);
      else if (whole || (s < left_s && t < left_t))
        values[b].x[0] = *place;
    }
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int access = first + b * BLOCK, rest = access / group;
      const int s = (rest / SIDE_T * group + access % group) * n, t = rest % SIDE_T;
#pragma unroll
      for (int k = 0; k < n; ++k)
        if (whole || (s < left_s && t < left_t)) tile[cell<T>(s + k, t)] = values[b].x[k];
    }
  }
}
