// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#ifndef SPANWISE_SCAN_CUH
#define SPANWISE_SCAN_CUH

// For CUDA C kernels: #include <spanwise/scan.cuh>. Scans of lines in one pass: each element is
// read once and each result written once. Blocks pass their sums to later blocks (decoupled
// look-back: Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back",
// 2016), but add them in a fixed order whatever the order of execution, so that results are the
// same from run to run. spanwise/runtime/scan.hpp computes the launch parameters on the host.

#include <spanwise/scan_part.cuh>

namespace spanwise {

// ---- a whole line scanned by one warp

/// Scans a line with the calling warp; `buffer` is the block's, of scan_buffer_bytes.
template <class Body, bool packed>
class WarpScan {
 public:
  typedef typename Body::Element E;
  typedef typename Body::Result Z;
  typedef typename Body::Acc A;

  __device__ __forceinline__ WarpScan(const E* x, Z* z, const ScanLine& line, unsigned char* buffer)
      : x_(x),
        z_(z),
        line_(line),
        scratch_(buffer + threadIdx.x / 32 * (32 * scan_thread_bytes)),
        carry_(Body::identity()) {}

  __device__ __forceinline__ void run() {
    constexpr int max_items = ScanItems<Body>::of_lane;
    do_parts<max_items>();
    do_parts<max_items / 4>();
    do_parts<max_items / 8>();
    if (first_ < line_.length) do_part<max_items / 8, false>();
  }

 private:
  template <int items>
  __device__ __forceinline__ void do_parts() {
    while (first_ + 32 * items <= line_.length) do_part<items, true>();
  }
  template <int items, bool whole>
  __device__ __forceinline__ void do_part() {
    ScanPart<Body, items, packed> part(scratch_, line_, first_);
    part.template fetch<whole>(x_);
    wait_for_fetches<0>();
    __syncwarp();
    const A own = scan_of_lanes<Body>(part.template total<whole>());
    const A below = scan_from_lane(own, (threadIdx.x - 1) & 31);
    part.template write<whole>(z_, threadIdx.x % 32 > 0 ? Body::combine(carry_, below) : carry_);
    carry_ = Body::combine(carry_, scan_from_lane(own, 31));
    first_ += part.elements;
  }

  const E* const x_;
  Z* const z_;
  const ScanLine& line_;
  unsigned char* const scratch_;
  A carry_;
  long long first_ = 0;
};

}  // namespace spanwise

#endif
