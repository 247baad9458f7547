// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The binary interface of DLPack 1.3, declared here so that a build needs no DLPack header
/// (docs/adr/0005-dlpack-abi.md). Layouts, numbers and names are those of dmlc/dlpack,
/// include/dlpack/dlpack.h; tests/bridges/test_dlpack_abi.py compares them with the real header.
namespace spanwise::dlpack {

struct Version {
  std::uint32_t major, minor;
};

/// The version of exported tensors; imports need the same major version.
inline constexpr Version version{1, 3};

enum class DeviceType : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

struct TensorDevice {
  DeviceType type;
  std::int32_t id;
};

struct DataType {
  std::uint8_t code;
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct Tensor {
  void* data;
  TensorDevice device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;  ///< in elements; null: C order (allowed before 1.2)
  std::uint64_t byte_offset;
};

/// The form without a version (before 1.0).
struct ManagedTensor {
  Tensor tensor;
  void* manager;
  void (*deleter)(ManagedTensor* self);
};

inline constexpr std::uint64_t flag_read_only = 1;
inline constexpr std::uint64_t flag_is_copied = 2;
inline constexpr std::uint64_t flag_sub_byte_padded = 4;

struct ManagedTensorVersioned {
  Version version;
  void* manager;
  void (*deleter)(ManagedTensorVersioned* self);
  std::uint64_t flags;
  Tensor tensor;
};

/// Names of the capsules, and the names that a consumer gives them.
inline constexpr const char* capsule_name = "dltensor";
inline constexpr const char* used_capsule_name = "used_dltensor";
inline constexpr const char* versioned_capsule_name = "dltensor_versioned";
inline constexpr const char* used_versioned_capsule_name = "used_dltensor_versioned";
inline constexpr const char* exchange_capsule_name = "dlpack_exchange_api";

struct ExchangeHeader {
  Version version;
  ExchangeHeader* previous;  ///< the table of an older major version, or null
};

using SetErrorFn = void (*)(void* context, const char* kind, const char* message);

/// Table of `type.__dlpack_c_exchange_api__`. All functions return 0, or -1 with a Python error set
/// (allocate: with set_error called); none throws or synchronizes.
struct ExchangeApi {
  ExchangeHeader header;
  int (*allocate)(Tensor* prototype, ManagedTensorVersioned** out, void* error_context,
                  SetErrorFn set_error);
  int (*managed_from_object)(void* object, ManagedTensorVersioned** out);
  int (*managed_to_object)(ManagedTensorVersioned* tensor, void** out_object);
  /// May be null. The tensor is borrowed from the object, and valid until control returns to
  /// Python.
  int (*tensor_from_object)(void* object, Tensor* out);
  int (*current_stream)(DeviceType type, std::int32_t id, void** out_stream);
};

}  // namespace spanwise::dlpack
