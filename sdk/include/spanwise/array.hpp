// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <utility>

#include "spanwise/device.hpp"
#include "spanwise/dtype.hpp"
#include "spanwise/export.hpp"
#include "spanwise/layout.hpp"
#include "spanwise/storage.hpp"

namespace spanwise {

/// A typed, strided window onto storage that other arrays may share.
///
/// Copying an Array copies the window, never the data. No member touches or waits for device
/// memory; creation and copies are in creation.hpp and copy.hpp, where a stream orders them.
class SW_API Array {
 public:
  /// An empty float32 array of shape (0,) on the CPU, without storage.
  Array();
  /// A window onto `storage`, which may belong to another library. Throws LayoutError if an element
  /// of `layout` would fall outside the storage.
  Array(Storage storage, Layout&& layout, DType dtype);
  Array(Storage storage, const Layout& layout, DType dtype)
      : Array(std::move(storage), Layout(layout), dtype) {}
  /// Says that the caller has seen to it that the layout lies inside the storage.
  struct Inside {};
  Array(Inside, Storage&& storage, Layout&& layout, DType dtype) noexcept
      : storage_(std::move(storage)), layout_(std::move(layout)), dtype_(dtype) {}
  /// The same, of a layout that is nowhere else yet.
  Array(Inside, Storage&& storage, std::span<const std::int64_t> shape,
        std::span<const std::int64_t> strides, std::int64_t offset, DType dtype)
      : storage_(std::move(storage)),
        layout_{Shape(shape), Strides(strides), offset},
        dtype_(dtype) {}

  DType dtype() const noexcept { return dtype_; }
  Device device() const noexcept { return storage_.device(); }
  const Layout& layout() const noexcept { return layout_; }
  const Shape& shape() const noexcept { return layout_.shape; }
  /// In elements.
  const Strides& strides() const noexcept { return layout_.strides; }
  const Storage& storage() const noexcept { return storage_; }
  int rank() const noexcept { return layout_.rank(); }
  std::int64_t size() const noexcept { return layout_.size(); }
  /// size() * itemsize: what a copy would move, not what the storage holds. The largest number
  /// where a broadcast array has more.
  std::int64_t nbytes() const noexcept {
    std::int64_t bytes;
    return __builtin_mul_overflow(size(), dtype_.itemsize(), &bytes) ? INT64_MAX : bytes;
  }
  bool readonly() const noexcept { return storage_.readonly(); }
  /// Address of element (0, ..., 0) in the address space of device(); null for size 0 without
  /// storage.
  void* data() const noexcept {
    return static_cast<std::byte*>(storage_.data()) + layout_.offset * dtype_.itemsize();
  }

  /// Another window onto the same storage. Throws LayoutError if it reaches outside.
  Array with_layout(Layout layout) const { return Array(storage_, std::move(layout), dtype_); }
  /// The view of a layout that this array's own has made, without being a holder of the storage:
  /// for who keeps this array longer. Counting costs as much as all else of making a small view. It
  /// has to be let go by forget().
  Array lend(Layout&& layout) const noexcept {
    return Array(Inside{}, storage_.unowned(), std::move(layout), dtype_);
  }
  /// As Storage::reclaim(), of its own.
  void* reclaim(ReleaseFn release) noexcept { return storage_.reclaim(release); }
  /// Its storage, without which it can only be destroyed.
  Storage take_storage() noexcept { return std::move(storage_); }
  /// Lets the storage go that lend() gave.
  void forget() noexcept { storage_.forget(); }
  /// The same window, for reading only.
  Array as_readonly() const;
  /// Makes this window one for reading only. Other threads may read and copy the array meanwhile.
  void set_readonly() noexcept { storage_.set_readonly(); }

  // Views, each NumPy's of the same name; they share the storage. Errors as Layout's.
  Array index(int axis, std::int64_t i) const { return view(layout_.index(axis, i)); }
  Array slice(int axis, const Slice& range) const { return view(layout_.slice(axis, range)); }
  Array expand(int axis) const { return view(layout_.expand(axis)); }
  Array squeeze(int axis) const { return view(layout_.squeeze(axis)); }
  Array permute(std::span<const int> axes) const { return view(layout_.permute(axes)); }
  Array transpose() const { return view(layout_.transpose()); }
  Array broadcast_to(const Shape& shape) const { return view(layout_.broadcast_to(shape)); }
  Array diagonal(std::int64_t k = 0, int axis1 = 0, int axis2 = 1) const {
    return view(layout_.diagonal(k, axis1, axis2));
  }
  /// The same elements under another shape, or nothing where that would need a copy.
  std::optional<Array> try_reshape(const Shape& shape) const;
  /// The same bytes read as another dtype (ndarray.view). Throws LayoutError, also where a GPU
  /// could not read them (alignment_of()), or DTypeError.
  Array reinterpret(DType dtype) const;

  /// Whether the two can touch a common byte; false is certain, true may be too careful.
  friend SW_API bool may_share_memory(const Array& a, const Array& b) noexcept;

 private:
  // A view computed by Layout from a valid window is inside the storage, so it is not checked
  // again.
  Array view(Layout&& layout) const {
    return Array(Inside{}, Storage(storage_), std::move(layout), dtype_);
  }

  Storage storage_;
  Layout layout_;
  DType dtype_;
};

SW_API bool may_share_memory(const Array& a, const Array& b) noexcept;

/// Dtype, shape, strides and device in one line, for messages: "float32 (2, 3) on cuda:0, strides
/// (3, 1)". Never reads the elements.
SW_API std::ostream& operator<<(std::ostream& out, const Array& array);

/// What the address of an element has to be a multiple of: the bytes that one load reads, which of
/// a complex number are all on a GPU (CUDA's double2 is aligned to 16 bytes), and half on the host.
SW_API std::int64_t alignment_of(DType dtype, Device device) noexcept;

}  // namespace spanwise
