// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise_call.hpp"
#include "spanwise/stream.hpp"

namespace spanwise::ops::user_kernels {

void ElementwiseKernel::Call::run(std::optional<std::int64_t> size, std::vector<Array>& allocated) {
  if (plan(size, allocated)) launch();
}

std::string ElementwiseKernel::Call::source(std::optional<std::int64_t> size, bool on_gpu) {
  std::vector<Array> allocated;
  on_gpu_ = on_gpu;
  return plan(size, allocated) ? source() : "";
}

std::string ElementwiseKernel::Call::source() const {
  const ElementwiseCode code{kernel_.spec_, kernel_.operation_, kernel_.needs_index_};
  return cuda_source(elementwise_body(code, operands_.all(), plan_), loop_->shape());
}

const Kernel& ElementwiseKernel::Call::function() {
  const Device device = operands_.device();
  return kernel_.kernels_.get(Variant::Like{plan_, loop_->shape(), device}, [&] {
    return compiled(kernel_.spec_.common, source(), kernel_.spec_.common.name, device,
                    kernel_.spec_.operation);
  });
}

void ElementwiseKernel::Call::launch() {
  for (const ConvertedArgument& operand : operands_.all())
    if (operand.is_raw())
      order_use(Stream::current(operands_.device()), *operand.array, operand.parameter->is_output);
  ParameterValues values;
  values.add_operands(operands_, plan_.forms, wants_pointer(), /*has_elements=*/false);
  if (!plan_.is_flat) values.add_whole_arrays(operands_, shape_);
  values.add(&steps_);
  loop_->launch(function(), values.all());
}

}  // namespace spanwise::ops::user_kernels
