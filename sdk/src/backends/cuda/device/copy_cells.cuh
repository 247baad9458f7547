// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Short axes that both sides hold without a gap, the target in another order than the source, again
// and again along one more axis: matrices of 4 x 5 in a row, each transposed. A block brings
// `chunk` such cells to shared memory as they are, and writes them in the target's order. The
// cell's axes are the last `inner` ones, before them the one along which cells follow one another.

constexpr int most_cell_units = 512;

template <class Unit>
struct CellTile {
  ThinTile<Unit> units;
  unsigned short from[most_cell_units];  // of each unit of a target's cell, in the source's
};

template <class Index, class Offset>
struct CellChunk {
  Place<Offset> begin;
  Index cell, units;  // of one cell, of the chunk
};
template <class Index, class Offset, int rank>
__device__ inline CellChunk<Index, Offset> cell_chunk(Index block, Index chunk, int inner,
                                                      const Axes<Index, Offset, rank>& axes) {
  const int row = rank - 1 - inner;
  const Index cells = axes.extent[row], chunks = (cells + chunk - 1) / chunk;
  const Index first = block % chunks * chunk;
  CellChunk<Index, Offset> part;
  part.begin = place_of(block / chunks, axes, row);
  part.cell = (Index)axes.source[row];
  part.begin.source += (Offset)(first * part.cell);
  part.begin.target += (Offset)(first * part.cell);
  part.units = part.cell * (cells - first < chunk ? cells - first : chunk);
  return part;
}

template <bool vectors, class Unit, class Index, class Offset, int rank>
__device__ inline void load_cells(CellTile<Unit>& tile, const Unit* source,
                                  const CellChunk<Index, Offset>& part, int inner,
                                  const Axes<Index, Offset, rank>& axes, unsigned thread) {
  for (Index unit = thread; unit < part.cell; unit += thin_threads) {
    Index rest = unit;
    Offset at = 0;
    for (int axis = rank - 1; axis >= rank - inner; --axis) {
      const Index next = quotient(rest, axes, axis);
      at += (Offset)(rest - next * axes.extent[axis]) * axes.source[axis];
      rest = next;
    }
    tile.from[unit] = (unsigned short)at;
  }
  Unit* memory = (Unit*)source + part.begin.source;  // only read
  move_dense<true, vectors>(tile.units, memory, part.units, thread);
}

template <bool vectors, class Unit, class Index, class Offset>
__device__ inline void store_cells(CellTile<Unit>& tile, Unit* target,
                                   const CellChunk<Index, Offset>& part, unsigned thread) {
  constexpr int vector = vectors ? 16 / (int)sizeof(Unit) : 1;
  Unit* memory = target + part.begin.target;
  const Index whole = part.units / vector;
  for (Index i = thread; i < whole; i += thin_threads) {
    const Index first = i * vector, cell = first / part.cell;
    Index base = cell * part.cell, unit = first - base;
    Pack<Unit, vector> made;
    SW_UNROLL_ALL
    for (int k = 0; k < vector; ++k) {
      made.at[k] = tile.units.unit((unsigned)base + tile.from[unit]);
      if (++unit == part.cell) {
        unit = 0;
        base += part.cell;
      }
    }
    made.store(memory + first);
  }
  for (Index i = whole * vector + thread; i < part.units; i += thin_threads) {
    const Index cell = i / part.cell;
    memory[i] = tile.units.unit((unsigned)(cell * part.cell) + tile.from[i - cell * part.cell]);
  }
}
