// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Rows, the last of Shape::rank axes, in packs; a thread visits Shape::packs of them. After
// walk.cuh.

namespace spanwise {

/// Where a thread's packs begin. Shape::Count counts elements, Shape::Step is a distance between
/// two of them.
template <class Shape>
struct RowPacks {
  typedef StridedWalk<Shape::rank, Shape::stride_rows> Walk;
  typedef typename Shape::Step Step;
  typedef typename Shape::Count Count;
  enum : int { last = Shape::rank - 1 };

  const Walk& walk;
  Step at[Shape::packs][Shape::stride_rows];
  int counts[Shape::packs];

  struct Place {
    enum : bool { has_fixed_constants = false };
    const RowPacks& packs;
    int step, count;

    __device__ __forceinline__ Step offset(int strides) const { return packs.at[step][strides]; }
    __device__ __forceinline__ long long along(int strides) const {
      return packs.walk.strides[strides][last];
    }
  };
  __device__ __forceinline__ Place operator()(int step) const {
    return {*this, step, counts[step]};
  }

  // Packs of one row; a shifted one has up to width - 1 elements before its first aligned pack.
  __device__ __forceinline__ Count packs_of_row() const {
    return ((Count)(Step)walk.shape[last] +
            (Shape::is_shifted ? 2 * Shape::width - 2 : Shape::width - 1)) /
           Shape::width;
  }
  // Moves a step to pack `pack` of all rows.
  template <class... A>
  __device__ __forceinline__ void find(int step, Count pack, bool is_in, const A&... arrays) {
    const Count pack_of_row = Shape::rank > 1 ? pack % packs_of_row() : pack;
    Count row = pack / packs_of_row();
#pragma unroll
    for (int k = 0; k < Shape::stride_rows; ++k) at[step][k] = 0;
    move_along<last>(at[step], walk, row);
    const Step extent = (Step)walk.shape[last];
    Step element = (Step)pack_of_row * Shape::width;
    if constexpr (Shape::is_shifted) {
      // Packs are aligned in the leader, so the first one may begin before the row.
      element = (long long)pack_of_row * Shape::width;
      ((element -= misalignment(step, arrays)), ...);
      const Step end = element + Shape::width;
      if (element < 0) element = 0;
      counts[step] =
          is_in ? elements_left((end < extent ? end : extent) - element, Shape::width) : 0;
    } else {
      counts[step] = !is_in            ? 0
                     : Shape::has_tail ? elements_left(extent - element, Shape::width)
                                       : Shape::width;
    }
#pragma unroll
    for (int k = 0; k < Shape::stride_rows; ++k)
      at[step][k] += element * (Step)walk.strides[k][last];
  }
  // The leader's elements between the begin of an aligned pack and the first of the row; 0 for
  // other arrays.
  template <class A>
  __device__ __forceinline__ long long misalignment(int step, const A& array) const {
    if constexpr ((int)A::number == Shape::leader)
      return (long long)((unsigned long long)(array.first + at[step][A::strides]) /
                         sizeof(typename A::Element) % Shape::width);
    else
      return 0;
  }
};

/// Visits `n` packs.
template <class Shape, class Walk, class Body, class... A>
__device__ __forceinline__ void visit_rows(const Walk& walk, long long n, const Body& body,
                                           const A&... arrays) {
  typedef typename Shape::Count Count;
  RowPacks<Shape> packs = {walk, {}, {}};
#pragma unroll
  for (int step = 0; step < Shape::packs; ++step) {
    const Count pack =
        ((Count)blockIdx.x * Shape::packs + step) * Shape::threads + (Count)threadIdx.x;
    const bool is_in = pack < (Count)n;
    if (Shape::packs == 1 && !is_in) return;
    packs.find(step, is_in ? pack : 0, is_in, arrays...);
  }
  visit_packs<Shape, Shape::packs>(packs, body, Lane<Shape, A, Shape::packs>(arrays)...);
}

}  // namespace spanwise
