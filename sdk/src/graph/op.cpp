// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/op.hpp"

#include <mutex>
#include <utility>

#include "spanwise/core/fork.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/graph/elementwise.hpp"

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
  static Mutex& mutex = *new Mutex;
  return mutex;
}

}  // namespace

Thunk::~Thunk() = default;

Ref<const Op> Op::overwriting(int) const { return {}; }
bool Op::foldable(const Apply&) const { return true; }
bool Op::reads_only_shape(int) const { return false; }
std::vector<ExtentSource> Op::extent_sources(const Apply&, int, int) const { return {}; }

Variable Op::inferred_extent(const Apply&, int, int) const { return {}; }
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

}  // namespace spanwise
