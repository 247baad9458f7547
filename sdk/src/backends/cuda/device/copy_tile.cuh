// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Copies whose source runs along one axis (s) and whose target runs along another (t): the plan's
// last two. Tiles of both are read by the source's runs, turned in shared memory, and written by
// the target's.

template <class Index, class Offset>
struct TileCorner {
  Place<Offset> base;  // of the other axes
  Index s, t;          // the tile's first indices
};

template <class Index, class Offset, int rank>
__device__ inline TileCorner<Index, Offset> tile_corner(Index block, int side_s, int side_t,
                                                        const Axes<Index, Offset, rank>& axes) {
  const Index tiles_s = (axes.extent[rank - 2] + side_s - 1) / side_s;
  const Index tiles_t = (axes.extent[rank - 1] + side_t - 1) / side_t;
  TileCorner<Index, Offset> corner;
  corner.t = block % tiles_t * side_t;
  block /= tiles_t;
  corner.s = block % tiles_s * side_s;
  corner.base = place_of(block / tiles_s, axes, rank - 2);
  return corner;
}

template <class Index, class Offset, int rank>
__device__ inline Offset source_at(const TileCorner<Index, Offset>& corner,
                                   const Axes<Index, Offset, rank>& axes, Index s, Index t) {
  return corner.base.source + (Offset)s * axes.source[rank - 2] + (Offset)t * axes.source[rank - 1];
}
template <class Index, class Offset, int rank>
__device__ inline Offset target_at(const TileCorner<Index, Offset>& corner,
                                   const Axes<Index, Offset, rank>& axes, Index s, Index t) {
  return corner.base.target + (Offset)s * axes.target[rank - 2] + (Offset)t * axes.target[rank - 1];
}

// Elements one by one, for any of them and for casts. The spare column keeps the columns of a tile
// in different banks.
constexpr int tile_side = 32, tile_rows = 8;
template <class Source>
struct Tile {
  Source at[tile_side][tile_side + 1];
};

template <class Source, class Index, class Offset, int rank>
__device__ inline void load_tile(Tile<Source>& tile, const Source* source,
                                 const Axes<Index, Offset, rank>& axes,
                                 const TileCorner<Index, Offset>& corner, unsigned x, unsigned y) {
  const Index s = corner.s + x;
  SW_UNROLL
  for (unsigned row = y; row < tile_side; row += tile_rows) {
    const Index t = corner.t + row;
    if (s < axes.extent[rank - 2] && t < axes.extent[rank - 1])
      tile.at[row][x] = source[source_at(corner, axes, s, t)];
  }
}

template <class Target, class Source, class Index, class Offset, int rank>
__device__ inline void store_tile(const Tile<Source>& tile, Target* target,
                                  const Axes<Index, Offset, rank>& axes,
                                  const TileCorner<Index, Offset>& corner, unsigned x, unsigned y) {
  const Index t = corner.t + x;
  SW_UNROLL
  for (unsigned row = y; row < tile_side; row += tile_rows) {
    const Index s = corner.s + row;
    if (s < axes.extent[rank - 2] && t < axes.extent[rank - 1])
      target[target_at(corner, axes, s, t)] = Convert<Target, Source>::from(tile.at[x][row]);
  }
}

// Bytes of `a` (0 to 3) and `b` (4 to 7) by the four digits of `selector`, the lowest first.
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

// Elements of 1, 2 or 4 bytes, 16 bytes an access on both sides. The tile holds words that pack
// neighbours of t, made from as many lines of the source by turning small squares in registers; and
// its 16-byte parts stand in an order by which neither side meets a bank twice.
template <class Unit, int by_s, int by_t>
struct PackedTile {
  static constexpr int threads = 256;
  static constexpr int pack = 4 / (int)sizeof(Unit);     // elements of a word
  static constexpr int vector = 16 / (int)sizeof(Unit);  // of an access
  static constexpr int side_s = 8 * vector * by_s, side_t = 32 * pack * by_t;
  static constexpr int parts = 8 * by_t;  // 16-byte parts of a row
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

// words[i] holds `pack` elements of line i; afterwards element i of every line.
template <int pack>
__device__ inline void turn_square(unsigned (&words)[pack]) {
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
  const Unit* place = source + source_at(corner, axes, s, t);
  if (vectors && s + vector <= axes.extent[rank - 2]) return *(const Raw<16>*)place;
  SW_UNROLL
  for (int i = 0; i < vector; ++i)
    if (s + (Index)i < axes.extent[rank - 2]) put_element<Unit>(value, i, place[i]);
  return value;
}

template <bool vectors, class Unit, int by_s, int by_t, class Index, class Offset, int rank>
__device__ inline void fill_tile(PackedTile<Unit, by_s, by_t>& tile, const Unit* source,
                                 const Axes<Index, Offset, rank>& axes,
                                 const TileCorner<Index, Offset>& corner, unsigned thread) {
  typedef PackedTile<Unit, by_s, by_t> Shape;
  constexpr int pack = Shape::pack, vector = Shape::vector, steps = by_s * by_t;
  const unsigned group = thread % 8, word = thread / 8;
  Raw<16> lines[steps][pack];
  SW_UNROLL
  for (int step = 0; step < steps; ++step) {
    const Index s = corner.s + (Index)((step / by_t * 8 + group) * vector);
    SW_UNROLL
    for (int line = 0; line < pack; ++line) {
      const Index t = corner.t + (Index)((step % by_t * 32 + word) * pack + line);
      lines[step][line] = read_vector<vectors>(source, axes, corner, s, t);
    }
  }
  SW_UNROLL
  for (int step = 0; step < steps; ++step) {
    const unsigned row = (step / by_t * 8 + group) * vector;
    const unsigned part = (step % by_t * 32 + word) / 4 ^ group;
    SW_UNROLL
    for (int square = 0; square < 4; ++square) {
      unsigned words[pack];
      for (int line = 0; line < pack; ++line) words[line] = lines[step][line].at[square];
      turn_square<pack>(words);
      for (int line = 0; line < pack; ++line)
        tile.at[row + square * pack + line][part].at[word % 4] = words[line];
    }
  }
}

template <bool vectors, class Unit, int by_s, int by_t, class Index, class Offset, int rank>
__device__ inline void drain_tile(const PackedTile<Unit, by_s, by_t>& tile, Unit* target,
                                  const Axes<Index, Offset, rank>& axes,
                                  const TileCorner<Index, Offset>& corner, unsigned thread) {
  typedef PackedTile<Unit, by_s, by_t> Shape;
  constexpr unsigned vector = Shape::vector, parts = Shape::parts, cells = Shape::side_s * parts;
  SW_UNROLL
  for (unsigned i = thread; i < cells; i += Shape::threads) {
    const unsigned row = i / parts, part = i % parts;
    const Index s = corner.s + row, t = corner.t + part * vector;
    if (s >= axes.extent[rank - 2] || t >= axes.extent[rank - 1]) continue;
    const Raw<16> value = tile.at[row][part ^ row / vector % 8];
    Unit* place = target + target_at(corner, axes, s, t);
    if (vectors && t + vector <= axes.extent[rank - 1]) {
      *(Raw<16>*)place = value;
      continue;
    }
    SW_UNROLL
    for (unsigned k = 0; k < vector; ++k)
      if (t + (Index)k < axes.extent[rank - 1]) place[k] = element_in<Unit>(value, (int)k);
  }
}

// One side is dense in a short axis and then a long one, the other runs along the long one:
// channels of pixels, in either direction. The short axis is the last but one. A block takes
// `chunk` of the long one, a multiple of a vector, and shared memory holds it as the dense side
// does.
constexpr int thin_bytes = 16384, thin_threads = 256;

template <class Unit>
struct ThinTile {
  Raw<16> at[thin_bytes / 16];
  __device__ Unit* units() { return (Unit*)at; }
};

// Both sides in turn: `load` brings source to tile, else tile goes to target. `memory` is the
// chunk's begin on the side of the tile's own order.
template <bool load, bool vectors, class Unit, class Index>
__device__ inline void move_dense(ThinTile<Unit>& tile, Unit* memory, Index units,
                                  unsigned thread) {
  constexpr int vector = 16 / (int)sizeof(Unit);
  const Index whole = vectors ? units / vector : 0;
  for (Index i = thread; i < whole; i += thin_threads) {
    if (load)
      tile.at[i] = ((const Raw<16>*)memory)[i];
    else
      ((Raw<16>*)memory)[i] = tile.at[i];
  }
  for (Index i = whole * vector + thread; i < units; i += thin_threads) {
    if (load)
      tile.units()[i] = memory[i];
    else
      memory[i] = tile.units()[i];
  }
}

// The other side: row r begins at memory + r * pitch.
template <bool load, bool vectors, class Unit, class Index, class Offset>
__device__ inline void move_rows(ThinTile<Unit>& tile, Unit* memory, Offset pitch, Index rows,
                                 Index columns, unsigned thread) {
  constexpr int vector = 16 / (int)sizeof(Unit);
  Unit* units = tile.units();
  const Index whole = vectors ? columns / vector : 0, rest = columns - whole * vector;
  for (Index i = thread; i < rows * whole; i += thin_threads) {
    const Index row = i / whole, column = (i - row * whole) * vector;
    Unit* place = memory + (Offset)row * pitch + (Offset)column;
    Pack<Unit, vector> value;
    if (load) value = Pack<Unit, vector>::load(place);
    SW_UNROLL
    for (int k = 0; k < vector; ++k) {
      Unit& unit = units[(column + k) * rows + row];
      if (load)
        unit = value.at[k];
      else
        value.at[k] = unit;
    }
    if (!load) value.store(place);
  }
  for (Index i = thread; i < rows * rest; i += thin_threads) {
    const Index row = i / rest, column = whole * vector + (i - row * rest);
    Unit& place = memory[(Offset)row * pitch + (Offset)column];
    Unit& unit = units[column * rows + row];
    if (load)
      unit = place;
    else
      place = unit;
  }
}

template <class Index, class Offset>
struct ThinChunk {
  Place<Offset> begin;
  Index rows, columns;
};
template <class Index, class Offset, int rank>
__device__ inline ThinChunk<Index, Offset> thin_chunk(Index block, Index chunk,
                                                      const Axes<Index, Offset, rank>& axes) {
  const Index length = axes.extent[rank - 1], chunks = (length + chunk - 1) / chunk;
  const Index first = block % chunks * chunk;
  ThinChunk<Index, Offset> part;
  part.begin = place_of(block / chunks, axes, rank - 2);
  part.begin.source += (Offset)first * axes.source[rank - 1];
  part.begin.target += (Offset)first * axes.target[rank - 1];
  part.rows = axes.extent[rank - 2];
  part.columns = length - first < chunk ? length - first : chunk;
  return part;
}

template <bool dense_source, bool vectors, class Unit, class Index, class Offset, int rank>
__device__ inline void load_thin(ThinTile<Unit>& tile, const Unit* source,
                                 const ThinChunk<Index, Offset>& part,
                                 const Axes<Index, Offset, rank>& axes, unsigned thread) {
  Unit* memory = (Unit*)source + part.begin.source;  // only read
  if (dense_source)
    move_dense<true, vectors>(tile, memory, part.rows * part.columns, thread);
  else
    move_rows<true, vectors>(tile, memory, axes.source[rank - 2], part.rows, part.columns, thread);
}
template <bool dense_source, bool vectors, class Unit, class Index, class Offset, int rank>
__device__ inline void store_thin(ThinTile<Unit>& tile, Unit* target,
                                  const ThinChunk<Index, Offset>& part,
                                  const Axes<Index, Offset, rank>& axes, unsigned thread) {
  Unit* memory = target + part.begin.target;
  if (dense_source)
    move_rows<false, vectors>(tile, memory, axes.target[rank - 2], part.rows, part.columns, thread);
  else
    move_dense<false, vectors>(tile, memory, part.rows * part.columns, thread);
}
