// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "spanwise/core/device.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/scan.hpp"

namespace spanwise {
namespace {

/// For fewer bytes, or shorter lines, the blocks of ScanLaunch are as fast (H100, H200).
constexpr std::int64_t min_bytes = 4 << 20, min_chunks = 16;
/// The kernel counts chunks in 32 bits.
constexpr std::int64_t max_chunks = std::int64_t{1} << 31;

/// One block for each multiprocessor; 0 if the device has no bulk copies.
int pipeline_blocks(Device device) {
  if (runs_on_host(device)) return 0;
  const DeviceProperties& gpu = fixed_properties(device);
  // Bulk copies exist from "sm_90" on; "sm_100" has three digits.
  const bool has_bulk_copies = gpu.architecture.starts_with("sm_") &&
                               (gpu.architecture.size() > 5 || gpu.architecture >= "sm_90");
  return has_bulk_copies ? gpu.multiprocessors : 0;
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
