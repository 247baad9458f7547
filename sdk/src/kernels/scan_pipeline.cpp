// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>

#include "spanwise/devices.hpp"
#include "spanwise/runtime/scan.hpp"
#include "spanwise/working_device.hpp"

namespace spanwise {
namespace {

/// For fewer bytes, or shorter lines, the blocks of ScanLaunch are as fast (H100, H200).
constexpr std::int64_t min_bytes = 4 << 20, min_chunks = 16;
constexpr std::int64_t max_chunks = std::int64_t{1} << 31;

/// The device's multiprocessors if it has bulk copies, else 0.
int found_blocks(Device device) {
  const DeviceProperties found = properties(device);
  // "sm_90": two digits or more.
  const bool has_bulk_copies = found.architecture.starts_with("sm_") &&
                               (found.architecture.size() > 5 || found.architecture >= "sm_90");
  return has_bulk_copies ? found.multiprocessors : 0;
}

/// Remembered, since properties() asks the driver.
int pipeline_blocks(Device device) {
  static std::array<std::atomic<int>, 64> known;  // 1 more than the number; 0: not known
  const auto ordinal = static_cast<std::size_t>(device.ordinal());
  if (runs_on_host(device) || ordinal >= known.size()) return 0;
  int blocks = known[ordinal].load(std::memory_order_relaxed) - 1;
  if (blocks >= 0) return blocks;
  blocks = found_blocks(device);
  known[ordinal].store(blocks + 1, std::memory_order_relaxed);
  return blocks;
}

}  // namespace

ScanPipeline::ScanPipeline(Device device, std::int64_t lines, std::int64_t length, int element,
                           int result, int accumulator) {
  const std::int64_t chunk = chunk_bytes / element;
  if ((element != 4 && element != 8) || result != element || accumulator != 8) return;
  chunks = (length - 1) / chunk + 1;
  if (chunks < min_chunks || lines * length * element < min_bytes || lines * chunks >= max_chunks)
    return;
  blocks = std::min<std::int64_t>(pipeline_blocks(device), lines * chunks);
  words = 2 + scan_words(lines * chunks, accumulator);
}

}  // namespace spanwise
