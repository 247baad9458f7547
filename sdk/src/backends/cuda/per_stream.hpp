// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "backends/cuda/driver.hpp"

namespace spanwise::cuda {

/// A T for each of the few streams in use. Destroyed streams are not reported, so an entry that has
/// not been used for calls_until_idle calls of find() is given to another stream, with its value
/// unchanged.
template <class T>
class PerStream {
 public:
  /// The value of `stream`, created by make() if there is none; null if too many other streams are
  /// in use. Valid until the next call.
  template <class Make>
  T* find(CUstream stream, Make&& make) {
    ++calls_;
    for (StreamEntry& entry : entries_) {
      if (entry.stream != stream) continue;
      entry.used_at = calls_;
      return &entry.value;
    }
    return add(stream, make);
  }

 private:
  static constexpr std::size_t max_streams = 4;
  static constexpr std::uint64_t calls_until_idle = 64;
  struct StreamEntry {
    CUstream stream = nullptr;
    std::uint64_t used_at = 0;  // calls_ at the last find()
    T value;
  };

  template <class Make>
  T* add(CUstream stream, Make& make) {
    if (entries_.size() < max_streams) {
      entries_.push_back({stream, calls_, make()});
      return &entries_.back().value;
    }
    const auto oldest = std::ranges::min_element(entries_, {}, &StreamEntry::used_at);
    if (calls_ - oldest->used_at < calls_until_idle) return nullptr;
    oldest->stream = stream;
    oldest->used_at = calls_;
    return &oldest->value;
  }

  std::uint64_t calls_ = 0;  // of find()
  std::vector<StreamEntry> entries_;
};

}  // namespace spanwise::cuda
