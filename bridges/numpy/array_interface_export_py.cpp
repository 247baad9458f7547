// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include "python/interop/interface.hpp"
#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/dtype.hpp"
#include "python/support/type.hpp"

/// Array.__array_interface__, version 3: only arrays on the CPU with one of NumPy's own dtypes have
/// it.
namespace spanwise::python {

namespace py = pybind11;

namespace {

PyObject* get_array_interface(PyObject* self) {
  const Array& array = array_in(self);
  if (!array.device().is_cpu()) {
    PyErr_SetString(PyExc_AttributeError,
                    "__array_interface__: the array is on a GPU; copy it with x.numpy()");
    return nullptr;
  }
  // NumPy would import the elements as raw bytes; without the interface it calls __array__(), which
  // imports the package that defines the dtype.
  if (buffer_format(array.dtype()) == nullptr) {
    PyErr_Format(PyExc_AttributeError,
                 "__array_interface__: the interface has no type for %s; use x.numpy()",
                 array.dtype().name().c_str());
    return nullptr;
  }
  py::dict interface = interface_of(array);
  // NumPy treats a null address as missing, even without elements.
  static char no_elements[16];
  const void* address = array.data() != nullptr ? array.data() : no_elements;
  interface["data"] = py::make_tuple(reinterpret_cast<std::uintptr_t>(address), array.readonly());
  return interface.release().ptr();
}

PyGetSetDef interface_attributes[] = {
    attribute<&get_array_interface>(
        "__array_interface__",
        "NumPy's array interface, version 3. Arrays on a GPU do not have it, "
        "nor those of dtypes that\nit has no type for."),
    {}};

}  // namespace

SW_BIND(bridge_array_interface, array_type) { add_array_attributes(interface_attributes); }

}  // namespace spanwise::python
