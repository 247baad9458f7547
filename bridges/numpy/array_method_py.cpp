// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "python/interop/interface.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

constinit const AttributeName method_name("__array__");

/// Lowest priority: objects whose only interface is a method that returns an ndarray.
class ArrayMethodBridge final : public Bridge {
 public:
  std::string_view name() const override { return "array_method"; }
  BridgePriority priority() const override { return BridgePriority::conversion; }
  std::string_view protocols() const override { return "__array__"; }

  // A class is not an array, although the method can be found on it.
  bool accepts(PyObject* object) const override {
    return !PyType_Check(object) && attribute_or_null(object, method_name);
  }

  bool is_conversion() const override { return true; }

  ForeignView view(PyObject* object, bool may_copy) const override {
    const py::object array = call(object, may_copy);
    const Bridge& numpy = *find_bridge("numpy");
    if (!numpy.accepts(array.ptr()))
      fail<BridgeError>("array_method: __array__() of ", Py_TYPE(object)->tp_name, " returned a ",
                        Py_TYPE(array.ptr())->tp_name, "; expected a numpy.ndarray");
    return numpy.view(array.ptr(), may_copy);
  }

 private:
  // NumPy 2 passes copy=False to forbid a copy; older methods do not accept the argument.
  static py::object call(PyObject* object, bool may_copy) {
    const py::object method = attribute_or_null(object, method_name);
    if (!method) fail<BridgeError>("array_method: no __array__");
    if (may_copy) return method();
    try {
      return method(py::arg("copy") = false);
    } catch (py::error_already_set& error) {
      if (!error.matches(PyExc_TypeError)) throw;
    }
    throw SharingError("array_method", {"its __array__ does not accept copy=False, so it may copy",
                                        "allow a copy (copy=None, copyif=True)"});
  }
};

const ArrayMethodBridge method_bridge;
[[maybe_unused]] const bool method_registered = register_bridge(method_bridge);

}  // namespace
}  // namespace spanwise::python
