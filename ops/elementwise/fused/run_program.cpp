// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "run_program.hpp"

#include <algorithm>
#include <array>

#include "spanwise/runtime/copy.hpp"
#include "spanwise/strided/walk.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::ops {

ProgramRunner::ProgramRunner(const ElementProgram& program, const std::vector<bool>& is_number,
                             Device device) {
  if (!runs_on_host(device))
    cuda_program_.emplace(program);
  else
    cpu_program_.emplace(program, is_number);
}

void ProgramRunner::run(std::span<const Array* const> inputs, std::span<const Array> outputs) {
  std::array<const Array*, max_program_inputs> separate;
  std::vector<Array> copies;
  copies.reserve(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    separate[i] = inputs[i];
    if (std::ranges::any_of(
            outputs, [&](const Array& output) { return overlaps_partially(*inputs[i], output); }))
      separate[i] = &copies.emplace_back(copy(*inputs[i]));
    if (cpu_program_) order_host_use(*separate[i], false);
  }
  const std::span<const Array* const> all(separate.data(), inputs.size());
  if (cuda_program_) return cuda_program_->run(all, outputs);
  for (const Array& output : outputs) order_host_use(output, true);
  cpu_program_->run(all, outputs);
}

}  // namespace spanwise::ops
