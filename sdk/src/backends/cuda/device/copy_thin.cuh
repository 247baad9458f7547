// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// One side is dense in a short and a long axis, the other is contiguous along the long one: such as
// channels of pixels, in either direction. The short axis is the last but one. A block copies
// `chunk` of the long one, a multiple of a vector; the tile in shared memory has the order of the
// dense side.
constexpr int thin_bytes = 16384, thin_threads = 256;

// A padding word follows every 128 bytes (two for units of 8 bytes), so that units with the stride
// of a row or a vector are in different banks.
template <class Unit>
struct ThinTile {
  static constexpr unsigned skew = sizeof(Unit) == 8 ? 2 : 1;
  unsigned at[thin_bytes / 4 + skew * (thin_bytes / 128)];

  __device__ unsigned& word(unsigned i) { return at[i + i / 32 * skew]; }
  __device__ Unit& unit(unsigned i) {
    const unsigned byte = i * (unsigned)sizeof(Unit);
    return *(Unit*)((char*)at + byte + byte / 128 * (4 * skew));
  }
  __device__ void put(unsigned vector, const Raw<16>& value) {
    SW_UNROLL_ALL
    for (unsigned i = 0; i < 4; ++i) word(vector * 4 + i) = value.at[i];
  }
  __device__ Raw<16> get(unsigned vector) {
    Raw<16> value;
    SW_UNROLL_ALL
    for (unsigned i = 0; i < 4; ++i) value.at[i] = word(vector * 4 + i);
    return value;
  }
};

constexpr int thin_batch = 4;  // accesses that a thread issues together

// Copies between the tile and the dense side: to the tile if `load`, else from it. `memory` is the
// chunk's first unit.
template <bool load, bool vectors, class Unit, class Index>
__device__ inline void move_dense(ThinTile<Unit>& tile, Unit* memory, Index units,
                                  unsigned thread) {
  constexpr int vector = 16 / (int)sizeof(Unit);
  const Index whole = vectors ? units / vector : 0;
  Raw<16>* vectors_at = (Raw<16>*)memory;
  for (Index first = thread; first < whole; first += thin_batch * thin_threads) {
    Raw<16> values[thin_batch];
    SW_UNROLL_ALL
    for (int b = 0; b < thin_batch; ++b) {
      const Index i = first + (Index)(b * thin_threads);
      if (load && i < whole) values[b] = vectors_at[i];
    }
    SW_UNROLL_ALL
    for (int b = 0; b < thin_batch; ++b) {
      const Index i = first + (Index)(b * thin_threads);
      if (i >= whole) break;
      if (load)
        tile.put((unsigned)i, values[b]);
      else
        vectors_at[i] = tile.get((unsigned)i);
    }
  }
  for (Index i = whole * vector + thread; i < units; i += thin_threads) {
    if (load)
      tile.unit((unsigned)i) = memory[i];
    else
      memory[i] = tile.unit((unsigned)i);
  }
}

// Copies between the tile and the other side, whose row r begins at memory + r * pitch.
template <bool load, bool vectors, class Unit, class Index, class Offset>
__device__ inline void move_rows(ThinTile<Unit>& tile, Unit* memory, Offset pitch, Index rows,
                                 Index columns, unsigned thread) {
  constexpr int vector = 16 / (int)sizeof(Unit);
  const Index whole = vectors ? columns / vector : 0, rest = columns - whole * vector;
  for (Index first = thread; first < rows * whole; first += thin_batch * thin_threads) {
    Pack<Unit, vector> values[thin_batch];
    Index row[thin_batch], column[thin_batch];
    SW_UNROLL_ALL
    for (int b = 0; b < thin_batch; ++b) {
      const Index i = first + (Index)(b * thin_threads);
      row[b] = i / whole;
      column[b] = (i - row[b] * whole) * vector;
      if (load && i < rows * whole)
        values[b] = Pack<Unit, vector>::load(memory + (Offset)row[b] * pitch + (Offset)column[b]);
    }
    SW_UNROLL_ALL
    for (int b = 0; b < thin_batch; ++b) {
      if (first + (Index)(b * thin_threads) >= rows * whole) break;
      SW_UNROLL_ALL
      for (int k = 0; k < vector; ++k) {
        Unit& unit = tile.unit((unsigned)((column[b] + k) * rows + row[b]));
        if (load)
          unit = values[b].at[k];
        else
          values[b].at[k] = unit;
      }
      if (!load) values[b].store(memory + (Offset)row[b] * pitch + (Offset)column[b]);
    }
  }
  for (Index i = thread; i < rows * rest; i += thin_threads) {
    const Index row = i / rest, column = whole * vector + (i - row * rest);
    Unit& location = memory[(Offset)row * pitch + (Offset)column];
    Unit& unit = tile.unit((unsigned)(column * rows + row));
    if (load)
      unit = location;
    else
      location = unit;
  }
}

template <class Index, class Offset>
struct ThinChunk {
  Location<Offset> begin;
  Index rows, columns;
};
template <class Index, class Offset, int rank>
__device__ inline ThinChunk<Index, Offset> thin_chunk(Index block, Index chunk,
                                                      const Axes<Index, Offset, rank>& axes) {
  const Index length = axes.extent[rank - 1], chunks = (length + chunk - 1) / chunk;
  const Index first = block % chunks * chunk;
  ThinChunk<Index, Offset> part;
  part.begin = location_of(block / chunks, axes, rank - 2);
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
