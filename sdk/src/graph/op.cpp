// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/op.hpp"

#include <mutex>
#include <utility>

#include "spanwise/error.hpp"

namespace spanwise {
namespace {

class CallableThunk final : public Thunk {
 public:
  explicit CallableThunk(std::function<void()> run) : run_(std::move(run)) {}
  std::vector<int> run() override {
    run_();
    return {};
  }

 private:
  std::function<void()> run_;
};

}  // namespace

Thunk::~Thunk() = default;

Ref<const Op> Op::overwriting(int) const { return {}; }
bool Op::foldable(const Apply&) const { return true; }
bool Op::reads_only_shape(int) const { return false; }

std::vector<Variable> Op::operator()(std::span<const Variable> inputs) const {
  const Ref<Apply> node = make_node(inputs);
  require<GraphError>(static_cast<bool>(node), name(), ": make_node returned no Apply");
  return node->outputs();
}

// One lock for all ops: recipes are set once and read by who writes graphs down.
static std::mutex& recipe_mutex() {
  static std::mutex& mutex = *new std::mutex;
  return mutex;
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
  return std::make_unique<CallableThunk>(std::move(run));
}

}  // namespace spanwise
