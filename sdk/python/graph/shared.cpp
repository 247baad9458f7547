// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "spanwise/graph/shared.hpp"

#include <pybind11/stl.h>

#include "function.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/python_function.hpp"
#include "python/support/type.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/core/error.hpp"
#include "variable.hpp"

/// The methods of spanwise.SharedVariable, and its constructor function.
namespace spanwise::python {

namespace py = pybind11;

namespace {

SharedValue& shared_in(PyObject* self) { return *variable_in(self).container(); }

CopyMode mode_of(bool borrow) { return borrow ? CopyMode::if_needed : CopyMode::always; }

PyObject* get_shared_value(PyObject* self, PyObject* borrow, PyObject*) {
  const bool shares = truth_or(borrow, false);
  return wrap(without_gil([&] {
    const Array value = shared_in(self).get();
    return shares ? value : copy(value);
  }));
}

void set_shared_value(PyObject* self, PyObject* new_value, PyObject* borrow) {
  SharedValue& shared = shared_in(self);
  const CopyMode mode = mode_of(truth_or(borrow, false));
  const Array value = input_from(new_value, shared.type(), {});
  shared.check(value);
  without_gil([&] { shared.set(to_device(value, shared.device(), mode)); });
}

PyObject* refuse_value(PyObject*) {
  PyErr_SetString(PyExc_AttributeError,
                  "a shared variable has no attribute value: read it with get_value(), and change "
                  "it with set_value()");
  return nullptr;
}

int set_default_update(PyObject* self, PyObject* update, void*) {
  PyObject* new_update = update == nullptr ? Py_None : update;
  PyObject* none = call_with_self(python_function<"graph._function", "set_default_update">(), self,
                                  &new_update, 1);
  Py_XDECREF(none);
  return none == nullptr ? -1 : 0;
}

// The device of a shared variable: `target` unless it is None; the host for integers of rank 0,
// which serve as counts and indices; else the default device.
Device device_of_shared(py::handle target, const Array& value) {
  if (!target.is_none()) return device_from(target);
  const bool is_count =
      value.rank() == 0 && (value.dtype().is_integer() || value.dtype().is_bool());
  return is_count ? cpu : default_device();
}

Variable make_shared_variable(py::handle value, const std::optional<std::string>& name, bool borrow,
                              py::handle target) {
  if (is_variable(value.ptr()))
    fail<GraphError>("shared: expected a value, got a variable; pass its value, x.eval()");
  const Array array = import_array(value.ptr());
  const Device device = device_of_shared(target, array);
  const GilRelease unlocked;
  return shared(to_device(array, device, mode_of(borrow)), name.value_or(""), device);
}

}  // namespace

PyMethodDef shared_methods[] = {
    declared<"get_value($self, borrow=False, return_internal_type=False)",
             "A copy of the value, on the variable's device; with borrow=True the variable's own "
             "array. `return_internal_type` is ignored.",
             &get_shared_value>(),
    declared<"set_value($self, value, borrow=False)",
             "Sets a copy of an array of any library, or a number, as the value; with borrow=True "
             "the array itself if it is on the variable's device. Raises InputError for another "
             "dtype or shape.",
             &set_shared_value>(),
    {}};

PyGetSetDef shared_attributes[] = {
    attribute<&refuse_value>("value", "Raises AttributeError; see get_value()."),
    attribute<[](PyObject* self) { return device_object(shared_in(self).device()); }>(
        "device", "The device of its value."),
    attribute<&result_in_python<"graph._function", "default_update_of">, &set_default_update>(
        "default_update",
        "The value after each call of a function that reads the variable, a variable of its dtype "
        "and rank; None for none. See no_default_updates= of function(). Raises GraphError for "
        "another type. The two keep each other alive until it is set to None."),
    {}};

SW_BIND(graph_shared) {
  module.def("_shared", &make_shared_variable, py::arg("value"), py::arg("name"), py::arg("borrow"),
             py::arg("target"), py::pos_only());
}

}  // namespace spanwise::python
