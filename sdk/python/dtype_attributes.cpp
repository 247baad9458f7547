// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/dtype.hpp"
#include "python/support/value.hpp"
#include "spanwise/error.hpp"

/// The attributes of numpy.dtype on spanwise.dtype. Those that are equal for all numeric dtypes in
/// native byte order are constants here; the others are read from the numpy.dtype.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// The attribute `name` of the numpy.dtype. Throws AttributeError, as hasattr() expects, if
// has_numpy_dtype() is false.
py::object numpys(const py::object& self, const char* name) {
  const DType* own = dtype_in(self);
  if (own == nullptr) raise_unexpected(self, name, "a dtype that was initialised");
  const DType dtype = *own;
  if (!has_numpy_dtype(dtype)) {
    throw py::attribute_error(
        text("dtype.", name, ": NumPy has no dtype for ", dtype,
             "; install ml_dtypes, which has the narrow floats, for NumPy's attributes of it"));
  }
  return numpy_dtype(dtype).attr(name);
}

py::object with_byte_order(const py::object& self, const py::object& new_order) {
  const py::object ordered = numpys(self, "newbyteorder")(new_order);
  return ordered.attr("isnative").cast<bool>() ? self : ordered;
}

struct Attribute {
  const char* name;
  const char* doc;
};

constexpr Attribute numpys_own[] = {
    {"type", "NumPy's scalar type."},
    {"char", "NumPy's type character."},
    {"num", "NumPy's type number."},
    {"str", "Byte order, kind and bytes, as in the array interface: \"<f4\"."},
    {"descr", "As in the array interface: [(\"\", \"<f4\")]."},
    {"byteorder", "\"=\" (native), or \"|\" for dtypes of one byte."},
    {"alignment", "The alignment in bytes of an element in NumPy's arrays."},
    {"flags", "NumPy's flags of the dtype."},
    {"isbuiltin", "1 for NumPy's own types, 2 for those of ml_dtypes."},
    {"isalignedstruct", "False."}};

}  // namespace

SW_BIND(dtype_attributes, dtypes) {
  const py::object type = module.attr("dtype");
  const py::object property =
      py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(&PyProperty_Type));
  const auto add = [&](const char* name, const char* doc, auto getter) {
    type.attr(name) =
        property(py::cpp_function(getter, py::is_method(type)), py::none(), py::none(), doc);
  };
  for (const Attribute& attribute : numpys_own)
    add(attribute.name, attribute.doc,
        [name = attribute.name](const py::object& self) { return numpys(self, name); });

  const auto constant = [&](const char* name, const char* doc, const py::object& value) {
    add(name, doc, [held = value.inc_ref()](const py::object&) -> py::object {
      return py::reinterpret_borrow<py::object>(held);
    });
  };
  constant("names", "None: no dtype here has fields.", py::none());
  constant("fields", "None: no dtype here has fields.", py::none());
  constant("subdtype", "None: an element is one number.", py::none());
  constant("metadata", "None.", py::none());
  constant("shape", "(): an element is one number.", py::tuple());
  constant("ndim", "0: an element is one number.", py::int_(0));
  constant("isnative", "True: elements are in native byte order.", py::bool_(true));
  constant("hasobject", "False: elements are numbers.", py::bool_(false));
  add("base", "The dtype itself.", [](const py::object& self) { return self; });
  type.attr("newbyteorder") =
      py::cpp_function(&with_byte_order, py::name("newbyteorder"), py::is_method(type),
                       py::arg("new_order") = "S", py::pos_only(),
                       "The numpy.dtype in another byte order: \"<\", \">\", or \"S\" for the "
                       "swapped one; the dtype\nitself for the native one.");
}

}  // namespace spanwise::python
