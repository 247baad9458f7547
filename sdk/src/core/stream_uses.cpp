// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <thread>

#include "spanwise/core/fork.hpp"
#include "spanwise/core/storage.hpp"

namespace spanwise {

StreamIdentity::~StreamIdentity() = default;

// A spinlock, held for a few instructions and never while calling out. A Mutex would add 80 bytes
// to every storage.
class StreamUses::Lock {
 public:
  explicit Lock(std::atomic<std::uint32_t>& busy) noexcept : busy_(busy) {
    // A holder from before a fork does not exist in this process; its lock is ignored.
    const std::uint32_t mine = process_generation();
    for (std::uint32_t holder = 0; !busy_.compare_exchange_weak(
             holder, mine, std::memory_order_acquire, std::memory_order_relaxed);) {
      if (holder != mine) continue;
      holder = 0;
      std::this_thread::yield();
    }
  }
  ~Lock() { busy_.store(0, std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::atomic<std::uint32_t>& busy_;
};

void StreamUses::add_use(StreamIdentity& stream, bool writes) {
  // Dropping a reference may destroy a stream, which calls the driver: done after unlocking.
  Ref<StreamIdentity> old_writer, old_reader;
  std::vector<Ref<StreamIdentity>> old_readers;
  const Lock lock(busy_);
  if (writes) {
    old_writer = std::exchange(writer_, Ref<StreamIdentity>(&stream));
    old_reader = std::exchange(reader_, {});
    old_readers.swap(more_readers_);
    sole_user_wrote_.store(true, std::memory_order_relaxed);
    sole_user_.store(&stream, std::memory_order_release);
    return;
  }
  if (producer_ && only_producer_used()) old_writer = std::exchange(writer_, producer_);
  if (writer_.get() == &stream || is_reader(stream)) return;
  if (!reader_)
    reader_ = Ref<StreamIdentity>(&stream);
  else
    more_readers_.emplace_back(&stream);
  const bool first = !writer_ && more_readers_.empty();
  sole_user_wrote_.store(false, std::memory_order_relaxed);
  sole_user_.store(first ? &stream : several(), std::memory_order_release);
}

void StreamUses::clear() noexcept {
  sole_user_.store(nullptr, std::memory_order_relaxed);
  sole_user_wrote_.store(false, std::memory_order_relaxed);
  producer_ = {};
  writer_ = {};
  reader_ = {};
  more_readers_.clear();
}

void StreamUses::take(StreamUses& other) noexcept {
  const StreamIdentity* sole = other.sole_user_.load(std::memory_order_relaxed);
  sole_user_.store(sole == other.several() ? several() : sole, std::memory_order_relaxed);
  sole_user_wrote_.store(other.sole_user_wrote_.load(std::memory_order_relaxed),
                         std::memory_order_relaxed);
  producer_ = std::move(other.producer_);
  writer_ = std::move(other.writer_);
  reader_ = std::move(other.reader_);
  more_readers_ = std::move(other.more_readers_);
  other.clear();
}

bool StreamUses::is_reader(const StreamIdentity& stream) const noexcept {
  return reader_.get() == &stream || std::ranges::any_of(more_readers_, [&](const auto& reader) {
           return reader.get() == &stream;
         });
}

std::vector<Ref<StreamIdentity>> StreamUses::to_wait_for(const StreamIdentity& stream,
                                                         bool writes) const {
  const Lock lock(busy_);
  std::vector<Ref<StreamIdentity>> others;
  // A stream that is a reader already waits for the writer.
  const Ref<StreamIdentity>& last = writer();
  if (last && last.get() != &stream && !is_reader(stream)) others.push_back(last);
  if (!writes) return others;
  if (reader_ && reader_.get() != &stream) others.push_back(reader_);
  for (const Ref<StreamIdentity>& reader : more_readers_)
    if (reader.get() != &stream) others.push_back(reader);
  return others;
}

std::vector<Ref<StreamIdentity>> StreamUses::all() const {
  const Lock lock(busy_);
  std::vector<Ref<StreamIdentity>> streams;
  if (writer()) streams.push_back(writer());
  if (reader_) streams.push_back(reader_);
  streams.insert(streams.end(), more_readers_.begin(), more_readers_.end());
  return streams;
}

}  // namespace spanwise
