// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <array>
#include <mutex>
#include <utility>

#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/graph/elementwise.hpp"
#include "spanwise/graph/op.hpp"
#include "spanwise/runtime/copy.hpp"

// What ops and thunks do by default, and the op that transfers its input to a device.
namespace spanwise {
namespace {

class CallableThunk final : public Thunk {
 public:
  CallableThunk(std::function<void()> run, bool is_async)
      : run_(std::move(run)), is_async_(is_async) {}
  std::vector<int> run() override {
    run_();
    return {};
  }
  bool is_async() const override { return is_async_; }

 private:
  std::function<void()> run_;
  bool is_async_;
};

// One mutex for all ops: recipes are set once and only read when graphs are serialised.
Mutex& recipe_mutex() {
  static NeverDestroyed<Mutex> mutex;
  return *mutex;
}

}  // namespace

Thunk::~Thunk() = default;

Ref<const Op> Op::overwriting(int) const { return {}; }
bool Op::foldable(const Apply&) const { return true; }
bool Op::reads_only_shape(int) const { return false; }
std::optional<InputCondition> Op::needed_if(int) const { return std::nullopt; }
std::vector<ExtentSource> Op::extent_sources(const Apply&, int, int) const { return {}; }

Variable Op::inferred_extent(const Apply&, int, int) const { return {}; }
std::vector<int> Op::moved_inputs(const Apply&) const { return {}; }
bool Op::connects(const Apply&, int input, int) const { return !reads_only_shape(input); }

std::vector<Cotangent> Op::gradient(const Apply& node, std::span<const Cotangent>) const {
  return std::vector<Cotangent>(node.inputs().size(),
                                Cotangent::undefined("the op defines no gradient"));
}

std::vector<Variable> Op::operator()(std::span<const Variable> inputs) const {
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (!inputs[i]) fail<GraphError>(name(), ": input ", i, " names no variable");
  const Ref<Apply> node = make_node(inputs);
  if (!node) fail<GraphError>(name(), ": make_node returned no Apply");
  return node->outputs();
}

std::shared_ptr<const OpRecipe> Op::recipe() const {
  const std::lock_guard lock(recipe_mutex());
  return recipe_;
}

void Op::set_recipe(OpRecipe recipe) const {
  const std::lock_guard lock(recipe_mutex());
  if (recipe_ == nullptr) recipe_ = std::make_shared<const OpRecipe>(std::move(recipe));
}

std::unique_ptr<Thunk> make_thunk(std::function<void()> run) {
  return std::make_unique<CallableThunk>(std::move(run), false);
}

std::unique_ptr<Thunk> make_async_thunk(std::function<void()> run, bool is_async) {
  return std::make_unique<CallableThunk>(std::move(run), is_async);
}

// Out of line, so that the vtables are emitted in this library only.
HasElementBody::~HasElementBody() = default;
ElementSource::~ElementSource() = default;
ElementProducer::~ElementProducer() = default;
ElementConsumer::~ElementConsumer() = default;

namespace {

class Transfer final : public Op {
 public:
  explicit Transfer(Device target) : target_(target) {}

  std::string name() const override { return text("Transfer{", target_, "}"); }
  // The output shares the input's memory where that is on the target already.
  AliasMap view_map() const override { return {{0, {0}}}; }
  std::vector<int> moved_inputs(const Apply&) const override { return {0}; }
  bool equals(const Op& other) const override { return transfer_target(other) == target_; }
  std::size_t hash() const override { return std::hash<std::string>()(name()); }

  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    if (inputs.size() != 1) fail<GraphError>(name(), ": expected 1 input, got ", inputs.size());
    const TensorType& type = inputs[0].type();
    return Apply::make(Ref<const Op>(this), {inputs[0]},
                       {Variable(TensorType(type.dtype(), type.shape(), target_))});
  }

  std::vector<ExtentSource> extent_sources(const Apply&, int, int axis) const override {
    return {{0, axis}};
  }
  std::vector<Cotangent> gradient(const Apply& node,
                                  std::span<const Cotangent> outputs) const override {
    const std::optional<Device> source_device = node.inputs()[0].type().device();
    if (!source_device) return {outputs[0]};
    return {transfer_op(*source_device)->make_node(std::array{outputs[0].variable()})->output(0)};
  }

  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    return spanwise::make_thunk(
        [from = context.input(0), to = context.output(0), target = target_] {
          to->value = to_device(*from->value, target);
        });
  }

  Device target() const noexcept { return target_; }

 private:
  Device target_;
};

}  // namespace

Ref<const Op> transfer_op(Device target) {
  Ref<const Op> op = make_ref<const Transfer>(target);
  op->set_recipe({"transfer", {{"device", text(target)}}});
  return op;
}

std::optional<Device> transfer_target(const Op& op) noexcept {
  const auto* transfer = dynamic_cast<const Transfer*>(&op);
  if (transfer == nullptr) return std::nullopt;
  return transfer->target();
}

}  // namespace spanwise
