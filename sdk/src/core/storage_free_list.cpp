// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/storage_free_list.hpp"

#include <cstdint>
#include <new>

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
