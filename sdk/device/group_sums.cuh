// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_GROUP_SUMS_CUH
#define SPANWISE_GROUP_SUMS_CUH

// For CUDA C kernels; included by <spanwise/scan_pipeline.cuh>.

#include <spanwise/prefix_state.cuh>
#include <spanwise/scan_part.cuh>

namespace spanwise {

/// Called by a warp: sums[k] is the sum of group k of 32 chunks from chunk `first` on, of those
/// that precede chunk `end`. Waits until they are published; all are asked for at a time.
template <class Body, int groups>
__device__ __forceinline__ void sum_groups(const TilePrefixState<typename Body::Acc>& prefixes,
                                           unsigned int first, unsigned int end,
                                           typename Body::Acc (&sums)[groups]) {
  const unsigned int own = first + threadIdx.x % 32;
  bool is_there[groups], are_all;
#pragma unroll
  for (int k = 0; k < groups; ++k) {
    sums[k] = Body::identity();
    is_there[k] = own + k * 32 >= end;
  }
  do {
    are_all = true;
#pragma unroll
    for (int k = 0; k < groups; ++k)
      if (!is_there[k]) is_there[k] = prefixes.get(own + k * 32, sums[k]);
#pragma unroll
    for (int k = 0; k < groups; ++k) are_all &= is_there[k];
  } while (!are_all);
  __syncwarp();
#pragma unroll
  for (int k = 0; k < groups; ++k) sums[k] = scan_from_lane(scan_of_lanes<Body>(sums[k]), 31);
}

}  // namespace spanwise

#endif
