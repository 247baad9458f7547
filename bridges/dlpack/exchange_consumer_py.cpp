// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <string>

#include "dlpack_capsule.hpp"
#include "dlpack_streams.hpp"
#include "dlpack_tensor.hpp"
#include "python/interop/exchange.hpp"
#include "python/interop/interface.hpp"
#include "python/interop/lifetime.hpp"
#include "python/interop/streams.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/core/error.hpp"

/// Imports through DLPack's C exchange API: a type with the table gives its tensors, and the stream
/// of its queued work, without a Python call.
namespace spanwise::dlpack {

namespace py = pybind11;

namespace {

constinit const python::AttributeName api_name("__dlpack_c_exchange_api__");

// The first table of the chain with Spanwise's major version; null if there is none.
const ExchangeApi* find_compatible_table(void* table) noexcept {
  auto* header = static_cast<ExchangeHeader*>(table);
  while (header != nullptr && header->version.major != version.major) header = header->previous;
  return reinterpret_cast<const ExchangeApi*>(header);
}

// Clears the Python error that is set and returns its message, without the newline at the end of
// PyTorch's messages.
std::string take_error() {
  py::error_already_set error;
  return py::str(py::str(error.value()).attr("rstrip")());
}

std::uintptr_t stream_of(const ExchangeApi& api, Device device) {
  void* stream = nullptr;
  const auto type = static_cast<DeviceType>(device.kind());
  if (api.current_stream(type, device.ordinal(), &stream) != 0) throw py::error_already_set();
  return python::interface_stream(reinterpret_cast<std::uintptr_t>(stream));
}

}  // namespace

const ExchangeApi* exchange_api_of(PyTypeObject* type) noexcept {
  // The attribute is on the type, so no code of the instance runs and the lookup cannot fail.
  PyObject* capsule = _PyType_Lookup(type, api_name.get());
  if (capsule == nullptr || !PyCapsule_CheckExact(capsule)) return nullptr;
  void* table = PyCapsule_GetPointer(capsule, exchange_capsule_name);
  if (table == nullptr) PyErr_Clear();
  return find_compatible_table(table);
}

ForeignView view_through(const ExchangeApi& api, PyObject* object) {
  ManagedTensorVersioned* tensor = nullptr;
  if (api.managed_from_object(object, &tensor) != 0 || tensor == nullptr) {
    if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_BufferError, "it gave no reason");
    fail<BridgeError>("dlpack: a ", Py_TYPE(object)->tp_name, " refused: ", take_error());
  }
  ForeignView view = view_of(tensor, &release_python<release_versioned>);
  const DeviceKind kind = view.memory.device.kind();
  if (kind == DeviceKind::cuda || kind == DeviceKind::cuda_managed)
    view.streams.push_back(stream_of(api, view.memory.device));
  return view;
}

}  // namespace spanwise::dlpack

namespace spanwise::python {

bool try_describe_through_exchange(const dlpack::ExchangeApi& api, PyObject* object,
                                   BorrowedTensor& memory) noexcept {
  dlpack::Tensor tensor;
  if (api.tensor_from_object == nullptr) return false;
  if (api.tensor_from_object(object, &tensor) == 0 && dlpack::try_describe(tensor, memory))
    return try_describe_stream(api, memory);
  PyErr_Clear();
  return false;
}

bool try_describe_stream(const dlpack::ExchangeApi& api, BorrowedTensor& memory) noexcept {
  if (memory.device.is_cpu()) return true;
  void* stream = nullptr;
  const auto type = static_cast<dlpack::DeviceType>(memory.device.kind());
  const int failed = api.current_stream(type, memory.device.ordinal(), &stream);
  memory.stream = interface_stream(reinterpret_cast<std::uintptr_t>(stream));
  if (failed != 0) PyErr_Clear();
  return failed == 0;
}

void order_library_stream(std::uintptr_t stream, const Array& array) {
  dlpack::order_consumer(Stream::foreign(array.device(), stream), array);
}

pybind11::object wrap_through_exchange(const dlpack::ExchangeApi& api, const Array& array,
                                       IsPersistentStream is_persistent_stream) {
  if (const Device device = array.device(); !device.is_cpu()) {
    const std::uintptr_t stream = dlpack::stream_of(api, device);
    // Recorded as a use: after the library has released the memory, its last work on it may still
    // run, and the next use of the memory must wait for that work.
    if (is_persistent_stream(stream, device.ordinal()))
      order_use(Stream::persistent(device, stream), array, true);
    else
      order_library_stream(stream, array);
  }
  void* object = nullptr;
  // managed_to_object() takes ownership of the tensor, also if it fails.
  if (api.managed_to_object(dlpack::exported(array), &object) != 0)
    throw pybind11::error_already_set();
  return pybind11::reinterpret_steal<pybind11::object>(static_cast<PyObject*>(object));
}

}  // namespace spanwise::python
