// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/declared.hpp"
#include "python/support/dtype.hpp"
#include "python/support/type.hpp"
#include "spanwise/core/error.hpp"

/// The attributes of numpy.dtype on spanwise.dtype. Those that are equal for all numeric dtypes in
/// native byte order are constants here; the others are read from the numpy.dtype.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// The attribute `name` of the numpy.dtype. Throws AttributeError, as hasattr() expects, if
// has_numpy_dtype() is false.
py::object numpy_attribute(PyObject* self, const char* name) {
  const DType dtype = *dtype_in(self);
  if (!has_numpy_dtype(dtype)) {
    throw py::attribute_error(
        text("dtype.", name, ": NumPy has no dtype for ", dtype,
             "; install ml_dtypes, which has the narrow floats, for NumPy's attributes of it"));
  }
  return numpy_dtype(dtype).attr(name);
}

template <Literal name>
PyGetSetDef attribute_of_numpy(const char* doc) {
  return attribute<[](PyObject* self) { return numpy_attribute(self, name.text); }>(name.text, doc);
}

template <auto make>
PyGetSetDef constant_attribute(const char* name, const char* doc) {
  return attribute<[](PyObject*) { return make(); }>(name, doc);
}

py::object with_byte_order(PyObject* self, PyObject* new_order) {
  const py::str swapped("S");
  const py::handle order = new_order != nullptr ? py::handle(new_order) : py::handle(swapped);
  const py::object ordered = numpy_attribute(self, "newbyteorder")(order);
  if (!ordered.attr("isnative").cast<bool>()) return ordered;
  return py::reinterpret_borrow<py::object>(self);
}

PyGetSetDef attributes_of_numpy[] = {
    attribute_of_numpy<"type">("NumPy's scalar type."),
    attribute_of_numpy<"char">("NumPy's type character."),
    attribute_of_numpy<"num">("NumPy's type number."),
    attribute_of_numpy<"str">("Byte order, kind and bytes, as in the array interface: \"<f4\"."),
    attribute_of_numpy<"descr">("As in the array interface: [(\"\", \"<f4\")]."),
    attribute_of_numpy<"byteorder">("\"=\" (native), or \"|\" for dtypes of one byte."),
    attribute_of_numpy<"alignment">("The alignment in bytes of an element in NumPy's arrays."),
    attribute_of_numpy<"flags">("NumPy's flags of the dtype."),
    attribute_of_numpy<"isbuiltin">("1 for NumPy's own types, 2 for those of ml_dtypes."),
    attribute_of_numpy<"isalignedstruct">("False."),
    constant_attribute<[] { return py::none(); }>("names", "None: no dtype here has fields."),
    constant_attribute<[] { return py::none(); }>("fields", "None: no dtype here has fields."),
    constant_attribute<[] { return py::none(); }>("subdtype", "None: an element is one number."),
    constant_attribute<[] { return py::none(); }>("metadata", "None."),
    constant_attribute<[] { return py::tuple(); }>("shape", "(): an element is one number."),
    constant_attribute<[] { return py::int_(0); }>("ndim", "0: an element is one number."),
    constant_attribute<[] { return py::bool_(true); }>("isnative",
                                                       "True: elements are in native byte order."),
    constant_attribute<[] { return py::bool_(false); }>("hasobject",
                                                        "False: elements are numbers."),
    attribute<[](PyObject* self) { return Py_NewRef(self); }>("base", "The dtype itself."),
    {}};

PyMethodDef methods_of_numpy[] = {
    declared<"newbyteorder($self, new_order='S', /)",
             "The numpy.dtype in another byte order: \"<\", \">\", or \"S\" for the swapped one; "
             "the dtype\nitself for the native one.",
             &with_byte_order>(),
    {}};

}  // namespace

SW_BIND(dtype_attributes, dtypes) {
  add_attributes(dtype_type, attributes_of_numpy);
  add_methods(dtype_type, methods_of_numpy);
}

}  // namespace spanwise::python
