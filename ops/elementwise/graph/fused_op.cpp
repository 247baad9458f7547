// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "fused_op.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>

#include "../fused/run_program.hpp"
#include "elementwise_op.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/creation.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops {
namespace {

constexpr int overwrites_none = -1;

std::vector<bool> numbers_of(const Apply& node) {
  std::vector<bool> is_number;
  const bool any_array = node.output(0).type().rank() > 0;
  for (const Variable& input : node.inputs())
    is_number.push_back(any_array && input.type().rank() == 0);
  return is_number;
}

/// What the nodes of one op share.
struct Fused {
  ElementProgram program;
  std::vector<RequiredExtent> required;
  FusedNodes nodes;
};

/// The nodes that a program stands for, as thunks of their own.
class SeparateNodes {
 public:
  SeparateNodes(const FusedNodes& fused, std::span<const Ref<Cell>> inputs, Device device) {
    std::unordered_map<Variable, Ref<Cell>> cells;
    for (std::size_t i = 0; i < inputs.size(); ++i) cells.emplace(fused.inputs[i], inputs[i]);
    for (const Ref<Apply>& node : fused.nodes) {
      std::vector<Ref<Cell>> own_inputs;
      for (const Variable& input : node->inputs()) own_inputs.push_back(cells.at(input));
      cells_.push_back(make_ref<Cell>());
      cells.emplace(node->output(0), cells_.back());
      const ThunkContext context(*node, device, std::move(own_inputs), {cells_.back()}, {false});
      thunks_.push_back(node->op().make_thunk(context));
    }
    for (const Variable& output : fused.outputs) outputs_.push_back(cells.at(output));
  }

  /// The outputs, which share memory with nothing else.
  void run(std::span<const Ref<Cell>> outputs) {
    for (const std::unique_ptr<Thunk>& thunk : thunks_) thunk->run();
    for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i]->value = copy(*outputs_[i]->value);
    for (const Ref<Cell>& cell : cells_) cell->value.reset();
  }

 private:
  std::vector<Ref<Cell>> cells_, outputs_;
  std::vector<std::unique_ptr<Thunk>> thunks_;
};

class FusedThunk final : public Thunk {
 public:
  FusedThunk(std::shared_ptr<const Fused> fused, int overwritten, const ThunkContext& context)
      : fused_(std::move(fused)),
        program_(fused_->program),
        overwritten_(overwritten),
        device_(context.device()),
        runner_(program_, numbers_of(context.node()), device_),
        moved_(program_.inputs.size()) {
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      inputs_.push_back(context.input(static_cast<int>(i)));
      types_.push_back(context.node().inputs()[i].type());
    }
    for (std::size_t i = 0; i < program_.outputs.size(); ++i)
      outputs_.push_back(context.output(static_cast<int>(i)));
  }

  bool is_async() const override { return true; }

  std::vector<int> run() override {
    std::array<const Array*, most_inputs> arrays;
    for (std::size_t i = 0; i < inputs_.size(); ++i) arrays[i] = &here(i);
    const std::span<const Array* const> inputs(arrays.data(), inputs_.size());
    const std::optional<Shape> found = common(inputs);
    if (!found || !all_as_typed(inputs, *found) || !has_required_extents(inputs, *found)) {
      if (separate_ == nullptr)
        separate_ = std::make_unique<SeparateNodes>(fused_->nodes, inputs_, device_);
      separate_->run(outputs_);
      return {};
    }
    runner_.run(inputs, results(inputs, *found));
    return {};
  }

 private:
  const Array& here(std::size_t i) {
    return on_device_or_number(*inputs_[i]->value, device_, moved_[i]);
  }

  // None where the inputs do not fit each other: those of nodes that do not depend on each other,
  // or of a node that then throws when it runs alone.
  static std::optional<Shape> common(std::span<const Array* const> inputs) {
    const Array* first = nullptr;
    bool differ = false;
    for (const Array* input : inputs) {
      if (input->rank() == 0) continue;
      if (first == nullptr)
        first = input;
      else
        differ |= input->shape() != first->shape();
    }
    if (first == nullptr) return Shape();
    if (!differ) return first->shape();
    std::vector<Shape> shapes;
    for (const Array* input : inputs) shapes.push_back(input->shape());
    try {
      return broadcast_shapes(shapes);
    } catch (const LayoutError&) {
      return std::nullopt;
    }
  }

  // Whether all operations of the program have results of this shape: an extent is 1 only where the
  // type says so.
  bool all_as_typed(std::span<const Array* const> inputs, const Shape& shape) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Shape& own = inputs[i]->shape();
      const int skipped = shape.size() - own.size();
      for (int axis = 0; axis < own.size(); ++axis)
        if (own[axis] != shape[axis + skipped] && types_[i].shape()[axis] != 1) return false;
    }
    return true;
  }

  bool has_required_extents(std::span<const Array* const> inputs, const Shape& shape) const {
    return std::all_of(
        fused_->required.begin(), fused_->required.end(), [&](const RequiredExtent& required) {
          const std::int64_t extent =
              required.input < 0
                  ? required.fixed
                  : item(*inputs[static_cast<std::size_t>(required.input)]).as_int64();
          return shape[required.axis] == extent;
        });
  }

  // Only during a call: another reference would keep the buffers from being used again.
  std::vector<Array> results(std::span<const Array* const> inputs, const Shape& shape) {
    if (overwritten_ != overwrites_none) {
      const Array& input = *inputs[static_cast<std::size_t>(overwritten_)];
      if (may_be_overwritten(input, shape)) return {outputs_[0]->value.emplace(input)};
    }
    const Layout layout = layout_for(inputs, shape);
    std::vector<Array> results;
    results.reserve(outputs_.size());
    for (std::size_t i = 0; i < outputs_.size(); ++i)
      results.push_back(
          array_in(*outputs_[i], layout, program_.dtype(program_.outputs[i]), device_));
    return results;
  }

  // Whether the input serves as the result.
  bool may_be_overwritten(const Array& input, const Shape& shape) const {
    return input.shape() == shape && !input.readonly() && input.device() == device_ &&
           input.dtype() == program_.dtype(program_.outputs[0]) &&
           reinterpret_cast<std::uintptr_t>(input.data()) % 16 == 0 &&
           !input.layout().may_overlap_itself();
  }

  static Layout layout_for(std::span<const Array* const> inputs, const Shape& shape) {
    std::array<const Layout*, most_inputs> layouts;
    bool is_row_major = true;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      layouts[i] = &inputs[i]->layout();
      is_row_major &= inputs[i]->rank() == 0 || layouts[i]->is_row_major();
    }
    if (is_row_major) return Layout::row_major(shape);
    return result_layout(shape, std::span(layouts.data(), inputs.size()));
  }

  std::shared_ptr<const Fused> fused_;
  const ElementProgram& program_;
  int overwritten_;
  Device device_;
  ProgramRunner runner_;
  std::vector<Ref<Cell>> inputs_, outputs_;
  std::vector<TensorType> types_;
  std::vector<std::optional<Array>> moved_;
  std::unique_ptr<SeparateNodes> separate_;  // made when they are needed
};

// The program's text; the beginning of a long one.
std::string shown(const ElementProgram& program) {
  constexpr std::size_t longest = 400;
  const std::string whole = program.text();
  if (whole.size() <= longest) return whole;
  return text(whole.substr(0, longest), "... (", program.steps.size(), " operations)");
}

class FusedOp final : public Op {
 public:
  explicit FusedOp(std::shared_ptr<const Fused> fused, int overwritten = overwrites_none)
      : fused_(std::move(fused)), program_(fused_->program), overwritten_(overwritten) {
    name_ = "Composite{" + shown(program_) + "}";
    // Theano's way to write that output 0 overwrites input i.
    if (overwritten_ != overwrites_none) name_ += text("[(0, ", overwritten_, ")]");
  }

  std::string name() const override { return name_; }
  bool equals(const Op& other) const override {
    const auto* same = dynamic_cast<const FusedOp*>(&other);
    return same != nullptr && same->overwritten_ == overwritten_ && same->program_ == program_ &&
           same->fused_->required == fused_->required;
  }
  std::size_t hash() const override { return program_.hash(); }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, static_cast<int>(program_.inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].type().dtype() != program_.inputs[i])
        fail<DTypeError>(name_, ": expected an input ", i, " of dtype ", program_.inputs[i],
                         ", got ", inputs[i].type().dtype());
    const Shape shape = broadcast_static(name_, inputs);
    std::vector<Variable> outputs;
    for (const int value : program_.outputs)
      outputs.emplace_back(TensorType(program_.dtype(value), shape, common_device(*this, inputs)));
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()}, std::move(outputs));
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return std::make_unique<FusedThunk>(fused_, overwritten_, context);
  }
  AliasMap destroy_map() const override {
    if (overwritten_ == overwrites_none) return {};
    return {{0, {overwritten_}}};
  }
  Ref<const Op> overwriting(int input) const override {
    return program_.outputs.size() == 1 ? make_ref<const FusedOp>(fused_, input) : Ref<const Op>();
  }
  bool allows_aliased_inplace() const override { return true; }
  bool takes_host_scalars() const override { return true; }
  std::vector<ExtentSource> extent_sources(const Apply& node, int, int axis) const override {
    return broadcast_sources(node.inputs(), node.output(0).type().rank() - axis);
  }

 private:
  std::shared_ptr<const Fused> fused_;
  const ElementProgram& program_;
  int overwritten_;
  std::string name_;
};

}  // namespace

Ref<const Op> fused_op(ElementProgram program, std::vector<RequiredExtent> required,
                       FusedNodes nodes) {
  return make_ref<const FusedOp>(std::make_shared<const Fused>(
      Fused{std::move(program), std::move(required), std::move(nodes)}));
}

}  // namespace spanwise::ops
