// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "run_program.hpp"

#include <algorithm>
#include <array>

#include "spanwise/copy.hpp"
#include "spanwise/strided/walk.hpp"
#include "spanwise/working_device.hpp"

namespace spanwise::ops {
ProgramRunner::ProgramRunner(const ElementProgram& program, const std::vector<bool>& is_number,
                             Device device) {
  if (!runs_on_host(device))
    on_gpu_.emplace(program);
  else
    on_cpu_.emplace(program, is_number);
}

void ProgramRunner::run(std::span<const Array* const> given, std::span<const Array> outputs) {
  std::array<const Array*, max_program_inputs> inputs;
  std::vector<Array> copies;
  copies.reserve(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    inputs[i] = given[i];
    if (std::ranges::any_of(
            outputs, [&](const Array& output) { return overlaps_partially(*given[i], output); }))
      inputs[i] = &copies.emplace_back(copy(*given[i]));
    if (on_cpu_) order_host_use(*inputs[i], false);
  }
  const std::span<const Array* const> all(inputs.data(), given.size());
  if (on_gpu_) return on_gpu_->run(all, outputs);
  for (const Array& output : outputs) order_host_use(output, true);
  on_cpu_->run(all, outputs);
}

void CudaProgram::run(std::span<const Array* const> inputs, std::span<const Array> outputs) {
  if (outputs[0].size() == 0) return;
  const Device device = outputs[0].device();
  strided::StridedCall call(outputs[0].shape());
  std::array<void*, max_program_inputs> numbers;
  std::size_t count = 0;
  std::uint64_t by_value = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i]->device() == device || !runs_on_host(inputs[i]->device())) {
      call.add(*inputs[i], strided::ArrayRole::read);
      continue;
    }
    order_host_use(*inputs[i], false);  // the number may be on its way from a GPU
    numbers[count++] = inputs[i]->data();
    by_value |= std::uint64_t{1} << i;
  }
  for (const Array& output : outputs) call.add(output, strided::ArrayRole::write);
  call.plan();
  const Kernel& kernel =
      call.kernel(kernels_[by_value], device, [&] { return program_body(program_, by_value); });
  call.launch(kernel, std::span(numbers.data(), count));
}

}  // namespace spanwise::ops
