// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/core/storage.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include "spanwise/core/error.hpp"
#include "support/fake_stream.hpp"

namespace spanwise {
namespace {

// The arguments of a call of the release function.
struct ReleaseRecord {
  std::atomic<int> releases{0};
  void* data = nullptr;
  std::size_t bytes = 0;
  std::size_t streams = 0;
  std::thread::id thread;
};

void note_release(void* context, void* data, std::size_t bytes, StreamUses& uses) noexcept {
  auto& owner = *static_cast<ReleaseRecord*>(context);
  owner.releases.fetch_add(1);
  owner.data = data;
  owner.bytes = bytes;
  owner.streams = uses.all().size();
  owner.thread = std::this_thread::get_id();
}

class StorageTest : public ::testing::Test {
 protected:
  Storage adopt(bool readonly = false) {
    return Storage::adopt(memory_.data(), memory_.size(), cpu, note_release, &owner_, readonly);
  }

  std::array<std::byte, 64> memory_{};
  ReleaseRecord owner_;
};

TEST_F(StorageTest, WithoutMemoryIsEmpty) {
  const Storage none;
  EXPECT_FALSE(none);
  EXPECT_EQ(none.data(), nullptr);
  EXPECT_EQ(none.bytes(), 0U);
  EXPECT_EQ(none.device(), cpu);
  EXPECT_EQ(none.use_count(), 0);
  EXPECT_EQ(none, Storage{});
}

TEST_F(StorageTest, ReleasesAdoptedMemoryOnce) {
  {
    const Storage first = adopt();
    const Storage second = first;
    EXPECT_EQ(first, second);
    EXPECT_EQ(first.use_count(), 2);
    EXPECT_EQ(first.context(), &owner_);
    EXPECT_EQ(first.release_fn(), &note_release);
    EXPECT_EQ(owner_.releases, 0);
  }
  EXPECT_EQ(owner_.releases, 1);
  EXPECT_EQ(owner_.data, memory_.data());
  EXPECT_EQ(owner_.bytes, memory_.size());
}

TEST_F(StorageTest, TwoAdoptionsOfTheSameMemoryAreTwoOwners) {
  EXPECT_NE(adopt(), adopt());
  EXPECT_EQ(owner_.releases, 2);
}

TEST_F(StorageTest, ReadonlyIsAPropertyOfTheHandle) {
  const Storage writable = adopt();
  const Storage readonly = writable.as_readonly();
  EXPECT_FALSE(writable.readonly());
  EXPECT_TRUE(readonly.readonly());
  EXPECT_EQ(readonly, writable) << "the bytes are the same";
  EXPECT_TRUE(adopt(/*readonly=*/true).readonly());
}

TEST_F(StorageTest, UnownedReferenceIsNotCounted) {
  {
    const Storage holder = adopt().as_readonly();
    Storage unowned = holder.unowned();
    EXPECT_EQ(unowned, holder);
    EXPECT_TRUE(unowned.readonly());
    EXPECT_EQ(holder.use_count(), 1);
    {
      const Storage copy = unowned;  // a holder like any other
      EXPECT_EQ(holder.use_count(), 2);
    }
    unowned.detach();
    EXPECT_FALSE(unowned);
    EXPECT_EQ(holder.use_count(), 1);
    EXPECT_EQ(owner_.releases, 0);
  }
  EXPECT_EQ(owner_.releases, 1);
  Storage none = Storage{}.unowned();
  EXPECT_FALSE(none);
  none.detach();
}

void other_release(void*, void*, std::size_t, StreamUses&) noexcept {}

TEST_F(StorageTest, OnlyTheLastReferenceReclaims) {
  Storage storage = adopt();
  EXPECT_EQ(storage.reclaim(other_release), nullptr);
  {
    const Storage other = storage;
    EXPECT_EQ(storage.reclaim(note_release), nullptr);
  }
  EXPECT_EQ(storage.reclaim(note_release), &owner_);
  EXPECT_EQ(storage.reclaim(note_release), nullptr) << "reclaimed already";
  storage = {};
  EXPECT_EQ(owner_.releases, 0);
  EXPECT_EQ(Storage{}.reclaim(note_release), nullptr);
}

TEST_F(StorageTest, MemoryThatAStreamHasUsedIsNotReclaimed) {
  const auto stream = make_ref<test::FakeStream>();
  {
    Storage storage = adopt();
    storage.uses().record(*stream, true);
    EXPECT_TRUE(storage.uses().is_only_user(*stream));
    EXPECT_EQ(storage.reclaim(note_release), nullptr);
  }
  EXPECT_EQ(owner_.releases, 1);
  EXPECT_EQ(owner_.streams, 1U);
}

TEST_F(StorageTest, MemoryUsedOnlyByItsProducerIsReclaimed) {
  const auto producer = make_ref<test::FakeStream>();
  Storage storage = adopt();
  storage.uses().set_producer(producer);
  EXPECT_EQ(storage.reclaim(note_release), &owner_);
  EXPECT_TRUE(storage.uses().none());
  EXPECT_EQ(storage.uses().producer(), nullptr);
  EXPECT_EQ(producer->use_count(), 1) << "held no longer";
  EXPECT_EQ(producer->streams_waited_for, 0);
}

TEST_F(StorageTest, ProducerWaitsForOtherStreamsThenTheOwnerIsReleased) {
  const auto producer = make_ref<test::FakeStream>(), other = make_ref<test::FakeStream>();
  {
    Storage storage = adopt();
    storage.uses().set_producer(producer);
    storage.uses().record(*other, false);
    EXPECT_EQ(storage.reclaim(note_release), nullptr);
  }
  EXPECT_EQ(producer->streams_waited_for, 2);
  EXPECT_EQ(owner_.releases, 1);
}

TEST_F(StorageTest, OwnerIsNotReleasedWhenTheProducerFails) {
  const auto producer = make_ref<test::FakeStream>(), other = make_ref<test::FakeStream>();
  producer->can_wait = false;
  {
    Storage storage = adopt();
    storage.uses().set_producer(producer);
    storage.uses().record(*other, true);
  }
  EXPECT_EQ(producer->streams_waited_for, 1);
  EXPECT_EQ(owner_.releases, 0);
}

TEST_F(StorageTest, ReleaseReceivesTheStreamsThatUsedTheBytes) {
  const auto a = make_ref<test::FakeStream>(), b = make_ref<test::FakeStream>();
  {
    const Storage storage = adopt();
    storage.uses().record(*a, true);
    storage.uses().record(*b, false);
  }
  EXPECT_EQ(owner_.streams, 2U);
  EXPECT_EQ(a->use_count(), 1);
}

TEST_F(StorageTest, NullReleaseMeansStaticMemory) {
  const Storage storage = Storage::adopt(memory_.data(), 64, cpu, nullptr, nullptr);
  EXPECT_EQ(storage.bytes(), 64U);
}

TEST_F(StorageTest, ARefusedAdoptionReleases) {
  EXPECT_THROW(Storage::adopt(nullptr, 8, cpu, note_release, &owner_), ArgumentError);
  EXPECT_EQ(owner_.releases, 1);
  EXPECT_EQ(owner_.bytes, 8U);
  EXPECT_NO_THROW(Storage::adopt(nullptr, 0, Device(DeviceKind::cuda), note_release, &owner_));
  EXPECT_EQ(owner_.releases, 2);
}

TEST_F(StorageTest, LastThreadToDropItsReferenceReleases) {
  for (int round = 0; round < 200; ++round) {
    owner_.releases = 0;
    std::vector<std::thread> threads;
    {
      const Storage storage = adopt();
      for (int i = 0; i < 3; ++i)
        threads.emplace_back([storage = Storage(storage)]() mutable {
          for (int copies = 0; copies < 20; ++copies) const Storage copy = storage;
          storage = Storage{};
        });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(owner_.releases, 1);
  }
}

TEST_F(StorageTest, AThreadMayDropTheLastReference) {
  Storage storage = adopt();
  std::thread thread([moved = std::move(storage)]() mutable { moved = Storage{}; });
  const std::thread::id id = thread.get_id();
  thread.join();
  EXPECT_EQ(owner_.releases, 1);
  EXPECT_EQ(owner_.thread, id);
}

}  // namespace
}  // namespace spanwise
