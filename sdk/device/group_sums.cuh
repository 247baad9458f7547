// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_GROUP_SUMS_CUH
#define SPANWISE_GROUP_SUMS_CUH

// For CUDA C kernels; included by <spanwise/scan_pipeline.cuh>.

#include <spanwise/prefix_state.cuh>
#include <spanwise/scan_part.cuh>

namespace spanwise {

/// Called by a warp: sums[k] is the sum of group k of 32 chunks from chunk `first` on, of those
/// that precede chunk `end`. Waits until they are published; reads all groups before it waits for
/// one, so that the latencies overlap.
template <class Body, int groups>
__device__ __forceinline__ void sum_groups(const TilePrefixState<typename Body::Acc>& prefixes,
                                           unsigned int first, unsigned int end,
                                           typename Body::Acc (&sums)[groups]) {
  const unsigned int chunk = first + threadIdx.x % 32;
  bool is_ready[groups], are_all_ready;
#pragma unroll
  for (int k = 0; k < groups; ++k) {
    sums[k] = Body::identity();
    is_ready[k] = chunk + k * 32 >= end;
  }
  do {
    are_all_ready = true;
#pragma unroll
    for (int k = 0; k < groups; ++k)
      if (!is_ready[k]) is_ready[k] = prefixes.get(chunk + k * 32, sums[k]);
#pragma unroll
    for (int k = 0; k < groups; ++k) are_all_ready &= is_ready[k];
  } while (!are_all_ready);
  __syncwarp();
#pragma unroll
  for (int k = 0; k < groups; ++k) sums[k] = scan_from_lane(scan_of_lanes<Body>(sums[k]), 31);
}

}  // namespace spanwise

#endif
