// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "dlpack_tensor.hpp"
#include "spanwise/bridge/dlpack.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise {
namespace dlpack {
namespace {

// A managed tensor and the data that it points to, in one allocation. It owns the Array natively,
// so that the deleter may run on any thread, without the GIL, and after the interpreter has ended.
template <class Managed>
struct ExportedTensor {
  Managed managed{};
  Array array;
  Strides strides;

  explicit ExportedTensor(const Array& source) : array(source), strides(source.strides()) {
    // The stride of an extent of 1 is unused, but some consumers compare strides literally or
    // reject negative ones; it is therefore set to that of C order.
    std::int64_t step = 1;
    for (int axis = strides.size() - 1; axis >= 0; --axis) {
      if (array.shape()[axis] == 1 || array.size() == 0) strides[axis] = step;
      step *= std::max<std::int64_t>(array.shape()[axis], 1);
    }
    managed.tensor = borrowed(array);
    managed.tensor.strides = strides.data();
    managed.manager = this;
    managed.deleter = [](Managed* self) { delete static_cast<ExportedTensor*>(self->manager); };
  }
};

}  // namespace

TensorDevice device_of(const Array& array) noexcept {
  const Device device = array.device();
  // Other libraries have only CPU device 0.
  return {static_cast<DeviceType>(device.kind()), device.is_cpu() ? 0 : device.ordinal()};
}

Tensor borrowed(const Array& array) noexcept {
  const DType dtype = array.dtype();
  // The read-only flag, not const, protects borrowed memory from writes.
  return {
      .data = array.size() == 0 ? nullptr : array.data(),
      .device = device_of(array),
      .ndim = array.rank(),
      .dtype = {static_cast<std::uint8_t>(dtype.code()), static_cast<std::uint8_t>(dtype.bits()),
                static_cast<std::uint16_t>(dtype.lanes())},
      .shape = const_cast<std::int64_t*>(array.shape().data()),
      .strides = const_cast<std::int64_t*>(array.strides().data()),
      .byte_offset = 0};  // some consumers accept only 0
}

ManagedTensorVersioned* exported(const Array& array, std::uint64_t extra_flags) {
  auto* result = new ExportedTensor<ManagedTensorVersioned>(array);
  result->managed.version = version;
  result->managed.flags = (array.readonly() ? flag_read_only : 0) | extra_flags;
  return &result->managed;
}

ManagedTensor* exported_unversioned(const Array& array) {
  return &(new ExportedTensor<ManagedTensor>(array))->managed;
}

}  // namespace dlpack

DLManagedTensorVersioned* to_dlpack(const Array& array, bool copied) {
  return reinterpret_cast<DLManagedTensorVersioned*>(
      dlpack::exported(array, copied ? dlpack::flag_is_copied : 0));
}

DLManagedTensor* to_dlpack_unversioned(const Array& array) {
  if (array.readonly()) {
    throw SharingError("dlpack",
                       {"a tensor without version cannot express that memory is read-only",
                        "use to_dlpack(), or copy the array"});
  }
  return reinterpret_cast<DLManagedTensor*>(dlpack::exported_unversioned(array));
}

}  // namespace spanwise
