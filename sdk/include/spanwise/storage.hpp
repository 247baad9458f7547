// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "spanwise/device.hpp"
#include "spanwise/export.hpp"
#include "spanwise/ref.hpp"

namespace spanwise {

class StreamUses;

/// Gives the bytes back. Runs once, on whichever thread drops the last reference or a later one
/// that allocates or releases, with or without the GIL, possibly after the interpreter has ended;
/// must not throw. `uses` names the streams whose queued work has to pass first; where they have a
/// home, that one waits for them already. None of them is being recorded into a graph.
using ReleaseFn = void (*)(void* context, void* data, std::size_t bytes, StreamUses& uses) noexcept;

/// Bytes that have no holder any more, and what gives them back.
struct UnheldMemory {
  ReleaseFn release = nullptr;
  void* context = nullptr;
  void* data = nullptr;
  std::size_t bytes = 0;
};

/// A queue of device work as the core sees it: an identity that can be kept alive. The runtime
/// derives the real stream from it.
class SW_API StreamIdentity : public RefCounted {
 public:
  Device device() const noexcept { return device_; }
  /// Gives back memory that this stream, one of `uses`, has work on: after that work is queued, and
  /// with the home stream of `uses` made to wait for the others; later where a graph still uses the
  /// memory; never where the device cannot promise the order (a lost context, the end of the
  /// process). Does not block. Takes `uses` over where it gives back later.
  virtual void release_memory(const UnheldMemory& memory, StreamUses& uses) noexcept = 0;

 protected:
  explicit StreamIdentity(Device device) noexcept : device_(device) {}
  ~StreamIdentity() override;

 private:
  Device device_;
};

/// The streams with queued work on a storage. The runtime reads it to order a new use after earlier
/// ones, and to order the release after all of them; on one stream that is a pointer comparison.
class SW_API StreamUses {
 public:
  /// Remembers a read (or, with `writes`, a write) queued on `stream`. A write forgets earlier
  /// uses: the caller has ordered it after them.
  void record(StreamIdentity& stream, bool writes) {
    if (is_only_user(stream) && (!writes || sole_user_wrote_.load(std::memory_order_relaxed)))
      return;
    remember(stream, writes);
  }
  /// For bytes of an owner who works on them on `home`, before anybody uses them: his queued work
  /// is a write, and what he queues there once he has them back has to come after all other uses.
  void set_producer(Ref<StreamIdentity>&& producer) noexcept {
    producer_ = std::move(producer);
    sole_user_wrote_.store(true, std::memory_order_relaxed);
    sole_user_.store(producer_.get(), std::memory_order_release);
  }
  /// The stream of set_producer(), or null.
  StreamIdentity* producer() const noexcept { return producer_.get(); }
  /// Calls f(stream) for each stream other than `stream` that a new use there must come after: the
  /// last writer, and for a write the readers as well.
  template <class F>
  void for_each_to_wait_for(const StreamIdentity& stream, bool writes, F&& f) const {
    if (is_only_user(stream)) return;
    for (const Ref<StreamIdentity>& other : to_wait_for(stream, writes)) f(*other);
  }
  bool is_only_user(const StreamIdentity& stream) const noexcept {
    return sole_user_.load(std::memory_order_acquire) == &stream;
  }
  /// No work was ever queued on the bytes.
  bool none() const noexcept { return sole_user_.load(std::memory_order_acquire) == nullptr; }
  /// Nobody but the owner whose they are has queued work on the bytes.
  bool only_producer_used() const noexcept {
    return sole_user_.load(std::memory_order_acquire) == producer_.get();
  }
  /// For bytes that are somebody else's next. Not while another thread looks.
  void forget() noexcept;
  /// Takes over what `other` remembers, who forgets it. Not while another thread looks at either.
  void take(StreamUses& other) noexcept;
  /// The same where only_producer_used().
  void forget_producer() noexcept {
    sole_user_.store(nullptr, std::memory_order_relaxed);
    sole_user_wrote_.store(false, std::memory_order_relaxed);
    producer_ = {};
    if (writer_) [[unlikely]]  // somebody else was here in between
      writer_ = {};
  }
  /// One of the streams with queued work; null where there are none. Not while another thread
  /// records a use.
  StreamIdentity* any() const noexcept {
    if (producer_) return producer_.get();
    return writer_ ? writer_.get() : reader_.get();
  }
  /// Every stream with queued work, writer first.
  std::vector<Ref<StreamIdentity>> all() const;

 private:
  class Lock;
  void remember(StreamIdentity& stream, bool writes);
  std::vector<Ref<StreamIdentity>> to_wait_for(const StreamIdentity& stream, bool writes) const;
  bool is_reader(const StreamIdentity& stream) const noexcept;
  // The last writer, which producer_ is until somebody else has used the bytes.
  const Ref<StreamIdentity>& writer() const noexcept {
    return producer_ && only_producer_used() ? producer_ : writer_;
  }
  // A value of sole_user_ that is the address of no stream.
  const StreamIdentity* several() const noexcept {
    return reinterpret_cast<const StreamIdentity*>(this);
  }

  mutable std::atomic<std::uint32_t> busy_{0};  // process_generation() of who holds it; 0: free
  std::atomic<bool> sole_user_wrote_{false};
  // Null while nobody, the stream while exactly one, several() while more have used the storage;
  // the stream is kept alive by producer_, writer_ or reader_.
  std::atomic<const StreamIdentity*> sole_user_{nullptr};
  Ref<StreamIdentity> producer_;
  Ref<StreamIdentity> writer_;
  // Who reads what writer_ wrote, but for writer_ itself; one of them without the heap.
  Ref<StreamIdentity> reader_;
  std::vector<Ref<StreamIdentity>> more_readers_;
};

namespace core {
class StorageFreeList;
}

/// A bool that may be set while other threads read or copy it; costs what a bool does.
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

/// Bytes on a device and who keeps them alive. Copying a Storage copies a reference.
class SW_API Storage {
 public:
  Storage() noexcept = default;
  /// Takes charge of `bytes` bytes at `data`, given back by release(context, ...) when the last
  /// reference goes; `release` may be null for memory that outlives everything. If adopt() itself
  /// throws, `release` has been called.
  static Storage adopt(void* data, std::size_t bytes, Device device, ReleaseFn release,
                       void* context, bool readonly = false);

  void* data() const noexcept {
    return block_ ? static_cast<std::byte*>(block_->data) + start_ : nullptr;
  }
  std::size_t bytes() const noexcept {
    return block_ ? block_->bytes - static_cast<std::size_t>(start_) : 0;
  }
  /// The first of the bytes that adopt() took which data() points to.
  std::int32_t start() const noexcept { return start_; }
  /// The same bytes from `start`, at most the bytes there are: elements of several bytes may begin
  /// at any of them. One owner and one record of queued work serve both.
  Storage from_byte(std::int32_t start) const noexcept;
  Device device() const noexcept { return block_ ? block_->device : Device{}; }
  /// True where the owner handed the memory out for reading only; views keep it.
  bool readonly() const noexcept { return readonly_; }
  /// May be called while other threads read or copy this object.
  void set_readonly() noexcept { readonly_ = true; }
  /// The same bytes, for reading only.
  Storage as_readonly() const noexcept;
  /// The same bytes, without being one of their holders. It has to be let go by forget() before the
  /// holder that was asked goes.
  Storage unowned() const noexcept {
    Storage storage;
    storage.block_ = Ref<Block>::adopt(block_.get());
    storage.readonly_ = readonly_;
    storage.start_ = start_;
    return storage;
  }
  /// Lets go what unowned() gave.
  void forget() noexcept { block_.detach(); }
  /// Arrays and other holders that share these bytes now.
  std::int64_t use_count() const noexcept { return block_ ? block_->use_count() : 0; }
  /// Whether this is the only holder and no stream has work queued on the bytes.
  bool is_exclusive() const noexcept {
    return block_ && block_->is_held_once() && block_->uses.none();
  }
  StreamUses& uses() const noexcept { return block_->uses; }
  /// What release() will get: the bridge that made the storage can find its owner again.
  void* context() const noexcept { return block_ ? block_->context : nullptr; }
  ReleaseFn release_fn() const noexcept { return block_ ? block_->release_fn : nullptr; }
  /// For the last holder of memory that was adopted with `release` and that no stream but its home
  /// has used: the context, which is the caller's to release from here on. Null, and nothing has
  /// changed, for others.
  void* reclaim(ReleaseFn release) noexcept {
    if (!block_ || block_->release_fn != release || !block_->is_held_once() ||
        !block_->uses.only_producer_used())
      return nullptr;
    block_->release_fn = nullptr;
    if (!block_->uses.none()) block_->uses.forget_producer();
    return block_->context;
  }
  /// Puts other memory, as of adopt(), in the place of what reclaim() has given back.
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
  /// Same bytes, same owner.
  friend bool operator==(const Storage& a, const Storage& b) noexcept {
    return a.block_ == b.block_ && a.start_ == b.start_;
  }

 private:
  friend class core::StorageFreeList;

  struct SW_API Block final : RefCounted {
    Block() noexcept : RefCounted(1) {}  // by the storage that it is made for
    ~Block() override;
    void dispose() noexcept override;
    using RefCounted::revive;
    void* data = nullptr;
    std::size_t bytes = 0;
    Device device;
    ReleaseFn release_fn = nullptr;
    void* context = nullptr;
    bool stays_whole = false;  // its memory is kept with it
    StreamUses uses;
  };

  Ref<Block> block_;
  ReadonlyBit readonly_;
  std::int32_t start_ = 0;
};

}  // namespace spanwise
