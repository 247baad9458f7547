// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Many small dense arrays with permuted axes, for example consecutive 4 x 5 matrices, each
// transposed. A block copies `chunk` of them to shared memory in the source's order, and writes
// them in the target's order. The axes of one are the last `inner` ones; consecutive ones are along
// the axis before.

constexpr int max_small_array_units = 512;

template <class Unit>
struct SmallArrayTile {
  ThinTile<Unit> units;
  unsigned short
      from[max_small_array_units];  // the source's index of each unit in the target's order
};

template <class Index, class Offset>
struct SmallArrayChunk {
  Location<Offset> begin;
  Index item, units;  // the numbers of units of one array and of the chunk
};
template <class Index, class Offset, int rank>
__device__ inline SmallArrayChunk<Index, Offset> small_array_chunk(
    Index block, Index chunk, int inner, const Axes<Index, Offset, rank>& axes) {
  const int row = rank - 1 - inner;
  const Index arrays = axes.extent[row], chunks = (arrays + chunk - 1) / chunk;
  const Index first = block % chunks * chunk;
  SmallArrayChunk<Index, Offset> part;
  part.begin = location_of(block / chunks, axes, row);
  part.item = (Index)axes.source[row];
  part.begin.source += (Offset)(first * part.item);
  part.begin.target += (Offset)(first * part.item);
  part.units = part.item * (arrays - first < chunk ? arrays - first : chunk);
  return part;
}

template <bool vectors, class Unit, class Index, class Offset, int rank>
__device__ inline void load_small_arrays(SmallArrayTile<Unit>& tile, const Unit* source,
                                         const SmallArrayChunk<Index, Offset>& part, int inner,
                                         const Axes<Index, Offset, rank>& axes, unsigned thread) {
  for (Index unit = thread; unit < part.item; unit += thin_threads) {
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
__device__ inline void store_small_arrays(SmallArrayTile<Unit>& tile, Unit* target,
                                          const SmallArrayChunk<Index, Offset>& part,
                                          unsigned thread) {
  constexpr int vector = vectors ? 16 / (int)sizeof(Unit) : 1;
  Unit* memory = target + part.begin.target;
  const Index whole = part.units / vector;
  for (Index i = thread; i < whole; i += thin_threads) {
    const Index first = i * vector, item = first / part.item;
    Index base = item * part.item, unit = first - base;
    Pack<Unit, vector> result;
    SW_UNROLL_ALL
    for (int k = 0; k < vector; ++k) {
      result.at[k] = tile.units.unit((unsigned)base + tile.from[unit]);
      if (++unit == part.item) {
        unit = 0;
        base += part.item;
      }
    }
    result.store(memory + first);
  }
  for (Index i = whole * vector + thread; i < part.units; i += thin_threads) {
    const Index item = i / part.item;
    memory[i] = tile.units.unit((unsigned)(item * part.item) + tile.from[i - item * part.item]);
  }
}
