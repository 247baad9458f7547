// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spanwise/array.hpp"
#include "spanwise/copy.hpp"
#include "spanwise/error.hpp"
#include "spanwise/export.hpp"

// PyObject: this header is usable without Python's.
struct _object;  // NOLINT(bugprone-reserved-identifier): CPython's name

namespace spanwise {

/// What the caller of an import asks for.
struct ImportOptions {
  CopyMode copy = CopyMode::if_needed;
  std::optional<DType> dtype{};    ///< cast to this
  std::optional<Device> device{};  ///< move there; default: stay where the data is
  bool writable = false;           ///< refuse read-only memory with ReadOnlyError
  /// Whether a lazy array may be computed: only where the program asks for a conversion.
  bool may_compute = false;
};

/// What keeps memory from being shared, and the way out.
struct ShareBlocker {
  std::string reason;  ///< a clause: "a stride of 6 bytes is no multiple of the 4-byte element"
  std::string remedy;  ///< an imperative: "pass x.copy()"
};

/// A CopyNeededError in its parts: "<who>: <reason>; <remedy>".
class SW_API SharingError : public CopyNeededError {
 public:
  SharingError(std::string_view who, ShareBlocker obstacle);
  const ShareBlocker& obstacle() const noexcept { return obstacle_; }

 private:
  ShareBlocker obstacle_;
};

/// Memory in a foreign library's words. Nothing here need be fit for a Layout.
struct ForeignMemory {
  void* data = nullptr;  ///< address of element (0, ..., 0); of no meaning where there are none
  Device device{};
  DType dtype{};
  Shape shape{};
  Strides byte_strides{};  ///< in bytes, unlike a Layout's; empty with row_major
  bool row_major = false;  ///< C order, byte_strides left out
  bool readonly = false;
  bool byte_swapped = false;  ///< elements have the other byte order than this machine's
};

/// What keeps `memory` from being a Layout's; nothing where it can be shared as it is. Throws
/// BridgeError for a description that cannot be true (negative extents, addresses that overflow).
SW_API std::optional<ShareBlocker> find_share_blocker(const ForeignMemory& memory);

/// Who has to be told when foreign memory is no longer used: a release function and what it needs.
/// Tells it exactly once: when the storage made from it goes, or here where none was made.
class SW_API ForeignOwner {
 public:
  ForeignOwner() noexcept = default;
  ForeignOwner(ReleaseFn release, void* context) noexcept : release_(release), context_(context) {}
  ForeignOwner(ForeignOwner&& other) noexcept
      : release_(std::exchange(other.release_, nullptr)),
        context_(std::exchange(other.context_, nullptr)) {}
  ForeignOwner& operator=(ForeignOwner&& other) noexcept {
    std::swap(release_, other.release_);
    std::swap(context_, other.context_);
    return *this;
  }
  ~ForeignOwner() {
    if (release_ != nullptr) tell();
  }

  /// Storage over the bytes, which owns what this owned.
  Storage adopt(void* data, std::size_t bytes, Device device, bool readonly) &&;
  /// The same as Storage::replace() does it.
  void replace(Storage& reclaimed, void* data, std::size_t bytes, Device device,
               bool readonly) && noexcept {
    reclaimed.replace(data, bytes, device, std::exchange(release_, nullptr),
                      std::exchange(context_, nullptr), readonly);
  }

 private:
  friend class EventGuardedOwner;
  void tell() noexcept;
  ReleaseFn release_ = nullptr;
  void* context_ = nullptr;
};

/// Another library's array, as its bridge sees it.
struct ForeignView {
  /// Owned from here on, so that nothing leaks whatever fails later.
  ForeignOwner owner{};
  ForeignMemory memory{};
  /// Set instead of `owner` and `memory` where the bridge had to make an array of its own.
  std::optional<Array> made{};
  /// The producer copied (or `made` is a copy) of an array that could not be shared.
  bool copied = false;
  /// There was no array to share, only values: `made` is new, and no copy is to be complained
  /// about.
  bool created = false;
  /// The streams with the producer's queued work on the memory, as the CUDA Array Interface counts
  /// them (1 legacy, 2 per-thread, else a CUstream). Empty: nothing is queued, or the current
  /// stream of the device has been made to wait already.
  std::vector<std::uintptr_t> streams{};
  /// The streams above live as long as the process, so they may be waited for later, and be told to
  /// wait when the memory is given back.
  bool streams_stay = false;
};

/// Memory as an object's own structures describe it, read without owning or deciding anything: what
/// Bridge::look() fills in. Pointers may lead into the object.
struct BorrowedTensor {
  void* data = nullptr;  ///< address of element (0, ..., 0)
  Device device{};       ///< the CPU or a GPU
  DType dtype{};
  int rank = 0;
  const std::int64_t* shape = nullptr;
  const std::int64_t* strides = nullptr;
  /// Whether strides count elements, as DLPack's do, where those of extents of 1 mean nothing.
  bool in_elements = false;
  bool readonly = false;
  /// The stream with the producer's queued work, counted as in ForeignView, which lives as long as
  /// the process; 0 on the CPU.
  std::uintptr_t stream = 0;
  /// Where a bridge puts a shape and strides that it had to convert; of no meaning otherwise.
  std::array<std::int64_t, 2 * max_rank> room;
};

/// `memory` as an Array that shares it, in one pass. Nothing, and the owner is told, where there is
/// anything to decide: no elements, an obstacle, a description that cannot be true.
SW_API std::optional<Array> share(const BorrowedTensor& memory, ForeignOwner owner);
/// The same, made where it stays: in the memory of an Array at `place`, in which none lives yet.
/// False where there is nothing, and where this throws nothing lives there either. `spare`, if any,
/// is a storage after Storage::reclaim(), which may be used for the new one.
SW_API bool share_at(Array* place, const BorrowedTensor& memory, ForeignOwner owner,
                     Storage&& spare = {});

/// `view` as an Array that shares the memory, or nothing where find_share_blocker() finds
/// something. The producer's queued work is ordered before any use of ours by events, never by a
/// wait of the host. Pinned host memory becomes the CPU's, managed memory the GPU's that it belongs
/// to. Throws BridgeError for a description that cannot be true, DeviceError for a device that is
/// not there.
SW_API std::optional<Array> share(ForeignView& view);
/// The bytes of a view that share() cannot take, as uint8 in the elements' order of bytes: the
/// shape is view.memory's with one axis more for the bytes of an element (two for a complex one).
SW_API Array share_bytes(ForeignView& view);
/// A new C-contiguous array of view.memory's shape and dtype from what share_bytes() gave.
SW_API Array gather(const Array& bytes, const ForeignMemory& memory);
/// The three above in one: shared where it can be and `mode` is not always, else a private copy,
/// and view.copied is set. `who` speaks in messages. Throws SharingError under CopyMode::never.
SW_API Array take(ForeignView& view, CopyMode mode, std::string_view who);

/// The context of `storage` where its memory was adopted with `release`, directly or by take();
/// else null.
SW_API void* foreign_context(const Storage& storage, ReleaseFn release) noexcept;

/// Memory of a GPU whose owner has no stream to make wait is held until our queued work on it has
/// passed. That is looked at on each later import and release, and by this call. Never blocks.
SW_API void collect_released() noexcept;

/// How often a bridge shared and copied so far.
struct BridgeCounts {
  std::string name;
  std::int64_t imports_shared = 0, imports_copied = 0, exports_shared = 0, exports_copied = 0;
  std::int64_t bytes_copied = 0;
};

/// When a bridge is asked whether an object is its own: before all bridges with a greater value.
/// Bridges of one priority are asked in the order of their names.
enum class BridgePriority {
  library,  ///< accepts the types of one library, which no other bridge of this priority accepts
  dlpack,
  cuda_array_interface,
  array_interface,
  buffer,
  conversion,  ///< calls a method that may compute and copy
};

/// Everything about one foreign library or protocol, and nothing else: copying, ordering, lifetime,
/// errors and counters are done once, by those who call it. All members run under the GIL unless
/// they say otherwise.
class SW_API Bridge {
 public:
  virtual ~Bridge();
  /// "numpy", "dlpack", ...; what sw.convert() and sw.bridges() call it.
  virtual std::string_view name() const = 0;
  virtual BridgePriority priority() const = 0;
  /// How arrays travel: "DLPack 1.3, CUDA Array Interface 3".
  virtual std::string_view protocols() const = 0;
  /// The module that is looked up for the version; "" where the bridge serves a protocol.
  virtual std::string_view module() const { return {}; }
  /// Whether objects like `object` are this bridge's; leaves no Python error. A yes is remembered
  /// for the object's type.
  virtual bool accepts(_object* object) const = 0;
  /// Whether view() reads no memory of the object's but calls its own conversion, which may compute
  /// and copy. Such objects are no operands where they answer operators themselves.
  virtual bool is_conversion() const { return false; }
  /// Whether `object`, which this bridge accepts, is known to offer DLPack (`__dlpack__`, a capsule
  /// or the C exchange API) without being asked. spanwise.from_dlpack() looks for `__dlpack__` on
  /// other objects. Leaves no Python error.
  virtual bool speaks_dlpack(_object* object) const;
  /// The object's memory, kept alive. With `may_copy` the producer may be asked for a copy where it
  /// has nothing to share (then set view.copied); else throws SharingError in that case.
  /// BridgeError says that the object is none of this bridge's after all, and the next bridge is
  /// asked.
  virtual ForeignView view(_object* object, bool may_copy) const = 0;
  /// What most objects of the library come to, read into `memory` (a fresh one) without a decision
  /// or an error: what a reference to the object keeps alive. False where view() has to be asked:
  /// by default always. Leaves no Python error.
  virtual bool try_describe(_object* object, BorrowedTensor& memory) const;

  /// True where the three below are there; a protocol, for one, has no objects of its own to make.
  virtual bool exports() const { return false; }
  /// What keeps the library from holding `array` as it is; nothing where wrap() will share. Throws
  /// DTypeError for a dtype that it lacks, BridgeError where the library is not installed.
  virtual std::optional<ShareBlocker> obstacle(const Array& array) const;
  /// The array as an object of the library, sharing memory (a new reference); obstacle() found
  /// none.
  virtual _object* wrap(const Array& array) const;
  /// A private copy without obstacles: by default C-contiguous on the array's own device. Runs
  /// without the GIL.
  virtual Array exportable_copy(const Array& array) const;

  /// Adds to the counters; safe from any thread.
  void count_import(bool copied, std::int64_t bytes) const noexcept;
  void count_export(bool copied, std::int64_t bytes) const noexcept;
  /// Both for memory that was shared, under the GIL: nobody else counts there at the time, and
  /// locking the bus for him would take a tenth of what an import does.
  void count_shared_import() const noexcept { add_one(tally_.imports_under_gil); }
  void count_shared_export() const noexcept { add_one(tally_.exports_under_gil); }
  BridgeCounts counts() const;

 private:
  struct Tally {
    std::atomic<std::int64_t> imports_shared{0}, imports_copied{0}, exports_shared{0},
        exports_copied{0}, bytes_copied{0}, imports_under_gil{0}, exports_under_gil{0};
  };
  static void add_one(std::atomic<std::int64_t>& count) noexcept {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  mutable Tally tally_;
};

/// What an exchange did, or would do.
struct Exchange {
  bool shares = false;
  std::string reason;      ///< one clause: "C-contiguous float32 on cpu"
  std::int64_t bytes = 0;  ///< that would be copied
  std::string layout;      ///< of the source
  std::string remedy;      ///< what would make it share, "" where it does
};

/// Adds a bridge, which lives as long as the process; called by a static initialiser of the bridge
/// itself.
SW_API bool register_bridge(const Bridge& bridge);
/// Nullptr where there is none of that name.
SW_API const Bridge* find_bridge(std::string_view name) noexcept;
/// All bridges, sorted by priority and name. A copy: registering more does not disturb who
/// iterates.
SW_API std::vector<const Bridge*> registered_bridges();
SW_API std::vector<BridgeCounts> bridge_counts();

/// While one lives, copies that nobody asked for throw CopyNeededError on this thread: imports and
/// exports act as under CopyMode::never unless CopyMode::always was asked for.
class SW_API StrictCopies {
 public:
  StrictCopies() noexcept;
  ~StrictCopies();
  StrictCopies(const StrictCopies&) = delete;
  StrictCopies& operator=(const StrictCopies&) = delete;
  /// Whether one lives on the calling thread.
  static bool active() noexcept;
};

}  // namespace spanwise
