// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// Arrays that are all contiguous in one order, or of one element: a thread visits Shape::packs
// packs of Shape::width elements, which are Shape::threads packs apart.

namespace spanwise {

struct DensePlace {
  enum : bool { has_fixed_constants = true };
  long long element;
  int count;

  __device__ __forceinline__ long long offset(int) const { return element; }
  __device__ __forceinline__ int along(int) const { return 1; }
};

template <class Shape>
struct DensePacks {
  long long first, end;  ///< the thread's first element; the number of all elements
  bool is_whole;         ///< whether all elements of the block exist

  __device__ __forceinline__ DensePlace operator()(int step) const {
    const long long element = first + step * (Shape::threads * Shape::width);
    return {element, is_whole ? Shape::width : elements_left(end - element, Shape::width)};
  }
};

/// Visits `n` elements.
template <class Shape, class Body, class... A>
__device__ __forceinline__ void visit_dense(long long n, const Body& body, const A&... arrays) {
  constexpr int block = Shape::threads * Shape::width * Shape::packs;
  const long long begin = (long long)blockIdx.x * block;
  const long long first = begin + threadIdx.x * Shape::width;
  // A thread of one element has no part of a pack. Calls are inlined, each with its constant.
  if (Shape::packs * Shape::width > 1 && begin + block <= n)
    visit_packs<Shape, Shape::packs>(DensePacks<Shape>{first, n, true}, body,
                                     Lane<Shape, A, Shape::packs>(arrays)...);
  else
    visit_packs<Shape, Shape::packs>(DensePacks<Shape>{first, n, false}, body,
                                     Lane<Shape, A, Shape::packs>(arrays)...);
}

}  // namespace spanwise
