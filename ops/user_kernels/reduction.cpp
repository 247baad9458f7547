// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduction.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "reduction_text.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"
#include "spanwise/stream.hpp"
#include "words.hpp"

namespace spanwise::ops::user_kernels {

struct ReductionKernel::Plan {
  ReductionShape shape;
  Device device;
  Function run, fold;
};

namespace {

// What the one output of a pointer spelling is called.
constexpr const char* result_name = "sw_out";

// The axes of `layout` for which `wanted` holds.
template <class F>
Layout axes_of(const Layout& layout, F&& wanted) {
  int rank = 0;
  for (int axis = 0; axis < layout.rank(); ++axis) rank += wanted(axis);
  Layout out{Shape(rank), Strides(rank), layout.offset};
  for (int axis = 0, at = 0; axis < layout.rank(); ++axis) {
    if (!wanted(axis)) continue;
    out.shape[at] = layout.shape[axis];
    out.strides[at++] = layout.strides[axis];
  }
  return out;
}

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

ReductionKernel::ReductionKernel(ReductionSpec spec)
    : spec_(std::move(spec)), who_(checked_who(spec_.common)) {
  require<ArgumentError>(!spec_.reduce_expr.empty(), who_,
                         ": expected reduce_expr such as \"a + b\", got nothing");
  const std::string& preamble = spec_.common.preamble;
  map_expr_ = spec_.map_expr;
  if (spec_.spelling == Spelling::pointers) {
    parameters_ = pointer_parameters(who_, spec_.arguments, preamble);
    check_names(who_, parameters_);
    find_elements(spec_.map_expr, false, parameters_);
    for (Parameter& parameter : parameters_) parameter.is_output = false;
    inputs_ = parameters_.size();
    require<ArgumentError>(inputs_ > 0, who_,
                           ": expected arguments such as \"float *x\", got none");
    if (spec_.map_expr.empty()) map_expr_ = parameters_[0].name + "[i]";
    if (spec_.map_expr.empty()) parameters_[0].is_used_whole = false;
    map_expr_ = with_elements_named(map_expr_, element_names(parameters_));
    Parameter result = type_named(who_, spec_.result_type, preamble);
    require<ArgumentError>(result.dtype.has_value(), who_, ": expected dtype_out as a dtype, got '",
                           spec_.result_type, "'");
    result.name = result_name;
    result.is_output = true;
    parameters_.push_back(std::move(result));
  } else {
    parameters_ = value_parameters(who_, spec_.in_params, false);
    inputs_ = parameters_.size();
    for (Parameter& output : value_parameters(who_, spec_.out_params, true))
      parameters_.push_back(std::move(output));
    check_names(who_, parameters_);
    for (Parameter& parameter : parameters_) parameter.is_used_whole = false;
    require<ArgumentError>(inputs_ > 0 && parameters_.size() > inputs_, who_,
                           ": expected inputs and outputs such as \"T x\" and \"T y\"");
    require<ArgumentError>(!map_expr_.empty(), who_,
                           ": expected map_expr such as \"x * x\", got nothing");
    for (std::size_t k = inputs_; k < parameters_.size(); ++k)
      require<ArgumentError>(parameters_[k].kind == Parameter::Kind::element, who_, ": output '",
                             parameters_[k].name, "' is raw; declare it without");
  }
  const std::string type = spec_.reduce_type.empty() ? "" : spec_.reduce_type;
  accumulator_ = type.empty() ? parameters_[inputs_] : type_named(who_, type, preamble);
  accumulator_.name = "reduce_type";
  needs_index_ = has_word(map_expr_, "i") || has_word(preamble, "i");
}

ReductionKernel::~ReductionKernel() = default;

class ReductionKernel::Call {
 public:
  Call(const ReductionKernel& kernel, std::span<const Argument> arguments,
       const ReductionAxes& axes)
      : kernel_(kernel),
        operands_(kernel.who_, kernel.parameters_, arguments),
        axes_(axes),
        on_gpu_(operands_.device().is_cuda() || kernel.spec_.common.as_on_gpu) {}

  void run(std::vector<Array>& made) {
    if (plan(made)) launch();
  }

  std::string source(bool on_gpu) {
    on_gpu_ = on_gpu;
    std::vector<Array> made;
    return plan(made) ? source_text(on_gpu) : "";
  }

 private:
  bool plan(std::vector<Array>& made) {
    find_shape();
    find_results();
    make_outputs(made);
    settle_overlaps();
    if (results_ == 0) return false;
    require<ArgumentError>(length_ > 0 || !kernel_.spec_.identity.empty(), kernel_.who_,
                           ": no elements to reduce in shape ", shape_,
                           ", and no identity; give the kernel one");
    plan_walks();
    return true;
  }

  void find_shape() {
    std::vector<Shape> shapes;
    for (const Operand& operand : operands_.all())
      if (is_input(operand)) shapes.push_back(operand.array->shape());
    require<ArgumentError>(!shapes.empty(), kernel_.who_,
                           ": no array says which elements there are; declare one that is not raw");
    try {
      shape_ = broadcast_shapes(shapes);
    } catch (const LayoutError& error) {
      fail<LayoutError>(kernel_.who_, ": ", error.what());
    }
  }

  static bool is_input(const Operand& operand) {
    return operand.is_element() && !operand.parameter->is_output;
  }
  bool goes(int axis) const { return axes_.all || axes_.axes[static_cast<std::size_t>(axis)]; }

  void find_results() {
    results_ = length_ = 1;
    std::vector<std::int64_t> extents;
    for (int axis = 0; axis < shape_.size(); ++axis) {
      (goes(axis) ? length_ : results_) *= shape_[axis];
      if (!goes(axis))
        extents.push_back(shape_[axis]);
      else if (axes_.keepdims)
        extents.push_back(1);
    }
    result_shape_ = Shape(std::span<const std::int64_t>(extents));
  }

  void make_outputs(std::vector<Array>& made) {
    for (std::size_t i = kernel_.inputs_; i < operands_.all().size(); ++i) {
      Operand& output = operands_[i];
      if (output.array == nullptr) {
        const DType dtype = operands_.dtype_of(*output.parameter);
        made.push_back(operands_.keep(i, empty(result_shape_, dtype, operands_.output_device())));
      }
      require<LayoutError>(output.array->shape() == result_shape_, kernel_.who_,
                           ": expected an output of shape ", result_shape_, ", got ",
                           output.array->shape());
      require<LayoutError>(!output.array->layout().may_overlap_itself(), kernel_.who_,
                           ": the output has several elements in one place: ", *output.array,
                           "; pass a copy");
    }
  }

  void settle_overlaps() {
    for (std::size_t i = kernel_.inputs_; i < operands_.all().size(); ++i)
      for (std::size_t k = 0; k < i; ++k) {
        const Array* other = operands_[k].array;
        if (other == nullptr || !may_share_memory(*other, *operands_[i].array)) continue;
        require<LayoutError>(k < kernel_.inputs_, kernel_.who_,
                             ": outputs share memory; pass arrays of their own");
        operands_.keep(k, copy(*other));
      }
  }

  void plan_walks() {
    std::vector<Layout> kept, gone;
    const auto add = [&](const Layout& layout) {
      kept.push_back(axes_of(layout, [&](int axis) { return !goes(axis); }));
      gone.push_back(axes_of(layout, [&](int axis) { return goes(axis); }));
    };
    for (const Operand& operand : operands_.all())
      if (is_input(operand)) add(operand.array->layout().broadcast_to(shape_));
    const int inputs = static_cast<int>(kept.size());
    for (std::size_t i = kernel_.inputs_; i < operands_.all().size(); ++i)
      kept.push_back(without_kept_ones(operands_[i].array->layout()));
    if (kernel_.needs_index_) add(Layout::row_major(shape_));
    kept_.emplace(kept[0].shape, pointers(kept), inputs);
    gone_.emplace(gone[0].shape, pointers(gone), 0);
    describe();
  }

  // The output's axes that are results: with keepdims, all but those that are gone.
  Layout without_kept_ones(const Layout& layout) const {
    if (!axes_.keepdims) return layout;
    return axes_of(layout, [&](int axis) { return !goes(axis); });
  }

  static std::vector<const Layout*> pointers(const std::vector<Layout>& layouts) {
    std::vector<const Layout*> out;
    for (const Layout& layout : layouts) out.push_back(&layout);
    return out;
  }

  void describe() {
    plan_.count = operands_.all().size();
    plan_.is_large = results_ > INT32_MAX || length_ > INT32_MAX;
    plan_.kept_rank = kept_->rank();
    plan_.gone_rank = gone_->rank();
    if (!kernel_.accumulator_.is_user_type())
      plan_.accumulator = operands_.dtype_of(kernel_.accumulator_);
    plan_.by_columns = !on_gpu_ && are_results_closer() && kept_->extent(kept_->rank() - 1) >= 8;
    const Walk* const inner = plan_.by_columns ? &*kept_ : &*gone_;
    int index = 0;
    for (std::size_t i = 0; i < plan_.count; ++i) {
      const Operand& operand = operands_[i];
      plan_.forms[i] = is_input(operand)      ? element_form(operand, inner, index++)
                       : operand.is_element() ? element_form(operand, nullptr, 0)
                                              : raw_form(operand);
      if (is_input(operand) && operand.parameter->is_used_whole)
        plan_.axes = std::max(1, shape_.size());
    }
    choose_parts();
  }

  // Fixed by shapes and strides alone, so that sums are the same on every machine of a kind.
  void choose_parts() {
    if (on_gpu_)
      choose_parts_of_gpu();
    else
      choose_parts_of_cpu();
    share_ = std::max<std::int64_t>(1, std::max(share_, ceil_div(length_, 65535)));
    parts_ = std::max<std::int64_t>(1, ceil_div(length_, share_));
  }

  // Blocks of some ten thousand elements; where results are few, long ones in parts.
  void choose_parts_of_cpu() {
    constexpr std::int64_t grain = 1 << 15;
    const std::int64_t wide =
        plan_.by_columns ? std::min<std::int64_t>(results_, reduction_columns) : 1;
    apiece_ = std::max<std::int64_t>(wide, grain / std::max<std::int64_t>(1, length_));
    blocks_ = ceil_div(results_, apiece_);
    const bool is_long = length_ > 2 * grain / wide;
    share_ = blocks_ < 16 && is_long ? std::max<std::int64_t>(64, 4 * grain / wide) : length_;
  }

  void choose_parts_of_gpu() {
    plan_.side_by_side = results_ >= 32 && (are_results_closer() || length_ < 128) ? 32 : 1;
    const std::int64_t depth = reduction_block / plan_.side_by_side;
    blocks_ = ceil_div(results_, plan_.side_by_side);
    constexpr std::int64_t enough = 1024;
    const std::int64_t most = std::max<std::int64_t>(1, length_ / (depth * 16));
    share_ = ceil_div(length_, std::clamp<std::int64_t>(enough / blocks_, 1, most));
  }

  // In memory, than the elements of one.
  bool are_results_closer() const {
    const std::int64_t along = std::abs(gone_->stride(gone_->rank() - 1, 0));
    const std::int64_t across = std::abs(kept_->stride(kept_->rank() - 1, 0));
    return across != 0 && across < along;
  }

  std::string source_text(bool on_gpu) const {
    const Parameter& accumulator = kernel_.accumulator_;
    const ReductionWords words{
        kernel_.spec_, kernel_.map_expr_,
        accumulator.is_user_type() ? accumulator.type : c_type(plan_.accumulator),
        kernel_.needs_index_};
    return reduction_source(words, operands_.all(), plan_, on_gpu);
  }

  const Plan& plan_for_launch() {
    const std::lock_guard lock(kernel_.mutex_);
    auto& plans = kernel_.plans_;
    const auto found = std::find_if(plans.begin(), plans.end(), [&](const Plan& plan) {
      return plan.device == operands_.device() && plan.shape == plan_;
    });
    if (found != plans.end()) return *found;
    const std::string source = source_text(on_gpu_);
    const std::string& name = kernel_.spec_.common.name;
    const auto get = [&](const std::string& kernel) {
      return compiled(kernel_.spec_.common, source, kernel, operands_.device(),
                      text(kernel_.spec_.map_expr, "\n", kernel_.spec_.reduce_expr, "\n",
                           kernel_.spec_.post_map_expr));
    };
    plans.push_front({plan_, operands_.device(), get(name), get(name + "_fold")});
    return plans.front();
  }

  void launch() {
    const Plan& plan = plan_for_launch();
    const Stream stream = Stream::current(operands_.device());
    for (const Operand& operand : operands_.all())
      if (operand.array != nullptr) order_use(stream, *operand.array, operand.parameter->is_output);
    std::optional<Array> parts;
    if (parts_ > 1) {
      const std::int64_t bytes = kernel_.accumulator_.is_user_type()
                                     ? largest_accumulator
                                     : std::int64_t{plan_.accumulator.itemsize()};
      parts.emplace(empty(Shape{parts_ * results_ * bytes}, uint8, operands_.device()));
      order_use(stream, *parts, true);
    }
    std::vector<KernelArg> arguments;
    PackedNumbers numbers;
    numbers.reserve(room_for_numbers());
    add_operands(arguments, numbers);
    arguments.push_back(numbers.walk(*kept_));
    arguments.push_back(numbers.walk(*gone_));
    for (const std::int64_t number : {results_, length_, share_, apiece_})
      arguments.push_back(KernelArg(number));
    arguments.push_back(parts ? address_of(*parts) : KernelArg::address(0));
    const std::int64_t threads = on_gpu_ ? reduction_block : 1;
    plan.run.launch({{blocks_, parts_, 1}, {threads, 1, 1}, 0, stream}, arguments);
    if (parts_ == 1) return;
    // The number of parts in the place of the elements', and that in the place of the share.
    const std::size_t at = arguments.size() - 4;
    arguments[at] = KernelArg(parts_);
    arguments[at + 1] = KernelArg(length_);
    const std::int64_t blocks = on_gpu_ ? results_ : blocks_;
    plan.fold.launch({{blocks, 1, 1}, {threads, 1, 1}, 0, stream}, arguments);
  }

  std::size_t room_for_numbers() const {
    std::size_t room = 0;
    for (const Operand& operand : operands_.all())
      if (operand.array != nullptr)
        room +=
            2 * (3 + 2 * static_cast<std::size_t>(std::max(operand.array->rank(), shape_.size())));
    for (const Walk* walk : {&*kept_, &*gone_})
      room +=
          static_cast<std::size_t>(walk->rank()) * static_cast<std::size_t>(1 + walk->operands());
    return room;
  }

  void add_operands(std::vector<KernelArg>& arguments, PackedNumbers& numbers) const {
    for (std::size_t i = 0; i < plan_.count; ++i) {
      const Operand& operand = operands_[i];
      if (operand.array == nullptr)
        arguments.push_back(value_of(operand));
      else if (operand.is_element())
        arguments.push_back(address_of(*operand.array));
      else
        arguments.push_back(numbers.raw(*operand.array, operand.array->layout()));
    }
    for (const Operand& operand : operands_.all())
      if (is_input(operand) && operand.parameter->is_used_whole)
        arguments.push_back(
            numbers.raw(*operand.array, operand.array->layout().broadcast_to(shape_)));
  }

  const ReductionKernel& kernel_;
  Operands operands_;
  const ReductionAxes& axes_;
  bool on_gpu_;
  Shape shape_, result_shape_;
  std::int64_t results_ = 1, length_ = 1;
  std::int64_t parts_ = 1, share_ = 1, apiece_ = 1, blocks_ = 1;
  ReductionShape plan_;
  std::optional<Walk> kept_, gone_;
};

void ReductionKernel::operator()(std::span<const Argument> arguments, const ReductionAxes& axes,
                                 std::vector<Array>& made) const {
  require<KernelArgumentError>(arguments.size() == parameters_.size(), who_, ": expected ",
                               parameters_.size(), " arguments, got ", arguments.size());
  Call(*this, arguments, axes).run(made);
}

std::string ReductionKernel::source(std::span<const Argument> arguments, const ReductionAxes& axes,
                                    bool on_gpu) const {
  return Call(*this, arguments, axes).source(on_gpu);
}

}  // namespace spanwise::ops::user_kernels
