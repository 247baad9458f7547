// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/element_loops.hpp"

#include "backends/cpu/copy/run.hpp"
#include "spanwise/runtime/host_block.hpp"

namespace spanwise {
namespace cpu_backend {
namespace {

constexpr runtime::ElementLoops cpu_loops{
    [](const Array& source, const Array& target, runtime::StreamState&) { copy(source, target); },
    [](const Array& target, const Scalar& value, runtime::StreamState&) { fill(target, value); }};
[[maybe_unused]] const auto loops_before =
    runtime::register_element_loops(DeviceKind::cpu, &cpu_loops);

}  // namespace
}  // namespace cpu_backend

void convert_block(DType from, DType to, const HostBlock& block) {
  cpu_backend::convert_tile(
      from, to,
      {block.target, block.source, block.rows, block.columns, block.target_row_step,
       block.target_step, block.source_row_step, block.source_step, false});
}

}  // namespace spanwise
