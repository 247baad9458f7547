// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "library.hpp"

#include "python/support/call.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"

namespace spanwise::python {

namespace py = pybind11;

void LibraryBridge::check_dtype(DType dtype, bool has_dtype) const {
  if (!has_dtype)
    fail<DTypeError>(library_, ": no dtype ", dtype, "; cast it first: x.astype(...)");
}

std::optional<ShareBlocker> LibraryBridge::order_blocker(const Array& array,
                                                         std::string_view display_name) {
  if (array.layout().is_row_major()) return std::nullopt;
  return ShareBlocker{text("its strides ", strides_text(array), " for shape ", array.shape(),
                           " are not C order, the only layout that ", display_name, " has"),
                      "allow a copy (copyif=True)"};
}

std::optional<ShareBlocker> LibraryBridge::alignment_blocker(const Array& array,
                                                             std::uintptr_t alignment,
                                                             std::string_view need) {
  if (reinterpret_cast<std::uintptr_t>(array.data()) % alignment == 0) return std::nullopt;
  return ShareBlocker{text("its address is no multiple of ", alignment, " bytes, which ", need),
                      "allow a copy (copyif=True), or allocate it with spanwise.empty()"};
}

py::module_ import_library(const char* module, const char* package) {
  return import_library(module, package, text("install it: pip install ", package).c_str());
}

py::module_ import_library(const char* module, const char* library, const char* remedy) {
  try {
    return py::module_::import(module);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_ImportError)) throw;
    fail<BridgeError>(library, ": cannot be imported here (", std::string(py::str(error.value())),
                      "); ", remedy);
  }
}

std::optional<ShareBlocker> readonly_share_blocker(const Array& array, std::string_view library) {
  if (!array.readonly()) return std::nullopt;
  return ShareBlocker{
      text("its memory is read-only, and ", library, "'s arrays can always be written"),
      "allow a copy (copyif=True)"};
}

std::optional<ShareBlocker> host_share_blocker(const Array& array, std::string_view library) {
  if (array.device().is_cuda()) return std::nullopt;
  return ShareBlocker{
      text("its memory is on ", array.device(), ", and ", library, "'s arrays are on a GPU"),
      "allow a copy (copyif=True), or move it first: x.to(\"cuda\")"};
}

Device default_gpu() {
  const Device device = default_device();
  return device.is_cuda() ? device : Device(DeviceKind::cuda, 0);
}

Device device_of_memory(const void* address, std::string_view prefix) {
  if (address != nullptr)
    if (const auto device = device_of(address)) return *device;
  const std::string reason = why_no_cuda();
  if (!reason.empty())
    fail<DeviceError>(prefix, ": the array is on a GPU, but no GPU is available: ", reason);
  if (address != nullptr)
    fail<BridgeError>(prefix, ": the CUDA driver does not recognize the address ", address,
                      "; the memory was freed, or is no GPU memory");
  return default_gpu();
}

Array copy_on_gpu(const Array& array) {
  if (array.device().is_cuda()) return copy(array);
  const std::string reason = why_no_cuda();
  if (!reason.empty()) fail<DeviceError>("copy to a GPU: ", reason);
  return copy(to_device(array, default_gpu()));
}

Array copy_on_host(const Array& array) {
  return array.device().is_cpu() ? copy(array) : to_device(array, cpu);
}

bool bool_attribute(PyObject* object, const AttributeName& name) {
  return truth_or(owned(PyObject_GetAttr(object, name.get())).ptr(), false);
}

bool bool_method(PyObject* object, const AttributeName& name) {
  return truth_or(owned(PyObject_CallMethodNoArgs(object, name.get())).ptr(), false);
}

}  // namespace spanwise::python
