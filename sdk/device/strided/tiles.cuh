// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Arrays that are contiguous along another axis (s) than the written ones (t), the last axes but
// one and the last. A block reads a tile of tile_rows * tile_columns elements of such an array
// along s into shared memory, and reads it from there along t. After walk.cuh.

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

/// The shared memory of an array's tile.
template <class Shape, class A>
__device__ __forceinline__ typename A::Element* tile_of(const A&) {
  typedef typename A::Element T;
  // As bytes, since variables in shared memory must not have constructors.
  __shared__ alignas(16) unsigned char bytes[Shape::tile_rows * Shape::tile_columns * sizeof(T)];
  return (T*)bytes;
}

template <class Shape>
struct TilePlace {
  typedef StridedWalk<Shape::rank, Shape::stride_rows> Walk;
  enum : bool { has_fixed_constants = false };
  const Walk& walk;
  int s, t, count;

  __device__ __forceinline__ long long offset(int strides) const {
    return s * walk.strides[strides][Shape::rank - 2] + t * along(strides);
  }
  __device__ __forceinline__ long long along(int strides) const {
    return walk.strides[strides][Shape::rank - 1];
  }
  template <class A>
  __device__ __forceinline__ Pack<typename A::Element, Shape::width> from_tile(
      const A& array) const {
    return load_pack<Shape::width>(tile_of<Shape>(array) +
                                   tile_index<Shape::tile_columns, typename A::Element>(s, t));
  }
};

/// A thread's packs in the tile, one in each group of `rows` rows. left_s * left_t elements of the
/// tile exist; all of them if `is_whole`.
template <class Shape, bool is_whole>
struct TilePacks {
  typedef StridedWalk<Shape::rank, Shape::stride_rows> Walk;
  enum : int {
    rows = Shape::threads * Shape::width / Shape::tile_columns,  ///< of a group
    groups = Shape::tile_rows / rows,
    /// Packs that a thread loads before it computes the first of them.
    steps = !is_whole || groups < 1 ? 1
            : groups < 4            ? groups
                                    : 4
  };

  const Walk& walk;
  int left_s, left_t;
  int first_s, t;  ///< of the first step
  bool is_first_group;

  __device__ __forceinline__ TilePlace<Shape> operator()(int step) const {
    const int s = first_s + step * rows;
    return {walk, s, t,
            is_whole && rows <= Shape::tile_rows ? Shape::width
            : s < left_s                         ? left_t - t
                                                 : 0};
  }

  template <class A>
  __device__ __forceinline__ void fill(const A& array) const {
    if constexpr (A::is_in_tile) {
      const long long by_s = walk.strides[A::strides][Shape::rank - 2];
      const long long by_t = walk.strides[A::strides][Shape::rank - 1];
      if constexpr (is_whole && A::pattern() == Pattern::transposed_in_packs)
        fill_tile_in_packs<Shape::tile_rows, Shape::tile_columns, Shape::threads>(
            tile_of<Shape>(array), array.first, by_s, by_t);
      else
        fill_tile<Shape::tile_rows, Shape::tile_columns, Shape::threads, is_whole>(
            tile_of<Shape>(array), array.first, by_s, by_t, left_s, left_t);
    }
  }
  // After the arrays without a tile are loaded.
  template <class... A>
  __device__ __forceinline__ void fill_tiles(const A&... arrays) const {
    if (!is_first_group) return;
    (fill(arrays), ...);
    __syncthreads();
  }
};

template <class Shape, bool is_whole, class Walk, class Body, class... A>
__device__ __forceinline__ void visit_tile(const Walk& walk, int left_s, int left_t,
                                           const Body& body, const A&... arrays) {
  typedef TilePacks<Shape, is_whole> Packs;
  constexpr int packs_of_row = Shape::tile_columns / Shape::width;
  const int t = threadIdx.x % packs_of_row * Shape::width, row = threadIdx.x / packs_of_row;
  for (int s = row; s == row || s < Shape::tile_rows; s += Packs::rows * Packs::steps)
    visit_packs<Shape, Packs::steps>(Packs{walk, left_s, left_t, s, t, s == row}, body,
                                     Lane<Shape, A, Packs::steps>(arrays)...);
}

/// Visits the block's tile.
template <class Shape, class Walk, class Body, class... A>
__device__ __forceinline__ void visit_tiles(const Walk& walk, const Body& body, A... arrays) {
  constexpr int axis_s = Shape::rank - 2, axis_t = Shape::rank - 1;
  const auto tiles = [&](int axis, int side) {
    return (unsigned int)((walk.shape[axis] + side - 1) / side);
  };
  unsigned int rest = blockIdx.x;
  const long long first_t =
      rest % tiles(axis_t, Shape::tile_columns) * (long long)Shape::tile_columns;
  rest /= tiles(axis_t, Shape::tile_columns);
  const long long first_s = rest % tiles(axis_s, Shape::tile_rows) * (long long)Shape::tile_rows;
  rest /= tiles(axis_s, Shape::tile_rows);
  long long at[Shape::stride_rows] = {};
  move_along<axis_s>(at, walk, rest);
#pragma unroll
  for (int k = 0; k < Shape::stride_rows; ++k)
    at[k] += first_s * walk.strides[k][axis_s] + first_t * walk.strides[k][axis_t];
  ((arrays.first += at[A::strides]), ...);
  const int left_s = elements_left(walk.shape[axis_s] - first_s, Shape::tile_rows);
  const int left_t = elements_left(walk.shape[axis_t] - first_t, Shape::tile_columns);
  if (left_s == Shape::tile_rows && left_t == Shape::tile_columns)
    visit_tile<Shape, true>(walk, left_s, left_t, body, arrays...);
  else
    visit_tile<Shape, false>(walk, left_s, left_t, body, arrays...);
}

}  // namespace spanwise
