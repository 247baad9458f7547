// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "../indexing.hpp"

/// Index arrays and masks on a GPU, by generated kernels queued on the current stream.
namespace spanwise::ops {

/// One of the `indices` (int64, C-contiguous) that are outside [-extent, extent); nothing if all
/// are inside. Downloads 16 bytes, so the call waits.
std::optional<std::int64_t> outside_on_gpu(const Array& indices, std::int64_t extent);
/// The indices mapped to [0, extent) by `bounds` (wrap or clip).
Array bounded_on_gpu(const Array& indices, std::int64_t extent, Bounds bounds);

/// count_true() and positions_of_true() of a bool array. Both download 8 bytes, so the call waits.
std::int64_t count_true_on_gpu(const Array& mask);
Array positions_of_true_on_gpu(const Array& mask);

}  // namespace spanwise::ops
