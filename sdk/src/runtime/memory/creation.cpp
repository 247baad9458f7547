// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/creation.hpp"

#include <cstring>

#include "runtime/copy/dense.hpp"
#include "runtime/memory/allocation.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise {
namespace {

std::size_t bytes_of(const Layout& layout, DType dtype) {
  std::int64_t bytes;
  if (__builtin_mul_overflow(layout.size(), std::int64_t{dtype.itemsize()}, &bytes))
    fail<LayoutError>("empty: shape ", layout.shape, " of ", dtype,
                      " has too many bytes for 63 bits");
  return static_cast<std::size_t>(bytes);
}

}  // namespace

Array empty(const Shape& shape, DType dtype, Device device) {
  return empty_in(Layout::row_major(shape), dtype, device);
}

Array empty_in(Layout layout, DType dtype, Device device) {
  const std::size_t bytes = bytes_of(layout, dtype);
  return Array(Array::Inside{}, allocate(bytes, device), std::move(layout), dtype);
}

Array zeros(const Shape& shape, DType dtype, Device device) {
  Layout layout = Layout::row_major(shape);
  const std::size_t bytes = bytes_of(layout, dtype);
  constexpr std::size_t memset_bytes = 1 << 16;  // up to this, memset is faster than the back end
  Storage storage;
  if (device.is_cpu() && bytes <= memset_bytes) {
    storage = allocate(bytes, device);
    if (bytes > 0) std::memset(storage.data(), 0, bytes);
  } else if (bytes != 0 && working_device(device) == device) {
    storage = runtime::allocate_zeroed_on(runtime::current_stream(device), bytes);
  }
  if (!storage) {
    storage = allocate(bytes, device);
    // Zero is all bits zero in every dtype, also in those that are not computable.
    fill(Array(storage, Layout::row_major({static_cast<std::int64_t>(bytes)}), uint8),
         Scalar(std::uint8_t{0}));
  }
  return Array(std::move(storage), std::move(layout), dtype);
}

Array full(const Shape& shape, const Scalar& value, DType dtype, Device device) {
  const Scalar element = value.cast(dtype);
  Array array = empty(shape, dtype, device);
  fill(array, element);
  return array;
}

Array empty_like(const Array& like) {
  return runtime::empty_like(like, like.dtype(), working_device(like.device()));
}

Array runtime::empty_like(const Array& like, DType dtype, Device device) {
  return empty_in(like.layout().packed(like.shape()), dtype, device);
}

Array runtime::empty_on_host(const Array& source, DType dtype) {
  Layout layout = source.layout().packed(source.shape());
  const std::size_t bytes = bytes_of(layout, dtype);
  return Array(allocate_pinned(source.device(), bytes), std::move(layout), dtype);
}

}  // namespace spanwise
