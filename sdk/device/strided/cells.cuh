// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Many small cells, such as pixels or matrices of a few elements, which are adjacent and dense
// ("cells"), or of which equal elements are adjacent ("planes"). A block reads an array in its own
// order into shared memory, and reads it from there in the order of the written arrays. In that
// order, cells follow each other by `by_cell` elements. After walk.cuh.

namespace spanwise {

// The index of element i in shared memory. 16 bytes are left out after every 128, so that elements
// at the distance of a cell are in different banks, and packs stay aligned.
template <class T>
__device__ __forceinline__ int padded(int i) {
  constexpr int part = 16 / (int)sizeof(T);
  return i + i / (8 * part) * part;
}

// Stores the elements of `p`, of which the first is element i of the cell that begins at index
// `base`. Has no branch, so that all positions are loaded together.
template <int n, class T>
__device__ __forceinline__ void store_in_cells(T* tile, const Pack<T, n>& p,
                                               const unsigned short* positions, int cell, int i,
                                               int base, int by_cell) {
  int index[n];
#pragma unroll
  for (int k = 0; k < n; ++k) {
    index[k] = base + positions[i];
    const bool is_last = ++i == cell;
    i = is_last ? 0 : i;
    base += is_last ? by_cell : 0;
  }
#pragma unroll
  for (int k = 0; k < n; ++k) tile[padded<T>(index[k])] = p.x[k];
}

// Reads `total` elements of adjacent cells of `cell`. `positions` has the index of each element
// of a cell in the tile.
template <int threads, int n, class T>
__device__ __forceinline__ void fill_from_cells(T* tile, const T* a,
                                                const unsigned short* positions, int cell,
                                                int total, int by_cell) {
  constexpr int batch = 4;  // all loads of a batch are issued before the first store
  for (int first = threadIdx.x * n; first < total; first += threads * n * batch) {
    Pack<T, n> values[batch];
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int index = first + b * threads * n;
      if (index < total) read_contiguous(values[b], a + index, total - index);
    }
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int index = first + b * threads * n, c = index / cell;
      if (index + n <= total)
        store_in_cells<n>(tile, values[b], positions, cell, index - c * cell, c * by_cell, by_cell);
      else
#pragma unroll
        for (int k = 0; k < n; ++k)
          if (index + k < total)
            tile[padded<T>((index + k) / cell * by_cell + positions[(index + k) % cell])] =
                values[b].x[k];
    }
  }
}

// Reads lines of `cells` elements each, which begin at `lines`; the tile's order is by cells.
template <int threads, int n, class T>
__device__ __forceinline__ void fill_from_planes(T* tile, const T* a, const long long* lines,
                                                 int cell, int cells) {
  constexpr int batch = 4;
  const int packs = (cells + n - 1) / n, total = packs * cell;
  for (int first = threadIdx.x; first < total; first += threads * batch) {
    Pack<T, n> values[batch];
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int q = first + b * threads, line = q / packs, c = (q - line * packs) * n;
      if (q < total) read_contiguous(values[b], a + lines[line] + c, cells - c);
    }
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int q = first + b * threads, line = q / packs, c = (q - line * packs) * n;
      if (q >= total) continue;
      const int left = cells - c;
#pragma unroll
      for (int k = 0; k < n; ++k)
        if (left >= n || k < left) tile[padded<T>((c + k) * cell + line)] = values[b].x[k];
    }
  }
}

// ---- shared memory

// As bytes, since variables in shared memory must not have constructors.
template <class Shape, class A>
__device__ __forceinline__ typename A::Element* cells_of(const A&) {
  typedef typename A::Element T;
  __shared__ alignas(16) unsigned char bytes[Shape::cell_elements / 8 * 9 * sizeof(T)];
  return (T*)bytes;
}
// For Pattern::cells: the index in the tile of each element of a cell.
template <class Shape, class A>
__device__ __forceinline__ unsigned short* positions_of(const A&) {
  __shared__ unsigned short positions[Shape::cell_elements / 16];
  return positions;
}
// For arrays that are contiguous from cell to cell: the offset of each line along the cells, by the
// row of their strides.
template <class Shape>
__device__ __forceinline__ auto lines_of() -> long long (*)[32] {
  __shared__ long long lines[Shape::stride_rows][32];
  return lines;
}

/// Where a pack of a block begins.
template <class Shape>
struct CellPlace {
  enum : bool { has_fixed_constants = true };
  int line, cell;  ///< with planes: the pack's line along the cells, and its first cell
  int element;     ///< in the tiles
  int count;

  __device__ __forceinline__ long long offset(int strides) const {
    return Shape::has_planes ? lines_of<Shape>()[strides][line] + cell : element;
  }
  __device__ __forceinline__ int along(int) const { return 1; }
  template <class A>
  __device__ __forceinline__ Pack<typename A::Element, Shape::width> from_tile(
      const A& array) const {
    return load_pack<Shape::width>(cells_of<Shape>(array) + padded<typename A::Element>(element));
  }
};

/// The cells of a block.
template <class Shape>
struct BlockOfCells {
  typedef StridedWalk<Shape::rank, Shape::stride_rows> Walk;

  const Walk& walk;
  int size, most, cells;  ///< elements of a cell; the most cells of a block, and those of this one
  int packs_of_line;      ///< with planes

  __device__ __forceinline__ int packs() const {
    return Shape::has_planes ? packs_of_line * size
                             : (cells * size + Shape::width - 1) / Shape::width;
  }
  // Pack `number`, of which at least one element exists.
  __device__ __forceinline__ CellPlace<Shape> place(int number) const {
    const int line = Shape::has_planes ? number / packs_of_line : 0;
    const int cell = Shape::has_planes ? number % packs_of_line * Shape::width : 0;
    const int element = Shape::has_planes ? line * most + cell : number * Shape::width;
    const int left = Shape::has_planes ? cells - cell : cells * size - element;
    return {line, cell, element, Shape::width == 1 ? 1 : elements_left(left, Shape::width)};
  }

  // Enters element i of a cell, `at` from the first one in each array, in the array's table.
  template <class A>
  __device__ __forceinline__ void enter(int i, const long long* at, const A& array) const {
    constexpr bool owns_strides =
        (int)A::strides != Shape::leader_strides || (int)A::number == Shape::leader;
    if constexpr (A::pattern() == Pattern::cells)
      positions_of<Shape>(array)[at[A::strides]] =
          (unsigned short)(i * (Shape::has_planes ? most : 1));
    else if constexpr (A::pattern() == Pattern::planes ||
                       (Shape::has_planes && A::pattern() == Pattern::contiguous && owns_strides))
      lines_of<Shape>()[A::strides][i] = at[A::strides];
  }
  template <class... A>
  __device__ __forceinline__ void enter_elements(const A&... arrays) const {
    for (int i = threadIdx.x; i < size; i += Shape::threads) {
      int rest = i;
      long long at[Shape::stride_rows] = {};
#pragma unroll
      for (int axis = Shape::rank - 1; axis >= Shape::rank - Shape::inner; --axis) {
        const int index = rest % (int)walk.shape[axis];
        rest /= (int)walk.shape[axis];
#pragma unroll
        for (int k = 0; k < Shape::stride_rows; ++k)
          at[k] += (long long)index * walk.strides[k][axis];
      }
      (enter(i, at, arrays), ...);
    }
  }
  template <class A>
  __device__ __forceinline__ void fill(const A& array) const {
    if constexpr (A::pattern() == Pattern::cells)
      fill_from_cells<Shape::threads, Shape::width>(cells_of<Shape>(array), array.first,
                                                    positions_of<Shape>(array), size, cells * size,
                                                    Shape::has_planes ? 1 : size);
    else if constexpr (A::pattern() == Pattern::planes)
      fill_from_planes<Shape::threads, Shape::width>(cells_of<Shape>(array), array.first,
                                                     lines_of<Shape>()[A::strides], size, cells);
  }
};

/// Visits the block's cells.
template <class Shape, class Walk, class Body, class... A>
__device__ __forceinline__ void visit_cells(const Walk& walk, const Body& body, A... arrays) {
  constexpr int along = Shape::rank - 1 - Shape::inner;  // the axis of the cells
  int size = 1;
#pragma unroll
  for (int axis = along + 1; axis < Shape::rank; ++axis) size *= (int)walk.shape[axis];
  const int most = Shape::cell_elements / size / 16 * 16;
  unsigned int rest = blockIdx.x;
  const unsigned int chunks = (unsigned int)((walk.shape[along] + most - 1) / most);
  const long long first = rest % chunks * (long long)most;
  rest /= chunks;
  long long at[Shape::stride_rows] = {};
  move_along<along>(at, walk, rest);
#pragma unroll
  for (int k = 0; k < Shape::stride_rows; ++k) at[k] += first * walk.strides[k][along];
  ((arrays.first += at[A::strides]), ...);
  const int cells = elements_left(walk.shape[along] - first, most);
  const BlockOfCells<Shape> block = {walk, size, most, cells,
                                     (cells + Shape::width - 1) / Shape::width};
  block.enter_elements(arrays...);
  __syncthreads();
  (block.fill(arrays), ...);
  __syncthreads();
  for (int pack = threadIdx.x; pack < block.packs(); pack += Shape::threads)
    visit_packs<Shape, 1>([&](int) { return block.place(pack); }, body,
                          Lane<Shape, A, 1>(arrays)...);
}

}  // namespace spanwise
