// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spanwise/core/device.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/ref.hpp"

namespace spanwise {

class StreamUses;

/// Releases `bytes` bytes at `data`. Called once per allocation, on any thread: the one that drops
/// the last reference, or a later one that allocates or releases memory. The calling thread may or
/// may not hold the GIL, and the interpreter may have been finalized. Must not throw. `uses` lists
/// the streams whose queued work on the memory must finish before it is reused; uses.producer(), if
/// set, already waits for all of them. None of them is being captured into a graph.
using ReleaseFn = void (*)(void* context, void* data, std::size_t bytes, StreamUses& uses) noexcept;

/// Memory without references, and the function that releases it.
struct UnheldMemory {
  ReleaseFn release = nullptr;
  void* context = nullptr;
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// Identity of a stream, reference counted. Base class of the runtime's streams (StreamState), so
/// that the core can record which streams use a storage.
class SW_API StreamIdentity : public RefCounted {
 public:
  Device device() const noexcept { return device_; }
  /// Releases memory that this stream (one of `uses`) has queued work on: submits the launches that
  /// the calling thread has batched, makes the producer stream of `uses` wait for the other
  /// streams, then calls memory.release. While a captured graph uses the memory, or one of the
  /// streams is being captured, the release is deferred and the contents of `uses` are moved away.
  /// The memory is never released where the device cannot establish the order (context lost,
  /// process exit). Does not block.
  virtual void release_memory(const UnheldMemory& memory, StreamUses& uses) noexcept = 0;

 protected:
  explicit StreamIdentity(Device device) noexcept : device_(device) {}
  ~StreamIdentity() override;

 private:
  Device device_;
};

/// The streams with queued work on a storage. The runtime uses it to order a new use after earlier
/// ones and the release after all of them. While a single stream uses the storage, each check is
/// one pointer comparison.
class SW_API StreamUses {
 public:
  /// Records a read (or, with `writes`, a write) queued on `stream`. A write replaces all earlier
  /// uses: the caller has made `stream` wait for them.
  void record(StreamIdentity& stream, bool writes) {
    if (is_only_user(stream) && (!writes || sole_user_wrote_.load(std::memory_order_relaxed)))
      return;
    add_use(stream, writes);
  }
  /// Records `producer` as the stream that allocated the memory or on which another library
  /// produced it. Its queued work counts as a write, and before the memory is released it waits for
  /// every other stream. Call before any other use is recorded.
  void set_producer(Ref<StreamIdentity>&& producer) noexcept {
    producer_ = std::move(producer);
    sole_user_wrote_.store(true, std::memory_order_relaxed);
    sole_user_.store(producer_.get(), std::memory_order_release);
  }
  /// The stream of set_producer(), or null.
  StreamIdentity* producer() const noexcept { return producer_.get(); }
  /// Calls f(other) for each stream that `stream` must wait for before a new use: the last writer
  /// and, for a write, all readers. `stream` itself is skipped.
  template <class F>
  void for_each_to_wait_for(const StreamIdentity& stream, bool writes, F&& f) const {
    if (is_only_user(stream)) return;
    for (const Ref<StreamIdentity>& other : to_wait_for(stream, writes)) f(*other);
  }
  bool is_only_user(const StreamIdentity& stream) const noexcept {
    return sole_user_.load(std::memory_order_acquire) == &stream;
  }
  /// True where no queued work is recorded.
  bool none() const noexcept { return sole_user_.load(std::memory_order_acquire) == nullptr; }
  /// True where no stream other than producer() has used the storage (also where none has).
  bool only_producer_used() const noexcept {
    return sole_user_.load(std::memory_order_acquire) == producer_.get();
  }
  /// Clears the record, producer included, before the memory is reused. Not thread-safe.
  void clear() noexcept;
  /// Moves the record of `other` here; `other` is cleared. Not thread-safe for either object.
  void take(StreamUses& other) noexcept;
  /// clear() for the case only_producer_used(). Not thread-safe.
  void clear_producer() noexcept {
    sole_user_.store(nullptr, std::memory_order_relaxed);
    sole_user_wrote_.store(false, std::memory_order_relaxed);
    producer_ = {};
    if (writer_) [[unlikely]]  // another stream wrote before the producer wrote again
      writer_ = {};
  }
  /// One of the streams with queued work; null where there is none. Not while another thread
  /// records a use.
  StreamIdentity* any() const noexcept {
    if (producer_) return producer_.get();
    return writer_ ? writer_.get() : reader_.get();
  }
  /// Every stream with queued work, writer first.
  std::vector<Ref<StreamIdentity>> all() const;

 private:
  class Lock;
  void add_use(StreamIdentity& stream, bool writes);
  std::vector<Ref<StreamIdentity>> to_wait_for(const StreamIdentity& stream, bool writes) const;
  bool is_reader(const StreamIdentity& stream) const noexcept;
  // The last writer: producer_ until another stream has used the bytes.
  const Ref<StreamIdentity>& writer() const noexcept {
    return producer_ && only_producer_used() ? producer_ : writer_;
  }
  // Sentinel for sole_user_, "several streams": an address that no StreamIdentity has.
  const StreamIdentity* several() const noexcept {
    return reinterpret_cast<const StreamIdentity*>(this);
  }

  // Spinlock: process_generation() of the process whose thread holds it; 0: free.
  mutable std::atomic<std::uint32_t> busy_{0};
  std::atomic<bool> sole_user_wrote_{false};
  // Null: no stream has used the storage; several(): more than one has; else the only one that has,
  // kept alive by producer_, writer_ or reader_.
  std::atomic<const StreamIdentity*> sole_user_{nullptr};
  Ref<StreamIdentity> producer_;
  Ref<StreamIdentity> writer_;
  // Streams other than writer_ that read after its write; the first needs no heap allocation.
  Ref<StreamIdentity> reader_;
  std::vector<Ref<StreamIdentity>> more_readers_;
};

namespace core {
class StorageFreeList;
}

/// A bool that may be set while other threads read or copy it (relaxed atomic).
class ReadonlyBit {
 public:
  ReadonlyBit() noexcept = default;
  ReadonlyBit(bool value) noexcept : value_(value) {}
  ReadonlyBit(const ReadonlyBit& other) noexcept : value_(other) {}
  ReadonlyBit& operator=(const ReadonlyBit& other) noexcept {
    value_.store(other, std::memory_order_relaxed);
    return *this;
  }
  operator bool() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<bool> value_{false};
};

/// Shared ownership of a block of memory on a device. Copying a Storage copies a reference.
class SW_API Storage {
 public:
  Storage() noexcept = default;
  /// Takes ownership of `bytes` bytes at `data`. release(context, data, bytes, uses) is called when
  /// the last reference is dropped; `release` may be null for memory with static lifetime. Throws
  /// ArgumentError for a null `data` with bytes > 0, and std::bad_alloc; where it throws, `release`
  /// has been called.
  static Storage adopt(void* data, std::size_t bytes, Device device, ReleaseFn release,
                       void* context, bool readonly = false);

  void* data() const noexcept {
    return block_ ? static_cast<std::byte*>(block_->data) + start_ : nullptr;
  }
  std::size_t bytes() const noexcept {
    return block_ ? block_->bytes - static_cast<std::size_t>(start_) : 0;
  }
  /// Offset of data() in bytes from the address passed to adopt().
  std::int32_t start() const noexcept { return start_; }
  /// The same block beginning `start` bytes after the adopted address, start <= size of the block.
  /// Any byte offset is valid, whatever the size of the elements. Shares ownership and the record
  /// of queued work.
  Storage from_byte(std::int32_t start) const noexcept;
  Device device() const noexcept { return block_ ? block_->device : Device{}; }
  /// True where the owner exported the memory as read-only; views inherit the flag.
  bool readonly() const noexcept { return readonly_; }
  /// May be called while other threads read or copy this object.
  void set_readonly() noexcept { readonly_ = true; }
  /// The same bytes with readonly() set.
  Storage as_readonly() const noexcept;
  /// The same bytes without holding a reference (not counted). Call detach() on the result before
  /// it is destroyed and before the last counted reference is dropped.
  Storage unowned() const noexcept {
    Storage storage;
    storage.block_ = Ref<ControlBlock>::adopt(block_.get());
    storage.readonly_ = readonly_;
    storage.start_ = start_;
    return storage;
  }
  /// Clears a Storage made by unowned(), without dropping a reference.
  void detach() noexcept { block_.detach(); }
  [[deprecated("use detach()")]] void forget() noexcept { detach(); }
  /// Number of references to the block.
  std::int64_t use_count() const noexcept { return block_ ? block_->use_count() : 0; }
  /// True where this is the only reference and no stream has queued work on the bytes.
  bool is_exclusive() const noexcept {
    return block_ && block_->is_held_once() && block_->uses.none();
  }
  StreamUses& uses() const noexcept { return block_->uses; }
  /// The `context` argument of adopt(); a bridge uses it to find the foreign owner again.
  void* context() const noexcept { return block_ ? block_->context : nullptr; }
  ReleaseFn release_fn() const noexcept { return block_ ? block_->release_fn : nullptr; }
  /// Takes back memory that was adopted with `release`, where this is the only reference and no
  /// stream but the producer has used it: returns the context, which the caller must release from
  /// here on, and empties the block for replace(). Otherwise returns null and changes nothing.
  void* reclaim(ReleaseFn release) noexcept {
    if (!block_ || block_->release_fn != release || !block_->is_held_once() ||
        !block_->uses.only_producer_used())
      return nullptr;
    block_->release_fn = nullptr;
    if (!block_->uses.none()) block_->uses.clear_producer();
    return block_->context;
  }
  /// Stores other memory, with adopt()'s arguments, in the block that reclaim() has emptied.
  void replace(void* data, std::size_t bytes, Device device, ReleaseFn release, void* context,
               bool readonly) noexcept {
    block_->data = data;
    block_->bytes = bytes;
    block_->device = device;
    block_->release_fn = release;
    block_->context = context;
    readonly_ = readonly;
    start_ = 0;
  }

  explicit operator bool() const noexcept { return static_cast<bool>(block_); }
  /// Equal where both refer to the same block at the same start().
  friend bool operator==(const Storage& a, const Storage& b) noexcept {
    return a.block_ == b.block_ && a.start_ == b.start_;
  }

 private:
  friend class core::StorageFreeList;

  struct SW_API ControlBlock final : RefCounted {
    ControlBlock() noexcept : RefCounted(1) {}  // the reference of the Storage it is made for
    ~ControlBlock() override;
    void dispose() noexcept override;
    using RefCounted::restart_count;
    void* data = nullptr;
    std::size_t bytes = 0;
    Device device;
    ReleaseFn release_fn = nullptr;
    void* context = nullptr;
    bool is_cached_with_memory = false;  // by the free list, once no reference is left
    StreamUses uses;
  };

  Ref<ControlBlock> block_;
  ReadonlyBit readonly_;
  std::int32_t start_ = 0;
};

}  // namespace spanwise
