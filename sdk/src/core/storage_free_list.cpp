// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "core/storage_free_list.hpp"

#include <cstdint>
#include <new>

namespace spanwise::core {

/// Has no constructor or destructor, so that accessing the thread-local needs no guard check.
struct StorageFreeList::Lists {
  static constexpr std::size_t sizes = max_bytes / unit, max_whole = 8, max_bare = 32;
  enum class State : std::uint8_t { unused, open, closed };

  Block* whole[sizes][max_whole];
  Block* bare[max_bare];
  std::uint8_t whole_counts[sizes];
  std::uint8_t bare_count;
  State state;

  static std::size_t size_class(std::size_t bytes) noexcept { return (bytes - 1) / unit; }

  bool keep_whole(Block& block) noexcept {
    if (state != State::open && !open()) return false;
    const std::size_t size = size_class(block.bytes);
    if (whole_counts[size] == max_whole) return false;
    whole[size][whole_counts[size]++] = &block;
    return true;
  }
  bool keep_bare(Block& block) noexcept {
    if (state != State::open && !open()) return false;
    if (bare_count == max_bare) return false;
    bare[bare_count++] = &block;
    return true;
  }
  bool open() noexcept;
  void empty() noexcept;
};

struct StorageFreeList::Closer {
  ~Closer() {
    lists().state = Lists::State::closed;
    drop();
  }
};

// While the thread's thread-local objects are being destroyed, nothing is cached any more.
bool StorageFreeList::Lists::open() noexcept {
  if (state == State::closed) return false;
  thread_local const Closer closer;
  static_cast<void>(closer);
  state = State::open;
  return true;
}

void StorageFreeList::Lists::empty() noexcept {
  for (std::size_t size = 0; size < sizes; ++size) {
    while (whole_counts[size] > 0) {
      Block* block = whole[size][--whole_counts[size]];
      release(*block);
      delete block;
    }
  }
  while (bare_count > 0) delete bare[--bare_count];
}

void StorageFreeList::drop() noexcept { lists().empty(); }

StorageFreeList::Lists& StorageFreeList::lists() noexcept {
  static constinit thread_local Lists of_thread{};
  return of_thread;
}

Storage StorageFreeList::take(std::size_t bytes) noexcept {
  Storage storage;
  if (bytes - 1 >= max_bytes) return storage;  // also for 0 bytes, which wraps around
  Lists& mine = lists();
  std::uint8_t& count = mine.whole_counts[Lists::size_class(bytes)];
  if (count == 0) return storage;
  Block* block = mine.whole[Lists::size_class(bytes)][--count];
  block->bytes = bytes;
  block->revive();
  storage.block_ = Ref<Block>::adopt(block);
  return storage;
}

Storage StorageFreeList::adopt(void* data, std::size_t bytes, ReleaseFn release, void* context) {
  Storage storage = Storage::adopt(data, capacity_for(bytes), cpu, release, context);
  storage.block_->bytes = bytes;
  storage.block_->stays_whole = true;
  return storage;
}

StorageFreeList::Block* StorageFreeList::bare() noexcept {
  Lists& mine = lists();
  if (mine.bare_count == 0) return new (std::nothrow) Block;
  Block* block = mine.bare[--mine.bare_count];
  block->stays_whole = false;
  block->revive();
  return block;
}

void StorageFreeList::release(Block& block) noexcept {
  if (block.release_fn == nullptr) return;
  const std::size_t bytes = block.stays_whole ? capacity_for(block.bytes) : block.bytes;
  if (StreamIdentity* stream = block.uses.any())
    stream->release_memory({block.release_fn, block.context, block.data, bytes}, block.uses);
  else
    block.release_fn(block.context, block.data, bytes, block.uses);
}

void StorageFreeList::cache_or_release(Block& block) noexcept {
  const bool is_idle = block.uses.none();
  if (block.stays_whole && is_idle && lists().keep_whole(block)) return;
  release(block);
  if (!is_idle) block.uses.forget();
  if (lists().keep_bare(block)) return;
  delete &block;
}

}  // namespace spanwise::core
