// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_WALK_CUH
#define SPANWISE_WALK_CUH

// For CUDA C kernels: #include <spanwise/walk.cuh>. One loop over the elements of several strided
// arrays. Includes nothing.

namespace spanwise {

/// The extents of the axes, slowest first, then the strides of each array in elements.
template <int Rank, int Arrays>
struct StridedWalk {
  long long shape[Rank];
  long long strides[Arrays][Rank];
};

/// The offset of each array at one element.
template <int Arrays>
struct WalkOffsets {
  long long of[Arrays];
};

/// The offsets at element number `element`. `Index` is an unsigned type that can count the
/// elements.
template <class Index, int Rank, int Arrays>
__device__ __forceinline__ WalkOffsets<Arrays> walk_offsets(const StridedWalk<Rank, Arrays>& walk,
                                                            Index element) {
  WalkOffsets<Arrays> offsets = {};
#pragma unroll
  for (int axis = Rank - 1; axis >= 0; --axis) {
    const Index extent = (Index)walk.shape[axis];
    const long long index = (long long)(axis > 0 ? element % extent : element);
    element = axis > 0 ? element / extent : 0;
#pragma unroll
    for (int k = 0; k < Arrays; ++k) offsets.of[k] += index * walk.strides[k][axis];
  }
  return offsets;
}

/// The elements [first, last) as runs along the last axis:
///   for (StridedRuns<R, N> runs(walk, first, last); runs.left > 0; runs.next())
///     visits runs.count() elements from runs.offset(k) on, runs.step(k) apart in array k.
template <int Rank, int Arrays>
struct StridedRuns {
  const StridedWalk<Rank, Arrays>& walk;
  long long left;  ///< elements from the run on
  long long index[Rank];

  __device__ __forceinline__ StridedRuns(const StridedWalk<Rank, Arrays>& all, long long first,
                                         long long last)
      : walk(all), left(last - first) {
    for (int axis = Rank - 1; axis >= 0; --axis) {
      index[axis] = axis > 0 ? first % walk.shape[axis] : first;
      if (axis > 0) first /= walk.shape[axis];
    }
  }
  __device__ __forceinline__ long long count() const {
    const long long in_row = walk.shape[Rank - 1] - index[Rank - 1];
    return in_row < left ? in_row : left;
  }
  __device__ __forceinline__ long long offset(int k) const {
    long long sum = 0;
    for (int axis = 0; axis < Rank; ++axis) sum += index[axis] * walk.strides[k][axis];
    return sum;
  }
  __device__ __forceinline__ long long step(int k) const { return walk.strides[k][Rank - 1]; }
  __device__ __forceinline__ void next() {
    const long long visited = count();
    left -= visited;
    index[Rank - 1] += visited;
    for (int axis = Rank - 1; axis > 0 && index[axis] == walk.shape[axis]; --axis) {
      index[axis] = 0;
      ++index[axis - 1];
    }
  }
};

}  // namespace spanwise

#endif
