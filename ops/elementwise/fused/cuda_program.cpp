// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_program.hpp"

#include <array>

#include "spanwise/working_device.hpp"

namespace spanwise::ops {

void CudaProgram::run(std::span<const Array* const> inputs, std::span<const Array> outputs) {
  if (outputs[0].size() == 0) return;
  const Device device = outputs[0].device();
  strided::StridedCall call(outputs[0].shape());
  std::array<void*, most_inputs> numbers;
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
  const auto make = [&] {
    return compile_body(program_body(program_, by_value), call.shape(), device);
  };
  const Kernel& kernel = kernels_[by_value].get(call.shape(), device, make);
  call.launch(kernel, std::span(numbers.data(), count));
}

}  // namespace spanwise::ops
