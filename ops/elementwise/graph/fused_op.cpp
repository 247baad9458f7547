// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "fused_op.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "../element_program.hpp"
#include "../elementwise_body.hpp"
#include "elementwise_op.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/strided/walk.hpp"

namespace spanwise::ops {

std::span<const Array* const> SeparateNodes::take_operands() {
  for (std::size_t i = 0; i < inputs_.size(); ++i)
    operands_[i] = &on_device_or_number(*inputs_[i]->value, device, moved_[i]);
  return operands_;
}

void SeparateNodes::make_thunks() {
  std::unordered_map<Variable, Ref<Cell>> cells;
  for (std::size_t i = 0; i < inputs_.size(); ++i) cells.emplace(fused_.inputs[i], inputs_[i]);
  for (const Ref<Apply>& node : fused_.nodes) {
    std::vector<Ref<Cell>> node_inputs, node_outputs;
    for (const Variable& input : node->inputs()) node_inputs.push_back(cells.at(input));
    for (const Variable& output : node->outputs()) {
      node_outputs.push_back(cells_.emplace_back(make_ref<Cell>()));
      cells.emplace(output, cells_.back());
    }
    std::vector<bool> recyclable(node_outputs.size(), false);
    const ThunkContext context(*node, device, std::move(node_inputs), std::move(node_outputs),
                               std::move(recyclable));
    thunks_.push_back(node->op().make_thunk(context));
  }
  for (const Variable& output : fused_.outputs) results_.push_back(cells.at(output));
}

void SeparateNodes::run() {
  if (thunks_.empty()) make_thunks();
  for (const std::unique_ptr<Thunk>& thunk : thunks_) thunk->run();
  for (std::size_t i = 0; i < outputs.size(); ++i) outputs[i]->value = copy(*results_[i]->value);
  for (const Ref<Cell>& cell : cells_) cell->value.reset();
}

namespace {

/// An output that may be computed in the memory of an input.
struct Overwrite {
  int output, input;
  friend bool operator==(const Overwrite&, const Overwrite&) = default;
};
using Overwrites = std::vector<Overwrite>;

/// A program compiled for one device, to be run many times. One thread at a time.
class ProgramRunner {
 public:
  /// Inputs with `is_number` have one element at each run. `program` must outlive the runner.
  ProgramRunner(const ElementProgram& program, const std::vector<bool>& is_number, Device device) {
    if (!runs_on_host(device))
      cuda_program_.emplace(program);
    else
      cpu_program_.emplace(program, is_number);
  }
  ProgramRunner(const ProgramRunner&) = delete;
  ProgramRunner& operator=(const ProgramRunner&) = delete;

  /// Computes the outputs, which have one layout, from inputs that broadcast to their shape. Any
  /// layouts; inputs and outputs may share memory in any way, outputs not with each other. On a GPU
  /// the work is queued on the current stream.
  void run(std::span<const Array* const> inputs, std::span<const Array> outputs) {
    std::array<const Array*, max_program_inputs> separate;
    std::vector<Array> copies;
    copies.reserve(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      separate[i] = inputs[i];
      if (std::ranges::any_of(
              outputs, [&](const Array& output) { return overlaps_partially(*inputs[i], output); }))
        separate[i] = &copies.emplace_back(copy(*inputs[i]));
      if (cpu_program_) order_host_use(*separate[i], false);
    }
    const std::span<const Array* const> all(separate.data(), inputs.size());
    if (cuda_program_) return cuda_program_->run(all, outputs);
    for (const Array& output : outputs) order_host_use(output, true);
    cpu_program_->run(all, outputs);
  }
  /// On the CPU: CpuProgram::run(). Threads may call it at the same time.
  void run_on_cpu(std::span<const Array* const> inputs, std::span<const Array> outputs) const {
    cpu_program_->run(inputs, outputs);
  }

 private:
  std::optional<CpuProgram> cpu_program_;
  std::optional<CudaProgram> cuda_program_;
};

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

// The program's text; the beginning of a long one.
std::string abbreviated_text(const ElementProgram& program) {
  constexpr std::size_t max_length = 400;
  std::string whole = program.text();
  if (whole.size() <= max_length) return whole;
  return text(whole.substr(0, max_length), "... (", program.steps.size(), " operations)");
}

bool includes_files(const ProgramStep& step) {
  return step.body && step.body.element_body->preamble.find("#include") != std::string::npos;
}

class FusedOp final : public Op, public ElementProducer {
 public:
  explicit FusedOp(std::shared_ptr<const Fused> fused, Overwrites overwrites = {})
      : fused_(std::move(fused)), program_(fused_->program), overwrites_(std::move(overwrites)) {
    name_ = "Composite{" + abbreviated_text(program_) + "}";
    // Theano's way to write that output k overwrites input i.
    std::string pairs;
    for (const Overwrite& pair : overwrites_)
      pairs += text(pairs.empty() ? "" : ", ", "(", pair.output, ", ", pair.input, ")");
    if (!pairs.empty()) name_ += "[" + pairs + "]";
  }

  const Fused* fused() const { return overwrites_.empty() ? fused_.get() : nullptr; }
  std::string name() const override { return name_; }
  bool equals(const Op& other) const override {
    const auto* same = dynamic_cast<const FusedOp*>(&other);
    return same != nullptr && same->overwrites_ == overwrites_ && same->program_ == program_ &&
           same->fused_->required == fused_->required;
  }
  std::size_t hash() const override { return program_.hash(); }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    expect_arity(*this, inputs, static_cast<int>(program_.inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i)
      if (inputs[i].type().dtype() != program_.inputs[i])
        fail<DTypeError>(name_, ": expected an input ", i, " of dtype ", program_.inputs[i],
                         ", got ", inputs[i].type().dtype());
    const Shape shape = broadcast_types(name_, inputs);
    std::vector<Variable> outputs;
    for (const int value : program_.outputs)
      outputs.emplace_back(TensorType(program_.dtype(value), shape, common_device(*this, inputs)));
    return Apply::make(Ref<const Op>(this), {inputs.begin(), inputs.end()}, std::move(outputs));
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return std::make_unique<FusedThunk>(fused_, overwrites_, context);
  }
  // A reduction's kernel has the program in a namespace, where no file can be included.
  bool has_element_source() const override {
    return program_.outputs.size() == 1 && overwrites_.empty() &&
           std::none_of(program_.steps.begin(), program_.steps.end(), includes_files);
  }
  std::unique_ptr<ElementSource> element_source(const ThunkContext& context) const override {
    return std::make_unique<FusedSource>(fused_, context);
  }
  AliasMap destroy_map() const override {
    AliasMap map;
    for (const Overwrite& pair : overwrites_) map[pair.output] = {pair.input};
    return map;
  }
  Ref<const Op> overwriting(int input) const override {
    const DType dtype = program_.inputs[static_cast<std::size_t>(input)];
    for (int k = 0; k < static_cast<int>(program_.outputs.size()); ++k) {
      const bool is_taken = std::any_of(overwrites_.begin(), overwrites_.end(),
                                        [&](const Overwrite& pair) { return pair.output == k; });
      if (is_taken || program_.dtype(program_.outputs[static_cast<std::size_t>(k)]) != dtype)
        continue;
      Overwrites more = overwrites_;
      more.push_back({k, input});
      return make_ref<const FusedOp>(fused_, std::move(more));
    }
    return {};
  }
  bool allows_aliased_inplace() const override { return true; }
  bool takes_host_scalars() const override { return true; }
  std::vector<ExtentSource> extent_sources(const Apply& node, int, int axis) const override {
    return broadcast_sources(node.inputs(), node.output(0).type().rank() - axis);
  }

 private:
  std::shared_ptr<const Fused> fused_;
  const ElementProgram& program_;
  Overwrites overwrites_;
  std::string name_;
};

}  // namespace

std::unique_ptr<ElementSource> fused_elements(std::shared_ptr<const Fused> fused,
                                              const ThunkContext& context) {
  return std::make_unique<FusedSource>(std::move(fused), context);
}

std::unique_ptr<Thunk> fused_thunk(std::shared_ptr<const Fused> fused,
                                   const ThunkContext& context) {
  return std::make_unique<FusedThunk>(std::move(fused), Overwrites(), context);
}

const Fused* fused_of(const Op& op) {
  const auto* fused_op = dynamic_cast<const FusedOp*>(&op);
  return fused_op == nullptr ? nullptr : fused_op->fused();
}

Ref<const Op> fused_op(ElementProgram program, std::vector<RequiredExtent> required,
                       FusedNodes nodes) {
  return make_ref<const FusedOp>(std::make_shared<const Fused>(
      Fused{std::move(program), std::move(required), std::move(nodes)}));
}

}  // namespace spanwise::ops
