// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "kernel_expressions/expression_parameters.hpp"
#include "kernel_expressions/reduction_source.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise::kernel_expressions {

/// What selects compiled kernels.
struct ReductionKernel::Variant {
  ReductionShape shape;
  Device device;

  friend bool operator==(const Variant&, const Variant&) = default;
};
struct ReductionKernel::Kernels {
  Kernel run, fold;
};

/// One call. try_plan() determines shapes, outputs and the variant, from which the source and the
/// launch follow.
class ReductionKernel::Call {
 public:
  Call(const ReductionKernel& kernel, std::span<const Argument> arguments,
       const ReductionAxes& axes)
      : kernel_(kernel),
        operands_(kernel.label_, kernel.parameters_, arguments),
        axes_(axes),
        on_gpu_(!runs_on_host(operands_.device()) || kernel.spec_.common.use_gpu_code) {}

  void run(std::vector<Array>& allocated);
  std::string source(bool on_gpu);

 private:
  // Returns false if there are no results.
  bool try_plan(std::vector<Array>& allocated);
  void find_shape();
  bool is_reduced(int axis) const {
    return axes_.all || axes_.axes[static_cast<std::size_t>(axis)];
  }
  void find_results();
  void make_outputs(std::vector<Array>& allocated);
  void plan_walks();
  void find_kernel_shape();
  // Depends on shapes and strides alone, so that sums are the same on all devices of a kind.
  void choose_parts();
  // Blocks of about 32,000 elements; long reductions with few results are split into parts.
  void choose_cpu_parts();
  void choose_gpu_parts();
  // Whether adjacent results have a smaller stride in memory than the elements of one result.
  bool are_results_nearer() const;
  std::string source_text(bool on_gpu) const;

  const Kernels& kernels();
  void launch();

  const ReductionKernel& kernel_;
  Operands operands_;
  const ReductionAxes& axes_;
  bool on_gpu_;
  Shape shape_, result_shape_;
  std::int64_t results_ = 1, length_ = 1;  // results, and elements of each
  std::int64_t parts_ = 1, part_length_ = 1, results_per_block_ = 1, blocks_ = 1;
  ReductionShape kernel_shape_;
  std::optional<Walk> kept_, reduced_;  // over the results, and over the elements of one result
};

bool ReductionKernel::Call::try_plan(std::vector<Array>& allocated) {
  find_shape();
  find_results();
  make_outputs(allocated);
  if (results_ == 0) return false;
  if (length_ <= 0 && kernel_.spec_.identity.empty())
    fail<ArgumentError>(kernel_.label_, ": no elements to reduce in shape ", shape_,
                        ", and no identity; give the kernel one");
  plan_walks();
  return true;
}

void ReductionKernel::Call::find_shape() {
  const std::optional<Shape> shape = operands_.broadcast_shape(/*with_outputs=*/false);
  if (!shape)
    fail<ArgumentError>(kernel_.label_,
                        ": no array determines the shape; declare one that is not raw");
  shape_ = *shape;
}

void ReductionKernel::Call::find_results() {
  results_ = length_ = 1;
  std::vector<std::int64_t> extents;
  for (int axis = 0; axis < shape_.size(); ++axis) {
    (is_reduced(axis) ? length_ : results_) *= shape_[axis];
    if (!is_reduced(axis))
      extents.push_back(shape_[axis]);
    else if (axes_.keepdims)
      extents.push_back(1);
  }
  result_shape_ = Shape(std::span<const std::int64_t>(extents));
}

void ReductionKernel::Call::make_outputs(std::vector<Array>& allocated) {
  for (std::size_t i = kernel_.inputs_; i < operands_.all().size(); ++i) {
    ConvertedArgument& output = operands_[i];
    if (output.array == nullptr) {
      const DType dtype = operands_.dtype_of(*output.parameter);
      allocated.push_back(
          operands_.keep(i, empty(result_shape_, dtype, operands_.output_device())));
    }
    operands_.check_output(i, result_shape_);
  }
  for (std::size_t i = kernel_.inputs_; i < operands_.all().size(); ++i)
    operands_.separate_from(i, /*allows_same_view=*/false);
}

// A walk leaves out the axes of extent 1.
void ReductionKernel::Call::plan_walks() {
  Shape kept_shape = shape_, reduced_shape = shape_;
  for (int axis = 0; axis < shape_.size(); ++axis)
    (is_reduced(axis) ? kept_shape : reduced_shape)[axis] = 1;
  std::vector<const Layout*> reduced, kept;
  for (const ConvertedArgument& operand : operands_.all())
    if (operand.is_input_element()) reduced.push_back(&operand.array->layout());
  const Layout index = Layout::row_major(shape_);
  if (kernel_.needs_index_) reduced.push_back(&index);
  kept = reduced;
  std::vector<Layout> outputs;
  for (std::size_t i = kernel_.inputs_; i < operands_.all().size(); ++i) {
    Layout& output = outputs.emplace_back(operands_[i].array->layout());
    for (int axis = 0; axis < shape_.size() && !axes_.keepdims; ++axis)
      if (is_reduced(axis)) output = output.expand(axis);
  }
  for (const Layout& output : outputs) kept.push_back(&output);
  kept_.emplace(kept_shape, kept, static_cast<int>(reduced.size()));
  reduced_.emplace(reduced_shape, reduced, 0);
  find_kernel_shape();
}

void ReductionKernel::Call::find_kernel_shape() {
  kernel_shape_.forms.count = operands_.all().size();
  kernel_shape_.is_large = results_ > INT32_MAX || length_ > INT32_MAX;
  kernel_shape_.kept_rank = kept_->rank();
  kernel_shape_.reduced_rank = reduced_->rank();
  if (!kernel_.accumulator_.is_user_type())
    kernel_shape_.accumulator = operands_.dtype_of(kernel_.accumulator_);
  kernel_shape_.by_columns =
      !on_gpu_ && are_results_nearer() && kept_->extent(kept_->rank() - 1) >= 8;
  const Walk* const inner = kernel_shape_.by_columns ? &*kept_ : &*reduced_;
  int index = 0;
  for (std::size_t i = 0; i < kernel_shape_.forms.count; ++i) {
    const ConvertedArgument& operand = operands_[i];
    kernel_shape_.forms[i] = operand.is_input_element() ? element_form(operand, inner, index++)
                             : operand.is_element()     ? element_form(operand)
                                                        : raw_form(operand);
    if (operand.is_input_element() && operand.parameter->needs_whole_array)
      kernel_shape_.axes = std::max(1, shape_.size());
  }
  choose_parts();
}

void ReductionKernel::Call::choose_parts() {
  if (on_gpu_)
    choose_gpu_parts();
  else
    choose_cpu_parts();
  constexpr std::int64_t max_parts = 65535;  // the largest gridDim.y
  part_length_ = std::max<std::int64_t>({1, part_length_, ceil_div(length_, max_parts)});
  parts_ = std::max<std::int64_t>(1, ceil_div(length_, part_length_));
}

void ReductionKernel::Call::choose_cpu_parts() {
  constexpr std::int64_t grain = 1 << 15;  // elements of a block
  const std::int64_t width =
      kernel_shape_.by_columns ? std::min<std::int64_t>(results_, reduction_columns) : 1;
  results_per_block_ = std::max<std::int64_t>(width, grain / std::max<std::int64_t>(1, length_));
  blocks_ = ceil_div(results_, results_per_block_);
  const bool is_long = length_ > 2 * grain / width;
  part_length_ = blocks_ < 16 && is_long ? std::max<std::int64_t>(64, 4 * grain / width) : length_;
}

void ReductionKernel::Call::choose_gpu_parts() {
  kernel_shape_.adjacent_results =
      results_ >= 32 && (are_results_nearer() || length_ < 128) ? 32 : 1;
  const std::int64_t depth = reduction_threads / kernel_shape_.adjacent_results;
  blocks_ = ceil_div(results_, kernel_shape_.adjacent_results);
  constexpr std::int64_t enough_blocks = 1024;
  const std::int64_t max_parts = std::max<std::int64_t>(1, length_ / (depth * 16));
  part_length_ = ceil_div(length_, std::clamp<std::int64_t>(enough_blocks / blocks_, 1, max_parts));
}

bool ReductionKernel::Call::are_results_nearer() const {
  const std::int64_t along = std::abs(reduced_->stride(reduced_->rank() - 1, 0));
  const std::int64_t across = std::abs(kept_->stride(kept_->rank() - 1, 0));
  return across != 0 && across < along;
}

void ReductionKernel::Call::run(std::vector<Array>& allocated) {
  if (try_plan(allocated)) launch();
}

std::string ReductionKernel::Call::source(bool on_gpu) {
  on_gpu_ = on_gpu;
  std::vector<Array> allocated;
  return try_plan(allocated) ? source_text(on_gpu) : "";
}

std::string ReductionKernel::Call::source_text(bool on_gpu) const {
  const Parameter& accumulator = kernel_.accumulator_;
  const ReductionCode code{
      kernel_.spec_, kernel_.map_expr_,
      accumulator.is_user_type() ? accumulator.type : c_type(kernel_shape_.accumulator),
      kernel_.needs_index_};
  return reduction_source(code, operands_.all(), kernel_shape_, on_gpu);
}

const ReductionKernel::Kernels& ReductionKernel::Call::kernels() {
  return kernel_.kernels_.get({kernel_shape_, operands_.device()}, [&] {
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
                                   : std::int64_t{kernel_shape_.accumulator.itemsize()};
    parts.emplace(empty(Shape{parts_ * results_ * bytes}, uint8, operands_.device()));
    order_use(stream, *parts, true);
  }
  // The fold combines parts_ elements per result; its part length argument is the number of
  // elements.
  std::int64_t length = length_, part_length = part_length_;
  ParameterValues values;
  values.add_operands(operands_, kernel_shape_.forms, false, /*has_elements=*/true);
  values.add_whole_arrays(operands_, shape_);
  values.add_walk(*kept_);
  values.add_walk(*reduced_);
  for (const std::int64_t* number : {&results_, &length, &part_length, &results_per_block_})
    values.add(number);
  if (parts)
    values.add_address(*parts);
  else
    values.add_null();
  const std::int64_t threads = on_gpu_ ? reduction_threads : 1;
  const auto launch_kernel = [&](const Kernel& kernel, std::int64_t blocks, std::int64_t rows) {
    kernel_.variables_.around(kernel, [&] {
      kernel.launch_raw({{blocks, rows, 1}, {threads, 1, 1}, 0, stream}, values.all());
    });
  };
  try {
    launch_kernel(run, blocks_, parts_);
    if (parts_ == 1) return;
    length = parts_;
    part_length = length_;
    launch_kernel(fold, on_gpu_ ? results_ : blocks_, 1);
  } catch (const KernelFaultError& error) {
    throw KernelFaultError(with_operand_names(error.what(), operands_));
  }
}

ReductionKernel::ReductionKernel(ReductionSpec spec)
    : spec_(std::move(spec)), label_(checked_label(spec_.common)) {
  if (spec_.reduce_expr.empty())
    fail<ArgumentError>(label_, ": expected reduce_expr such as \"a + b\", got nothing");
  const std::string& preamble = spec_.common.preamble;
  map_expr_ = spec_.map_expr;
  if (spec_.style == ParameterStyle::pointers) {
    parameters_ = pointer_parameters(label_, spec_.arguments, preamble);
    check_names(label_, parameters_);
    find_elements(spec_.map_expr, false, parameters_);
    for (Parameter& parameter : parameters_) parameter.is_output = false;
    inputs_ = parameters_.size();
    if (inputs_ == 0)
      fail<ArgumentError>(label_, ": expected arguments such as \"float *x\", got none");
    if (map_expr_.empty()) {
      map_expr_ = parameters_[0].name + "[i]";
      parameters_[0].needs_whole_array = false;
    }
    map_expr_ = replace_element_accesses(map_expr_, element_names(parameters_));
    Parameter result = parse_type(label_, spec_.result_type, preamble);
    if (!result.dtype.has_value())
      fail<ArgumentError>(label_, ": expected dtype_out as a dtype, got '", spec_.result_type,
                          "'; pass one such as \"float32\"");
    result.name = "sw_out";
    result.is_output = true;
    result.needs_whole_array = false;
    parameters_.push_back(std::move(result));
  } else {
    parameters_ = value_parameters(label_, spec_.in_params, spec_.out_params);
    check_names(label_, parameters_);
    for (Parameter& parameter : parameters_) {
      parameter.needs_whole_array = false;
      inputs_ += parameter.is_output ? 0 : 1;
    }
    if (inputs_ == 0 || parameters_.size() == inputs_)
      fail<ArgumentError>(label_, ": expected inputs and outputs such as \"T x\" and \"T y\", got ",
                          inputs_, " inputs and ", parameters_.size() - inputs_, " outputs");
    if (map_expr_.empty())
      fail<ArgumentError>(label_, ": expected map_expr such as \"x * x\", got nothing");
    for (std::size_t k = inputs_; k < parameters_.size(); ++k)
      if (parameters_[k].kind != Parameter::Kind::element)
        fail<ArgumentError>(label_, ": output '", parameters_[k].name,
                            "' is raw; declare it without raw");
  }
  accumulator_ = spec_.reduce_type.empty() ? parameters_[inputs_]
                                           : parse_type(label_, spec_.reduce_type, preamble);
  accumulator_.name = "reduce_type";
  needs_index_ = has_token(map_expr_, "i") || has_token(preamble, "i");
}

ReductionKernel::~ReductionKernel() = default;

void ReductionKernel::operator()(std::span<const Argument> arguments, const ReductionAxes& axes,
                                 std::vector<Array>& allocated) const {
  Call(*this, arguments, axes).run(allocated);
}

std::string ReductionKernel::source(std::span<const Argument> arguments, const ReductionAxes& axes,
                                    bool on_gpu) const {
  return Call(*this, arguments, axes).source(on_gpu);
}

}  // namespace spanwise::kernel_expressions
