// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <new>

#include "dlpack_capsule.hpp"
#include "dlpack_tensor.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/stream.hpp"

/// Exports DLPack's C exchange API. C code calls these functions, so none may throw.
namespace spanwise::dlpack {
namespace {

int allocate(Tensor* prototype, ManagedTensorVersioned** out, void* error_context,
             SetErrorFn set_error) noexcept {
  try {
    // Only dtype, shape and device are valid; the other fields may have any value.
    Tensor requested = *prototype;
    requested.strides = nullptr;
    const ForeignMemory memory = memory_of(requested, false);
    *out = exported(empty(memory.shape, memory.dtype, memory.device));
    return 0;
  } catch (const OutOfMemoryError& error) {
    set_error(error_context, "MemoryError", error.what());
  } catch (const std::bad_alloc&) {
    set_error(error_context, "MemoryError", "spanwise: no host memory left");
  } catch (const std::exception& error) {
    set_error(error_context, "ValueError", error.what());
  }
  return -1;
}

const Array& array_of(void* object) {
  auto* array = static_cast<PyObject*>(object);
  if (!python::is_array(array))
    fail<BridgeError>("dlpack: expected a spanwise.Array, got a ", Py_TYPE(array)->tp_name);
  return python::array_in(array);
}

int managed_from_object(void* object, ManagedTensorVersioned** out) {
  *out = exported(array_of(object));
  return 0;
}

int managed_to_object(ManagedTensorVersioned* tensor, void** out_object) {
  ForeignView view = view_of(tensor, &release_versioned);
  view.copied = false;  // the producer's only choice was a copy, so do not reject it
  PyObject* array = python::wrap(take(view, CopyMode::if_needed, "dlpack"));
  *out_object = array;
  return array != nullptr ? 0 : -1;
}

int tensor_from_object(void* object, Tensor* out) {
  *out = borrowed(array_of(object));
  return 0;
}

int current_stream(DeviceType type, std::int32_t id, void** out_stream) {
  *out_stream = nullptr;
  if (type == DeviceType::cuda || type == DeviceType::cuda_managed) {
    const Device device(DeviceKind::cuda, id);
    *out_stream = reinterpret_cast<void*>(Stream::current(device).handle());
  }
  return 0;
}

constexpr ExchangeApi the_api{{version, nullptr},
                              &allocate,
                              python::guarded<&managed_from_object>,
                              python::guarded<&managed_to_object>,
                              python::guarded<&tensor_from_object>,
                              python::guarded<&current_stream>};

}  // namespace

const ExchangeApi& exchange_api() noexcept { return the_api; }

}  // namespace spanwise::dlpack
