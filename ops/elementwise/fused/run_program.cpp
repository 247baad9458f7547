// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "run_program.hpp"

#include <array>

#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/strided/walk.hpp"
#include "spanwise/working_device.hpp"

namespace spanwise::ops {
namespace {

bool needs_copy(const Array& input, std::span<const Array> outputs) {
  for (const Array& output : outputs)
    if (may_share_memory(input, output) && !is_same_view(input, output)) return true;
  return false;
}

}  // namespace

ProgramRunner::ProgramRunner(const ElementProgram& program, const std::vector<bool>& is_number,
                             Device device) {
  if (!runs_on_host(device))
    on_gpu_.emplace(program);
  else
    on_cpu_.emplace(program, is_number);
}

void ProgramRunner::run(std::span<const Array* const> given, std::span<const Array> outputs) {
  std::array<const Array*, most_inputs> inputs;
  std::vector<Array> copies;
  copies.reserve(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    inputs[i] = given[i];
    if (needs_copy(*given[i], outputs)) inputs[i] = &copies.emplace_back(copy(*given[i]));
    if (on_cpu_) order_host_use(*inputs[i], false);
  }
  const std::span<const Array* const> all(inputs.data(), given.size());
  if (on_gpu_) return on_gpu_->run(all, outputs);
  for (const Array& output : outputs) order_host_use(output, true);
  on_cpu_->run(all, outputs);
}

}  // namespace spanwise::ops
