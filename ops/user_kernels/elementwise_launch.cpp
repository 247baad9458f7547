// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

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
  if (!on_gpu_) return elementwise_source(code, operands_.all(), plan_);
  return cuda_source(elementwise_body(code, operands_.all(), plan_), loop_->shape());
}

const Kernel& ElementwiseKernel::Call::function() {
  const auto matches = [&](const Plan& plan) {
    return plan.on_gpu == on_gpu_ && plan.shape == plan_;
  };
  const Plan& plan = kernel_.plans_.get(
      matches, [&] { return Plan{plan_, on_gpu_, std::make_unique<strided::BodyKernels>()}; });
  const Device device = operands_.device();
  return plan.kernels->get(on_gpu_ ? loop_->shape() : strided::PlanShape{}, device, [&] {
    return compiled(kernel_.spec_.common, source(), kernel_.spec_.common.name, device,
                    kernel_.spec_.operation);
  });
}

void ElementwiseKernel::Call::launch() {
  const Kernel& kernel = function();
  on_gpu_ ? launch_on_gpu(kernel) : launch_on_cpu(kernel);
}

void ElementwiseKernel::Call::launch_on_gpu(const Kernel& kernel) const {
  std::array<void*, max_operands> addresses;
  std::array<void*, 2 * max_operands + 1> values;
  std::size_t count = 0;
  const auto add = [&](const void* value) { values[count++] = const_cast<void*>(value); };
  const auto is_whole = [&](const ConvertedArgument& operand) {
    return !plan_.is_flat && operand.is_element() && operand.parameter->needs_whole_array;
  };
  std::size_t packed = 0;
  for (const ConvertedArgument& operand : operands_.all())
    if (operand.is_raw() || is_whole(operand))
      packed += 3 + 2 * static_cast<std::size_t>(std::max(operand.array->rank(), shape_.size()));
  PackedNumbers numbers;
  numbers.reserve(packed);
  for (std::size_t i = 0; i < plan_.forms.count; ++i) {
    const ConvertedArgument& operand = operands_[i];
    if (operand.is_element()) continue;
    if (operand.array != nullptr)
      order_use(Stream::current(operands_.device()), *operand.array, operand.parameter->is_output);
    if (plan_.forms[i].access == OperandForm::Access::value) {
      add(operand.bytes.empty() ? operand.number.data() : operand.bytes.data());
    } else if (is_pointer(plan_.forms[i], wants_pointer())) {
      addresses[i] = operand.array->data();
      add(&addresses[i]);
    } else {
      add(numbers.raw(*operand.array, operand.array->layout()).raw().data());
    }
  }
  for (const ConvertedArgument& operand : operands_.all())
    if (is_whole(operand))
      add(numbers.raw(*operand.array, operand.array->layout().broadcast_to(shape_)).raw().data());
  add(&steps_);
  loop_->launch(kernel, std::span(values.data(), count));
}

void ElementwiseKernel::Call::launch_on_cpu(const Kernel& kernel) const {
  const Stream stream = Stream::current(operands_.device());
  for (const ConvertedArgument& operand : operands_.all())
    if (operand.array != nullptr) order_use(stream, *operand.array, operand.parameter->is_output);
  const std::int64_t blocks = (steps_ - 1) / elementwise_chunk + 1;
  const LaunchConfig config{{blocks, 1, 1}, {1, 1, 1}, 0, stream};
  if (is_simple()) return launch_simple(kernel, config);
  std::vector<KernelArg> arguments;
  arguments.reserve(2 * plan_.forms.count + 3);
  PackedNumbers numbers;
  const Walk* const walk = walk_ ? &*walk_ : nullptr;
  add_operands(operands_, plan_.forms, wants_pointer(), plan_.is_flat ? nullptr : &shape_,
               std::span(&walk, plan_.is_flat ? 0 : 1), arguments, numbers);
  arguments.push_back(KernelArg(steps_));
  arguments.push_back(KernelArg(elementwise_chunk));
  kernel.launch(config, arguments);
}

void ElementwiseKernel::Call::launch_simple(const Kernel& kernel,
                                            const LaunchConfig& config) const {
  std::array<void*, max_operands> addresses;
  std::array<void*, max_operands + 2> values;
  std::size_t count = 0;
  for (; count < plan_.forms.count; ++count) {
    const ConvertedArgument& operand = operands_[count];
    if (plan_.forms[count].access == OperandForm::Access::value) {
      values[count] = const_cast<void*>(operand.number.data());
    } else {
      addresses[count] = operand.array->data();
      values[count] = static_cast<void*>(&addresses[count]);
    }
  }
  std::int64_t steps = steps_, per_block = elementwise_chunk;
  values[count++] = &steps;
  values[count++] = &per_block;
  kernel.launch_raw(config, std::span(values.data(), count));
}

bool ElementwiseKernel::Call::is_simple() const {
  if (!plan_.is_flat) return false;
  for (std::size_t i = 0; i < plan_.forms.count; ++i) {
    const auto access = plan_.forms[i].access;
    if (access == OperandForm::Access::dense || access == OperandForm::Access::strided ||
        !operands_[i].bytes.empty())
      return false;
  }
  return true;
}

}  // namespace spanwise::ops::user_kernels
