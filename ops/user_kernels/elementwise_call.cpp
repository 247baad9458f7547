// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "elementwise_call.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::ops::user_kernels {

bool ElementwiseKernel::Call::try_plan(std::optional<std::int64_t> size,
                                       std::vector<Array>& allocated) {
  find_shape(size);
  make_outputs(allocated);
  check_outputs();
  size_ = Layout{shape_, Strides(shape_.size()), 0}.size();
  if (size_ > 0) plan_operands();
  return size_ > 0;
}

void ElementwiseKernel::Call::find_shape(std::optional<std::int64_t> size) {
  const std::optional<Shape> shape = operands_.broadcast_shape(/*with_outputs=*/true);
  if (!shape || size) return use_size(size, shape.has_value());
  shape_ = *shape;
}

void ElementwiseKernel::Call::use_size(std::optional<std::int64_t> size, bool has_elements) {
  if (has_elements)
    fail<ArgumentError>(kernel_.label_,
                        ": size= is for kernels whose arrays are all raw; arrays that are "
                        "accessed element by element determine the size here");
  bool has_output = false, has_number = false;
  for (const ConvertedArgument& operand : operands_.all())
    if (operand.array == nullptr && operand.parameter->kind == Parameter::Kind::element)
      (operand.parameter->is_output ? has_output : has_number) = true;
  if (!size && has_output && has_number) return;  // numbers only: one element
  if (!size.has_value())
    fail<ArgumentError>(kernel_.label_, ": no array determines the number of elements; pass size=");
  if (*size < 0) fail<ArgumentError>(kernel_.label_, ": expected size >= 0, got ", *size);
  shape_ = Shape{*size};
}

void ElementwiseKernel::Call::make_outputs(std::vector<Array>& allocated) {
  for (std::size_t i = 0; i < operands_.all().size(); ++i) {
    ConvertedArgument& operand = operands_[i];
    if (operand.array != nullptr || !operand.parameter->is_output) continue;
    if (operand.parameter->kind != Parameter::Kind::element)
      fail<KernelArgumentError>(kernel_.label_, ": output '", operand.parameter->name,
                                "' is raw, so its shape is unknown; pass an array for it");
    allocated.push_back(operands_.keep(i, new_output(operands_.dtype_of(*operand.parameter))));
  }
}

Array ElementwiseKernel::Call::new_output(DType dtype) const {
  std::array<const Layout*, max_operands> layouts;
  std::size_t count = 0;
  for (const ConvertedArgument& operand : operands_.all())
    if (operand.is_element()) layouts[count++] = &operand.array->layout();
  return empty_in(result_layout(shape_, std::span(layouts.data(), count)), dtype,
                  operands_.output_device());
}

void ElementwiseKernel::Call::check_outputs() {
  for (std::size_t i = 0; i < operands_.all().size(); ++i) {
    const ConvertedArgument& output = operands_[i];
    if (output.array == nullptr || !output.parameter->is_output) continue;
    operands_.check_output(i, shape_);
    operands_.separate_from(i, /*allows_same_view=*/true);
  }
}

bool ElementwiseKernel::Call::is_flat() const {
  const auto needs_whole_array = [](const ConvertedArgument& operand) {
    return operand.is_element() && operand.parameter->needs_whole_array;
  };
  const auto has_other_layout = [&](const ConvertedArgument& operand) {
    return operand.is_element() &&
           (!operand.array->layout().is_row_major() || operand.array->shape() != shape_);
  };
  return std::ranges::none_of(operands_.all(), needs_whole_array) ||
         std::ranges::none_of(operands_.all(), has_other_layout);
}

void ElementwiseKernel::Call::plan_operands() {
  // The layouts of arrays that are accessed only by element are part of the plan.
  kernel_shape_.is_flat = is_flat();
  if (!kernel_shape_.is_flat) kernel_shape_.axes = std::max(1, shape_.size());
  kernel_shape_.forms.count = operands_.all().size();
  for (std::size_t i = 0; i < kernel_shape_.forms.count; ++i) {
    const ConvertedArgument& operand = operands_[i];
    kernel_shape_.forms[i] = operand.is_element() ? element_form(operand) : raw_form(operand);
  }
  plan_loop();
}

void ElementwiseKernel::Call::plan_loop() {
  loop_.emplace(shape_);
  bool has_elements = false;
  for (const ConvertedArgument& operand : operands_.all()) {
    if (!operand.is_element()) continue;
    loop_->add(*operand.array, role_of(operand, kernel_.outputs_need_memory_));
    has_elements = true;
  }
  if (kernel_.needs_index_ || !has_elements)
    loop_->add_index(index_.emplace(Layout::row_major(shape_)));
  loop_->plan(on_gpu_ ? kernel_.options_
                      : strided::PlanOptions{.max_width = 1, .packs = 1, .is_serial = true});
}

void ElementwiseKernel::Call::run(std::optional<std::int64_t> size, std::vector<Array>& allocated) {
  if (try_plan(size, allocated)) launch();
}

std::string ElementwiseKernel::Call::source(std::optional<std::int64_t> size, bool on_gpu) {
  std::vector<Array> allocated;
  on_gpu_ = on_gpu;
  return try_plan(size, allocated) ? source() : "";
}

std::string ElementwiseKernel::Call::source() const {
  const ElementwiseCode code{kernel_.spec_, kernel_.operation_, kernel_.needs_index_};
  return cuda_source(elementwise_body(code, operands_.all(), kernel_shape_), loop_->shape());
}

const Kernel& ElementwiseKernel::Call::function() {
  const Device device = operands_.device();
  return kernel_.kernels_.get(Variant::Key{kernel_shape_, loop_->shape(), device}, [&] {
    return compiled(kernel_.spec_.common, source(), kernel_.spec_.common.name, device,
                    kernel_.spec_.operation);
  });
}

void ElementwiseKernel::Call::launch() {
  for (const ConvertedArgument& operand : operands_.all())
    if (operand.is_raw())
      order_use(Stream::current(operands_.device()), *operand.array, operand.parameter->is_output);
  ParameterValues values;
  values.add_operands(operands_, kernel_shape_.forms, wants_pointer(), /*has_elements=*/false);
  if (!kernel_shape_.is_flat) values.add_whole_arrays(operands_, shape_);
  values.add(&size_);
  loop_->launch(function(), values.all());
}

}  // namespace spanwise::ops::user_kernels
