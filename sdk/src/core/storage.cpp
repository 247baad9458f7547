// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <new>
#include <thread>

#include "core/storage_free_list.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/core/storage.hpp"

// Reference counts, the record of streams that use a storage, the free list, and storages.
namespace spanwise {

// Out of line, so that the vtable is emitted in this library only.
RefCounted::~RefCounted() = default;

void RefCounted::dispose() noexcept { delete this; }

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

namespace spanwise::core {

/// The lists of one thread. Has no constructor or destructor, so that accessing the thread-local
/// needs no guard check.
struct StorageFreeList::Lists {
  static constexpr std::size_t size_classes = max_bytes / unit, max_per_size = 8,
                               max_without_memory = 32;
  enum class State : std::uint8_t { unused, open, closed };

  /// Blocks that keep their memory, by its size class; and blocks that have released theirs.
  ControlBlock* with_memory[size_classes][max_per_size];
  ControlBlock* without_memory[max_without_memory];
  std::uint8_t with_memory_counts[size_classes];
  std::uint8_t without_memory_count;
  State state;

  static std::size_t size_class(std::size_t bytes) noexcept { return (bytes - 1) / unit; }

  bool cache_with_memory(ControlBlock& block) noexcept {
    if (state != State::open && !open()) return false;
    const std::size_t size = size_class(block.bytes);
    if (with_memory_counts[size] == max_per_size) return false;
    with_memory[size][with_memory_counts[size]++] = &block;
    return true;
  }
  bool cache_without_memory(ControlBlock& block) noexcept {
    if (state != State::open && !open()) return false;
    if (without_memory_count == max_without_memory) return false;
    without_memory[without_memory_count++] = &block;
    return true;
  }
  bool open() noexcept;
  void clear() noexcept;
};

struct StorageFreeList::AtThreadExit {
  ~AtThreadExit() {
    lists().state = Lists::State::closed;
    drop();
  }
};

// While the thread's thread-local objects are being destroyed, nothing is cached any more.
bool StorageFreeList::Lists::open() noexcept {
  if (state == State::closed) return false;
  thread_local const AtThreadExit at_exit;
  static_cast<void>(at_exit);
  state = State::open;
  return true;
}

void StorageFreeList::Lists::clear() noexcept {
  for (std::size_t size = 0; size < size_classes; ++size) {
    while (with_memory_counts[size] > 0) {
      ControlBlock* block = with_memory[size][--with_memory_counts[size]];
      release(*block);
      delete block;
    }
  }
  while (without_memory_count > 0) delete without_memory[--without_memory_count];
}

void StorageFreeList::drop() noexcept { lists().clear(); }

StorageFreeList::Lists& StorageFreeList::lists() noexcept {
  static constinit thread_local Lists lists{};
  return lists;
}

Storage StorageFreeList::take(std::size_t bytes) noexcept {
  Storage storage;
  if (bytes - 1 >= max_bytes) return storage;  // also for 0 bytes, which wraps around
  Lists& thread_lists = lists();
  const std::size_t size = Lists::size_class(bytes);
  std::uint8_t& count = thread_lists.with_memory_counts[size];
  if (count == 0) return storage;
  ControlBlock* block = thread_lists.with_memory[size][--count];
  block->bytes = bytes;
  block->restart_count();
  storage.block_ = Ref<ControlBlock>::adopt(block);
  return storage;
}

Storage StorageFreeList::adopt(void* data, std::size_t bytes, ReleaseFn release, void* context) {
  Storage storage = Storage::adopt(data, capacity_for(bytes), cpu, release, context);
  storage.block_->bytes = bytes;
  storage.block_->is_cached_with_memory = true;
  return storage;
}

StorageFreeList::ControlBlock* StorageFreeList::new_block() noexcept {
  Lists& thread_lists = lists();
  if (thread_lists.without_memory_count == 0) return new (std::nothrow) ControlBlock;
  ControlBlock* block = thread_lists.without_memory[--thread_lists.without_memory_count];
  block->is_cached_with_memory = false;
  block->restart_count();
  return block;
}

void StorageFreeList::release(ControlBlock& block) noexcept {
  if (block.release_fn == nullptr) return;
  const std::size_t bytes = block.is_cached_with_memory ? capacity_for(block.bytes) : block.bytes;
  if (StreamIdentity* stream = block.uses.any())
    stream->release_memory({block.release_fn, block.context, block.data, bytes}, block.uses);
  else
    block.release_fn(block.context, block.data, bytes, block.uses);
}

void StorageFreeList::cache_or_release(ControlBlock& block) noexcept {
  const bool is_idle = block.uses.none();
  if (block.is_cached_with_memory && is_idle && lists().cache_with_memory(block)) return;
  release(block);
  if (!is_idle) block.uses.clear();
  if (lists().cache_without_memory(block)) return;
  delete &block;
}

}  // namespace spanwise::core

namespace spanwise {

Storage::ControlBlock::~ControlBlock() = default;

void Storage::ControlBlock::dispose() noexcept { core::StorageFreeList::cache_or_release(*this); }

Storage Storage::adopt(void* data, std::size_t bytes, Device device, ReleaseFn release,
                       void* context, bool readonly) {
  ControlBlock* block = nullptr;
  if (data != nullptr || bytes == 0) block = core::StorageFreeList::new_block();
  if (block == nullptr) [[unlikely]] {
    StreamUses no_uses;
    if (release != nullptr) release(context, data, bytes, no_uses);
    if (data == nullptr && bytes != 0)
      fail<ArgumentError>("storage: null address for ", bytes, " bytes on ", device,
                          "; expected the address of the memory, or 0 bytes");
    throw std::bad_alloc();
  }
  block->data = data;
  block->bytes = bytes;
  block->device = device;
  block->release_fn = release;
  block->context = context;
  Storage storage;
  storage.block_ = Ref<ControlBlock>::adopt(block);
  storage.readonly_ = readonly;
  return storage;
}

Storage Storage::as_readonly() const noexcept {
  Storage storage = *this;
  storage.readonly_ = true;
  return storage;
}

Storage Storage::from_byte(std::int32_t start) const noexcept {
  Storage storage = *this;
  storage.start_ = start;
  return storage;
}

}  // namespace spanwise
