// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "job.hpp"

namespace spanwise::ops::reduce {
namespace {

constexpr ReduceBackend on_cpu{&run_on_cpu, &scan_on_cpu}, on_cuda{&run_on_cuda, &scan_on_cuda};
[[maybe_unused]] const auto* const no_cpu_before = reduce_backends.set(DeviceKind::cpu, &on_cpu);
[[maybe_unused]] const auto* const no_cuda_before = reduce_backends.set(DeviceKind::cuda, &on_cuda);

}  // namespace

constinit DeviceTable<ReduceBackend> reduce_backends{"reduce"};

}  // namespace spanwise::ops::reduce
