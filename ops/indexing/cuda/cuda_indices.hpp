// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "../indexing.hpp"

/// Index arrays and masks on a GPU, by generated kernels queued on the current stream.
namespace spanwise::ops {

/// Some value of `indices` (int64, C-contiguous) outside [-extent, extent), nothing where all are
/// inside. Waits: 16 bytes are downloaded.
std::optional<std::int64_t> outside_on_gpu(const Array& indices, std::int64_t extent);
/// The values brought into [0, extent) by `bounds` (wrap or clip).
Array bounded_on_gpu(const Array& indices, std::int64_t extent, Bounds bounds);

/// Of a bool array: as count_true() and positions_of_true(). Wait: 8 bytes are downloaded.
std::int64_t count_true_on_gpu(const Array& mask);
Array positions_of_true_on_gpu(const Array& mask);

}  // namespace spanwise::ops
