// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Transposes of small elements; uses TileCorner of copy_tile.cuh.

// Selects bytes of `a` (0 to 3) and `b` (4 to 7) by the four digits of `selector`, the lowest
// first.
__device__ inline unsigned permuted(unsigned a, unsigned b, unsigned selector) {
#ifdef __CUDA_ARCH__
  return __byte_perm(a, b, selector);
#else
  unsigned word = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned from = selector >> 4 * i & 7;
    word |= ((from < 4 ? a : b) >> 8 * (from & 3) & 255u) << 8 * i;
  }
  return word;
#endif
}

// Elements of 1, 2 or 4 bytes, with 16-byte accesses on both sides. The words of the tile contain
// elements that are adjacent along t; they are made by transposing small squares in registers. The
// 16-byte parts per row are permuted to avoid bank conflicts.
template <class Unit, int by_s, int by_t>
struct PackedTile {
  static constexpr int threads = 256;
  static constexpr int pack = 4 / (int)sizeof(Unit);     // elements per word
  static constexpr int vector = 16 / (int)sizeof(Unit);  // elements per access
  static constexpr int side_s = 8 * vector * by_s, side_t = 32 * pack * by_t;
  static constexpr int parts = 8 * by_t;  // 16-byte parts per row
  Raw<16> at[side_s][parts];
};

template <class Unit>
__device__ inline Unit element_in(const Raw<16>& vector, int i) {
  constexpr int pack = 4 / (int)sizeof(Unit);
  return (Unit)(vector.at[i / pack] >> 8 * (int)sizeof(Unit) * (i % pack));
}
template <class Unit>
__device__ inline void put_element(Raw<16>& vector, int i, Unit value) {
  constexpr int pack = 4 / (int)sizeof(Unit);
  vector.at[i / pack] |= (unsigned)value << 8 * (int)sizeof(Unit) * (i % pack);
}

// Before, words[i] contains `pack` elements of line i; after, element i of every line.
template <int pack>
__device__ inline void transpose_square(unsigned (&words)[pack]) {
  if (pack == 2) {
    const unsigned low = permuted(words[0], words[pack - 1], 0x5410);
    words[pack - 1] = permuted(words[0], words[pack - 1], 0x7632);
    words[0] = low;
  } else if (pack == 4) {
    const unsigned a = permuted(words[0], words[1 % pack], 0x5140);
    const unsigned b = permuted(words[2 % pack], words[3 % pack], 0x5140);
    const unsigned c = permuted(words[0], words[1 % pack], 0x7362);
    const unsigned d = permuted(words[2 % pack], words[3 % pack], 0x7362);
    words[0] = permuted(a, b, 0x5410);
    words[1 % pack] = permuted(a, b, 0x7632);
    words[2 % pack] = permuted(c, d, 0x5410);
    words[3 % pack] = permuted(c, d, 0x7632);
  }
}

// `vectors`: the source's lines can be read 16 bytes at a time.
template <bool vectors, class Unit, class Index, class Offset, int rank>
__device__ inline Raw<16> read_vector(const Unit* source, const Axes<Index, Offset, rank>& axes,
                                      const TileCorner<Index, Offset>& corner, Index s, Index t) {
  constexpr int vector = 16 / (int)sizeof(Unit);
  Raw<16> value = {};
  if (t >= axes.extent[rank - 1] || s >= axes.extent[rank - 2]) return value;
  const Unit* location = source + source_at(corner, axes, s, t);
  if (vectors && s + vector <= axes.extent[rank - 2]) return *(const Raw<16>*)location;
  SW_UNROLL_ALL
  for (int i = 0; i < vector; ++i)
    if (s + (Index)i < axes.extent[rank - 2]) put_element<Unit>(value, i, location[i]);
  return value;
}

template <bool vectors, class Unit, int by_s, int by_t, class Index, class Offset, int rank>
__device__ inline void load_packed_tile(PackedTile<Unit, by_s, by_t>& tile, const Unit* source,
                                        const Axes<Index, Offset, rank>& axes,
                                        const TileCorner<Index, Offset>& corner, unsigned thread) {
  typedef PackedTile<Unit, by_s, by_t> Shape;
  constexpr int pack = Shape::pack, vector = Shape::vector, steps = by_s * by_t;
  const unsigned group = thread % 8, word = thread / 8;
  Raw<16> lines[steps][pack];
  const bool whole = vectors && is_whole(corner, Shape::side_s, Shape::side_t, axes);
  SW_UNROLL_ALL
  for (int step = 0; step < steps; ++step) {
    const Index s = corner.s + (Index)((step / by_t * 8 + group) * vector);
    SW_UNROLL_ALL
    for (int line = 0; line < pack; ++line) {
      const Index t = corner.t + (Index)((step % by_t * 32 + word) * pack + line);
      lines[step][line] = whole ? *(const Raw<16>*)(source + source_at(corner, axes, s, t))
                                : read_vector<vectors>(source, axes, corner, s, t);
    }
  }
  SW_UNROLL_ALL
  for (int step = 0; step < steps; ++step) {
    const unsigned row = (step / by_t * 8 + group) * vector;
    const unsigned part = (step % by_t * 32 + word) / 4 ^ group;
    SW_UNROLL_ALL
    for (int square = 0; square < 4; ++square) {
      unsigned words[pack];
      SW_UNROLL_ALL
      for (int line = 0; line < pack; ++line) words[line] = lines[step][line].at[square];
      transpose_square<pack>(words);
      SW_UNROLL_ALL
      for (int line = 0; line < pack; ++line)
        tile.at[row + square * pack + line][part].at[word % 4] = words[line];
    }
  }
}

template <bool vectors, class Unit, int by_s, int by_t, class Index, class Offset, int rank>
__device__ inline void store_packed_tile(const PackedTile<Unit, by_s, by_t>& tile, Unit* target,
                                         const Axes<Index, Offset, rank>& axes,
                                         const TileCorner<Index, Offset>& corner, unsigned thread) {
  typedef PackedTile<Unit, by_s, by_t> Shape;
  constexpr unsigned vector = Shape::vector, parts = Shape::parts,
                     small_arrays = Shape::side_s * parts;
  SW_UNROLL_ALL
  for (unsigned i = thread; i < small_arrays; i += Shape::threads) {
    const unsigned row = i / parts, part = i % parts;
    const Index s = corner.s + row, t = corner.t + part * vector;
    if (s >= axes.extent[rank - 2] || t >= axes.extent[rank - 1]) continue;
    const Raw<16> value = tile.at[row][part ^ row / vector % 8];
    Unit* location = target + target_at(corner, axes, s, t);
    if (vectors && t + vector <= axes.extent[rank - 1]) {
      *(Raw<16>*)location = value;
      continue;
    }
    SW_UNROLL_ALL
    for (unsigned k = 0; k < vector; ++k)
      if (t + (Index)k < axes.extent[rank - 1]) location[k] = element_in<Unit>(value, (int)k);
  }
}
