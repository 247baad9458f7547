// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <optional>
#include <span>
#include <utility>

#include "spanwise/core/device.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/layout.hpp"
#include "spanwise/core/storage.hpp"

namespace spanwise {

/// A typed, strided view of storage that other arrays may share.
///
/// Copying an Array copies the view, never the data. No member accesses or waits for device memory;
/// creation and copies are in creation.hpp and copy.hpp, where a stream orders them.
class SW_API Array {
 public:
  /// An empty float32 array of shape (0,) on the CPU, without storage.
  Array();
  /// A view of `storage`, which may belong to another library. Throws LayoutError if an element of
  /// `layout` would fall outside the storage.
  Array(Storage storage, Layout&& layout, DType dtype);
  Array(Storage storage, const Layout& layout, DType dtype)
      : Array(std::move(storage), Layout(layout), dtype) {}
  /// Tag for the constructors without a check: the caller guarantees that every element of the
  /// layout lies inside the storage.
  struct Inside {};
  Array(Inside, Storage&& storage, Layout&& layout, DType dtype) noexcept
      : storage_(std::move(storage)), layout_(std::move(layout)), dtype_(dtype) {}
  /// The same, building the Layout in place.
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
  /// size() * itemsize in bytes: the size of a copy, not of the storage. INT64_MAX where the
  /// product overflows, as it may for broadcast arrays.
  std::int64_t nbytes() const noexcept {
    std::int64_t bytes;
    return __builtin_mul_overflow(size(), dtype_.itemsize(), &bytes) ? INT64_MAX : bytes;
  }
  bool readonly() const noexcept { return storage_.readonly(); }
  /// Address of element (0, ..., 0) in the address space of device(); null for an array of size 0
  /// without storage.
  void* data() const noexcept {
    return static_cast<std::byte*>(storage_.data()) + layout_.offset * dtype_.itemsize();
  }

  /// Another view of the same storage and dtype. Throws LayoutError if an element would fall
  /// outside.
  Array with_layout(Layout layout) const { return Array(storage_, std::move(layout), dtype_); }
  /// A view with `layout`, which must derive from this array's layout (not checked), without a
  /// reference to the storage (Storage::unowned()); saves the reference counting, half the cost of
  /// a small view. The caller keeps this array alive and calls detach() on the view before
  /// destroying it.
  Array lend(Layout&& layout) const noexcept {
    return Array(Inside{}, storage_.unowned(), std::move(layout), dtype_);
  }
  /// Storage::reclaim() of the storage.
  void* reclaim(ReleaseFn release) noexcept { return storage_.reclaim(release); }
  /// Moves the storage out; afterwards the array can only be destroyed or assigned to.
  Storage take_storage() noexcept { return std::move(storage_); }
  /// Clears the storage of a view made by lend().
  void detach() noexcept { storage_.detach(); }
  [[deprecated("use detach()")]] void forget() noexcept { detach(); }
  /// The same view with readonly() set.
  Array as_readonly() const;
  /// Sets readonly() of this view. Other threads may read and copy the array meanwhile.
  void set_readonly() noexcept { storage_.set_readonly(); }

  // Views with the semantics of NumPy's operation of the same name; they share the storage. They
  // throw as the members of Layout with these names.
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
  /// The same elements in another shape; nullopt where that needs a copy. One extent may be -1.
  /// Throws LayoutError where the sizes differ.
  std::optional<Array> try_reshape(const Shape& shape) const;
  /// The same bytes as another dtype (ndarray.view). Throws LayoutError where the last axis or the
  /// strides do not allow it, or where a GPU could not read the elements at their address
  /// (alignment_of()).
  Array reinterpret(DType dtype) const;

  /// Whether the two arrays may have a byte in common. False is exact; true may be a false
  /// positive.
  friend SW_API bool may_share_memory(const Array& a, const Array& b) noexcept;

 private:
  // A layout derived from a valid one lies inside the storage, so it is not checked again.
  Array view(Layout&& layout) const {
    return Array(Inside{}, Storage(storage_), std::move(layout), dtype_);
  }

  Storage storage_;
  Layout layout_;
  DType dtype_;
};

SW_API bool may_share_memory(const Array& a, const Array& b) noexcept;
/// Whether element i of both has the same address, for every i.
SW_API bool is_same_view(const Array& a, const Array& b) noexcept;
/// Whether they may share memory and are not the same view: a loop that writes one must read a copy
/// of the other.
SW_API bool overlaps_partially(const Array& a, const Array& b) noexcept;

/// strides_text() of the array: its strides in bytes.
inline std::string strides_text(const Array& array) {
  return strides_text(array.strides(), array.dtype().itemsize());
}

/// Prints dtype, shape, device and strides (in bytes) in one line, for messages: "float32 (2, 3) on
/// cuda:0, strides (12, 4)". Does not read the elements.
SW_API std::ostream& operator<<(std::ostream& out, const Array& array);

/// Required alignment of an element's address on `device`, in bytes: the size of the element (of
/// one lane for vector types). A complex element is aligned to its full size on a GPU (CUDA's
/// double2: 16 bytes) and to half of it on the host. 1 where the size is not a power of two.
SW_API std::int64_t alignment_of(DType dtype, Device device) noexcept;

}  // namespace spanwise
