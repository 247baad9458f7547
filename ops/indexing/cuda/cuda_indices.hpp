// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "../indexing.hpp"
#include "spanwise/strided/body.hpp"

/// Index arrays and masks on a GPU, by generated kernels queued on the current stream.
namespace spanwise::ops {

/// What index_body() computes from each index of an index array: its arrays are the indices and,
/// except for find_outside, the results (int64). Its parameters are the extent and, for
/// find_outside, the address of two uint64 that become 1 and an out-of-range index if there is one.
enum class IndexWork : std::uint8_t { find_outside, wrap, clip };
strided::Body index_body(IndexWork work);

/// An index of `indices` (int64, aligned) outside [-extent, extent), if there is one. Downloads 16
/// bytes, so the call waits.
std::optional<std::int64_t> outside_on_gpu(const Array& indices, std::int64_t extent);
/// The indices mapped to [0, extent) by `bounds` (wrap or clip).
Array apply_bounds_on_gpu(const Array& indices, std::int64_t extent, Bounds bounds);

/// count_true() and positions_of_true() of a bool array. Both download 8 bytes, so the call waits.
std::int64_t count_true_on_gpu(const Array& mask);
Array positions_of_true_on_gpu(const Array& mask);
/// CUDA C with `count_tiles`, `scan_tiles` and `write_positions` for masks of `rank` axes.
std::string mask_source(int rank);

}  // namespace spanwise::ops
