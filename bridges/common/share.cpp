// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "spanwise/bridge.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/fork.hpp"
#include "spanwise/core/interpreter_lock.hpp"
#include "spanwise/core/layout.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/stream.hpp"

/// From a description of foreign memory to an Array: the bytes that it covers, the layout over
/// them, and the storage that owns them; or a packed copy where a Layout cannot describe the
/// memory.
namespace spanwise {
namespace {

/// The offsets that a layout reaches from element (0, ..., 0), in the unit of its strides.
struct Reach {
  std::int64_t lowest = 0, highest = 0;
  std::int64_t size = 1;  ///< number of indices

  /// Adds an axis of `extent` >= 1 indices. Returns false on overflow.
  bool try_add(std::int64_t extent, std::int64_t stride) noexcept {
    std::int64_t step;
    bool overflows = __builtin_mul_overflow(size, extent, &size);
    overflows |= __builtin_mul_overflow(stride, extent - 1, &step);
    std::int64_t& bound = step < 0 ? lowest : highest;
    overflows |= __builtin_add_overflow(bound, step, &bound);
    return !overflows;
  }
};

/// Division of byte strides by the element size. Nearly all sizes are powers of two, for which a
/// shift takes a tenth of the time of a division.
class ItemSize {
 public:
  explicit ItemSize(std::int64_t bytes) noexcept
      : bytes_(bytes),
        shift_(__builtin_ctzll(static_cast<unsigned long long>(bytes))),
        // Not std::has_single_bit: without a popcount instruction it is a call.
        is_power_of_two_((bytes & (bytes - 1)) == 0) {}
  bool is_power_of_two() const noexcept { return is_power_of_two_; }
  bool divides(std::int64_t stride) const noexcept {
    return is_power_of_two_ ? (stride & (bytes_ - 1)) == 0 : stride % bytes_ == 0;
  }
  /// The stride in elements; `stride` must be a multiple of the element size.
  std::int64_t to_elements(std::int64_t stride) const noexcept {
    return is_power_of_two_ ? stride >> shift_ : stride / bytes_;
  }

 private:
  std::int64_t bytes_;
  int shift_;
  bool is_power_of_two_;
};

/// The bytes that a description covers: `bytes` bytes from `lowest` on; element (0, ..., 0) is at
/// byte `first`.
struct ByteExtent {
  void* lowest = nullptr;
  std::size_t bytes = 0;
  std::int64_t first = 0;
  std::int64_t size = 0;  ///< elements
};

// Bytes of the unit of a byte swap: a number, or each half of a complex number; 1 for elements
// narrower than a byte.
int swapped_unit(DType dtype) {
  return std::max(dtype.bits() / 8 / (dtype.is_complex() ? 2 : 1), 1);
}

[[noreturn]] void fail_overflow(const ForeignMemory& memory) {
  fail<BridgeError>("bridge: memory of ", memory.dtype, " with shape ", memory.shape,
                    " and strides ", memory.byte_strides,
                    " bytes does not fit in 63 bits; the producer described it wrongly");
}

std::int64_t checked_size(const ForeignMemory& memory) {
  std::int64_t elements = 1;
  bool empty = false;
  for (const std::int64_t extent : memory.shape) {
    if (extent < 0)
      fail<BridgeError>("bridge: negative extent in shape ", memory.shape,
                        "; the producer described it wrongly");
    empty |= extent == 0;
    if (extent != 0 && __builtin_mul_overflow(elements, extent, &elements)) fail_overflow(memory);
  }
  std::int64_t bytes;
  if (__builtin_mul_overflow(elements, memory.dtype.itemsize(), &bytes)) fail_overflow(memory);
  return empty ? 0 : elements;
}

// Throws BridgeError if extents are negative, strides are missing, the address is null, or sizes or
// addresses do not fit in 63 bits.
ByteExtent byte_extent_of(const ForeignMemory& memory) {
  if (!memory.row_major && memory.byte_strides.size() != memory.shape.size())
    fail<BridgeError>("bridge: shape ", memory.shape, " came with strides ", memory.byte_strides,
                      "; expected one stride for each extent");
  ByteExtent covered;
  covered.size = checked_size(memory);
  if (covered.size == 0) return covered;
  if (memory.data == nullptr)
    fail<BridgeError>("bridge: null address for shape ", memory.shape,
                      "; only an array without elements may have one");
  Reach reach{.highest = memory.dtype.itemsize() * (memory.row_major ? covered.size : 1)};
  for (int axis = 0; axis < memory.byte_strides.size(); ++axis)
    if (!reach.try_add(memory.shape[axis], memory.byte_strides[axis])) fail_overflow(memory);
  std::int64_t bytes;
  const auto address = reinterpret_cast<std::uint64_t>(memory.data);
  const bool below = reach.lowest < 0 && address < -static_cast<std::uint64_t>(reach.lowest);
  if (below || __builtin_sub_overflow(reach.highest, reach.lowest, &bytes)) fail_overflow(memory);
  covered.lowest = static_cast<std::byte*>(memory.data) + reach.lowest;
  covered.bytes = static_cast<std::size_t>(bytes);
  covered.first = -reach.lowest;
  return covered;
}

// The layout in elements, for memory for which find_blocker() returns nothing.
Layout layout_of(const ForeignMemory& memory, const ByteExtent& covered) {
  if (memory.row_major || covered.size == 0) return Layout::row_major(memory.shape);
  const ItemSize item(memory.dtype.itemsize());
  Layout layout{memory.shape, memory.byte_strides, item.to_elements(covered.first)};
  for (int axis = 0; axis < layout.rank(); ++axis) {
    std::int64_t& stride = layout.strides[axis];
    // The stride of an extent of 1 is unused and may be any value.
    stride = item.divides(stride) ? item.to_elements(stride) : 1;
  }
  return layout;
}

// The shape of byte_layout_of().
Shape byte_shape_of(const ForeignMemory& memory) {
  const int item = memory.dtype.itemsize(), unit = swapped_unit(memory.dtype);
  Shape shape = memory.shape;
  if (item != unit) shape = shape.inserted(shape.size(), item / unit);
  return shape.inserted(shape.size(), unit);
}

// The layout in bytes of any memory, with the axes of the result of share_bytes().
Layout byte_layout_of(const ForeignMemory& memory, const ByteExtent& covered) {
  const Shape shape = byte_shape_of(memory);
  if (covered.size == 0) return Layout::row_major(shape);
  const int item = memory.dtype.itemsize(), unit = swapped_unit(memory.dtype);
  Strides strides(shape.size());
  std::int64_t step = item;  // C order if the producer gives no strides
  for (int axis = memory.shape.size() - 1; axis >= 0; --axis) {
    strides[axis] = memory.row_major ? step : memory.byte_strides[axis];
    step *= memory.shape[axis];
  }
  if (item != unit) strides[shape.size() - 2] = unit;
  strides[shape.size() - 1] = memory.byte_swapped ? -1 : 1;
  return {shape, strides, covered.first + (memory.byte_swapped ? unit - 1 : 0)};
}

// As find_share_blocker(), for memory whose byte_extent_of() is `covered`.
std::optional<ShareBlocker> find_blocker(const ForeignMemory& memory, const ByteExtent& covered) {
  if (covered.size == 0) return std::nullopt;
  const ItemSize item(memory.dtype.itemsize());
  if (memory.byte_swapped && swapped_unit(memory.dtype) > 1) {
    return ShareBlocker{
        text("its elements (", memory.dtype, ") have the other byte order"),
        "allow a copy (copy=None, copyif=True), or convert it to native byte order"};
  }
  for (int axis = 0; axis < memory.byte_strides.size(); ++axis) {
    if (item.divides(memory.byte_strides[axis]) || memory.shape[axis] == 1) continue;
    return ShareBlocker{
        text("a stride of ", memory.byte_strides[axis], " bytes on axis ", axis,
             " is no multiple of the ", memory.dtype.itemsize(), " bytes of ", memory.dtype),
        "allow a copy (copy=None, copyif=True), or copy it to packed memory"};
  }
  const std::int64_t alignment = alignment_of(memory.dtype, memory.device);
  if ((reinterpret_cast<std::uintptr_t>(memory.data) &
       static_cast<std::uintptr_t>(alignment - 1)) != 0) {
    return ShareBlocker{text("its address is no multiple of the ", alignment, " bytes that ",
                             memory.dtype, " is aligned to"),
                        "allow a copy (copy=None, copyif=True), or copy it to aligned memory"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<ShareBlocker> find_share_blocker(const ForeignMemory& memory) {
  return find_blocker(memory, byte_extent_of(memory));
}

/// Delays the release of a foreign owner until events show that Spanwise's queued work on the
/// memory has completed (collect_released()). For memory of a device if no stream of the owner is
/// known that could wait instead.
class EventGuardedOwner {
 public:
  static ForeignOwner around(ForeignOwner owner);
  /// The context of the wrapped owner if `storage` was adopted from such an owner and its release
  /// function is `release`; else null.
  static void* context(const Storage& storage, ReleaseFn release) noexcept;
};

namespace {

struct GuardedOwner {
  ReleaseFn release = nullptr;
  void* context = nullptr;
  void* data = nullptr;
  std::size_t bytes = 0;
  std::vector<Event> events{};  // for work on the memory that has not completed
  GuardedOwner* next_leaked = nullptr;

  void call_release() noexcept {
    StreamUses none;
    release(context, data, bytes, none);
  }
  // False where the device fails: the owner keeps waiting. Must not throw inside of a partition,
  // which would lose owners.
  bool is_work_complete() const noexcept {
    try {
      return std::all_of(events.begin(), events.end(), [](const Event& e) { return e.query(); });
    } catch (const std::exception&) {
      return false;
    }
  }
};

// Outside of the list, so that an import can check it without creating the list.
constinit std::atomic<bool> has_waiting_owners{false};

class WaitingOwners {
 public:
  void add(std::unique_ptr<GuardedOwner> owner) {
    const std::lock_guard lock(mutex_);
    owners_.push_back(std::move(owner));
    has_waiting_owners.store(true, std::memory_order_release);
  }

  // Calls release functions without the lock: they run foreign code, which may import and release
  // arrays.
  void collect_released() {
    std::vector<std::unique_ptr<GuardedOwner>> completed;
    {
      const std::lock_guard lock(mutex_);
      const auto first =
          std::stable_partition(owners_.begin(), owners_.end(),
                                [](const auto& owner) { return !owner->is_work_complete(); });
      try {
        completed.reserve(static_cast<std::size_t>(owners_.end() - first));
      } catch (const std::bad_alloc&) {
        return;  // a later call releases them
      }
      std::move(first, owners_.end(), std::back_inserter(completed));
      owners_.erase(first, owners_.end());
      has_waiting_owners.store(!owners_.empty(), std::memory_order_release);
    }
    for (const auto& owner : completed) owner->call_release();
  }

 private:
  Mutex mutex_;
  std::vector<std::unique_ptr<GuardedOwner>> owners_;
};

// Never destroyed: owners that still wait at process exit are not released, because the driver may
// have shut down by then.
WaitingOwners& waiting_owners() {
  static NeverDestroyed<WaitingOwners> the_owners;
  return *the_owners;
}

// Keeps the owner for ever: a leak is better than two writers of the same memory. A linked list, so
// that leaking cannot fail and leak checkers can follow it.
void leak(std::unique_ptr<GuardedOwner> owner) noexcept {
  static constinit std::atomic<GuardedOwner*> leaked{nullptr};
  owner->events.clear();
  owner->next_leaked = leaked.load();
  while (!leaked.compare_exchange_weak(owner->next_leaked, owner.get())) {
  }
  owner.release();  // NOLINT(bugprone-unused-return-value): the list owns it
}

void record_pending_work(GuardedOwner& owner, const StreamUses& uses) {
  for (const Ref<StreamIdentity>& identity : uses.all()) {
    const Stream used = Stream::of(*identity);
    if (!used.query()) owner.events.push_back(used.record());
  }
}

void release_ordered(void* context, void* data, std::size_t bytes, StreamUses& uses) noexcept {
  std::unique_ptr<GuardedOwner> owner(static_cast<GuardedOwner*>(context));
  owner->data = data;
  owner->bytes = bytes;
  try {
    record_pending_work(*owner, uses);
    collect_released();
    if (owner->events.empty()) {
      owner->call_release();
    } else {
      waiting_owners().add(std::move(owner));
    }
  } catch (...) {
    // The device cannot be queried: a lost context, or the end of the process.
    if (owner) leak(std::move(owner));
  }
}

}  // namespace

ForeignOwner EventGuardedOwner::around(ForeignOwner owner) {
  if (owner.release_ == nullptr) return owner;
  auto guarded = std::make_unique<GuardedOwner>();
  guarded->release = std::exchange(owner.release_, nullptr);
  guarded->context = std::exchange(owner.context_, nullptr);
  return ForeignOwner(&release_ordered, guarded.release());
}

void* EventGuardedOwner::context(const Storage& storage, ReleaseFn release) noexcept {
  if (storage.release_fn() != &release_ordered) return nullptr;
  const auto* owner = static_cast<const GuardedOwner*>(storage.context());
  return owner->release == release ? owner->context : nullptr;
}

void collect_released() noexcept {
  if (!has_waiting_owners.load(std::memory_order_acquire)) [[likely]]
    return;
  try {
    waiting_owners().collect_released();
  } catch (...) {
    // No host memory for a partition: the owners keep waiting.
  }
}

namespace {

Device device_for(const ForeignMemory& memory) {
  switch (memory.device.kind()) {
    case DeviceKind::cpu:
    case DeviceKind::cuda_host:  // the CPU can access it directly
      return cpu;
    case DeviceKind::cuda:
      return memory.device;
    case DeviceKind::cuda_managed:
      break;
  }
  // Producers report device 0 for all managed memory, so ask the driver.
  const auto producer = device_of(memory.data);
  return Device(DeviceKind::cuda, producer ? producer->ordinal() : memory.device.ordinal());
}

// Makes the current stream wait for the producer's queued work.
void order_after_producer(const Array& array, const ForeignView& view) {
  if (array.size() == 0) return;
  const Stream current = Stream::current(array.device());
  for (const std::uintptr_t handle : view.streams) {
    if (handle != current.handle()) current.wait(Stream::foreign(array.device(), handle));
  }
  order_use(current, array, true);
}

Array adopt(ForeignView& view, const ByteExtent& covered, Layout layout, DType dtype) {
  const ForeignMemory& memory = view.memory;
  const Device device = device_for(memory);
  Ref<StreamIdentity> producer;
  if (!memory.device.is_cpu()) [[unlikely]] {
    collect_released();
    if (view.persistent_streams && view.streams.size() == 1 && device.is_cuda())
      producer = Stream::persistent(device, view.streams[0]).take_identity();
    else
      view.owner = EventGuardedOwner::around(std::move(view.owner));
  }
  Array array(std::move(view.owner).adopt(covered.lowest, covered.bytes, device, memory.readonly),
              std::move(layout), dtype);
  // The first use of the array waits for the producer's stream, which lives as long as the process.
  if (producer)
    array.storage().uses().set_producer(std::move(producer));
  else if (!device.is_cpu())
    order_after_producer(array, view);
  return array;
}

}  // namespace

void ForeignOwner::release_now() noexcept {
  StreamUses none;
  release_(context_, nullptr, 0, none);
}

Storage ForeignOwner::adopt(void* data, std::size_t bytes, Device device, bool readonly) && {
  // Storage::adopt() calls the release function itself if it fails.
  return Storage::adopt(data, bytes, device, std::exchange(release_, nullptr),
                        std::exchange(context_, nullptr), readonly);
}

void* foreign_context(const Storage& storage, ReleaseFn release) noexcept {
  if (storage.release_fn() == release) return storage.context();
  return EventGuardedOwner::context(storage, release);
}

std::optional<Array> share(ForeignView& view) {
  if (view.array) return view.array;
  const ByteExtent covered = byte_extent_of(view.memory);
  if (find_blocker(view.memory, covered)) return std::nullopt;
  return adopt(view, covered, layout_of(view.memory, covered), view.memory.dtype);
}

Array share_bytes(ForeignView& view) {
  const ByteExtent covered = byte_extent_of(view.memory);
  return adopt(view, covered, byte_layout_of(view.memory, covered), uint8);
}

Array gather(const Array& bytes, const ForeignMemory& memory) {
  Array result = empty(memory.shape, memory.dtype, bytes.device());
  copy(bytes, Array(result.storage(), Layout::row_major(byte_shape_of(memory)), uint8));
  return result;
}

Array take(ForeignView& view, CopyMode mode, std::string_view prefix) {
  const auto refuse = [&](ShareBlocker blocker) {
    if (mode == CopyMode::never) throw SharingError(prefix, std::move(blocker));
  };
  if (std::optional<Array> shared = share(view)) {
    if (view.copied || view.created) {
      refuse({"the producer could only give a copy", "allow a copy (copy=None, copyif=True)"});
      return *std::move(shared);
    }
    if (mode != CopyMode::always) return *std::move(shared);
    view.copied = true;
    return copy(*shared);
  }
  refuse(*find_share_blocker(view.memory));
  view.copied = true;
  // Declared before the lock is released, and so destroyed with it: the owner may be an object of
  // the interpreter.
  const Array bytes = share_bytes(view);
  const InterpreterUnlocked unlocked;
  return gather(bytes, view.memory);
}

namespace {

// The memory that a layout covers.
struct CoveredMemory {
  std::int64_t bytes = 0;   ///< from the lowest address to the end of the highest element
  std::int64_t offset = 0;  ///< of element (0, ..., 0) from the lowest, in elements
};

// Converts any strides to elements and sets `covered`. Returns false for layouts that only the
// general path handles. The element size, `item`, is a power of two.
[[gnu::noinline]] bool try_convert_strides(const BorrowedTensor& memory, std::int64_t item,
                                           std::int64_t* strides, CoveredMemory& covered) noexcept {
  if (memory.strides == nullptr) return false;
  const ItemSize unit(memory.in_elements ? 1 : item);
  Reach reach;
  for (int axis = 0; axis < memory.rank; ++axis) {
    const std::int64_t extent = memory.shape[axis], stride = memory.strides[axis];
    const bool divides = unit.divides(stride);
    if (extent != 1 && (!divides || extent <= 0)) return false;
    // The stride of an extent of 1 is unused and may be any value; byte strides are kept if
    // possible, because NumPy shows them.
    const bool is_kept = extent != 1 || (divides && !memory.in_elements);
    strides[axis] = is_kept ? unit.to_elements(stride) : 1;
    if (!reach.try_add(extent, strides[axis])) return false;
  }
  // `logical` is the size of a packed copy, which must fit in 63 bits as well.
  std::int64_t count, before, logical;
  bool overflows = __builtin_sub_overflow(reach.highest, reach.lowest, &count);
  overflows |= __builtin_add_overflow(count, 1, &count);
  overflows |= __builtin_mul_overflow(count, item, &covered.bytes);
  overflows |= __builtin_mul_overflow(reach.lowest, -item, &before);
  overflows |= __builtin_mul_overflow(reach.size, item, &logical);
  covered.offset = -reach.lowest;
  return !overflows &&
         reinterpret_cast<std::uintptr_t>(memory.data) >= static_cast<std::uintptr_t>(before);
}

// As alignment_of(), for sizes that are powers of two, on a GPU or the CPU.
bool is_aligned(const BorrowedTensor& memory, std::int64_t item) noexcept {
  const std::int64_t unit = memory.dtype.is_complex() && memory.device.is_cpu() ? item / 2 : item;
  return (reinterpret_cast<std::uintptr_t>(memory.data) & static_cast<std::uintptr_t>(unit - 1)) ==
         0;
}

}  // namespace

bool share_at(Array* address, const BorrowedTensor& memory, ForeignOwner owner, Storage&& spare) {
  const std::int64_t item = memory.dtype.itemsize();
  if (memory.data == nullptr || memory.rank < 0 || memory.rank > max_rank ||
      !ItemSize(item).is_power_of_two() || item * 8 != memory.dtype.bits() ||
      !is_aligned(memory, item)) [[unlikely]] {
    return false;
  }
  std::int64_t strides[max_rank];
  CoveredMemory covered;
  // Most arrays are packed in C order, which is checked with one comparison per axis.
  const std::int64_t packed = memory.packed_size(strides);
  const bool fits = packed != 0 && !__builtin_mul_overflow(packed, item, &covered.bytes);
  if (!fits && !try_convert_strides(memory, item, strides, covered)) [[unlikely]]
    return false;
  void* lowest = static_cast<std::byte*>(memory.data) - covered.offset * item;
  // The producer's stream: use of the array waits for the work queued there, and work queued there
  // after the array is released waits for that use.
  Ref<StreamIdentity> producer;
  if (!memory.device.is_cpu()) [[unlikely]] {
    collect_released();
    producer = Stream::persistent(memory.device, memory.stream).take_identity();
  }
  const auto axes = static_cast<std::size_t>(memory.rank);
  const auto bytes = static_cast<std::size_t>(covered.bytes);
  Storage storage = std::move(spare);
  if (storage)
    std::move(owner).replace(storage, lowest, bytes, memory.device, memory.readonly);
  else
    storage = std::move(owner).adopt(lowest, bytes, memory.device, memory.readonly);
  if (producer) storage.uses().set_producer(std::move(producer));
  new (address) Array(Array::Inside{}, std::move(storage), {memory.shape, axes}, {strides, axes},
                      covered.offset, memory.dtype);
  return true;
}

std::optional<Array> share(const BorrowedTensor& memory, ForeignOwner owner) {
  union Uninitialised {
    Uninitialised() noexcept {}
    ~Uninitialised() {}
    Array array;
  } result;
  if (!share_at(&result.array, memory, std::move(owner))) return std::nullopt;
  std::optional<Array> shared(std::move(result.array));
  result.array.~Array();
  return shared;
}

}  // namespace spanwise
