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

const ReductionKernel::Kernels& ReductionKernel::Call::kernels() {
  return kernel_.kernels_.get({plan_, operands_.device()}, [&] {
    const std::string source = source_text(on_gpu_);
    const std::string& name = kernel_.spec_.common.name;
    const auto get = [&](const std::string& kernel) {
      return compiled(kernel_.spec_.common, source, kernel, operands_.device(),
                      text(kernel_.spec_.map_expr, "\n", kernel_.spec_.reduce_expr, "\n",
                           kernel_.spec_.post_map_expr));
    };
    return Kernels{get(name), get(name + "_fold")};
  });
}

void ReductionKernel::Call::launch() {
  const auto& [run, fold] = kernels();
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
  // The fold combines parts_ elements per result; its part length argument is the number of
  // elements.
  std::int64_t length = length_, part_length = part_length_;
  ParameterValues values;
  values.add_operands(operands_, plan_.forms, false, /*has_elements=*/true);
  values.add_whole_arrays(operands_, shape_);
  values.add_walk(*kept_);
  values.add_walk(*reduced_);
  for (const std::int64_t* number : {&results_, &length, &part_length, &results_per_block_})
    values.add(number);
  values.add_address(parts ? parts->data() : nullptr);
  const std::int64_t threads = on_gpu_ ? reduction_threads : 1;
  run.launch_raw({{blocks_, parts_, 1}, {threads, 1, 1}, 0, stream}, values.all());
  if (parts_ == 1) return;
  length = parts_;
  part_length = length_;
  const std::int64_t blocks = on_gpu_ ? results_ : blocks_;
  fold.launch_raw({{blocks, 1, 1}, {threads, 1, 1}, 0, stream}, values.all());
}

}  // namespace spanwise::ops::user_kernels
