// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>

#include "python/interop/typestr.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/dtype.hpp"
#include "spanwise/error.hpp"

/// spanwise.dtype. dtype_object() returns the same Python object for equal DTypes.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// The bound class. DType itself has a type_caster, which accepts all forms of a dtype.
struct PyDType {
  DType dtype;
};

std::uint32_t key_of(DType dtype) noexcept {
  return static_cast<std::uint32_t>(dtype.code()) << 24 |
         static_cast<std::uint32_t>(dtype.bits()) << 16 | static_cast<std::uint32_t>(dtype.lanes());
}

// Caches whose objects are never freed: the interpreter may end before or after static destructors.
using ObjectTable = std::unordered_map<std::uint32_t, PyObject*>;
ObjectTable& dtype_objects() {
  static auto* const table = new ObjectTable;
  return *table;
}
ObjectTable& numpy_dtypes() {
  static auto* const table = new ObjectTable;
  return *table;
}

// A direct-mapped cache in front of numpy_dtypes(), indexed by code and bits.
struct Frequent {
  DType dtype;
  PyObject* object = nullptr;
};
constinit std::array<Frequent, 64> frequent_numpy_dtypes{};

Frequent& frequent_place(DType dtype) noexcept {
  const auto bits = static_cast<unsigned>(dtype.bits());
  return frequent_numpy_dtypes[(static_cast<unsigned>(dtype.code()) * 8 +
                                static_cast<unsigned>(std::countr_zero(bits | 128))) %
                               64];
}

// Null if no installed library has the dtype.
py::object find_numpy_dtype(DType dtype) {
  const auto found = numpy_dtypes().find(key_of(dtype));
  if (found != numpy_dtypes().end()) {
    frequent_place(dtype) = {dtype, found->second};
    return py::reinterpret_borrow<py::object>(found->second);
  }
  const py::module_ numpy = py::module_::import("numpy");
  py::object scalar_type;
  if (dtype.is_computable() && dtype != bfloat16) {
    scalar_type = py::str(dtype.name());
  } else {
    try {
      scalar_type = py::getattr(py::module_::import("ml_dtypes"), dtype.name().c_str(), py::none());
    } catch (py::error_already_set& e) {
      if (!e.matches(PyExc_ImportError)) throw;
      return {};
    }
    if (scalar_type.is_none()) return {};
  }
  py::object result = numpy.attr("dtype")(scalar_type);
  numpy_dtypes().emplace(key_of(dtype), result.inc_ref().ptr());
  return result;
}

}  // namespace

const DType* dtype_in(py::handle object) noexcept {
  static constinit PyObject* type = nullptr;  // under the GIL
  if (type == nullptr) type = py::type::of<PyDType>().release().ptr();
  if (reinterpret_cast<PyObject*>(Py_TYPE(object.ptr())) != type) return nullptr;
  try {
    return &py::cast<const PyDType&>(object).dtype;
  } catch (const py::type_error&) {  // made by dtype.__new__() without __init__()
    return nullptr;
  }
}

namespace {

// A plain C function, without pybind11, for speed. Usually both are the same object.
PyObject* dtype_equals(PyObject* self, PyObject* other) noexcept {
  if (self == other) Py_RETURN_TRUE;
  const DType* own = dtype_in(self);
  if (own == nullptr) Py_RETURN_NOTIMPLEMENTED;
  if (const DType* theirs = dtype_in(other)) return PyBool_FromLong(*theirs == *own);
  if (const auto dtype = try_dtype_from(other)) return PyBool_FromLong(*dtype == *own);
  Py_RETURN_NOTIMPLEMENTED;
}

}  // namespace

py::object dtype_object(DType dtype) {
  PyObject*& object = dtype_objects()[key_of(dtype)];
  if (object == nullptr) object = py::cast(PyDType{dtype}).release().ptr();
  return py::reinterpret_borrow<py::object>(object);
}

bool has_numpy_dtype(DType dtype) { return static_cast<bool>(find_numpy_dtype(dtype)); }

py::object numpy_dtype(DType dtype) {
  const Frequent& frequent = frequent_place(dtype);
  if (frequent.object != nullptr && frequent.dtype == dtype) [[likely]]
    return py::reinterpret_borrow<py::object>(frequent.object);
  py::object found = find_numpy_dtype(dtype);
  if (!found)
    fail<DTypeError>(
        "spanwise: NumPy has no dtype for ", dtype,
        "; install ml_dtypes, which has the narrow floats, or convert with a.astype(\"float32\")");
  return found;
}

const char* buffer_format(DType dtype) noexcept {
  if (dtype == bool_) return "?";
  if (dtype == int8) return "b";
  if (dtype == uint8) return "B";
  if (dtype == int16) return "h";
  if (dtype == uint16) return "H";
  if (dtype == int32) return "i";
  if (dtype == uint32) return "I";
  // "l" and not "q": NumPy reads it back as its int64, where "q" would be its long long.
  if (dtype == int64) return "l";
  if (dtype == uint64) return "L";
  if (dtype == float16) return "e";
  if (dtype == float32) return "f";
  if (dtype == float64) return "d";
  if (dtype == complex64) return "Zf";
  if (dtype == complex128) return "Zd";
  return nullptr;
}

SW_BIND(dtypes) {
  py::class_<PyDType> type(module, "dtype",
                           "The type of one element. Equal to the corresponding numpy.dtype, "
                           "scalar type and name; the hash is that of its name.");
  type.attr("__module__") = "spanwise";
  type.def(py::init([](py::handle x) { return PyDType{dtype_from(x)}; }), py::arg("x"),
           py::pos_only(),
           "From a name, a NumPy dtype or scalar type, a Python type, or an object with a .dtype. "
           "Raises "
           "DTypeError.");
  const auto attribute = [&type](const char* name, auto getter, const char* doc) {
    type.def_property_readonly(name, getter, doc);
  };
  attribute("name", [](const PyDType& self) { return self.dtype.name(); }, "\"float32\", ...");
  attribute(
      "itemsize", [](const PyDType& self) { return self.dtype.itemsize(); },
      "Bytes of one element.");
  attribute(
      "kind", [](const PyDType& self) { return kind_letter(self.dtype); },
      "NumPy's kind: b, i, u, f, c; V for dtypes that NumPy itself does not have.");
  attribute("bits", [](const PyDType& self) { return self.dtype.bits(); }, "Bits of one lane.");
  attribute(
      "lanes", [](const PyDType& self) { return self.dtype.lanes(); },
      "Numbers per element: 1, or more for vector types.");
  attribute(
      "is_computable", [](const PyDType& self) { return self.dtype.is_computable(); },
      "Whether it can be cast and computed with; other dtypes can only be copied.");
  attribute(
      "__numpy_dtype__", [](const PyDType& self) { return numpy_dtype(self.dtype); },
      "The result of numpy.dtype(self).");
  // NumPy before 2.4 reads .dtype instead.
  attribute(
      "dtype", [](const PyDType& self) { return numpy_dtype(self.dtype); }, "The numpy.dtype.");
  static PyMethodDef equals = {"__eq__", &dtype_equals, METH_O, "__eq__($self, other, /)\n--\n\n"};
  type.attr("__eq__") = py::reinterpret_steal<py::object>(
      PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &equals));
  type.def("__hash__", [](const PyDType& self) { return py::hash(py::str(self.dtype.name())); });
  type.def("__repr__", [](const PyDType& self) { return "spanwise." + self.dtype.name(); });
  type.def("__str__", [](const PyDType& self) { return self.dtype.name(); });
  type.def("__reduce__", [](const py::object& self) {
    return py::make_tuple(py::type::of(self), py::make_tuple(self.attr("name")));
  });

  for (const DType dtype : {bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
                            float16, bfloat16, float32, float64, complex64, complex128}) {
    module.attr(dtype.name().c_str()) = dtype_object(dtype);
  }
  module.attr("bool_") = dtype_object(bool_);
}

}  // namespace spanwise::python
