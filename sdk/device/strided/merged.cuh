// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Arrays in other orders than the written ones, of any extents. A block visits a tile of the last
// Shape::inner axes, of which some are small and others are split. It reads a *staged* array in the
// array's own order, along runs of adjacent elements that several axes may form, into shared
// memory, and computes in the order of the written arrays. After walk.cuh.

namespace spanwise {

template <int rank, int stride_rows, int inner>
struct MergedWalk {
  long long shape[rank];
  long long strides[stride_rows][rank];
  long long blocks[rank];                ///< along each axis
  long long sides[inner];                ///< of a tile that is not at the end of an axis
  long long steps[inner];                ///< between the elements of a tile in shared memory
  long long runs[stride_rows];           ///< axes of a run that is accessed in words
  long long orders[stride_rows][inner];  ///< the tile's axes in each array, fastest first
};

// A number u is divided by d > 1 as __umulhi(u, reciprocal(d)), if u * d < 2^32.
__device__ __forceinline__ unsigned int reciprocal(unsigned int d) { return 0xffffffffu / d + 1; }

/// The order in which an array's elements of a tile are numbered. Element u has index u / E % side
/// along an axis, where E is the size of the faster axes. An offset, the sum of index * stride, is
/// a sum of u / E * by, where `by` has the stride without what the next faster axis counts twice.
/// Offsets are from the array's first element. Partial sums may wrap around.
template <class Shape>
struct TileOrder {
  typedef typename Shape::Count Count;
  Count first;                             ///< the offset of the tile
  unsigned int reciprocals[Shape::inner];  ///< of E; [0] is not used
  unsigned int by_index[Shape::inner];     ///< in the tile
  Count by_offset[Shape::inner];           ///< in the array
};

/// The quotients u / E, without those that are u.
template <class Shape>
struct TileNumber {
  unsigned int quotients[Shape::inner];

  __device__ __forceinline__ TileNumber(const TileOrder<Shape>& order, unsigned int u) {
    quotients[0] = u;
#pragma unroll
    for (int n = 1; n < Shape::inner; ++n) quotients[n] = __umulhi(u, order.reciprocals[n]);
  }
  template <class Count>
  __device__ __forceinline__ Count sum(Count sum, const Count (&by)[Shape::inner]) const {
#pragma unroll
    for (int n = 0; n < Shape::inner; ++n) sum += quotients[n] * by[n];
    return sum;
  }
  __device__ __forceinline__ int index(const TileOrder<Shape>& order) const {
    return (int)sum(0u, order.by_index);
  }
  __device__ __forceinline__ typename Shape::Step offset(const TileOrder<Shape>& order) const {
    return (typename Shape::Step)sum(order.first, order.by_offset);
  }
};

/// A block's tile.
template <class Shape>
struct MergedTile {
  typedef MergedWalk<Shape::rank, Shape::stride_rows, Shape::inner> Walk;
  enum : int { outer = Shape::rank - Shape::inner };

  int sides[Shape::inner];
  int size;
  int runs[Shape::stride_rows];  ///< elements of a run that is accessed in words
  TileOrder<Shape> orders[Shape::stride_rows];

  // By one thread.
  __device__ __forceinline__ void find(const Walk& walk) {
    typedef typename Shape::Count Count;
    unsigned int rest = blockIdx.x;
    Count first[Shape::stride_rows] = {};
    size = 1;
#pragma unroll
    for (int axis = Shape::rank - 1; axis >= 0; --axis) {
      const unsigned int blocks = (unsigned int)walk.blocks[axis];
      Count begin = axis > 0 ? rest % blocks : rest;
      rest = axis > 0 ? rest / blocks : 0;
      if (axis >= outer) {
        const int side = (int)walk.sides[axis - outer];
        begin *= side;
        sides[axis - outer] = elements_left(walk.shape[axis] - (long long)begin, side);
        size *= sides[axis - outer];
      }
#pragma unroll
      for (int k = 0; k < Shape::stride_rows; ++k) first[k] += begin * (Count)walk.strides[k][axis];
    }
#pragma unroll
    for (int k = 0; k < Shape::stride_rows; ++k) orders[k].first = first[k];
  }
  // Term n of the order of one row of strides, after find().
  __device__ __forceinline__ void enter_order(const Walk& walk, int row, int n) {
    typedef typename Shape::Count Count;
    TileOrder<Shape>& order = orders[row];
    unsigned int faster = 1, run = 1;
#pragma unroll
    for (int m = 0; m < Shape::inner; ++m) {
      const unsigned int side = sides[walk.orders[row][m]];
      if (m < n) faster *= side;
      if (m < walk.runs[row]) run *= side;
    }
    const int axis = (int)walk.orders[row][n];
    unsigned int by_index = (unsigned int)walk.steps[axis];
    Count by_offset = (Count)walk.strides[row][outer + axis];
    if (faster == 1) {
      // u / E is u: of these terms, the last one stands for all.
      const bool is_last = n + 1 == Shape::inner || sides[axis] > 1;
      if (is_last) order.by_index[0] = by_index;
      if (is_last) order.by_offset[0] = by_offset;
      by_index = 0;
      by_offset = 0;
    } else {
      const int before = (int)walk.orders[row][n - 1];
      by_index -= sides[before] * (unsigned int)walk.steps[before];
      by_offset -= sides[before] * (Count)walk.strides[row][outer + before];
    }
    if (n > 0) {
      order.reciprocals[n] = faster == 1 ? 0 : reciprocal(faster);
      order.by_index[n] = by_index;
      order.by_offset[n] = by_offset;
    } else {
      runs[row] = (int)run;
    }
  }
};

/// The shared memory of a staged array.
template <class Shape, class A>
__device__ __forceinline__ typename A::Element* merged_tile_of(const A&) {
  typedef typename A::Element T;
  __shared__ alignas(16) unsigned char bytes[Shape::cell_elements * sizeof(T)];
  return (T*)bytes;
}

// Reads a staged array from `a`, element by element.
template <class Shape, class T>
__device__ __forceinline__ void fill_by_elements(T* tile, const T* a, const TileOrder<Shape>& order,
                                                 int size) {
  constexpr int batch = sizeof(T) <= 4 ? 8 : sizeof(T) == 8 ? 4 : 2;
  // All loads of a batch are issued before the first store; those behind the last element read it.
  for (int first = threadIdx.x; first < size; first += Shape::threads * batch) {
    T values[batch];
    int indices[batch];
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int u = first + b * Shape::threads;
      const TileNumber<Shape> number(order, u < size ? u : size - 1);
      values[b] = a[number.offset(order)];
      indices[b] = number.index(order);
    }
#pragma unroll
    for (int b = 0; b < batch; ++b)
      if (first + b * Shape::threads < size) tile[indices[b]] = values[b];
  }
}

/// Words of n elements in runs of `run` elements, which begin anywhere in a word.
template <int n>
struct RunWords {
  int run, words;  ///< of a run; at least 2, for reciprocal()
  unsigned int by_words;

  __device__ __forceinline__ explicit RunWords(int elements)
      : run(elements), words((elements + 2 * n - 2) / n) {
    if (words < 2) words = 2;
    by_words = reciprocal(words);
  }
  __device__ __forceinline__ int count(int size) const { return size / run * words; }
  __device__ __forceinline__ int run_of(int word) const { return (int)__umulhi(word, by_words); }
  // The first element of a word in the run that begins at `begin`; negative if it is before it.
  template <class T>
  __device__ __forceinline__ int element(int word, const T* begin) const {
    const int skipped = (int)((unsigned long long)begin / sizeof(T) % n);
    return (word - run_of(word) * words) * n - skipped;
  }
};

// The same by words of 16 bytes in runs along one axis. A word with an element of the array may
// contain bytes outside of it: memory is allocated in larger units, so reading them is allowed.
template <class Shape, class T>
__device__ __forceinline__ void fill_by_words(T* tile, const T* a, const TileOrder<Shape>& order,
                                              int size, int run) {
  constexpr int n = sizeof(T) < 16 ? 16 / (int)sizeof(T) : 1, batch = 2;
  const RunWords<n> words(run);
  const int count = words.count(size), by_element = (int)order.by_index[0];
  for (int first = threadIdx.x; first < count; first += Shape::threads * batch) {
    Pack<T, n> values[batch];
    int elements[batch], indices[batch];  // of the words' first elements
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const int word = first + b * Shape::threads, existing = word < count ? word : count - 1;
      const TileNumber<Shape> number(order, words.run_of(existing) * run);
      const T* const begin = a + number.offset(order);
      const int element = words.element(existing, begin);
      // A word behind the run is not used: the run's last word stands for it.
      values[b] = load_pack<n>(begin + (element < run ? element : element - n));
      elements[b] = word < count ? element : run;
      indices[b] = number.index(order) + element * by_element;
    }
#pragma unroll
    for (int b = 0; b < batch; ++b)
#pragma unroll
      for (int k = 0; k < n; ++k) {
        const int index = indices[b] + k * by_element;
        if ((unsigned int)(elements[b] + k) < (unsigned int)run) tile[index] = values[b].x[k];
      }
  }
}

template <class Shape>
struct MergedPlace {
  typedef typename Shape::Step Step;
  enum : bool { has_fixed_constants = false };
  const typename MergedTile<Shape>::Walk& walk;
  Step at[Shape::stride_rows];
  int index;  ///< in the tile
  int count;

  __device__ __forceinline__ Step offset(int strides) const { return at[strides]; }
  __device__ __forceinline__ Step along(int strides) const {
    return (Step)walk.strides[strides][Shape::rank - 1];
  }
  template <class A>
  __device__ __forceinline__ Pack<typename A::Element, Shape::width> from_tile(
      const A& array) const {
    Pack<typename A::Element, Shape::width> pack;
    if (count > 0) pack.x[0] = merged_tile_of<Shape>(array)[index];
    return pack;
  }
};

/// A thread's elements, in the order of the leader; all of them exist if `is_whole`.
template <class Shape, bool is_whole>
struct MergedElements {
  const typename MergedTile<Shape>::Walk& walk;
  const TileOrder<Shape> (&orders)[Shape::stride_rows];
  int first, count;  ///< the first element, and all of them

  __device__ __forceinline__ MergedPlace<Shape> operator()(int step) const {
    const int element = first + step * Shape::threads;
    const TileOrder<Shape>& order = orders[Shape::leader_strides];
    const TileNumber<Shape> number(order, element);
    MergedPlace<Shape> place = {walk, {}, number.index(order), is_whole || element < count};
#pragma unroll
    for (int k = 0; k < Shape::stride_rows; ++k) place.at[k] = number.offset(orders[k]);
    return place;
  }
};

template <class Shape, class A>
__device__ __forceinline__ void fill_merged(const A& array, const MergedTile<Shape>& tile) {
  if constexpr (A::is_in_tile) {
    const TileOrder<Shape> order = tile.orders[A::strides];
    auto* const to = merged_tile_of<Shape>(array);
    if constexpr (A::pattern() == Pattern::merged_in_words)
      fill_by_words<Shape>(to, array.first, order, tile.size, tile.runs[A::strides]);
    else
      fill_by_elements<Shape>(to, array.first, order, tile.size);
  }
}

/// Visits the block's tile.
template <class Shape, class Walk, class Body, class... A>
__device__ __forceinline__ void visit_merged(const Walk& walk, const Body& body,
                                             const A&... arrays) {
  // Elements that are loaded before the first of them is computed.
  constexpr int steps = 4, group = steps * Shape::threads;
  __shared__ MergedTile<Shape> tile;
  if (threadIdx.x == 0) tile.find(walk);
  __syncthreads();
  if (threadIdx.x < Shape::stride_rows * Shape::inner)
    tile.enter_order(walk, threadIdx.x / Shape::inner, threadIdx.x % Shape::inner);
  __syncthreads();
  TileOrder<Shape> orders[Shape::stride_rows];
#pragma unroll
  for (int k = 0; k < Shape::stride_rows; ++k) orders[k] = tile.orders[k];
  (fill_merged(arrays, tile), ...);
  __syncthreads();
  const int count = tile.size;
  int first = threadIdx.x;
  for (; first - (int)threadIdx.x + group <= count; first += group)
    visit_packs<Shape, steps>(MergedElements<Shape, true>{walk, orders, first, count}, body,
                              Lane<Shape, A, steps>(arrays)...);
  visit_packs<Shape, steps>(MergedElements<Shape, false>{walk, orders, first, count}, body,
                            Lane<Shape, A, steps>(arrays)...);
}

}  // namespace spanwise
