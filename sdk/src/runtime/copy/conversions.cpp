// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/copy/copy_steps.hpp"
#include "runtime/copy/dense.hpp"
#include "runtime/streams/ordering.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise {
namespace {

Array converted(const Array& source, DType dtype, Device device) {
  Array result = device == cpu ? runtime::empty_on_host(source, dtype)
                               : runtime::empty_like(source, dtype, device);
  copy(source, result);
  return result;
}

template <class... Parts>
void check_copy_allowed(CopyMode mode, const Array& source, const Parts&... reason) {
  if (mode == CopyMode::never)
    fail<CopyNeededError>(
        reason..., " needs a copy of ", source, " (", source.nbytes(),
        " bytes), and copying was ruled out; allow it with CopyMode::if_needed (copy=None)");
}

}  // namespace

Array copy(const Array& source) {
  Array result = empty(source.shape(), source.dtype(), working_device(source.device()));
  copy(source, result);
  return result;
}

Array astype(const Array& source, DType dtype, CopyMode mode) {
  if (source.dtype() == dtype && mode != CopyMode::always) return source;
  check_copy_allowed(mode, source, "astype: casting to ", dtype);
  return converted(source, dtype, working_device(source.device()));
}

Array to_device(const Array& source, Device device, CopyMode mode) {
  if (source.device() == device && mode != CopyMode::always) return source;
  check_copy_allowed(mode, source, "to_device: moving to ", device);
  return converted(source, source.dtype(), device);
}

Array contiguous(const Array& source, CopyMode mode) {
  if (source.layout().is_row_major() && mode != CopyMode::always) return source;
  check_copy_allowed(mode, source, "contiguous: C order");
  return copy(source);
}

Array reshape(const Array& source, const Shape& shape, CopyMode mode) {
  if (mode != CopyMode::always)
    if (std::optional<Array> view = source.try_reshape(shape)) return *std::move(view);
  check_copy_allowed(mode, source, "reshape: shape ", shape);
  return *copy(source).try_reshape(shape);
}

Scalar item(const Array& array) {
  if (array.size() != 1)
    fail<LayoutError>("item: ", array, " has ", array.size(), " elements; expected one");
  if (runs_on_host(array.device())) {
    runtime::order_use(runtime::current_stream(array.device()), array.storage(), /*writes=*/false);
    return Scalar(array.dtype(), array.data());
  }
  std::byte bytes[16];
  const auto size = static_cast<std::size_t>(array.dtype().itemsize());
  if (size > sizeof bytes)
    fail<DTypeError>("item: an element of ", array.dtype(), " has ", size,
                     " bytes; expected at most ", sizeof bytes);
  copy(array.with_layout(Layout{Shape{}, Strides{}, array.layout().offset}),
       Array(Storage::adopt(bytes, size, cpu, nullptr, nullptr), Layout{}, array.dtype()));
  return Scalar(array.dtype(), bytes);
}

}  // namespace spanwise
