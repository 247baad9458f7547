// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// The loops of the CPU, where a block is one thread, which visits Shape::block elements. The host's
// compiler vectorizes them. After walk.cuh.

namespace spanwise {

/// An array from the begin of a run on, whose elements are `step` apart.
template <class A, bool is_constant = A::is_constant>
struct Run {
  decltype(A::first) first;
  long long step;

  __device__ __forceinline__ decltype(auto) element(long long k) const {
    const long long at = A::pattern() == Pattern::contiguous ? k
                         : A::pattern() == Pattern::reversed ? -k
                                                             : k * step;
    if constexpr (A::role() == Role::index)
      return first + at;
    else
      return (first[at]);
  }
};
template <class A>
struct Run<A, true> {
  const typename A::Element value;

  __device__ __forceinline__ Run(const typename A::Element* first, long long) : value(*first) {}
  __device__ __forceinline__ const typename A::Element& element(long long) const { return value; }
};

template <class A>
__device__ __forceinline__ bool selects(Run<A> run, long long k) {
  if constexpr (A::role() == Role::mask)
    return run.element(k);
  else
    return true;
}

template <class Body, class... A>
__device__ __forceinline__ void visit_run(long long first, long long end, const Body& body,
                                          Run<A>... runs) {
  for (long long k = first; k < end; ++k)
    if ((selects(runs, k) && ...)) body(runs.element(k)...);
}

template <class Shape>
struct BlockOfElements {
  long long first, end;

  __device__ __forceinline__ explicit BlockOfElements(long long n)
      : first((long long)blockIdx.x * Shape::block),
        end(first + Shape::block < n ? first + Shape::block : n) {}
};

/// Visits the block's part of `n` elements that are contiguous in all arrays.
template <class Shape, class Body, class... A>
__device__ __forceinline__ void visit_elements(long long n, const Body& body, const A&... arrays) {
  const BlockOfElements<Shape> block(n);
  visit_run(block.first, block.end, body, Run<A>{arrays.first, 1}...);
}

/// Visits the block's part of `n` elements of rows.
template <class Shape, class Walk, class Body, class... A>
__device__ __forceinline__ void visit_runs(const Walk& walk, long long n, const Body& body,
                                           const A&... arrays) {
  const BlockOfElements<Shape> block(n);
  for (StridedRuns<Shape::rank, Shape::stride_rows> runs(walk, block.first, block.end);
       runs.left > 0; runs.next())
    visit_run(0, runs.count(), body,
              Run<A>{arrays.first + runs.offset(A::strides), runs.step(A::strides)}...);
}

}  // namespace spanwise
