// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Copies whose source is contiguous along one axis (s) and whose target along another (t), the
// plan's last two. Tiles are read along s, transposed in shared memory, and written along t.

template <class Index, class Offset>
struct TileCorner {
  Location<Offset> base;  // of the other axes
  Index s, t;             // the tile's first indices
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
  corner.base = location_of(block / tiles_s, axes, rank - 2);
  return corner;
}

// Whether both sides of the tile have all their elements: the same for all threads of a block.
template <class Index, class Offset, int rank>
__device__ inline bool is_whole(const TileCorner<Index, Offset>& corner, int side_s, int side_t,
                                const Axes<Index, Offset, rank>& axes) {
  return corner.s + (Index)side_s <= axes.extent[rank - 2] &&
         corner.t + (Index)side_t <= axes.extent[rank - 1];
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

// Element by element, for all sizes and for casts. The padding column avoids bank conflicts.
constexpr int tile_side = 32, tile_rows = 8;
template <class Source>
struct Tile {
  Source at[tile_side][tile_side + 1];
};

// A thread issues all loads before the first store to the tile.
template <class Source, class Index, class Offset, int rank>
__device__ inline void load_tile(Tile<Source>& tile, const Source* source,
                                 const Axes<Index, Offset, rank>& axes,
                                 const TileCorner<Index, Offset>& corner, unsigned x, unsigned y) {
  constexpr unsigned steps = tile_side / tile_rows;
  const Index s = corner.s + x;
  Source values[steps];
  if (is_whole(corner, tile_side, tile_side, axes)) {
    SW_UNROLL
    for (unsigned k = 0; k < steps; ++k)
      values[k] = source[source_at(corner, axes, s, corner.t + y + k * tile_rows)];
  } else {
    SW_UNROLL
    for (unsigned k = 0; k < steps; ++k) {
      const Index t = corner.t + y + k * tile_rows;
      if (s < axes.extent[rank - 2] && t < axes.extent[rank - 1])
        values[k] = source[source_at(corner, axes, s, t)];
    }
  }
  SW_UNROLL
  for (unsigned k = 0; k < steps; ++k) tile.at[y + k * tile_rows][x] = values[k];
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
