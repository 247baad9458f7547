// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "spanwise/core/array.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/runtime/copy.hpp"

// PyObject: this header is usable without Python's.
struct _object;  // NOLINT(bugprone-reserved-identifier): CPython's name

namespace spanwise {

/// Options of an import.
struct ImportOptions {
  CopyMode copy = CopyMode::if_needed;
  std::optional<DType> dtype{};    ///< cast to this dtype
  std::optional<Device> device{};  ///< move to this device; default: the data's
  /// Whether a lazy array may be evaluated; set only where the program requests a conversion.
  bool may_compute = false;
};

/// A description of another library's array. It need not be representable as a Layout.
struct ForeignMemory {
  void* data = nullptr;  ///< address of element (0, ..., 0); ignored for size 0
  Device device{};
  DType dtype{};
  Shape shape{};
  Strides byte_strides{};  ///< in bytes, unlike a Layout's; empty with row_major
  bool row_major = false;  ///< C order; byte_strides is empty
  bool readonly = false;
  bool byte_swapped = false;  ///< elements are not in this machine's byte order

  /// Whether an extent is 0. The product of unchecked extents may overflow.
  bool is_empty() const noexcept { return std::ranges::find(shape, 0) != shape.end(); }
};

/// Why `memory` cannot be represented as a Layout; nullopt where it can be shared. Throws
/// BridgeError for an invalid description (negative extents, addresses that overflow).
SW_API std::optional<ShareBlocker> find_share_blocker(const ForeignMemory& memory);

/// Owns foreign memory: a release function and its context. Calls the function exactly once: when
/// the storage made by adopt() is released, or in the destructor where none was made.
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
    if (release_ != nullptr) release_now();
  }

  /// Makes a Storage over the bytes and transfers the ownership to it.
  Storage adopt(void* data, std::size_t bytes, Device device, bool readonly) &&;
  /// The same into a storage emptied by Storage::reclaim().
  void replace(Storage& reclaimed, void* data, std::size_t bytes, Device device,
               bool readonly) && noexcept {
    reclaimed.replace(data, bytes, device, std::exchange(release_, nullptr),
                      std::exchange(context_, nullptr), readonly);
  }

 private:
  friend class EventGuardedOwner;
  void release_now() noexcept;
  ReleaseFn release_ = nullptr;
  void* context_ = nullptr;
};

/// The result of Bridge::view(): another library's array.
struct ForeignView {
  /// Owns the foreign memory, so that it is released if a later step fails.
  ForeignOwner owner{};
  ForeignMemory memory{};
  /// Set instead of `owner` and `memory` where the bridge has created a new array.
  std::optional<Array> array{};
  /// The producer made a copy (or `array` is one) because the array could not be shared.
  bool copied = false;
  /// The object has values but no array to share: `array` is new and does not count as a copy.
  bool created = false;
  /// The streams with the producer's queued work on the memory, numbered as in the CUDA Array
  /// Interface (1 legacy, 2 per-thread, else a CUstream). Empty: nothing is queued, or the device's
  /// current stream already waits for it.
  std::vector<std::uintptr_t> streams{};
  /// The streams above live as long as the process: waiting for them may be deferred to the first
  /// use, and they can be made to wait when the memory is released.
  bool persistent_streams = false;
};

/// A tensor described by an object's own C structures, without owning it, filled in by
/// Bridge::try_describe(). Pointers may point into the object.
struct BorrowedTensor {
  void* data = nullptr;  ///< address of element (0, ..., 0)
  Device device{};       ///< the CPU or a GPU
  DType dtype{};
  int rank = 0;
  const std::int64_t* shape = nullptr;
  const std::int64_t* strides = nullptr;  ///< null: C order
  /// Whether strides are in elements, as DLPack's (strides of axes of extent 1 are then ignored),
  /// rather than in bytes.
  bool in_elements = false;
  bool readonly = false;
  /// The stream with the producer's queued work, numbered as in ForeignView; it must live as long
  /// as the process. 0 on the CPU.
  std::uintptr_t stream = 0;
  /// Storage for shape and strides that the bridge had to convert; else unused.
  std::array<std::int64_t, 2 * max_rank> scratch;

  /// The number of elements if they are packed in C order and there is one at least, else 0. Writes
  /// their strides in elements to `packed_strides` unless it is null.
  std::int64_t packed_size(std::int64_t* packed_strides = nullptr) const noexcept {
    const std::int64_t unit = in_elements ? 1 : dtype.itemsize();
    std::int64_t size = 1;
    for (int axis = rank - 1; axis >= 0; --axis) {
      std::int64_t step;
      if (shape[axis] <= 0 || __builtin_mul_overflow(size, unit, &step)) return 0;
      if (strides != nullptr && strides[axis] != step) return 0;
      if (packed_strides != nullptr) packed_strides[axis] = size;
      if (__builtin_mul_overflow(size, shape[axis], &size)) return 0;
    }
    return size;
  }
};

/// The fast path of an import: an Array that shares `memory`. Returns nullopt, and releases
/// `owner`, where the general path is needed: no elements, memory that cannot be shared, or an
/// invalid description.
SW_API std::optional<Array> share(const BorrowedTensor& memory, ForeignOwner owner);
/// The same, constructing the Array in the uninitialised memory at `address`. Returns false, or
/// throws, without constructing one. `spare`, if set, is a storage emptied by Storage::reclaim(),
/// which may be reused.
SW_API bool share_at(Array* address, const BorrowedTensor& memory, ForeignOwner owner,
                     Storage&& spare = {});

/// An Array that shares the memory of `view`; nullopt where find_share_blocker() reports a reason.
/// The producer's queued work is ordered before any use by events, without blocking the host.
/// Pinned host memory becomes CPU memory, managed memory belongs to its GPU. Throws BridgeError for
/// an invalid description, DeviceError for a device that does not exist.
SW_API std::optional<Array> share(ForeignView& view);
/// The bytes of a view that share() cannot represent, as uint8 in native byte order: shape
/// view.memory.shape with one more axis for the bytes of an element (two more for complex dtypes).
SW_API Array share_bytes(ForeignView& view);
/// Copies the result of share_bytes() into a new C-contiguous array of `memory`'s shape and dtype.
SW_API Array gather(const Array& bytes, const ForeignMemory& memory);
/// Combines share(), share_bytes() and gather(): shares where possible and `mode` is not always,
/// else copies, without the interpreter's lock, and sets view.copied. `prefix` begins messages.
/// Throws SharingError under CopyMode::never.
SW_API Array take(ForeignView& view, CopyMode mode, std::string_view prefix);

/// The owner's context where the memory of `storage` was adopted with `release`, directly or by
/// take(); else null.
SW_API void* foreign_context(const Storage& storage, ReleaseFn release) noexcept;

/// Releases foreign GPU memory whose queued work is done. Where the owner has no stream that could
/// be made to wait, released memory is kept until Spanwise's work on it has completed; this is
/// checked on each later import and release, and by this call. Does not block.
SW_API void collect_released() noexcept;

/// Counters of a bridge since the process started.
struct BridgeCounts {
  std::string name;
  std::int64_t imports_shared = 0, imports_copied = 0, exports_shared = 0, exports_copied = 0;
  std::int64_t bytes_copied = 0;
};

/// The order in which bridges are tried: lower values first, and by name within one value.
enum class BridgePriority {
  library,  ///< accepts only the types of one library, disjoint from other bridges of this priority
  dlpack,
  cuda_array_interface,
  array_interface,
  buffer,
  conversion,  ///< calls a conversion method that may compute and copy
};

/// The adapter for one library or protocol. Copying, stream ordering, lifetime, errors and counters
/// are handled by the callers. All members run with the GIL held unless noted otherwise.
class SW_API Bridge {
 public:
  virtual ~Bridge();
  /// "numpy", "dlpack", ...; the name in sw.convert() and sw.bridges().
  virtual std::string_view name() const = 0;
  virtual BridgePriority priority() const = 0;
  /// The exchange protocols: "DLPack 1.3, CUDA Array Interface 3".
  virtual std::string_view protocols() const = 0;
  /// The module whose version is reported; "" for a bridge that serves a protocol.
  virtual std::string_view module() const { return {}; }
  /// Whether this bridge handles objects of `object`'s type. Leaves no Python error set. A true
  /// result is cached for the type.
  virtual bool accepts(_object* object) const = 0;
  /// The library's class of arrays (borrowed); null for a protocol. A subclass that replaces the
  /// `__array_ufunc__` or `__array_priority__` of this class computes operators itself. Leaves no
  /// Python error set.
  virtual _object* listed_class() const { return nullptr; }
  /// Whether view() calls the object's own conversion, which may compute and copy, instead of
  /// accessing its memory. Such objects are not taken as operands where they implement operators
  /// themselves.
  virtual bool is_conversion() const { return false; }
  /// Whether `object`, which this bridge accepts, is known to support DLPack (`__dlpack__`, a
  /// capsule or the C exchange API) without an attribute lookup. For other objects
  /// spanwise.from_dlpack() looks up `__dlpack__`. Leaves no Python error set.
  virtual bool speaks_dlpack(_object* object) const;
  /// The object's memory, with an owner that keeps it alive. With `may_copy` the producer may make
  /// a copy where it cannot share (then view.copied is set); else SharingError is thrown.
  /// BridgeError means that the bridge cannot handle the object after all, and the next bridge is
  /// tried.
  virtual ForeignView view(_object* object, bool may_copy) const = 0;
  /// The fast path of view(): fills in `memory` (default-constructed), valid while a reference to
  /// the object is held. Returns false where view() is needed (the default). Throws nothing and
  /// leaves no Python error set.
  virtual bool try_describe(_object* object, BorrowedTensor& memory) const;

  /// Whether the three functions below are implemented; false for protocols, which define no
  /// type of object.
  virtual bool exports() const { return false; }
  /// Why the library cannot share `array`; nullopt where wrap() will share it. Throws DTypeError
  /// for a dtype that the library does not have, BridgeError where the library is not installed.
  virtual std::optional<ShareBlocker> share_blocker(const Array& array) const;
  /// Wraps the array in an object of the library that shares its memory; returns a new reference.
  /// share_blocker() must have returned nullopt.
  virtual _object* wrap(const Array& array) const;
  /// A private copy for which share_blocker() returns nullopt: by default C-contiguous on the
  /// array's device. Runs without the GIL.
  virtual Array exportable_copy(const Array& array) const;

  /// Update the counters. Thread-safe.
  void count_import(bool copied, std::int64_t bytes) const noexcept;
  void count_export(bool copied, std::int64_t bytes) const noexcept;
  /// The same for shared memory, with the GIL held: without atomic read-modify-write, which would
  /// take a tenth of an import's time.
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

/// Registers a bridge, which must live as long as the process; called by a static initialiser of
/// the bridge itself.
SW_API bool register_bridge(const Bridge& bridge);
/// Null where there is none of that name.
SW_API const Bridge* find_bridge(std::string_view name) noexcept;
/// All bridges, sorted by priority and name. A copy, so registering more while iterating is safe.
SW_API std::vector<const Bridge*> registered_bridges();

/// While an object of this class exists, imports and exports on its thread throw CopyNeededError
/// instead of copying, as under CopyMode::never, unless CopyMode::always is given.
class SW_API StrictCopies {
 public:
  StrictCopies() noexcept;
  ~StrictCopies();
  StrictCopies(const StrictCopies&) = delete;
  StrictCopies& operator=(const StrictCopies&) = delete;
  /// Whether an object of this class exists on the calling thread.
  static bool active() noexcept;
};

}  // namespace spanwise
