// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/shared.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "spanwise/graph/op.hpp"
#include "spanwise/graph/rewrite.hpp"
#include "support/graph_ops.hpp"
#include "support/message_of.hpp"

namespace spanwise {
namespace {

using test::apply;
using test::input;
using test::plus;
using test::values_of;
using test::vector_of;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

using Updates = std::vector<std::pair<Variable, Variable>>;

CompiledFunction with_updates(std::vector<Variable> outputs, Updates updates, Mode mode = {}) {
  FunctionOptions options;
  options.device = cpu;
  options.updates = std::move(updates);
  options.mode = std::move(mode);
  return function({}, std::move(outputs), options);
}

TEST(Shared, FunctionsReadAndUpdateOneValue) {
  const Variable w = shared(vector_of({1, 2}), "w");
  const CompiledFunction step = with_updates({w}, {{w, apply(plus(1), {w})}});
  EXPECT_THAT(values_of(step({})[0]), ElementsAre(1, 2));
  EXPECT_THAT(values_of(step({})[0]), ElementsAre(2, 3));
  EXPECT_THAT(values_of(w.container()->get()), ElementsAre(3, 4));
  w.container()->set(vector_of({7}));
  EXPECT_THAT(values_of(step({})[0]), ElementsAre(7));
}

TEST(Shared, UpdatesExchangeValues) {
  const Variable a = shared(vector_of({1})), b = shared(vector_of({2}));
  const CompiledFunction exchange = with_updates({}, {{a, b}, {b, a}});
  EXPECT_TRUE(exchange({}).empty());
  EXPECT_THAT(values_of(a.container()->get()), ElementsAre(2));
  EXPECT_THAT(values_of(b.container()->get()), ElementsAre(1));
}

TEST(Shared, AFailedCallUpdatesNothing) {
  const Variable a = shared(vector_of({1})), b = shared(vector_of({2}));
  const auto fails = test::make_test_op(
      "Fails", [](const auto&, const auto&) { fail<ArgumentError>("requested failure"); });
  const CompiledFunction f =
      with_updates({}, {{a, apply(plus(1), {a})}, {b, apply(fails, {apply(plus(1), {b})})}});
  EXPECT_THROW(f({}), ArgumentError);
  EXPECT_THAT(values_of(a.container()->get()), ElementsAre(1));
  EXPECT_THAT(values_of(b.container()->get()), ElementsAre(2));
}

TEST(Shared, MismatchedValueIsRefused) {
  const Variable w = shared(vector_of({1}), "w");
  EXPECT_THROW(w.container()->set(empty(Shape{1, 1}, float32, cpu)), InputError);
  EXPECT_THROW(w.container()->set(empty(Shape{1}, float64, cpu)), InputError);
  EXPECT_THROW(with_updates({}, {{input("x"), w}}), GraphError);
  EXPECT_THROW(with_updates({}, {{w, w}, {w, w}}), GraphError);
  EXPECT_THROW(function({w}, {w}), GraphError);
  EXPECT_THAT(test::message_of<GraphError>(
                  [&] { with_updates({}, {{w, Variable(TensorType(float64, {1}), "wide")}}); }),
              HasSubstr("updates gives w of TensorType(float32, vector, cpu) the "
                        "value wide of TensorType(float64, (1,))"));
}

TEST(Shared, NoUpdateIsLostBetweenThreads) {
  const Variable w = shared(vector_of({0}), "w");
  const CompiledFunction add_one = with_updates({}, {{w, apply(plus(1), {w})}}),
                         add_two = with_updates({}, {{w, apply(plus(2), {w})}});
  const auto work = [](const CompiledFunction& f) {
    for (int i = 0; i < 500; ++i) f({});
  };
  std::thread first(work, add_one), second(work, add_two), third(work, add_one);
  first.join();
  second.join();
  third.join();
  EXPECT_THAT(values_of(w.container()->get()), ElementsAre(2000));
}

TEST(Rewrite, UserRewriteRunsWhenIncluded) {
  static int runs = 0;
  const Rewrite counts{
      .name = "test_counts", .position = 50, .tags = {"testing"}, .apply = [](RewriteGraph& graph) {
        EXPECT_EQ(graph.outputs.size(), 1u);
        return ++runs;
      }};
  EXPECT_TRUE(register_rewrite(counts));
  EXPECT_FALSE(register_rewrite(counts)) << "the name is taken";
  const Variable w = shared(vector_of({1}));
  with_updates({w}, {});
  EXPECT_EQ(runs, 0);
  Mode mode;
  mode.including = {"testing"};
  const CompiledFunction f = with_updates({w}, {}, mode);
  EXPECT_EQ(runs, 1);
  const auto& reports = f.rewrites();
  EXPECT_TRUE(std::any_of(reports.begin(), reports.end(), [](const RewriteReport& report) {
    return report.name == "test_counts" && report.changes == 1;
  }));
  mode.excluding = {"test_counts"};
  with_updates({w}, {}, mode);
  EXPECT_EQ(runs, 1);
}

TEST(Transfer, NamesItsTargetAndEqualsATransferToTheSame) {
  const Device second(DeviceKind::cpu, 1);
  const Ref<const Op> op = transfer_op(second);
  EXPECT_EQ(op->name(), "Transfer{cpu:1}");
  EXPECT_TRUE(op->equals(*transfer_op(second)));
  EXPECT_FALSE(op->equals(*transfer_op(cpu)));
  EXPECT_EQ(op->hash(), transfer_op(second)->hash());
  EXPECT_EQ(transfer_target(*op), second);
  EXPECT_EQ(transfer_target(*plus(1)), std::nullopt);
}

TEST(Profile, CountsCallsAndTimesNodes) {
  const Variable w = shared(vector_of({1}));
  FunctionOptions options;
  options.device = cpu;
  options.profile = true;
  const CompiledFunction f = function({}, {apply(plus(1), {w})}, options);
  for (int i = 0; i < 3; ++i) f({});
  const auto profile = f.profile();
  ASSERT_TRUE(profile.has_value());
  EXPECT_EQ(profile->calls, 3);
  ASSERT_EQ(profile->steps.size(), 1u);
  EXPECT_EQ(profile->steps[0].calls, 3);
  EXPECT_EQ(profile->steps[0].output_bytes, 4);
  EXPECT_GT(profile->steps[0].seconds, 0);
  EXPECT_EQ(f.spans().size(), 3u);
  EXPECT_FALSE(with_updates({w}, {}).profile().has_value());
}

}  // namespace
}  // namespace spanwise
