// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Arrays in other orders than the written ones, of any extents. A block visits a tile of the last
// Shape::inner axes, of which some are small and others are split. It reads a *staged* array in the
// array's own order, along runs of adjacent elements that several axes may form, into shared
// memory, and computes in the order of the written arrays, by packs along their runs. All tiles
// have one size: the last one along an axis begins where it fits, and visits elements again. After
// walk.cuh.

namespace spanwise {

/// A tile's elements in the order of one array: element e of run r has number e in its run. The
/// index in shared memory and the offset in the array are sums over the axes of q * by_index and q
/// * by_offset, where q is the number divided by the size of the faster axes: __umulhi(number,
/// reciprocal), and for the fastest axis the number itself. An axis's `by` has its step or stride
/// without what the next faster axis counts twice.
template <int inner>
struct TileTerms {
  long long reciprocals[inner], by_index[inner], by_offset[inner];
};
template <int inner>
struct TileOrder {
  long long run, runs;        ///< elements of a run; runs
  long long words, by_words;  ///< that threads access side by side in a run; its reciprocal
  TileTerms<inner> in_run, of_runs;
};

template <int rank, int stride_rows, int inner>
struct MergedWalk {
  long long shape[rank];
  long long strides[stride_rows][rank];
  long long blocks[rank];  ///< along each axis
  long long sides[rank];   ///< of a tile
  /// Of a staged array its own order; of others the leader's.
  TileOrder<inner> orders[stride_rows];
};

/// The quotients of a number in a tile.
template <int inner>
struct TileNumber {
  unsigned int quotients[inner];

  __device__ __forceinline__ TileNumber(const TileTerms<inner>& terms, unsigned int number) {
    quotients[0] = number;
#pragma unroll
    for (int n = 1; n < inner; ++n)
      quotients[n] = __umulhi(number, (unsigned int)terms.reciprocals[n]);
  }
  // Partial sums may wrap around.
  template <class Count>
  __device__ __forceinline__ Count sum(Count sum, const long long (&by)[inner]) const {
#pragma unroll
    for (int n = 0; n < inner; ++n) sum += quotients[n] * (Count)by[n];
    return sum;
  }
};

/// A block's tile: the offset of its first element in each array.
template <class Shape>
struct MergedTile {
  typedef MergedWalk<Shape::rank, Shape::stride_rows, Shape::inner> Walk;
  typedef typename Shape::Count Count;
  Count first[Shape::stride_rows];

  __device__ __forceinline__ explicit MergedTile(const Walk& walk) : first{} {
    unsigned int rest = blockIdx.x;
#pragma unroll
    for (int axis = Shape::rank - 1; axis >= 0; --axis) {
      const unsigned int blocks = (unsigned int)walk.blocks[axis];
      Count begin = (axis > 0 ? rest % blocks : rest) * (Count)walk.sides[axis];
      const Count last = (Count)(walk.shape[axis] - walk.sides[axis]);
      rest = axis > 0 ? rest / blocks : 0;
      begin = begin < last ? begin : last;
#pragma unroll
      for (int k = 0; k < Shape::stride_rows; ++k) first[k] += begin * (Count)walk.strides[k][axis];
    }
  }
};

/// The shared memory of a staged array. A pack that begins anywhere reads the word behind it.
template <int elements, class A>
__device__ __forceinline__ typename A::Element* merged_tile_of(const A&) {
  typedef typename A::Element T;
  __shared__ alignas(16) unsigned char bytes[elements * sizeof(T) + 16];
  return (T*)bytes;
}

// Adjacent elements of 8 bytes, or one. The aligned words that contain them may have bytes outside
// of the array: memory is allocated in larger units, so reading them is allowed.
template <int n, class T>
__device__ __forceinline__ Pack<T, n> read_any_pack(const T* a) {
  if constexpr (n == 1) {
    return {{*a}};
  } else {
    typedef unsigned long long Word;
    const unsigned int skip = (unsigned int)((Word)a % 8) * 8;
    const Word* const low = (const Word*)((Word)a / 8 * 8);
    const Word first = low[0], second = low[skip > 0 ? 1 : 0];
    const Word word = first >> skip | second << 1 << (63 - skip);
    Pack<T, n> pack;
    memcpy(&pack, &word, sizeof(pack));
    return pack;
  }
}

// The same in shared memory, of any number of bytes, from words of 4 bytes.
template <int n, class T>
__device__ __forceinline__ Pack<T, n> read_tile_pack(const T* tile, int index) {
  Pack<T, n> pack;
  if constexpr (n == 1 || sizeof(T) >= 4) {
#pragma unroll
    for (int k = 0; k < n; ++k) pack.x[k] = tile[index + k];
  } else {
    constexpr int count = n * (int)sizeof(T) / 4;
    const unsigned int byte = (unsigned int)index * (unsigned int)sizeof(T);
    const unsigned int* const low = (const unsigned int*)tile + byte / 4;
    unsigned int words[count], last = low[0];
#pragma unroll
    for (int k = 0; k < count; ++k) {
      const unsigned int next = low[k + 1];
      words[k] = __funnelshift_r(last, next, byte % 4 * 8);
      last = next;
    }
    memcpy(&pack, words, sizeof(pack));
  }
  return pack;
}

// Reads a staged array, whose first element in the tile is `a`, by packs of n elements. Threads of
// one word stay at their place in the runs, and go from run to run.
template <class Shape, int n, class T>
__device__ __forceinline__ void fill_tile(T* tile, const T* a,
                                          const TileOrder<Shape::inner>& order) {
  // All loads of a batch are issued before the first store.
  constexpr int batch = sizeof(T) <= 8 ? 4 : 2;
  typedef typename Shape::Step Step;
  const int run = (int)order.run, runs = (int)order.runs, words = (int)order.words;
  const int across = Shape::threads / words, first_run = threadIdx.x / words;
  if (first_run >= across) return;
  for (int word = threadIdx.x - first_run * words; word * n < run; word += words) {
    // The last word of a run begins where it fits.
    const int element = word * n < run - n ? word * n : run - n;
    int indices[n];
#pragma unroll
    for (int k = 0; k < n; ++k)
      indices[k] =
          (int)TileNumber<Shape::inner>(order.in_run, element + k).sum(0u, order.in_run.by_index);
    const T* const from = a + (Step)TileNumber<Shape::inner>(order.in_run, element)
                                  .sum((typename Shape::Count)0, order.in_run.by_offset);
    for (int first = first_run; first < runs; first += across * batch) {
      Pack<T, n> packs[batch];
      int places[batch];
#pragma unroll
      for (int b = 0; b < batch; ++b) {
        // Those behind the last run move the first one again.
        const int r = first + b * across;
        const TileNumber<Shape::inner> number(order.of_runs, r < runs ? r : first);
        packs[b] = read_any_pack<n>(
            from + (Step)number.sum((typename Shape::Count)0, order.of_runs.by_offset));
        places[b] = (int)number.sum(0u, order.of_runs.by_index);
      }
#pragma unroll
      for (int b = 0; b < batch; ++b)
#pragma unroll
        for (int k = 0; k < n; ++k) tile[places[b] + indices[k]] = packs[b].x[k];
    }
  }
}

template <class Shape, class Walk, class A>
__device__ __forceinline__ void fill_merged(const A& array, const Walk& walk,
                                            const MergedTile<Shape>& tile) {
  if constexpr (A::is_in_tile) {
    typedef typename A::Element T;
    constexpr int n = A::pattern() == Pattern::merged_in_words ? 8 / (int)sizeof(T) : 1;
    fill_tile<Shape, n>(merged_tile_of<(int)Shape::cell_elements>(array),
                        array.first + (typename Shape::Step)tile.first[A::strides],
                        walk.orders[A::strides]);
  }
}

// The address of the leader's element 0, in elements.
template <class Shape, class A, class... More>
__device__ __forceinline__ unsigned int leader_address(const A& array, const More&... more) {
  if constexpr ((int)A::number == (int)Shape::leader)
    return (unsigned int)((unsigned long long)array.first / sizeof(typename A::Element));
  else
    return leader_address<Shape>(more...);
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
    return read_tile_pack<Shape::width>(merged_tile_of<(int)Shape::cell_elements>(array), index);
  }
};

/// The runs of the leader in a tile: `head` elements before the first whole pack of Whole::width.
template <class Whole>
struct MergedRuns {
  typedef MergedTile<Whole> Tile;
  const typename Tile::Walk& walk;
  const Tile& tile;
  unsigned int address;  ///< leader_address()

  __device__ __forceinline__ const TileOrder<Whole::inner>& order() const {
    return walk.orders[Whole::leader_strides];
  }
  // Element `element(head)` of run r, for a visit by Shape; none where it is negative.
  template <class Shape, class Element>
  __device__ __forceinline__ MergedPlace<Shape> place(unsigned int r,
                                                      const Element& element) const {
    const TileNumber<Whole::inner> number(order().of_runs, r);
    MergedPlace<Shape> place = {walk, {}, (int)number.sum(0u, order().of_runs.by_index), 0};
#pragma unroll
    for (int k = 0; k < Whole::stride_rows; ++k)
      place.at[k] =
          (typename Shape::Step)number.sum(tile.first[k], walk.orders[k].of_runs.by_offset);
    const unsigned int at = (unsigned int)place.at[Whole::leader_strides];
    const int e = element((int)(0u - address - at) & (Whole::width - 1));
    place.index = e >= 0 ? place.index + e : 0;  // any that can be read
    place.count = e >= 0 ? (int)Shape::width : 0;
#pragma unroll
    for (int k = 0; k < Whole::stride_rows; ++k) place.at[k] += e * place.along(k);
    return place;
  }
};

/// A thread's whole packs. All of them are in the tile if `is_inside`.
template <class Shape, bool is_inside>
struct MergedPacks {
  MergedRuns<Shape> runs;
  int first, count;  ///< the thread's first pack, and all of the block's

  __device__ __forceinline__ MergedPlace<Shape> operator()(int step) const {
    const TileOrder<Shape::inner>& order = runs.order();
    const unsigned int word = first + step * Shape::threads;
    const unsigned int r = __umulhi(word, (unsigned int)order.by_words);
    return runs.template place<Shape>(r, [&](int head) {
      const int e = head + (int)(word - r * (unsigned int)order.words) * Shape::width;
      const bool is_in_run = Shape::width == 1 || e + Shape::width <= (int)order.run;
      return is_in_run && (is_inside || (int)word < count) ? e : -1;
    });
  }
};

/// The same one by one, for the elements of runs before and behind whole packs.
template <class Shape>
struct SingleElements : Shape {
  enum : int { width = 1 };
};
template <class Shape>
struct MergedEdges {
  enum : int {
    width = Shape::width,
    slots = 2 * width
  };  ///< elements of a run that may be outside
  MergedRuns<Shape> runs;
  int first;

  __device__ __forceinline__ MergedPlace<SingleElements<Shape>> operator()(int) const {
    const int run = (int)runs.order().run, slot = first % slots;
    return runs.template place<SingleElements<Shape>>(first / slots, [&](int head) {
      if (slot < width) return slot < head && slot < run ? slot : -1;
      const int e = head + (head < run ? (run - head) / width * width : 0) + slot - width;
      return e < run ? e : -1;
    });
  }
};

/// Visits the block's tile.
template <class Shape, class Walk, class Body, class... A>
__device__ __forceinline__ void visit_merged(const Walk& walk, const Body& body,
                                             const A&... arrays) {
  // Packs that are loaded before the first of them is computed.
  constexpr int steps = Shape::width > 1 ? 2 : 4, group = steps * Shape::threads;
  const MergedTile<Shape> tile(walk);
  (fill_merged<Shape>(arrays, walk, tile), ...);
  __syncthreads();
  const MergedRuns<Shape> runs{walk, tile, leader_address<Shape>(arrays...)};
  const int words = (int)(runs.order().words * runs.order().runs);
  int first = threadIdx.x;
  for (; first - (int)threadIdx.x + group <= words; first += group)
    visit_packs<Shape, steps>(MergedPacks<Shape, true>{runs, first, words}, body,
                              Lane<Shape, A, steps>(arrays)...);
  if (first < words)
    visit_packs<Shape, steps>(MergedPacks<Shape, false>{runs, first, words}, body,
                              Lane<Shape, A, steps>(arrays)...);
  if constexpr (Shape::width > 1) {
    typedef SingleElements<Shape> Single;
    const int edges = (int)runs.order().runs * MergedEdges<Shape>::slots;
    for (int first = threadIdx.x; first < edges; first += Shape::threads)
      visit_packs<Single, 1>(MergedEdges<Shape>{runs, first}, body, Lane<Single, A, 1>(arrays)...);
  }
}

}  // namespace spanwise
