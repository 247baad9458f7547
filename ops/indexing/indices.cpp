// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "indices.hpp"

#include <algorithm>
#include <atomic>

#include "cpu/host_bounds.hpp"
#include "cpu/host_loops.hpp"
#include "cuda/cuda_indices.hpp"
#include "indexing.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"
#include "spanwise/parallel.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t grain = 1 << 16;  // indices that make a second thread worthwhile

void check_on_host(const Array& indices, std::int64_t extent, int axis, const Shape& shape) {
  const auto* values = static_cast<const std::int64_t*>(indices.data());
  std::atomic<bool> outside{false};
  parallel_for(indices.size(), grain, [&](std::int64_t first, std::int64_t last) {
    if (!all_inside(values + first, last - first, extent)) outside = true;
  });
  if (!outside) return;
  const auto* wrong = std::find_if(values, values + indices.size(), [&](std::int64_t value) {
    return value < -extent || value >= extent;
  });
  fail_outside(*wrong, axis, shape);
}

// Maps indices to [0, extent): modulo the extent, or clipped (negative values become 0, as in
// NumPy).
Array bounded_on_host(const Array& indices, std::int64_t extent, Bounds bounds) {
  Array bounded = empty(indices.shape(), int64, cpu);
  const auto* from = static_cast<const std::int64_t*>(indices.data());
  auto* to = static_cast<std::int64_t*>(bounded.data());
  parallel_for(indices.size(), grain, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t rest = bounds == Bounds::wrap ? from[i] % extent : 0;
      to[i] = bounds == Bounds::clip ? std::clamp<std::int64_t>(from[i], 0, extent - 1)
              : rest < 0             ? rest + extent
                                     : rest;
    }
  });
  return bounded;
}

bool is_aligned(const Array& array) {
  return reinterpret_cast<std::uintptr_t>(array.data()) % alignof(std::int64_t) == 0;
}

}  // namespace

Bounds bounds_from(std::string_view mode) {
  if (mode == "raise") return Bounds::raise;
  if (mode == "wrap") return Bounds::wrap;
  if (mode == "clip") return Bounds::clip;
  fail<ArgumentError>("mode: expected \"raise\", \"wrap\" or \"clip\", got \"", mode, "\"");
}

void fail_outside(std::int64_t index, int axis, const Shape& shape) {
  fail<BoundsError>("Array: index ", index, " is out of bounds for axis ", axis, " with size ",
                    shape[axis], "; it is outside axis ", axis, " of shape ", shape);
}

Array as_int64(const Array& indices) {
  if (indices.dtype() == int64) return indices;
  if (!indices.dtype().is_integer() || !indices.dtype().is_computable())
    fail<BoundsError>("Array: arrays used as indices must be of integer (or boolean) type, got ",
                      indices.dtype(), " of shape ", indices.shape(),
                      "; convert them: indices.astype(\"int64\")");
  return astype(indices, int64);
}

Array on_device_of(const Array& index, const Array& target, bool target_is_written) {
  if (index.device() != target.device() && (index.device().is_cuda() || target.device().is_cuda()))
    return to_device(index, target.device().is_cuda() ? target.device() : cpu);
  return target_is_written && may_share_memory(index, target) ? copy(index) : index;
}

Array usable_indices(const Array& indices, std::int64_t extent, int axis, const Shape& shape,
                     Bounds bounds, const Array& target, bool target_is_written) {
  // Checks the indices before they are broadcast, so each is checked once.
  Array ready = as_int64(indices);
  if (ready.device().is_cuda() && !target.device().is_cuda()) ready = to_device(ready, cpu);
  const bool on_host = !ready.device().is_cuda();
  if ((on_host && !ready.layout().is_row_major()) || !is_aligned(ready)) ready = copy(ready);
  if (bounds != Bounds::raise) {
    if (extent == 0)
      fail<BoundsError>("Array: cannot take from axis ", axis, " of shape ", shape,
                        ", which has no elements");
    ready =
        on_host ? bounded_on_host(ready, extent, bounds) : bounded_on_gpu(ready, extent, bounds);
  } else if (on_host) {
    await(ready, /*writes=*/false);
    check_on_host(ready, extent, axis, shape);
  } else if (const auto wrong = outside_on_gpu(ready, extent)) {
    fail_outside(*wrong, axis, shape);
  }
  return on_device_of(ready, target, target_is_written);
}

}  // namespace spanwise::ops
