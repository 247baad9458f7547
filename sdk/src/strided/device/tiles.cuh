// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Arrays that are contiguous along another axis (s) than the written ones (t). A block reads a tile
// of tile_rows * tile_columns elements of such an array along s into shared memory, and reads it
// from there along t.

namespace spanwise {

// The index of element (s, t) in a tile. The 16-byte parts of a row are permuted so that neither
// filling nor reading the tile has bank conflicts.
template <int tile_columns, class T>
__device__ __forceinline__ int tile_index(int s, int t) {
  constexpr int part = 16 / (int)sizeof(T), parts = tile_columns / part;
  return (s * parts + (t / part ^ s / part % (parts < 8 ? parts : 8))) * part + t % part;
}

// Fills a tile from its corner `a` by `threads` threads, element by element. left_s * left_t
// elements of the tile exist; all of them if `whole`.
template <int tile_rows, int tile_columns, int threads, bool whole, class T>
__device__ __forceinline__ void fill_tile(T* tile, const T* a, long long by_s, long long by_t,
                                          int left_s, int left_t) {
  constexpr int group = tile_rows < 32 ? tile_rows : 32, accesses = tile_rows * tile_columns;
  constexpr int each = (accesses + threads - 1) / threads, batch = each < 8 ? each : 8;
  // All loads of a batch are issued before the first store. All counts are powers of two.
  for (int first = threadIdx.x; first < accesses; first += threads * batch) {
    T values[batch];
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int access = first + b * threads, rest = access / group;
      const int s = rest / tile_columns * group + access % group, t = rest % tile_columns;
      if (whole || (s < left_s && t < left_t)) values[b] = a[s * by_s + t * by_t];
    }
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int access = first + b * threads, rest = access / group;
      const int s = rest / tile_columns * group + access % group, t = rest % tile_columns;
      if (whole || (s < left_s && t < left_t)) tile[tile_index<tile_columns, T>(s, t)] = values[b];
    }
  }
}

// On entry, words[i] has `count` adjacent elements of line i; on return, words[k] has element k of
// each line.
template <int count>
__device__ __forceinline__ void transpose_words(unsigned int (&words)[count]) {
  if (count == 2) {
    const unsigned int low = __byte_perm(words[0], words[count - 1], 0x5410);
    words[count - 1] = __byte_perm(words[0], words[count - 1], 0x7632);
    words[0] = low;
  } else if (count == 4) {
    const unsigned int a = __byte_perm(words[0], words[1 % count], 0x5140);
    const unsigned int b = __byte_perm(words[2 % count], words[3 % count], 0x5140);
    const unsigned int c = __byte_perm(words[0], words[1 % count], 0x7362);
    const unsigned int d = __byte_perm(words[2 % count], words[3 % count], 0x7362);
    words[0] = __byte_perm(a, b, 0x5410);
    words[1 % count] = __byte_perm(a, b, 0x7632);
    words[2 % count] = __byte_perm(c, d, 0x5410);
    words[3 % count] = __byte_perm(c, d, 0x7632);
  }
}

// Fills a whole tile by aligned accesses of 16 bytes. A thread reads as many lines as elements fill
// a word, so that it writes whole words: small squares are transposed in registers.
template <int tile_rows, int tile_columns, int threads, class T>
__device__ __forceinline__ void fill_tile_in_packs(T* tile, const T* a, long long by_s,
                                                   long long by_t) {
  constexpr int n = 16 / (int)sizeof(T), lines = sizeof(T) < 4 ? 4 / (int)sizeof(T) : 1;
  // A warp reads adjacent lines of t, 128 bytes of each.
  constexpr int across = tile_rows / n, group = across < 8 ? across : 8;
  constexpr int line_groups = tile_columns / lines, accesses = across * line_groups;
  constexpr int each = (accesses + threads - 1) / threads, max_batch = 4 / lines;
  constexpr int batch = each < max_batch ? each : max_batch;
  for (int first = threadIdx.x; first < accesses; first += threads * batch) {
    Pack<T, n> values[batch][lines];
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int access = first + b * threads, rest = access / group;
      const int s = (rest / line_groups * group + access % group) * n,
                t = rest % line_groups * lines;
#pragma unroll
      for (int line = 0; line < lines; ++line)
        values[b][line] = load_pack<n>(a + s * by_s + (t + line) * by_t);
    }
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int access = first + b * threads, rest = access / group;
      const int s = (rest / line_groups * group + access % group) * n,
                t = rest % line_groups * lines;
      if (lines == 1) {
#pragma unroll
        for (int k = 0; k < n; ++k) tile[tile_index<tile_columns, T>(s + k, t)] = values[b][0].x[k];
      } else {
        unsigned int words[lines][4];
        memcpy(words, values[b], sizeof(words));
#pragma unroll
        for (int square = 0; square < 4; ++square) {
          unsigned int part[lines];
#pragma unroll
          for (int line = 0; line < lines; ++line) part[line] = words[line][square];
          transpose_words<lines>(part);
#pragma unroll
          for (int k = 0; k < lines; ++k)
            *(unsigned int*)(tile + tile_index<tile_columns, T>(s + square * lines + k, t)) =
                part[k];
        }
      }
    }
  }
}

}  // namespace spanwise
