// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>
#include <vector>

#include "runtime/registry.hpp"

namespace spanwise::runtime {
namespace {

// The streams that this thread has set, at most one per device; empty in most threads.
thread_local std::vector<Ref<StreamState>> set_streams;
// Whether this thread ever set one; constant-initialised, so reading it needs no guard.
constinit thread_local bool has_set_streams = false;

auto find_set(Device device) {
  return std::ranges::find_if(
      set_streams, [&](const Ref<StreamState>& stream) { return stream->device() == device; });
}

}  // namespace

Ref<StreamState> exchange_current_stream(Device device, Ref<StreamState> stream) {
  const auto entry = find_set(device);
  if (entry == set_streams.end()) {
    if (stream) {
      set_streams.push_back(std::move(stream));
      has_set_streams = true;
    }
    return nullptr;
  }
  Ref<StreamState> previous = std::exchange(*entry, std::move(stream));
  if (!*entry) set_streams.erase(entry);
  return previous;
}

StreamState& current_stream(Device device) {
  const Device actual = working_device(device);
  if (has_set_streams)
    if (const auto entry = find_set(actual); entry != set_streams.end()) return **entry;
  return default_stream(actual);
}

}  // namespace spanwise::runtime
