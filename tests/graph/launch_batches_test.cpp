// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Which thunks of a function launch their kernels in one batch.
#include "graph/graph_program.hpp"

#include <gtest/gtest.h>

#include "spanwise/graph/function.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/creation.hpp"
#include "support/fake_devices.hpp"

namespace spanwise::graph {
namespace {

struct Node {
  Device device;
  bool is_async = true;
};

class LaunchBatchesTest : public test::RuntimeTest {
 protected:
  // The calls of the device while the nodes run one after the other; with `last_fails` the last one
  // throws.
  std::vector<std::string> log_of(const std::vector<Node>& nodes, bool last_fails = false) {
    std::vector<Step> steps;
    for (const Node& node : nodes) {
      const auto nothing = [] {};
      steps.push_back({{},
                       node.is_async ? make_async_thunk(nothing) : make_thunk(nothing),
                       {},
                       {},
                       node.device});
    }
    LaunchBatches batches(steps);
    gpus().take_log();
    for (std::size_t i = 0; i < steps.size(); ++i) batches.before(i);
    if (last_fails)
      batches.abort_batch();
    else
      batches.finish();
    return gpus().take_log();
  }
};

using Log = std::vector<std::string>;

TEST_F(LaunchBatchesTest, ConsecutiveAsyncNodesAreABatch) {
  EXPECT_EQ(log_of({{test::gpu}, {test::gpu}, {test::gpu}}), (Log{"open d0", "close d0"}));
}

// A thunk may queue several kernels.
TEST_F(LaunchBatchesTest, OneNodeIsABatch) {
  EXPECT_EQ(log_of({{test::gpu}, {test::gpu, false}, {test::gpu}}),
            (Log{"open d0", "close d0", "open d0", "close d0"}));
}

TEST_F(LaunchBatchesTest, AnyOtherNodeEndsTheBatch) {
  EXPECT_EQ(log_of({{test::gpu}, {test::gpu}, {test::gpu, false}, {test::gpu}, {test::gpu}}),
            (Log{"open d0", "close d0", "open d0", "close d0"}));
  EXPECT_EQ(log_of({{test::gpu}, {test::gpu}, {cpu}, {test::gpu}}),
            (Log{"open d0", "close d0", "open d0", "close d0"}));
}

TEST_F(LaunchBatchesTest, BatchIsOfOneDevice) {
  EXPECT_EQ(log_of({{test::gpu}, {test::gpu}, {test::second_gpu}, {test::second_gpu}}),
            (Log{"open d0", "close d0"}));
}

TEST_F(LaunchBatchesTest, HostHasNone) { EXPECT_EQ(log_of({{cpu}, {cpu}}), Log{}); }

TEST_F(LaunchBatchesTest, FailureClosesTheBatch) {
  EXPECT_EQ(log_of({{test::gpu}, {test::gpu}}, true), (Log{"open d0", "close d0"}));
}

// A view of its input with the axes reversed.
class Transpose final : public Op {
 public:
  explicit Transpose(bool is_async) : is_async_(is_async) {}
  std::string name() const override { return "Transpose"; }
  AliasMap view_map() const override { return {{0, {0}}}; }
  Ref<Apply> make_node(std::span<const Variable> inputs) const override {
    return Apply::make(Ref<const Op>(this), {inputs[0]}, {Variable(inputs[0].type())});
  }
  std::unique_ptr<Thunk> make_thunk(const ThunkContext& context) const override {
    const auto run = [from = context.input(0), to = context.output(0)] {
      to->value = from->value->with_layout(from->value->layout().transpose());
    };
    return is_async_ ? make_async_thunk(run) : spanwise::make_thunk(run);
  }

 private:
  bool is_async_;
};

class CallAtOnce : public test::RuntimeTest {
 protected:
  static CompiledFunction compiled(bool is_async) {
    const Variable x(TensorType(float32, {TensorType::any, TensorType::any}));
    const Variable y = (*make_ref<Transpose>(is_async))(std::span(&x, 1))[0];
    FunctionOptions options;
    options.device = test::gpu;
    options.borrowed_outputs = {true};
    return function({x}, {y}, options);
  }
};

TEST_F(CallAtOnce, RunsAsynchronousGraphs) {
  const Array x = zeros({2, 3}, float32, test::gpu);
  const auto results = compiled(true).call_at_once(std::span(&x, 1));
  ASSERT_TRUE(results);
  EXPECT_EQ((*results)[0].shape(), (Shape{3, 2}));
}

TEST_F(CallAtOnce, RefusesGraphsThatBlock) {
  const Array x = zeros({2, 3}, float32, test::gpu), elsewhere = zeros({2, 3}, float32, cpu);
  EXPECT_FALSE(compiled(false).call_at_once(std::span(&x, 1)));
  EXPECT_FALSE(compiled(true).call_at_once(std::span(&elsewhere, 1)));
  EXPECT_FALSE(compiled(true).call_at_once({}));
  EXPECT_THROW(compiled(true)(std::span<const Array>()), InputError);
  config::set("launch_blocking", "1");
  EXPECT_FALSE(compiled(true).call_at_once(std::span(&x, 1)));
  config::set("launch_blocking", "0");
}

}  // namespace
}  // namespace spanwise::graph
