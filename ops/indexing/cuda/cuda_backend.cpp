// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "../accumulate.hpp"
#include "../backend.hpp"
#include "address_loop.hpp"
#include "cuda_indices.hpp"

namespace spanwise::ops {
namespace {

constexpr IndexingBackend cuda_backend{.takes_masks = false,
                                       .needs_aligned = true,
                                       .move = &move_on_gpu,
                                       .accumulate = &accumulate_on_gpu,
                                       .find_outside = &outside_on_gpu,
                                       .bounded = &bounded_on_gpu,
                                       .count_true = &count_true_on_gpu,
                                       .positions_of_true = &positions_of_true_on_gpu,
                                       .search = &search_by_kernel};
[[maybe_unused]] const auto* const no_cuda_before =
    indexing_backends.set(DeviceKind::cuda, &cuda_backend);

}  // namespace
}  // namespace spanwise::ops
