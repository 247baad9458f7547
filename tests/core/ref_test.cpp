// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/ref.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <unordered_set>
#include <vector>

namespace spanwise {
namespace {

class Counted : public RefCounted {
 public:
  explicit Counted(std::atomic<int>& destroyed) : destroyed_(destroyed) {}
  ~Counted() override { destroyed_.fetch_add(1); }

 private:
  std::atomic<int>& destroyed_;
};

class Derived final : public Counted {
  using Counted::Counted;
};

TEST(Ref, DestroysOnceWithTheLastReference) {
  std::atomic<int> destroyed{0};
  {
    Ref<Counted> first = make_ref<Counted>(destroyed);
    EXPECT_EQ(first->use_count(), 1);
    Ref<Counted> second = first;
    EXPECT_EQ(first->use_count(), 2);
    const Ref<Counted> third = std::move(second);
    EXPECT_EQ(first->use_count(), 2);
    EXPECT_FALSE(second);
    first = nullptr;
    EXPECT_EQ(destroyed, 0);
    EXPECT_EQ(third->use_count(), 1);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(Ref, ImmortalObjectsAreNotCountedUntilTheyAreMortalAgain) {
  std::atomic<int> destroyed{0};
  {
    const Ref<Counted> object = make_ref<Counted>(destroyed);
    EXPECT_FALSE(object->is_immortal());
    Ref<Counted> from_before = object;
    object->make_immortal();
    EXPECT_TRUE(object->is_immortal());
    for (int i = 0; i < 3; ++i) const Ref<Counted> passed_on = object;
    from_before = nullptr;
    EXPECT_TRUE(object->is_immortal());
    object->make_mortal(1);
    EXPECT_EQ(object->use_count(), 1);
    EXPECT_EQ(destroyed, 0);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(Ref, AssigningToItselfKeepsTheObject) {
  std::atomic<int> destroyed{0};
  Ref<Counted> ref = make_ref<Counted>(destroyed);
  const Ref<Counted>& same = ref;
  ref = same;
  EXPECT_EQ(destroyed, 0);
  EXPECT_EQ(ref->use_count(), 1);
}

TEST(Ref, ToTheBaseSharesTheCount) {
  std::atomic<int> destroyed{0};
  Ref<RefCounted> base;
  {
    const Ref<Derived> derived = make_ref<Derived>(destroyed);
    base = derived;
    EXPECT_EQ(derived->use_count(), 2);
    EXPECT_EQ(base.get(), derived.get());
  }
  EXPECT_EQ(destroyed, 0);
  base = nullptr;
  EXPECT_EQ(destroyed, 1);
}

TEST(Ref, MovingToTheBaseTransfersTheReference) {
  std::atomic<int> destroyed{0};
  Ref<Derived> derived = make_ref<Derived>(destroyed);
  const Ref<Counted> base = std::move(derived);
  EXPECT_FALSE(derived);  // NOLINT(bugprone-use-after-move): it is the test
  EXPECT_EQ(base->use_count(), 1);
}

TEST(Ref, CountsRightWhenManyThreadsShareIt) {
  std::atomic<int> destroyed{0};
  {
    const Ref<Counted> shared = make_ref<Counted>(destroyed);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([shared] {
        for (int round = 0; round < 10000; ++round) const Ref<Counted> copy = shared;
      });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(destroyed, 0);
    threads.clear();
    EXPECT_EQ(shared->use_count(), 1);
  }
  EXPECT_EQ(destroyed, 1);
}

TEST(Ref, HashesByAddress) {
  std::atomic<int> destroyed{0};
  const Ref<Counted> a = make_ref<Counted>(destroyed), b = make_ref<Counted>(destroyed);
  const std::unordered_set<Ref<Counted>> set{a, a, b};
  EXPECT_EQ(set.size(), 2U);
}

}  // namespace
}  // namespace spanwise
