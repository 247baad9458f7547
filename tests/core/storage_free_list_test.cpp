// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/storage_free_list.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "spanwise/runtime/creation.hpp"
#include "support/fake_stream.hpp"

namespace spanwise {
namespace {

using core::StorageFreeList;

// Counts memory between allocation and release.
std::atomic<std::int64_t> bytes_out{0};

void free_memory(void*, void* data, std::size_t bytes, StreamUses&) noexcept {
  std::free(data);
  bytes_out -= static_cast<std::int64_t>(bytes);
}

Storage make(std::size_t bytes) {
  const std::size_t capacity = StorageFreeList::capacity_for(bytes);
  bytes_out += static_cast<std::int64_t>(capacity);
  return StorageFreeList::adopt(std::malloc(capacity), bytes, free_memory, nullptr);
}

// Runs in a new thread, whose free list is empty at the start and at the end.
template <class Body>
void in_a_thread(Body&& body) {
  const std::int64_t before = bytes_out;
  std::thread(std::forward<Body>(body)).join();
  EXPECT_EQ(bytes_out, before);
}

TEST(StorageFreeList, StorageIsReusedWithItsMemory) {
  in_a_thread([] {
    void* const data = make(100).data();
    EXPECT_FALSE(StorageFreeList::take(257)) << "of another size";
    const Storage again = StorageFreeList::take(256);
    EXPECT_EQ(again.data(), data);
    EXPECT_EQ(again.bytes(), 256U);
    EXPECT_EQ(again.use_count(), 1);
    EXPECT_EQ(again.device(), cpu);
    EXPECT_FALSE(again.readonly());
    EXPECT_TRUE(again.uses().none());
    EXPECT_FALSE(StorageFreeList::take(256)) << "it was the only one";
  });
}

TEST(StorageFreeList, ExcludesEmptyAndLargeBlocks) {
  in_a_thread([] {
    make(StorageFreeList::max_bytes);
    EXPECT_FALSE(StorageFreeList::take(0));
    EXPECT_FALSE(StorageFreeList::take(StorageFreeList::max_bytes + 1));
    EXPECT_TRUE(StorageFreeList::take(StorageFreeList::max_bytes));
  });
}

TEST(StorageFreeList, ReusedStorageIsWritableWithOneReference) {
  in_a_thread([] {
    {
      const Storage first = make(8).as_readonly();
      const Storage second = first;
      EXPECT_EQ(second.use_count(), 2);
    }
    const Storage again = StorageFreeList::take(8);
    EXPECT_EQ(again.use_count(), 1);
    EXPECT_FALSE(again.readonly());
  });
}

TEST(StorageFreeList, StorageReturnsToTheThreadThatDroppedIt) {
  in_a_thread([] {
    Storage storage = make(64);
    void* const data = storage.data();
    in_a_thread([&] {
      storage = Storage();
      storage = StorageFreeList::take(64);
      EXPECT_EQ(storage.data(), data);
    });
    EXPECT_EQ(storage.data(), data);
  });
}

TEST(StorageFreeList, ExcludesStorageUsedOnAStream) {
  in_a_thread([] {
    const std::int64_t before = bytes_out;
    const Ref<test::FakeStream> stream = make_ref<test::FakeStream>();
    {
      const Storage used = make(64);
      used.uses().record(*stream, /*writes=*/false);
    }
    EXPECT_EQ(bytes_out, before);
    EXPECT_FALSE(StorageFreeList::take(64));
  });
}

TEST(StorageFreeList, ReusedStorageHasNoStreams) {
  in_a_thread([] {
    const Ref<test::FakeStream> writer = make_ref<test::FakeStream>();
    const Ref<test::FakeStream> readers[] = {make_ref<test::FakeStream>(),
                                             make_ref<test::FakeStream>()};
    for (int round = 0; round < 3; ++round) {
      const Storage used = make(100);
      EXPECT_TRUE(used.uses().none());
      EXPECT_TRUE(used.uses().all().empty());
      used.uses().record(*writer, true);
      for (const auto& reader : readers) used.uses().record(*reader, false);
      EXPECT_EQ(used.uses().all().size(), 3U);
    }
    EXPECT_EQ(writer->use_count(), 1);
    for (const auto& reader : readers) EXPECT_EQ(reader->use_count(), 1);
  });
}

TEST(StorageFreeList, CachesAFewStoragesOfASize) {
  in_a_thread([] {
    const std::int64_t before = bytes_out;
    std::vector<Storage> many;
    for (int i = 0; i < 100; ++i) many.push_back(make(64));
    many.clear();
    EXPECT_LE(bytes_out - before, 10 * 256);
    EXPECT_GT(bytes_out, before);
  });
}

TEST(StorageFreeList, ServesSmallArrays) {
  in_a_thread([] {
    const void* data = empty({10}, float64, cpu).data();
    EXPECT_EQ(empty({5, 2}, float64, cpu).data(), data);
    EXPECT_EQ(zeros({20}, float32, cpu).data(), data);
    EXPECT_EQ(empty({33}, float64, cpu).storage().bytes(), 33 * 8U);
  });
}

// Storage objects outside the free list are reused too and must not show their old state.
TEST(StorageFreeList, ReusedStorageKeepsNoStateOfItsPreviousUse) {
  in_a_thread([] {
    char memory[16];
    int releases = 0;
    const auto note = [](void* context, void*, std::size_t, StreamUses&) noexcept {
      ++*static_cast<int*>(context);
    };
    {
      const Storage first = Storage::adopt(memory, 16, Device(DeviceKind::cuda, 3), note, &releases,
                                           /*readonly=*/true);
    }
    EXPECT_EQ(releases, 1);
    {
      make(64);
    }
    {
      const Storage second = Storage::adopt(memory, 4, cpu, nullptr, nullptr);
      EXPECT_EQ(second.bytes(), 4U);
      EXPECT_EQ(second.device(), cpu);
      EXPECT_EQ(second.release_fn(), nullptr);
      EXPECT_EQ(second.context(), nullptr);
      EXPECT_FALSE(second.readonly());
    }
    EXPECT_EQ(releases, 1);
  });
}

// A thread's last arrays may be destroyed after its free list.
TEST(StorageFreeList, IsFreedWithItsThread) {
  in_a_thread([] {
    struct Late {
      Storage storage;
    };
    thread_local Late late;  // constructed before the free list, so destroyed after it
    late.storage = make(64);
    {
      make(64);
    }
  });
}

}  // namespace
}  // namespace spanwise
