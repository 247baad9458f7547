// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/exec/warp.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

#include "backends/cpu/check/access_order.hpp"

namespace spanwise::cpu_backend {
namespace {

// The lane that `lane` reads (PTX ISA 8.8, shfl.sync); itself if the source is outside of its
// segment.
unsigned shuffle_source(int op, unsigned lane, const LaneCall& call) {
  const auto segment = static_cast<unsigned>(call.width) - 1;
  const auto distance = static_cast<unsigned>(call.lane);  // or lane, or mask
  const unsigned first = lane & ~segment, last = first | segment;
  if (op == sw_warp_shuffle) return first | (distance & segment);
  if (op == sw_warp_shuffle_up) return lane - first >= distance ? lane - distance : lane;
  if (op == sw_warp_shuffle_down) return last - lane >= distance ? lane + distance : lane;
  const unsigned source = lane ^ distance;
  return source <= last ? source : lane;
}

bool is_shuffle(int op) { return op >= sw_warp_shuffle && op <= sw_warp_shuffle_xor; }

void shuffle(const Warp::Group& group, LaneCall* calls, int poison) {
  for_each_lane(group.arrived, [&](unsigned lane) {
    LaneCall& call = calls[lane];
    const unsigned source = shuffle_source(group.op, lane, call);
    const std::uint64_t undefined =
        poison < 0 ? call.value : 0x0101010101010101u * static_cast<unsigned>(poison);
    call.result = (group.arrived >> source & 1u) != 0 ? calls[source].value : undefined;
  });
}

unsigned lanes_where(unsigned lanes, const LaneCall* calls, std::uint64_t value) {
  unsigned equal = 0;
  for_each_lane(lanes,
                [&](unsigned lane) { equal |= (calls[lane].value == value ? 1u : 0u) << lane; });
  return equal;
}

void match_any(const Warp::Group& group, LaneCall* calls) {
  for_each_lane(group.arrived, [&](unsigned lane) {
    calls[lane].result = lanes_where(group.arrived, calls, calls[lane].value);
  });
}

std::uint64_t reduce(int op, std::uint64_t a, std::uint64_t b) {
  const auto x = static_cast<std::uint32_t>(a), y = static_cast<std::uint32_t>(b);
  const auto signed_x = static_cast<std::int32_t>(x), signed_y = static_cast<std::int32_t>(y);
  switch (op) {
    case sw_warp_add:
      return x + y;
    case sw_warp_min_signed:
      return signed_x < signed_y ? x : y;
    case sw_warp_max_signed:
      return signed_x > signed_y ? x : y;
    case sw_warp_min_unsigned:
      return std::min(x, y);
    case sw_warp_max_unsigned:
      return std::max(x, y);
    case sw_warp_and:
      return x & y;
    case sw_warp_or:
      return x | y;
    default:
      return x ^ y;
  }
}

std::uint64_t common_result(const Warp::Group& group, const LaneCall* calls) {
  const auto first = static_cast<unsigned>(std::countr_zero(group.arrived));
  const auto lanes_set = [&] { return group.arrived & ~lanes_where(group.arrived, calls, 0); };
  if (group.op == sw_warp_sync) return 0;
  if (group.op == sw_warp_ballot) return lanes_set();
  if (group.op == sw_warp_all) return lanes_set() == group.arrived ? 1 : 0;
  if (group.op == sw_warp_any) return lanes_set() != 0 ? 1 : 0;
  if (group.op == sw_warp_match_all) {
    const unsigned equal = lanes_where(group.arrived, calls, calls[first].value);
    return equal == group.arrived ? group.arrived : 0;
  }
  std::uint64_t sum = calls[first].value;
  for_each_lane(group.arrived & (group.arrived - 1),
                [&](unsigned lane) { sum = reduce(group.op, sum, calls[lane].value); });
  return sum;
}

}  // namespace

unsigned source_lane_of(const Warp::Group& group, unsigned lane, const LaneCall& call) {
  return is_shuffle(group.op) ? shuffle_source(group.op, lane, call) : lane;
}

void combine(const Warp::Group& group, LaneCall* calls, int poison) {
  if (is_shuffle(group.op)) return shuffle(group, calls, poison);
  if (group.op == sw_warp_match_any) return match_any(group, calls);
  const std::uint64_t result = common_result(group, calls);
  for_each_lane(group.arrived, [&](unsigned lane) { calls[lane].result = result; });
}

std::string warp_op_name(int op) {
  static constexpr const char* names[sw_warp_op_count] = {
      "__syncwarp",        "__shfl_sync",       "__shfl_up_sync",    "__shfl_down_sync",
      "__shfl_xor_sync",   "__ballot_sync",     "__all_sync",        "__any_sync",
      "__match_any_sync",  "__match_all_sync",  "__reduce_add_sync", "__reduce_min_sync",
      "__reduce_max_sync", "__reduce_min_sync", "__reduce_max_sync", "__reduce_and_sync",
      "__reduce_or_sync",  "__reduce_xor_sync"};
  return op >= 0 && op < sw_warp_op_count ? names[op] : "warp collective";
}

std::string mask_text(unsigned mask) {
  std::ostringstream out;
  out << "0x" << std::hex << std::setw(8) << std::setfill('0') << mask;
  return out.str();
}

}  // namespace spanwise::cpu_backend
