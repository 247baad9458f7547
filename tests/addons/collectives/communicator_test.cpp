// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/collectives/communicator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"

namespace spanwise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Copies sources to targets and records the calls; throws CollectiveError if `fails` is set.
class RecordingEngine final : public CommunicatorEngine {
 public:
  std::string_view name() const noexcept override { return "recording"; }
  Device device() const noexcept override { return cpu; }
  void run(std::span<const CollectiveCall> calls, const Stream&) override {
    if (fails) throw CollectiveError("the other rank is gone");
    EXPECT_FALSE(is_running.exchange(true));
    std::this_thread::yield();
    if (during) std::exchange(during, nullptr)();
    is_running = false;
    groups.push_back(static_cast<int>(calls.size()));
    for (const CollectiveCall& call : calls) {
      EXPECT_TRUE(call.source.layout().is_row_major() && call.target.layout().is_row_major());
      was_in_place.push_back(call.source.data() == call.target.data());
      if (call.target.storage() && call.source.shape() == call.target.shape() &&
          !was_in_place.back())
        copy(call.source, call.target);
    }
  }
  void abort() noexcept override { is_aborted = true; }
  void close() override { is_closed = true; }

  std::atomic<bool> is_running = false;
  std::function<void()> during;  // runs once, inside the call
  bool fails = false, is_aborted = false, is_closed = false;
  std::vector<int> groups;
  std::vector<bool> was_in_place;
};

class RecordingMonitor final : public CommunicatorMonitor {
 public:
  void agree(std::span<const Item> items, std::int64_t, const std::string&) override {
    for (const Item& item : items) texts.push_back(item.key + ": " + item.text);
  }
  void report(const std::string& error) noexcept override { reported = error; }
  std::vector<std::string> last_calls() noexcept override {
    return {"call of rank 0", "call of rank 1"};
  }

  std::vector<std::string> texts;
  std::string reported;
};

class CommunicatorTest : public testing::Test {
 protected:
  // Of two ranks; `checked_calls` is that of Communicator::Options.
  Ref<Communicator> make_communicator(std::int64_t checked_calls = 64,
                                      const char* name = "tested") {
    Communicator::Options options;
    options.name = name;
    options.size = 2;
    options.checked_calls = checked_calls;
    return Communicator::make(options, engine, monitor);
  }

  Ref<RecordingEngine> engine = make_ref<RecordingEngine>();
  Ref<RecordingMonitor> monitor = make_ref<RecordingMonitor>();
};

// 0, 1, 2, ... in C order.
Array arange(std::int64_t rows, std::int64_t columns) {
  Array array = empty(Shape{rows, columns}, int32, cpu);
  for (std::int64_t i = 0; i < array.size(); ++i)
    static_cast<std::int32_t*>(array.data())[i] = static_cast<std::int32_t>(i);
  return array;
}

TEST_F(CommunicatorTest, PacksOperandsAndUnpacksResults) {
  const auto communicator = make_communicator();
  const Array columns = arange(3, 4).permute(std::vector<int>{1, 0});
  const Array wide = full(Shape{4, 6}, Scalar(7), int32, cpu);
  const Array out = wide.slice(1, Slice{0, 6, 2});
  CollectiveOptions options;
  options.out = &out;
  communicator->run(Collective::all_reduce, columns, options);
  EXPECT_EQ(item(out.index(0, 3).index(0, 2)).as_int64(), 11);
  EXPECT_EQ(item(wide.index(0, 3).index(0, 1)).as_int64(), 7);
}

TEST_F(CommunicatorTest, ReducesInPlaceOnlyTheSameMemory) {
  const auto communicator = make_communicator();
  const Array x = arange(4, 2);
  CollectiveOptions options;
  options.out = &x;
  communicator->run(Collective::all_reduce, x, options);
  const Array part = x.slice(0, Slice{0, 2, 1}), other = x.slice(0, Slice{1, 3, 1});
  options.out = &other;
  communicator->run(Collective::all_reduce, part, options);
  EXPECT_THAT(engine->was_in_place, ElementsAre(true, false));
  EXPECT_EQ(item(x.index(0, 2).index(0, 1)).as_int64(), 3);  // of `part` before the call
}

TEST_F(CommunicatorTest, ComparesTheFirstCallsByTheirNumber) {
  const auto communicator = make_communicator(2);
  const Array x = arange(2, 2);
  for (int i = 0; i < 3; ++i) communicator->run(Collective::all_gather, x);
  EXPECT_THAT(monitor->texts, ElementsAre("call 0: all_gather of int32 (2, 2)",
                                          "call 1: all_gather of int32 (2, 2)"));
  EXPECT_EQ(communicator->last_call(), "call 2: all_gather of int32 (2, 2)");
}

TEST_F(CommunicatorTest, DigestsOfDifferentLaterCallsDiffer) {
  using Call = std::pair<Collective, CollectiveOptions>;
  const Array x = arange(2, 2), y = full(Shape{2, 2}, Scalar(1), float32, cpu);
  const Array z = arange(4, 1);
  const auto digest_of = [&](const Array& array, const Call& call) {
    const auto communicator = make_communicator(1, "other");
    communicator->run(call.first, array, call.second);  // compared before it starts
    EXPECT_EQ(communicator->digest().count, 0);
    communicator->run(call.first, array, call.second);
    EXPECT_EQ(communicator->digest().count, 1);
    return communicator->digest();
  };
  const CollectiveOptions sum{}, max{.reduction = Reduction::max}, root{.peer = 1};
  const CollectiveOptions labelled{.label = "graph node 3"};
  const Call call{Collective::all_reduce, sum};
  const auto communicator = make_communicator(1);
  for (int i = 0; i < 2; ++i) communicator->run(call.first, x, call.second);
  EXPECT_TRUE(communicator->agrees_with(digest_of(x, call)));
  EXPECT_FALSE(communicator->agrees_with(digest_of(y, call)));
  EXPECT_FALSE(communicator->agrees_with(digest_of(z, call)));
  EXPECT_FALSE(communicator->agrees_with(digest_of(x, {Collective::all_reduce, max})));
  EXPECT_FALSE(communicator->agrees_with(digest_of(x, {Collective::all_reduce, labelled})));
  EXPECT_FALSE(communicator->agrees_with(digest_of(x, {Collective::all_gather, sum})));
  EXPECT_FALSE(communicator->agrees_with(digest_of(x, {Collective::reduce, sum})));
  EXPECT_NE(digest_of(x, {Collective::reduce, sum}).hash,
            digest_of(x, {Collective::reduce, root}).hash);
}

TEST_F(CommunicatorTest, DigestsAreComparedAtTheSameCall) {
  const auto communicator = make_communicator(0), other = make_communicator(0, "other");
  const Array x = arange(2, 2), y = full(Shape{2, 2}, Scalar(1), float32, cpu);
  for (int i = 0; i < 100; ++i) other->run(Collective::all_gather, x);
  const Communicator::Digest early = other->digest();
  EXPECT_TRUE(communicator->agrees_with(early));  // of calls to come
  for (int i = 0; i < 500; ++i) communicator->run(Collective::all_gather, i == 99 ? y : x);
  EXPECT_FALSE(communicator->agrees_with(early));
  for (int i = 0; i < 400; ++i) other->run(Collective::all_gather, x);
  EXPECT_FALSE(communicator->agrees_with(other->digest()));  // since call 99
  EXPECT_FALSE(other->agrees_with(communicator->digest()));
  for (int i = 0; i < 1000; ++i) communicator->run(Collective::all_gather, x);
  EXPECT_TRUE(communicator->agrees_with(early));  // too long ago
}

TEST_F(CommunicatorTest, TagsOfMessagesDependOnDtypeAndShape) {
  const auto tag_of = [](DType dtype, const Shape& shape) {
    CollectiveCall sent, received;
    sent.op = Collective::send, received.op = Collective::recv;
    sent.source = received.target = empty(shape, dtype, cpu);
    EXPECT_EQ(sent.tag(), received.tag());
    EXPECT_TRUE(sent.tag() >= 0 && sent.tag() < 32768);
    return sent.tag();
  };
  EXPECT_NE(tag_of(int32, Shape{4}), tag_of(float32, Shape{4}));
  EXPECT_NE(tag_of(float32, Shape{4}), tag_of(float64, Shape{2}));
  EXPECT_NE(tag_of(float32, Shape{2, 3}), tag_of(float32, Shape{3, 2}));
  EXPECT_NE(tag_of(float32, Shape{}), tag_of(float32, Shape{1}));
}

TEST_F(CommunicatorTest, RunsCallsOfSeveralThreadsOneAfterTheOther) {
  const auto communicator = make_communicator(0);
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([&] {
        for (int call = 0; call < 200; ++call)
          communicator->run(Collective::all_reduce, arange(2, 2));
      });
  }
  EXPECT_EQ(communicator->digest().count, 600);
  EXPECT_EQ(communicator->last_call(), "call 599: all_reduce(sum) of int32 (2, 2)");
}

TEST_F(CommunicatorTest, RefusesACallInsideACallOfTheSameThread) {
  const auto communicator = make_communicator();
  std::string problem;
  engine->during = [&] {
    try {
      communicator->barrier();
    } catch (const ArgumentError& error) {
      problem = error.what();
    }
  };
  communicator->run(Collective::all_reduce, arange(2, 2));
  EXPECT_THAT(problem, HasSubstr("inside a call"));
  communicator->barrier();
}

TEST_F(CommunicatorTest, AGroupBelongsToItsThread) {
  const auto communicator = make_communicator();
  communicator->begin_group();
  std::jthread([&] {
    communicator->run(Collective::all_reduce, arange(2, 2));
    EXPECT_THROW(communicator->begin_group(), ArgumentError);
    EXPECT_THROW(communicator->end_group(), ArgumentError);
  }).join();
  EXPECT_THAT(engine->groups, ElementsAre(1));
  communicator->run(Collective::all_reduce, arange(2, 2));
  communicator->end_group();
  EXPECT_THAT(engine->groups, ElementsAre(1, 1));
}

TEST_F(CommunicatorTest, RunsAGroupByOneCallOfTheEngine) {
  const auto communicator = make_communicator();
  const Array x = arange(2, 2);
  CollectiveOptions options;
  options.peer = 1;
  communicator->begin_group();
  communicator->run(Collective::send, x, options);
  communicator->run(Collective::recv, x, options);
  EXPECT_THAT(engine->groups, ElementsAre());
  communicator->end_group();
  EXPECT_THAT(engine->groups, ElementsAre(2));
  EXPECT_THAT(monitor->texts, ElementsAre("message 0 from rank 0 to rank 1: int32 (2, 2)",
                                          "message 0 from rank 1 to rank 0: int32 (2, 2)"));
}

TEST_F(CommunicatorTest, EndsAtAnErrorOfTheEngine) {
  const auto communicator = make_communicator();
  engine->fails = true;
  try {
    communicator->run(Collective::all_reduce, arange(2, 2));
    FAIL() << "expected a CollectiveError";
  } catch (const CollectiveError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the other rank is gone"));
    EXPECT_EQ(error.number(), 0);
    EXPECT_EQ(error.op(), "all_reduce(sum) of int32 (2, 2)");
    EXPECT_THAT(error.calls(), ElementsAre("call of rank 0", "call of rank 1"));
  }
  EXPECT_TRUE(engine->is_aborted);
  EXPECT_THAT(monitor->reported, HasSubstr("the other rank is gone"));
  EXPECT_THROW(communicator->run(Collective::all_reduce, arange(2, 2)), CollectiveError);
}

TEST_F(CommunicatorTest, IsFoundByItsNameWhileItExists) {
  {
    const auto communicator = make_communicator();
    EXPECT_EQ(Communicator::find("tested"), communicator);
    EXPECT_THROW(make_communicator(), ArgumentError);
    communicator->close();
    EXPECT_TRUE(engine->is_closed);
    EXPECT_THROW(communicator->barrier(), CollectiveError);
  }
  EXPECT_FALSE(Communicator::find("tested"));
}

TEST_F(CommunicatorTest, IsNotFoundWhileAnotherThreadDropsTheLastReference) {
  const std::jthread finder([](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const Ref<Communicator> found = Communicator::find("tested");
      EXPECT_TRUE(!found || found->size() == 2);
    }
  });
  for (int i = 0; i < 5000; ++i) {
    // The finder may hold the former one a little longer.
    while (Communicator::find("tested")) std::this_thread::yield();
    EXPECT_EQ(make_communicator()->name(), "tested");
  }
}

TEST_F(CommunicatorTest, NumbersOfLoadedNodesAreNotReused) {
  EXPECT_EQ(Communicator::next_node("numbered"), 0);
  Communicator::note_node("numbered", 7);
  Communicator::note_node("numbered", 3);
  EXPECT_EQ(Communicator::next_node("numbered"), 8);
}

}  // namespace
}  // namespace spanwise
