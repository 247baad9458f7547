// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "backends/cpu/shim/spanwise/spanwise_abi.h"

namespace spanwise::cpu_backend {

/// A lane's arguments of a collective, and its result.
struct LaneCall {
  std::uint64_t value = 0;  ///< the bits of the lane's value
  std::uint64_t result = 0;
  int lane = 0, width = 32;  ///< arguments of a shuffle
  int line = 0;              ///< source line of the call
};

/// The collectives in progress in one warp. Groups with disjoint masks may be in progress at the
/// same time.
struct Warp {
  struct Group {
    unsigned mask = 0;     // lanes in the mask
    unsigned arrived = 0;  // lanes that have called
    int op = 0;
    int line = 0;  // source line of the first call
  };
  unsigned alive = 0;  // lanes that exist and have not ended
  int group_count = 0;
  Group groups[32];
};

/// Computes the results of `group` for the lanes in it. `calls` are those of the warp's 32 lanes.
/// The result of a shuffle from a lane that does not take part is undefined in CUDA; here it is
/// bytes of the value `poison` or, if that is negative, the lane's own value.
void combine(const Warp::Group& group, LaneCall* calls, int poison);
/// The lane whose value `lane` gets by `call`; `lane` itself if `group` is no shuffle.
unsigned source_lane_of(const Warp::Group& group, unsigned lane, const LaneCall& call);

/// "__shfl_down_sync", for messages.
std::string warp_op_name(int op);
/// "0xffffffff"
std::string mask_text(unsigned mask);

}  // namespace spanwise::cpu_backend
