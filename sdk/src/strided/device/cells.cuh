// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Many small cells, such as pixels or matrices of a few elements, which are adjacent and dense
// ("cells"), or of which equal elements are adjacent ("planes"). A block reads an array in its own
// order into shared memory, and reads it from there in the order of the written arrays. In that
// order, cells follow each other by `by_cell` elements.

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

}  // namespace spanwise
