// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "fused_op.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "../cuda/operation_body.hpp"
#include "../fused/run_program.hpp"
#include "elementwise_op.hpp"
#include "separate_nodes.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/strided/walk.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise::ops {
namespace {

std::vector<bool> numbers_of(const Apply& node) {
  std::vector<bool> is_number;
  const bool any_array = node.output(0).type().rank() > 0;
  for (const Variable& input : node.inputs())
    is_number.push_back(any_array && input.type().rank() == 0);
  return is_number;
}

class FusedThunk final : public Thunk {
 public:
  FusedThunk(std::shared_ptr<const Fused> fused, const Overwrites& overwrites,
             const ThunkContext& context)
      : fused_(std::move(fused)),
        program_(fused_->program),
        overwrites_(overwrites),
        runner_(program_, numbers_of(context.node()), context.device()),
        nodes_(fused_->nodes, context) {
    for (const Variable& input : context.node().inputs()) types_.push_back(input.type());
  }

  bool is_async() const override { return true; }

  std::vector<int> run() override {
    if (const std::optional<Shape> shape = begin()) {
      runner_.run(operands(), results(operands(), *shape));
      return {};
    }
    nodes_.run();
    return {};
  }

  // Finds the operands and their shape; none where the program cannot run.
  std::optional<Shape> begin() {
    nodes_.take_operands();
    // One operation broadcasts its operands in any way.
    if (fused_->nodes.nodes.empty()) return broadcast_shape(operands());
    std::optional<Shape> shape = try_broadcast(operands());
    if (shape && all_as_typed(operands(), *shape) && has_required_extents(operands(), *shape))
      return shape;
    return std::nullopt;
  }
  std::span<const Array* const> operands() const { return nodes_.operands(); }
  const ProgramRunner& runner() const { return runner_; }

 private:
  // None where the shapes do not broadcast: the inputs belong to nodes that do not depend on each
  // other, or to a node that throws when it runs alone.
  static std::optional<Shape> try_broadcast(std::span<const Array* const> inputs) {
    try {
      return broadcast_shape(inputs);
    } catch (const LayoutError&) {
      return std::nullopt;
    }
  }

  // Whether all operations of the program have results of this shape, which the types promise:
  // inputs are broadcast only along axes whose extent is 1 in their type.
  bool all_as_typed(std::span<const Array* const> inputs, const Shape& shape) const {
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      const Shape& input = inputs[i]->shape();
      const int missing = shape.size() - input.size();
      for (int axis = 0; axis < input.size(); ++axis)
        if (input[axis] != shape[axis + missing] && types_[i].shape()[axis] != 1) return false;
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

  // The outputs. Callers keep them only during a call: output_array() reuses memory that nothing
  // else refers to.
  std::vector<Array> results(std::span<const Array* const> inputs, const Shape& shape) {
    const std::vector<Ref<Cell>>& outputs = nodes_.outputs;
    std::array<const Array*, max_program_outputs> reused{};
    if (outputs.size() == 1) {
      for (const Overwrite& pair : overwrites_)
        if (const Array& input = *inputs[at(pair.input)]; may_be_overwritten(input, shape, 0))
          return {outputs[0]->value.emplace(input)};
    }
    const Layout layout = layout_for(inputs, shape);
    if (outputs.size() > 1) find_reused(inputs, layout, reused);
    std::vector<Array> results;
    results.reserve(outputs.size());
    for (std::size_t i = 0; i < outputs.size(); ++i)
      results.push_back(reused[i] != nullptr
                            ? outputs[i]->value.emplace(*reused[i])
                            : output_array(*outputs[i], layout, program_.dtype(program_.outputs[i]),
                                           nodes_.device));
    return results;
  }

  // Finds the inputs whose memory results reuse: all results have one layout, and share no memory.
  void find_reused(std::span<const Array* const> inputs, const Layout& layout,
                   std::array<const Array*, max_program_outputs>& reused) const {
    for (const Overwrite& pair : overwrites_) {
      const Array& input = *inputs[at(pair.input)];
      if (!may_be_overwritten(input, layout.shape, pair.output) ||
          input.layout().strides != layout.strides)
        continue;
      if (std::none_of(reused.begin(), reused.end(), [&](const Array* taken) {
            return taken != nullptr && may_share_memory(*taken, input);
          }))
        reused[at(pair.output)] = &input;
    }
  }

  static std::size_t at(int i) noexcept { return static_cast<std::size_t>(i); }

  // Whether the output may be computed in the input's memory, whose address must be a multiple of
  // the 16 bytes that kernels load and store at once.
  bool may_be_overwritten(const Array& input, const Shape& shape, int output) const {
    return input.shape() == shape && !input.readonly() && input.device() == nodes_.device &&
           input.dtype() == program_.dtype(program_.outputs[at(output)]) &&
           reinterpret_cast<std::uintptr_t>(input.data()) % 16 == 0 &&
           !input.layout().may_overlap_itself();
  }

  static Layout layout_for(std::span<const Array* const> inputs, const Shape& shape) {
    std::array<const Layout*, max_program_inputs> layouts;
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
  Overwrites overwrites_;
  ProgramRunner runner_;
  std::vector<TensorType> types_;
  SeparateNodes nodes_;
};

/// The elements of a program with one output.
class FusedSource final : public ElementSource {
 public:
  FusedSource(std::shared_ptr<const Fused> fused, const ThunkContext& context)
      : program_(fused->program),
        output_(context.output(0)),
        thunk_(std::move(fused), Overwrites(), context) {}

  std::optional<Shape> begin() override {
    const std::optional<Shape> shape = thunk_.begin();
    // The caller reads operands on the host without a stream.
    for (const Array* operand : operands())
      if (runs_on_host(operand->device())) order_host_use(*operand, false);
    return shape;
  }
  std::span<const Array* const> operands() const override { return thunk_.operands(); }
  Array compute_all() override {
    thunk_.run();
    return *output_->value;
  }
  void compute(std::span<const Array* const> operands, const Array& result) const override {
    thunk_.runner().run_on_cpu(operands, std::span(&result, 1));
  }
  std::string cuda_text(std::string_view name) const override {
    std::string all =
        text("namespace ", name, " {\n", operations_text(), program_function(program_, "program"),
             "typedef program::V", program_.outputs[0], " Z;\n");
    std::string parameters, arguments;
    for (std::size_t i = 0; i < program_.inputs.size(); ++i) {
      all += text("typedef program::M", i, " M", i, ";\n");
      parameters += text("const M", i, " a", i, ", ");
      arguments += text("a", i, ", ");
    }
    return text(all, "SW_FN void run(", parameters, "Z& z) { program::run(", arguments,
                "z); }\n}\n");
  }

 private:
  const ElementProgram& program_;
  Ref<Cell> output_;
  FusedThunk thunk_;
};

}  // namespace

std::unique_ptr<Thunk> fused_thunk(std::shared_ptr<const Fused> fused, const Overwrites& overwrites,
                                   const ThunkContext& context) {
  return std::make_unique<FusedThunk>(std::move(fused), overwrites, context);
}

std::unique_ptr<ElementSource> fused_elements(std::shared_ptr<const Fused> fused,
                                              const ThunkContext& context) {
  return std::make_unique<FusedSource>(std::move(fused), context);
}

}  // namespace spanwise::ops
