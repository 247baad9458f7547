// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/check/access_order.hpp"

#include <algorithm>

namespace spanwise::cpu_backend {

void AccessOrder::start_block(std::uint64_t block, unsigned threads) {
  block_ = block;
  threads_ = threads;
  barrier_ = 0;
  has_acquired_ = false;
  ++time_;
  for (unsigned t = 0; t < threads; ++t) {
    acquired_[t] = 0;
    fenced_[t] = 0;
    lanes_[t].fill(0);
  }
}

void AccessOrder::barrier() {
  barrier_ = ++time_;
  if (!has_acquired_) return;
  const auto end = acquired_.begin() + threads_;
  std::fill(acquired_.begin(), end, *std::max_element(acquired_.begin(), end));
}

void AccessOrder::collective(unsigned warp, unsigned lanes) {
  ++time_;
  const unsigned first = warp * 32;
  std::array<std::uint64_t, 32> known{};
  std::uint64_t acquired = 0;
  for_each_lane(lanes, [&](unsigned lane) {
    acquired = std::max(acquired, acquired_[first + lane]);
    for (unsigned earlier = 0; earlier < 32; ++earlier)
      known[earlier] = std::max(known[earlier], lanes_[first + lane][earlier]);
  });
  for_each_lane(lanes, [&](unsigned lane) { known[lane] = time_; });
  for_each_lane(lanes, [&](unsigned lane) {
    acquired_[first + lane] = acquired;
    lanes_[first + lane] = known;
  });
}

void AccessOrder::synchronize(unsigned thread, std::uintptr_t address, bool reads, bool writes) {
  if (reads && !released_.empty()) {
    const auto release = released_.find(address);
    if (release != released_.end() && release->second > acquired_[thread]) {
      acquired_[thread] = release->second;
      has_acquired_ = true;
    }
  }
  if (!writes || fenced_[thread] == 0) return;
  std::uint64_t& released = released_[address];
  released = std::max(released, fenced_[thread]);
}

}  // namespace spanwise::cpu_backend
