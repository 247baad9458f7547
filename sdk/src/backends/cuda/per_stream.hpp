// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cuda/driver.hpp"

namespace spanwise::cuda {

/// One T for each of the few streams in use. Destroyed streams are not reported, so an entry that
/// has not been used for asked_until_idle calls is given to another stream, with its value
/// unchanged.
template <class T>
class PerStream {
 public:
  /// The value of `stream`, created by make() if there is none; null if too many other streams are
  /// in use. Valid until the next call.
  template <class Make>
  T* find(CUstream stream, Make&& make) {
    ++asked_;
    for (StreamEntry& entry : entries_) {
      if (entry.stream != stream) continue;
      entry.used_at = asked_;
      return &entry.value;
    }
    return find_other(stream, make);
  }

 private:
  static constexpr std::size_t max_streams = 4;
  static constexpr std::uint64_t asked_until_idle = 64;
  struct StreamEntry {
    CUstream stream = nullptr;
    std::uint64_t used_at = 0;
    T value;
  };

  template <class Make>
  T* find_other(CUstream stream, Make& make) {
    if (entries_.size() < max_streams) {
      StreamEntry& entry = entries_.emplace_back();
      entry.stream = stream;
      entry.used_at = asked_;
      entry.value = make();
      return &entry.value;
    }
    const auto oldest = std::ranges::min_element(
        entries_, [](const StreamEntry& a, const StreamEntry& b) { return a.used_at < b.used_at; });
    if (asked_ - oldest->used_at < asked_until_idle) return nullptr;
    oldest->stream = stream;
    oldest->used_at = asked_;
    return &oldest->value;
  }

  std::uint64_t asked_ = 0;
  std::vector<StreamEntry> entries_;
};

}  // namespace spanwise::cuda
