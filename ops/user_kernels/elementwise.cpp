// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "elementwise.hpp"

#include <algorithm>
#include <utility>

#include "elementwise_text.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"
#include "spanwise/stream.hpp"
#include "words.hpp"

namespace spanwise::ops::user_kernels {

struct ElementwiseKernel::Plan {
  ElementwiseShape shape;
  Device device;
  Function function;
};

namespace {

bool is_array_parameter(const Parameter& parameter) {
  return parameter.kind != Parameter::Kind::number;
}

}  // namespace

ElementwiseKernel::ElementwiseKernel(ElementwiseSpec spec)
    : spec_(std::move(spec)), who_(checked_who(spec_.common)) {
  const std::string& preamble = spec_.common.preamble;
  const std::string all = text(spec_.loop_prep, "\n", spec_.operation, "\n", spec_.after_loop);
  operation_ = spec_.operation;
  if (spec_.spelling == Spelling::pointers) {
    parameters_ = pointer_parameters(who_, spec_.arguments, preamble);
    const bool has_own_index = declares_index(spec_.operation);
    find_elements(all, has_own_index, parameters_);
    if (!has_own_index)
      operation_ = with_elements_named(spec_.operation, element_names(parameters_));
    inputs_ = parameters_.size();
  } else {
    parameters_ = value_parameters(who_, spec_.in_params, false);
    inputs_ = parameters_.size();
    for (Parameter& output : value_parameters(who_, spec_.out_params, true))
      parameters_.push_back(std::move(output));
    for (Parameter& parameter : parameters_)
      parameter.is_used_whole = parameter.kind == Parameter::Kind::raw;
    require<ArgumentError>(parameters_.size() > inputs_, who_,
                           ": expected outputs such as \"T z\", got none; declare them as the "
                           "second string");
  }
  check_names(who_, parameters_);
  require<ArgumentError>(std::any_of(parameters_.begin(), parameters_.end(), is_array_parameter),
                         who_,
                         ": expected an array among the arguments, got numbers only; declare one "
                         "such as \"float *z\"");
  apiece_ = elementwise_apiece(operation_);
  needs_index_ = has_word(operation_, "i") || has_word(preamble, "i");
}

ElementwiseKernel::~ElementwiseKernel() = default;

class ElementwiseKernel::Call {
 public:
  Call(const ElementwiseKernel& kernel, std::span<const Argument> arguments)
      : kernel_(kernel),
        operands_(kernel.who_, kernel.parameters_, arguments),
        on_gpu_(operands_.device().is_cuda() || kernel.spec_.common.as_on_gpu) {}

  void run(std::optional<std::int64_t> size, std::vector<Array>& made) {
    if (plan(size, made)) launch();
  }

  std::string source(std::optional<std::int64_t> size, bool on_gpu) {
    std::vector<Array> made;
    on_gpu_ = on_gpu;
    return plan(size, made) ? source() : "";
  }

 private:
  // False where there is nothing to do.
  bool plan(std::optional<std::int64_t> size, std::vector<Array>& made) {
    find_shape(size);
    make_outputs(made);
    check_outputs();
    steps_ = Layout{shape_, Strides(shape_.size()), 0}.size();
    if (steps_ > 0) plan_walk();
    return steps_ > 0;
  }

  std::string source() const {
    const ElementwiseWords words{kernel_.spec_, kernel_.operation_, kernel_.needs_index_};
    return elementwise_source(words, operands_.all(), plan_, on_gpu_);
  }

  void find_shape(std::optional<std::int64_t> size) {
    const Shape* first = nullptr;
    bool differ = false;
    for (const Operand& operand : operands_.all()) {
      if (!operand.is_element()) continue;
      if (first == nullptr)
        first = &operand.array->shape();
      else
        differ |= !(*first == operand.array->shape());
    }
    if (first == nullptr || size) return take_size(size, first != nullptr);
    shape_ = differ ? common_shape() : *first;
  }

  void take_size(std::optional<std::int64_t> size, bool has_elements) {
    require<ArgumentError>(!has_elements, kernel_.who_,
                           ": size= is for kernels whose arrays are all raw; the arrays that are "
                           "visited element by element say the size here");
    const bool any_output =
        std::any_of(operands_.all().begin(), operands_.all().end(), [](const Operand& operand) {
          return operand.array == nullptr && operand.parameter->is_output &&
                 operand.parameter->kind == Parameter::Kind::element;
        });
    bool has_values = false;
    for (const Operand& operand : operands_.all())
      has_values |= operand.array == nullptr && !operand.parameter->is_output &&
                    operand.parameter->kind == Parameter::Kind::element;
    if (!size && any_output && has_values) return;  // numbers only: one element
    require<ArgumentError>(size.has_value(), kernel_.who_,
                           ": no array says how many elements there are; pass size=");
    require<ArgumentError>(*size >= 0, kernel_.who_, ": expected size >= 0, got ", *size);
    shape_ = Shape{*size};
  }

  Shape common_shape() const {
    std::vector<Shape> shapes;
    for (const Operand& operand : operands_.all())
      if (operand.is_element()) shapes.push_back(operand.array->shape());
    try {
      return broadcast_shapes(shapes);
    } catch (const LayoutError& error) {
      fail<LayoutError>(kernel_.who_, ": ", error.what());
    }
  }

  void make_outputs(std::vector<Array>& made) {
    for (std::size_t i = 0; i < operands_.all().size(); ++i) {
      Operand& operand = operands_[i];
      if (operand.array != nullptr || !operand.parameter->is_output) continue;
      require<KernelArgumentError>(operand.parameter->kind == Parameter::Kind::element,
                                   kernel_.who_, ": output '", operand.parameter->name,
                                   "' is raw, so nothing says its shape; pass an array for it");
      made.push_back(operands_.keep(i, new_output(operands_.dtype_of(*operand.parameter))));
    }
  }

  Array new_output(DType dtype) const {
    std::array<const Layout*, most_operands> layouts;
    std::size_t count = 0;
    for (const Operand& operand : operands_.all())
      if (operand.is_element()) layouts[count++] = &operand.array->layout();
    Layout layout = result_layout(shape_, std::span(layouts.data(), count));
    if (layout.is_row_major()) return empty(shape_, dtype, operands_.output_device());
    const auto bytes = layout.size() * dtype.itemsize();
    return Array(allocate(static_cast<std::size_t>(bytes), operands_.output_device()),
                 std::move(layout), dtype);
  }

  void check_outputs() {
    for (std::size_t i = 0; i < operands_.all().size(); ++i) {
      const Operand& output = operands_[i];
      if (output.array == nullptr || !output.parameter->is_output) continue;
      const std::string& name = output.parameter->name;
      require<LayoutError>(output.is_raw() || output.array->shape() == shape_, kernel_.who_,
                           ": output '", name, "' has shape ", output.array->shape(),
                           ", expected that of all arrays together, ", shape_,
                           "; pass an array of that shape");
      const Layout& layout = output.array->layout();
      require<LayoutError>(layout.is_row_major() || !layout.may_overlap_itself(), kernel_.who_,
                           ": output '", name,
                           "' has several elements in one place: ", *output.array, "; pass a copy");
      for (std::size_t k = 0; k < operands_.all().size(); ++k)
        if (k != i && operands_[k].array != nullptr) settle_overlap(output, k, k < i);
    }
  }

  void settle_overlap(const Operand& output, std::size_t index, bool seen) {
    const Operand& other = operands_[index];
    if (!may_share_memory(*other.array, *output.array)) return;
    const bool is_same = is_same_window(*other.array, *output.array);
    if (other.parameter->is_output) {
      require<LayoutError>(seen || is_same, kernel_.who_, ": outputs '", output.parameter->name,
                           "' and '", other.parameter->name,
                           "' share memory; pass arrays of their own");
      return;
    }
    if (is_same && !other.parameter->is_used_whole) return;
    operands_.keep(index, copy(*other.array));
  }

  bool all_flat() const {
    for (const Operand& operand : operands_.all())
      if (operand.is_element() &&
          (!operand.array->layout().is_row_major() || !(operand.array->shape() == shape_)))
        return false;
    return true;
  }

  void plan_walk() {
    plan_.count = operands_.all().size();
    plan_.is_flat = all_flat();
    const Walk* walk = nullptr;
    if (!plan_.is_flat) {
      walk = &make_walk();
      // Memory in order, though not in C's: nothing but the index would tell the difference.
      if (walk->is_dense() && !kernel_.needs_index_ && !any_whole_element()) plan_.is_flat = true;
      plan_.rank = plan_.is_flat ? 1 : walk->rank();
      if (!plan_.is_flat && any_whole_element()) plan_.axes = std::max(1, shape_.size());
    }
    plan_.is_large = steps_ > INT32_MAX;
    int index = 0;
    for (std::size_t i = 0; i < plan_.count; ++i) {
      const Operand& operand = operands_[i];
      plan_.forms[i] = operand.is_element()
                           ? element_form(operand, plan_.is_flat ? nullptr : walk, index++)
                           : raw_form(operand);
    }
  }

  bool any_whole_element() const {
    return std::any_of(operands_.all().begin(), operands_.all().end(), [](const Operand& operand) {
      return operand.is_element() && operand.parameter->is_used_whole;
    });
  }

  const Walk& make_walk() {
    std::array<const Layout*, most_operands + 1> layouts;
    std::size_t count = 0;
    int leader = 0;
    for (const Operand& operand : operands_.all()) {
      if (!operand.is_element()) continue;
      if (operand.parameter->is_output) leader = static_cast<int>(count);
      layouts[count++] = &operand.array->layout();
    }
    if (kernel_.needs_index_) layouts[count++] = &index_.emplace(Layout::row_major(shape_));
    return walk_.emplace(shape_, std::span(layouts.data(), count), leader);
  }

  const Function& function() {
    const std::lock_guard lock(kernel_.mutex_);
    auto& plans = kernel_.plans_;
    const auto found = std::find_if(plans.begin(), plans.end(), [&](const Plan& plan) {
      return plan.device == operands_.device() && plan.shape == plan_;
    });
    if (found == plans.begin() && found != plans.end()) return found->function;
    if (found != plans.end()) {
      plans.splice(plans.begin(), plans, found);
    } else {
      plans.push_front({plan_, operands_.device(),
                        compiled(kernel_.spec_.common, source(), kernel_.spec_.common.name,
                                 operands_.device(), kernel_.spec_.operation)});
      kernel_.is_compiled_.store(true, std::memory_order_relaxed);
    }
    return plans.front().function;
  }

  void launch() {
    const Function& kernel = function();
    const Stream stream = Stream::current(operands_.device());
    for (const Operand& operand : operands_.all())
      if (operand.array != nullptr) order_use(stream, *operand.array, operand.parameter->is_output);
    const std::int64_t per_block = !on_gpu_        ? elementwise_chunk
                                   : plan_.is_flat ? kernel_.apiece_ * elementwise_block
                                                   : elementwise_block;
    const std::int64_t blocks = (steps_ - 1) / per_block + 1;
    const std::int64_t grid = on_gpu_ ? std::min(blocks, elementwise_grid) : blocks;
    const LaunchConfig config{{grid, 1, 1}, {on_gpu_ ? elementwise_block : 1, 1, 1}, 0, stream};
    if (is_simple()) return launch_simple(kernel, config, per_block);
    std::vector<KernelArg> arguments;
    arguments.reserve(2 * plan_.count + 3);
    PackedNumbers numbers;
    numbers.reserve(room_for_numbers());
    for (std::size_t i = 0; i < plan_.count; ++i) add_operand(i, arguments, numbers);
    if (!plan_.is_flat) {
      for (const Operand& operand : operands_.all())
        if (operand.is_element() && operand.parameter->is_used_whole)
          arguments.push_back(
              numbers.raw(*operand.array, operand.array->layout().broadcast_to(shape_)));
      arguments.push_back(numbers.walk(*walk_));
    }
    arguments.push_back(KernelArg(steps_));
    if (!on_gpu_) arguments.push_back(KernelArg(per_block));
    kernel.launch(config, arguments);
  }

  // What small arrays feel: each parameter's bytes are where the kernel can take them.
  void launch_simple(const Function& kernel, const LaunchConfig& config,
                     std::int64_t per_block) const {
    std::array<void*, most_operands> addresses;
    std::array<void*, most_operands + 2> values;
    std::size_t count = 0;
    for (; count < plan_.count; ++count) {
      const Operand& operand = operands_[count];
      if (plan_.forms[count].place == OperandForm::Place::value) {
        values[count] = const_cast<void*>(operand.number.data());
      } else {
        addresses[count] = operand.array->data();
        values[count] = &addresses[count];
      }
    }
    std::int64_t steps = steps_;
    values[count++] = &steps;
    if (!on_gpu_) values[count++] = &per_block;
    kernel.launch_raw(config, std::span(values.data(), count));
  }

  // Neither structs nor a walk among the arguments.
  bool is_simple() const {
    if (!plan_.is_flat) return false;
    for (std::size_t i = 0; i < plan_.count; ++i) {
      const auto place = plan_.forms[i].place;
      if (place == OperandForm::Place::dense || place == OperandForm::Place::strided ||
          !operands_[i].bytes.empty())
        return false;
    }
    return true;
  }

  std::size_t room_for_numbers() const {
    std::size_t room = 0;
    for (const Operand& operand : operands_.all())
      if (operand.array != nullptr)
        room +=
            2 * (3 + 2 * static_cast<std::size_t>(std::max(operand.array->rank(), shape_.size())));
    if (walk_)
      room +=
          static_cast<std::size_t>(walk_->rank()) * static_cast<std::size_t>(1 + walk_->operands());
    return room;
  }

  void add_operand(std::size_t i, std::vector<KernelArg>& arguments, PackedNumbers& numbers) const {
    const Operand& operand = operands_[i];
    const auto place = plan_.forms[i].place;
    if (place == OperandForm::Place::value)
      arguments.push_back(value_of(operand));
    else if (place == OperandForm::Place::element ||
             (place == OperandForm::Place::dense && kernel_.spec_.spelling == Spelling::pointers))
      arguments.push_back(address_of(*operand.array));
    else
      arguments.push_back(numbers.raw(*operand.array, operand.array->layout()));
  }

  const ElementwiseKernel& kernel_;
  Operands operands_;
  bool on_gpu_;
  Shape shape_;
  std::int64_t steps_ = 0;
  ElementwiseShape plan_;
  std::optional<Layout> index_;
  std::optional<Walk> walk_;
};

void ElementwiseKernel::operator()(std::span<const Argument> arguments,
                                   std::optional<std::int64_t> size,
                                   std::vector<Array>& made) const {
  require<KernelArgumentError>(arguments.size() == parameters_.size(), who_, ": expected ",
                               parameters_.size(), " arguments, got ", arguments.size());
  Call(*this, arguments).run(size, made);
}

std::string ElementwiseKernel::source(std::span<const Argument> arguments,
                                      std::optional<std::int64_t> size, bool on_gpu) const {
  return Call(*this, arguments).source(size, on_gpu);
}

}  // namespace spanwise::ops::user_kernels
