// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "library.hpp"

#include "spanwise/creation.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

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

Array copy_on_gpu(const Array& array) {
  if (array.device().is_cuda()) return copy(array);
  const std::string reason = why_no_cuda();
  if (!reason.empty()) fail<DeviceError>("copy to a GPU: ", reason);
  const Device chosen = default_device();
  return copy(to_device(array, chosen.is_cuda() ? chosen : Device(DeviceKind::cuda, 0)));
}

bool truth_of(PyObject* object, const Name& name) {
  const auto value = py::reinterpret_steal<py::object>(PyObject_GetAttr(object, name.get()));
  const int truth = value ? PyObject_IsTrue(value.ptr()) : -1;
  if (truth < 0) throw py::error_already_set();
  return truth == 1;
}

bool answer_of(PyObject* object, const Name& name) {
  const auto value =
      py::reinterpret_steal<py::object>(PyObject_CallMethodNoArgs(object, name.get()));
  const int truth = value ? PyObject_IsTrue(value.ptr()) : -1;
  if (truth < 0) throw py::error_already_set();
  return truth == 1;
}

}  // namespace spanwise::python
