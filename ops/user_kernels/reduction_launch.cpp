// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "reduction_call.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"
#include "spanwise/stream.hpp"
#include "type_names.hpp"

namespace spanwise::ops::user_kernels {

void ReductionKernel::Call::run(std::vector<Array>& allocated) {
  if (plan(allocated)) launch();
}

std::string ReductionKernel::Call::source(bool on_gpu) {
  on_gpu_ = on_gpu;
  std::vector<Array> allocated;
  return plan(allocated) ? source_text(on_gpu) : "";
}

std::string ReductionKernel::Call::source_text(bool on_gpu) const {
  const Parameter& accumulator = kernel_.accumulator_;
  const ReductionCode code{
      kernel_.spec_, kernel_.map_expr_,
      accumulator.is_user_type() ? accumulator.type : c_type(plan_.accumulator),
      kernel_.needs_index_};
  return reduction_source(code, operands_.all(), plan_, on_gpu);
}

const ReductionKernel::Plan& ReductionKernel::Call::plan_for_launch() {
  const auto matches = [&](const Plan& plan) {
    return plan.device == operands_.device() && plan.shape == plan_;
  };
  return kernel_.plans_.get(matches, [&] {
    const std::string source = source_text(on_gpu_);
    const std::string& name = kernel_.spec_.common.name;
    const auto get = [&](const std::string& kernel) {
      return compiled(kernel_.spec_.common, source, kernel, operands_.device(),
                      text(kernel_.spec_.map_expr, "\n", kernel_.spec_.reduce_expr, "\n",
                           kernel_.spec_.post_map_expr));
    };
    return Plan{plan_, operands_.device(), get(name), get(name + "_fold")};
  });
}

void ReductionKernel::Call::launch() {
  const Plan& plan = plan_for_launch();
  const Stream stream = Stream::current(operands_.device());
  for (const ConvertedArgument& operand : operands_.all())
    if (operand.array != nullptr) order_use(stream, *operand.array, operand.parameter->is_output);
  std::optional<Array> parts;
  if (parts_ > 1) {
    const std::int64_t bytes = kernel_.accumulator_.is_user_type()
                                   ? max_accumulator_bytes
                                   : std::int64_t{plan_.accumulator.itemsize()};
    parts.emplace(empty(Shape{parts_ * results_ * bytes}, uint8, operands_.device()));
    order_use(stream, *parts, true);
  }
  std::vector<KernelArg> arguments;
  PackedNumbers numbers;
  const Walk* const walks[] = {&*kept_, &*reduced_};
  add_operands(operands_, plan_.forms, false, &shape_, walks, arguments, numbers);
  for (const std::int64_t number : {results_, length_, part_length_, results_per_block_})
    arguments.push_back(KernelArg(number));
  arguments.push_back(parts ? address_of(*parts) : KernelArg::address(0));
  const std::int64_t threads = on_gpu_ ? reduction_threads : 1;
  plan.run.launch({{blocks_, parts_, 1}, {threads, 1, 1}, 0, stream}, arguments);
  if (parts_ == 1) return;
  // The fold combines parts_ elements per result; its part length argument is the number of
  // elements.
  const std::size_t at = arguments.size() - 4;
  arguments[at] = KernelArg(parts_);
  arguments[at + 1] = KernelArg(length_);
  const std::int64_t blocks = on_gpu_ ? results_ : blocks_;
  plan.fold.launch({{blocks, 1, 1}, {threads, 1, 1}, 0, stream}, arguments);
}

}  // namespace spanwise::ops::user_kernels
