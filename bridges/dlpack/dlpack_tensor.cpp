// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "dlpack_tensor.hpp"

#include <array>
#include <string_view>

#include "spanwise/bridge/dlpack.hpp"
#include "spanwise/core/error.hpp"

/// Arrays as DLPack tensors and back, without Python.
namespace spanwise::dlpack {
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

namespace {

// The kinds of devices that Spanwise does not support, by DLPack's number (DLDeviceType).
constexpr std::array<std::string_view, 19> foreign_devices{
    "",       "",       "",        "",     "OpenCL",      "", "",
    "Vulkan", "Metal",  "VPI",     "ROCm", "pinned ROCm", "", "",
    "oneAPI", "WebGPU", "Hexagon", "MAIA", "Trainium"};

void check_shape(const Tensor& tensor) {
  if (tensor.ndim < 0 || tensor.ndim > max_rank)
    fail<BridgeError>("dlpack: a tensor of ", tensor.ndim, " axes; expected 0 to ", max_rank);
  if (tensor.ndim != 0 && tensor.shape == nullptr)
    fail<BridgeError>("dlpack: a tensor of ", tensor.ndim,
                      " axes without a shape; the producer made it wrongly");
}

// Computed as an integer: some producers mean null by a null pointer with an offset.
void* address_of(const Tensor& tensor) {
  if (tensor.data == nullptr) return nullptr;
  const auto base = reinterpret_cast<std::uintptr_t>(tensor.data);
  std::uintptr_t address = 0;
  const bool overflows = __builtin_add_overflow(base, tensor.byte_offset, &address);
  if (overflows || address > INT64_MAX)
    fail<BridgeError>("dlpack: byte_offset ", tensor.byte_offset, " from address ", tensor.data,
                      " leads out of memory; the producer made it wrongly");
  return reinterpret_cast<void*>(address);
}

DType dtype_of(const Tensor& tensor, bool padded) {
  const DataType type = tensor.dtype;
  const DType dtype(static_cast<DTypeCode>(type.code), type.bits, type.lanes);
  if (padded && type.bits < 8)
    fail<DTypeError>("dlpack: ", dtype, " padded to whole bytes; ",
                     "only packed elements can be taken; convert it to 8 bits or to packed form");
  return dtype;
}

Strides byte_strides_of(const Tensor& tensor, int itemsize) {
  Strides strides(tensor.ndim);
  for (int axis = 0; axis < tensor.ndim; ++axis) {
    const bool overflows =
        __builtin_mul_overflow(tensor.strides[axis], std::int64_t{itemsize}, &strides[axis]);
    // The stride of an extent up to 1 is unused and may be any value.
    if (tensor.shape[axis] <= 1) strides[axis] = itemsize;
    if (overflows && tensor.shape[axis] > 1)
      fail<BridgeError>("dlpack: stride ", tensor.strides[axis], " on axis ", axis,
                        " does not fit in 63 bits of bytes; the producer made it wrongly");
  }
  return strides;
}

ForeignView view_of(const Tensor& tensor, ForeignOwner owner, std::uint64_t flags) {
  ForeignView view;
  view.owner = std::move(owner);
  view.memory = memory_of(tensor, (flags & flag_sub_byte_padded) != 0);
  view.memory.readonly = (flags & flag_read_only) != 0;
  view.copied = (flags & flag_is_copied) != 0;
  return view;
}

}  // namespace

Device device_from(TensorDevice device) {
  switch (device.type) {
    case DeviceType::cpu:
      return cpu;
    case DeviceType::cuda:
    case DeviceType::cuda_host:
    case DeviceType::cuda_managed:
      if (device.id < 0)
        fail<BridgeError>("dlpack: device number ", device.id, "; expected 0 or more");
      return Device(static_cast<DeviceKind>(device.type), device.id);
  }
  const auto number = static_cast<std::size_t>(device.type);
  const std::string_view name = number < foreign_devices.size() ? foreign_devices[number] : "";
  fail<BridgeError>("dlpack: memory of ", name.empty() ? "unknown" : name, " devices (type ",
                    static_cast<int>(device.type),
                    "); expected CPU, CUDA, pinned or managed memory; copy the array to the CPU");
}

ForeignMemory memory_of(const Tensor& tensor, bool padded) {
  ForeignMemory memory;
  memory.device = device_from(tensor.device);
  check_shape(tensor);
  memory.dtype = dtype_of(tensor, padded);
  memory.data = address_of(tensor);
  memory.shape = Shape(std::span(tensor.shape, static_cast<std::size_t>(tensor.ndim)));
  memory.row_major = tensor.strides == nullptr;
  if (!memory.row_major) memory.byte_strides = byte_strides_of(tensor, memory.dtype.itemsize());
  return memory;
}

bool try_describe(const Tensor& tensor, BorrowedTensor& memory) noexcept {
  const bool on_gpu = tensor.device.type == DeviceType::cuda;
  const DataType type = tensor.dtype;
  if ((!on_gpu && tensor.device.type != DeviceType::cpu) || tensor.device.id < 0 ||
      tensor.data == nullptr || tensor.byte_offset != 0 || type.lanes != 1 || type.bits < 8 ||
      type.bits % 8 != 0) {
    return false;
  }
  memory.data = tensor.data;
  memory.device = on_gpu ? Device(DeviceKind::cuda, tensor.device.id) : cpu;
  memory.dtype = DType(static_cast<DTypeCode>(type.code), type.bits);
  memory.rank = tensor.ndim;
  memory.shape = tensor.shape;
  memory.strides = tensor.strides;
  memory.in_elements = true;
  return true;
}

void release_versioned(void* context, void*, std::size_t, StreamUses&) noexcept {
  auto* tensor = static_cast<ManagedTensorVersioned*>(context);
  if (tensor->deleter != nullptr) tensor->deleter(tensor);
}

void release_unversioned(void* context, void*, std::size_t, StreamUses&) noexcept {
  auto* tensor = static_cast<ManagedTensor*>(context);
  if (tensor->deleter != nullptr) tensor->deleter(tensor);
}

ForeignView view_of(ManagedTensorVersioned* tensor, ReleaseFn release) {
  if (tensor == nullptr) fail<BridgeError>("dlpack: a null tensor");
  ForeignOwner owner(release, tensor);
  // For another major version, only the deleter has a known position.
  if (tensor->version.major != version.major)
    fail<BridgeError>("dlpack: a tensor of version ", tensor->version.major, ".",
                      tensor->version.minor, "; expected ", version.major,
                      ".x; ask the producer for max_version=(", version.major, ", ", version.minor,
                      ")");
  return view_of(tensor->tensor, std::move(owner), tensor->flags);
}

ForeignView view_of(ManagedTensor* tensor, ReleaseFn release) {
  if (tensor == nullptr) fail<BridgeError>("dlpack: a null tensor");
  return view_of(tensor->tensor, ForeignOwner(release, tensor), 0);
}

}  // namespace spanwise::dlpack

namespace spanwise {

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

namespace {
Array take_array(ForeignView view, CopyMode mode) {
  // A copy that the producer made before this call is no reason to throw.
  view.copied = false;
  return take(view, mode, "dlpack");
}
}  // namespace

Array from_dlpack(DLManagedTensorVersioned* tensor, CopyMode mode) {
  auto* managed = reinterpret_cast<dlpack::ManagedTensorVersioned*>(tensor);
  return take_array(dlpack::view_of(managed, &dlpack::release_versioned), mode);
}

Array from_dlpack(DLManagedTensor* tensor, CopyMode mode) {
  auto* managed = reinterpret_cast<dlpack::ManagedTensor*>(tensor);
  return take_array(dlpack::view_of(managed, &dlpack::release_unversioned), mode);
}

}  // namespace spanwise
