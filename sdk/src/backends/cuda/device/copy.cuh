// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Strided copies of a plan (copy_plan.hpp). Index is unsigned, Offset signed, of equal width: 32
// bits where the plan is not wide, which is the faster index arithmetic.

#ifdef __CUDA_ARCH__
#define SW_UNROLL _Pragma("unroll 8")
#else
#define SW_UNROLL
#endif

template <class Index, class Offset, int rank>
struct Axes {
  Index extent[rank];
  Offset source[rank], target[rank];
};

template <class Offset>
struct Place {
  Offset source, target;
};

// Where the unit `index`, in the order of the first `count` axes, is on both sides.
template <class Index, class Offset, int rank>
__device__ inline Place<Offset> place_of(Index index, const Axes<Index, Offset, rank>& axes,
                                         int count) {
  Place<Offset> place = {0, 0};
  SW_UNROLL
  for (int axis = count - 1; axis > 0; --axis) {
    const Index next = index / axes.extent[axis];
    const Offset i = (Offset)(index - next * axes.extent[axis]);
    place.source += i * axes.source[axis];
    place.target += i * axes.target[axis];
    index = next;
  }
  if (count > 0) {
    place.source += (Offset)index * axes.source[0];
    place.target += (Offset)index * axes.target[0];
  }
  return place;
}

// One block's share: `per_thread` units each, `threads` apart, all loaded before the first is
// stored so that their loads are under way together.
template <int threads, int per_thread, class Target, class Source, class Index, class Offset,
          int rank>
__device__ inline void copy_strided(const Source* source, Target* target, Index size,
                                    const Axes<Index, Offset, rank>& axes, unsigned block,
                                    unsigned thread) {
  const Index first = (Index)block * (threads * per_thread) + thread;
  Source values[per_thread] = {};  // the guards below are beyond what a compiler can prove
  Offset places[per_thread] = {};
  SW_UNROLL
  for (int k = 0; k < per_thread; ++k) {
    const Index index = first + (Index)(k * threads);
    if (index >= size) continue;
    const Place<Offset> place = place_of(index, axes, rank);
    values[k] = source[place.source];
    places[k] = place.target;
  }
  SW_UNROLL
  for (int k = 0; k < per_thread; ++k) {
    const Index index = first + (Index)(k * threads);
    if (index < size) target[places[k]] = Convert<Target, Source>::from(values[k]);
  }
}

template <int threads, class Unit, class Index, class Offset, int rank>
__device__ inline void fill_strided(Unit* target, Unit value, Index size,
                                    const Axes<Index, Offset, rank>& axes, unsigned block,
                                    unsigned thread) {
  const Index index = (Index)block * threads + thread;
  if (index < size) target[place_of(index, axes, rank).target] = value;
}

// The last two axes are the one along which the source runs (s) and the one along which the target
// does (t). A tile of both is read in rows of the source, turned in shared memory, and written in
// rows of the target. The spare column keeps the columns of a tile in different banks.
enum { tile_side = 32, tile_rows = 8 };
template <class Source>
struct Tile {
  Source at[tile_side][tile_side + 1];
};

template <class Index, class Offset>
struct TileCorner {
  Place<Offset> base;  // of the other axes
  Index s, t;          // the tile's first indices
};

template <class Index, class Offset, int rank>
__device__ inline TileCorner<Index, Offset> tile_corner(Index block,
                                                        const Axes<Index, Offset, rank>& axes) {
  const Index tiles_s = (axes.extent[rank - 2] + tile_side - 1) / tile_side;
  const Index tiles_t = (axes.extent[rank - 1] + tile_side - 1) / tile_side;
  TileCorner<Index, Offset> corner;
  corner.t = block % tiles_t * tile_side;
  block /= tiles_t;
  corner.s = block % tiles_s * tile_side;
  corner.base = place_of(block / tiles_s, axes, rank - 2);
  return corner;
}

template <class Source, class Index, class Offset, int rank>
__device__ inline void load_tile(Tile<Source>& tile, const Source* source,
                                 const Axes<Index, Offset, rank>& axes,
                                 const TileCorner<Index, Offset>& corner, unsigned x, unsigned y) {
  const Index s = corner.s + x;
  SW_UNROLL
  for (unsigned row = y; row < tile_side; row += tile_rows) {
    const Index t = corner.t + row;
    if (s < axes.extent[rank - 2] && t < axes.extent[rank - 1]) {
      tile.at[row][x] = source[corner.base.source + (Offset)s * axes.source[rank - 2] +
                               (Offset)t * axes.source[rank - 1]];
    }
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
    if (s < axes.extent[rank - 2] && t < axes.extent[rank - 1]) {
      target[corner.base.target + (Offset)s * axes.target[rank - 2] +
             (Offset)t * axes.target[rank - 1]] = Convert<Target, Source>::from(tile.at[x][row]);
    }
  }
}
