// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// In the place of cub/cub.cuh: the headers of CUB's primitives of blocks and warps.

#if __has_include(<cub/block/block_reduce.cuh>)
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_load.cuh>
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/block_scan.cuh>
#include <cub/block/block_shuffle.cuh>
#include <cub/block/block_store.cuh>
#include <cub/version.cuh>
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>
#if CUB_VERSION >= 300000
// CUB's operators until its version 2.
namespace cub {
#define SW_OPERATION(name, expression)                                             \
  struct name {                                                                    \
    template <class SwA, class SwB>                                                \
    __device__ __forceinline__ auto operator()(const SwA& a, const SwB& b) const { \
      return expression;                                                           \
    }                                                                              \
  };
SW_OPERATION(Sum, a + b)
SW_OPERATION(Difference, a - b)
SW_OPERATION(Max, a < b ? b : a)
SW_OPERATION(Min, b < a ? b : a)
SW_OPERATION(Equality, a == b)
SW_OPERATION(Inequality, a != b)
#undef SW_OPERATION
}  // namespace cub
#endif
#endif
