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
#include "spanwise/python/binding.hpp"
#include "python/support/declared.hpp"
#include "python/support/dtype.hpp"
#include "python/support/type.hpp"
#include "spanwise/core/error.hpp"

/// spanwise.dtype. dtype_object() returns the same Python object for equal DTypes.
namespace spanwise::python {

namespace py = pybind11;

PyTypeObject* dtype_type = nullptr;

namespace {

// The Python objects of one dtype, never freed: the interpreter may end before or after static
// destructors.
struct DTypeObjects {
  DType dtype;
  PyObject* spanwise_dtype = nullptr;
  PyObject* numpy_dtype = nullptr;
};

[[gnu::noinline]] DTypeObjects& find_objects(DType dtype) {
  static auto& objects = *new std::unordered_map<std::uint32_t, DTypeObjects>;
  const auto key = static_cast<std::uint32_t>(dtype.code()) << 24 |
                   static_cast<std::uint32_t>(dtype.bits()) << 16 |
                   static_cast<std::uint32_t>(dtype.lanes());
  return objects.try_emplace(key, DTypeObjects{dtype}).first->second;
}

DTypeObjects& objects_of(DType dtype) {
  // A direct-mapped cache, indexed by code and log2(bits), at most 7.
  static constinit std::array<DTypeObjects*, 64> frequent{};
  const auto bits = static_cast<unsigned>(dtype.bits());
  DTypeObjects*& objects = frequent[(static_cast<unsigned>(dtype.code()) * 8 +
                                     static_cast<unsigned>(std::countr_zero(bits | 128))) %
                                    frequent.size()];
  if (objects == nullptr || objects->dtype != dtype) [[unlikely]]
    objects = &find_objects(dtype);
  return *objects;
}

[[gnu::noinline]] PyObject* make_numpy_dtype(DType dtype) {
  const py::module_ numpy = py::module_::import("numpy");
  py::object scalar_type;
  if (dtype.is_computable() && dtype != bfloat16) {
    scalar_type = py::str(dtype.name());
  } else {
    try {
      scalar_type = py::getattr(py::module_::import("ml_dtypes"), dtype.name().c_str(), py::none());
    } catch (py::error_already_set& e) {
      if (!e.matches(PyExc_ImportError)) throw;
      return nullptr;
    }
    if (scalar_type.is_none()) return nullptr;
  }
  return objects_of(dtype).numpy_dtype = numpy.attr("dtype")(scalar_type).release().ptr();
}

// Null if no installed library has the dtype.
PyObject* find_numpy_dtype(DType dtype) {
  PyObject* object = objects_of(dtype).numpy_dtype;
  return object != nullptr ? object : make_numpy_dtype(dtype);
}

const DType& dtype_of_self(PyObject* self) { return *dtype_in(self); }

// dtype(x), by the type's vectorcall: it needs no tuple of arguments.
PyObject* make_dtype(PyObject*, PyObject* const* values, std::size_t flags, PyObject* names) {
  const Py_ssize_t count = PyVectorcall_NARGS(flags);
  if (count != 1 || names != nullptr)
    throw py::type_error(text("dtype() takes one argument by position, got ",
                              names != nullptr ? "one by name" : std::to_string(count)));
  return dtype_object(dtype_from(values[0])).release().ptr();
}

PyObject* compare_dtypes(PyObject* self, PyObject* other, int operation) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  std::optional<DType> other_dtype = dtype_of_self(self);
  if (self != other) other_dtype = try_dtype_from(other);
  if (!other_dtype) Py_RETURN_NOTIMPLEMENTED;
  return PyBool_FromLong((*other_dtype == dtype_of_self(self)) == (operation == Py_EQ));
}

py::str name_of_dtype(PyObject* self) { return dtype_of_self(self).name(); }
py::str repr_of_dtype(PyObject* self) { return "spanwise." + dtype_of_self(self).name(); }
Py_hash_t hash_of_dtype(PyObject* self) { return py::hash(name_of_dtype(self)); }

py::object numpy_dtype_of(PyObject* self) { return numpy_dtype(dtype_of_self(self)); }

py::tuple reduce_dtype(PyObject* self) {
  return py::make_tuple(py::type::of(py::handle(self)), py::make_tuple(name_of_dtype(self)));
}

// The attribute get(dtype).
template <auto get>
PyGetSetDef of_dtype(const char* name, const char* doc) {
  return attribute<[](PyObject* self) { return py::cast(get(dtype_of_self(self))); }>(name, doc);
}

PyGetSetDef attributes_of_dtype[] = {
    of_dtype<[](DType d) { return d.name(); }>("name", "\"float32\", ..."),
    of_dtype<[](DType d) { return d.itemsize(); }>("itemsize", "Bytes of one element."),
    of_dtype<[](DType d) { return kind_letter(d); }>(
        "kind", "NumPy's kind: b, i, u, f, c; V for dtypes that NumPy itself does not have."),
    of_dtype<[](DType d) { return d.bits(); }>("bits", "Bits of one lane."),
    of_dtype<[](DType d) { return d.lanes(); }>(
        "lanes", "Numbers per element: 1, or more for vector types."),
    of_dtype<[](DType d) { return d.is_computable(); }>(
        "is_computable",
        "Whether it can be cast and computed with; other dtypes can only be copied."),
    attribute<&numpy_dtype_of>("__numpy_dtype__", "The result of numpy.dtype(self)."),
    // NumPy before 2.4 reads .dtype instead.
    attribute<&numpy_dtype_of>("dtype", "The numpy.dtype."),
    {}};

PyMethodDef methods_of_dtype[] = {declared<"__reduce__($self)", "", &reduce_dtype>(), {}};

constexpr const char* dtype_doc =
    "dtype(x, /)\n--\n\n"
    "The type of one element, from a name, a NumPy dtype or scalar type, a Python type, or an\n"
    "object with a .dtype. Equal to the corresponding numpy.dtype, scalar type and name; the hash\n"
    "is that of its name. Raises DTypeError.";

}  // namespace

py::object dtype_object(DType dtype) {
  PyObject*& object = objects_of(dtype).spanwise_dtype;
  if (object == nullptr) {
    auto* created = PyObject_New(PyDType, dtype_type);
    if (created == nullptr) throw py::error_already_set();
    created->dtype = dtype;
    object = reinterpret_cast<PyObject*>(created);
  }
  return py::reinterpret_borrow<py::object>(object);
}

bool has_numpy_dtype(DType dtype) { return find_numpy_dtype(dtype) != nullptr; }

py::object numpy_dtype(DType dtype) {
  PyObject* object = find_numpy_dtype(dtype);
  if (object == nullptr)
    fail<DTypeError>(
        "spanwise: NumPy has no dtype for ", dtype,
        "; install ml_dtypes, which has the narrow floats, or convert with a.astype(\"float32\")");
  return py::reinterpret_borrow<py::object>(object);
}

const char* buffer_format(DType dtype) noexcept {
  // "l" and not "q": NumPy reads "l" as its int64, but "q" as its distinct type long long.
  static constexpr std::pair<DType, const char*> formats[] = {
      {bool_, "?"},   {int8, "b"},    {uint8, "B"},      {int16, "h"},      {uint16, "H"},
      {int32, "i"},   {uint32, "I"},  {int64, "l"},      {uint64, "L"},     {float16, "e"},
      {float32, "f"}, {float64, "d"}, {complex64, "Zf"}, {complex128, "Zd"}};
  for (const auto& [known, format] : formats)
    if (known == dtype) return format;
  return nullptr;
}

SW_BIND(dtypes) {
  dtype_type = make_type("spanwise.dtype", sizeof(PyDType),
                         {slot(Py_tp_dealloc, &free_object),
                          slot(Py_tp_richcompare, guarded<&compare_dtypes>),
                          slot(Py_tp_hash, guarded<&hash_of_dtype>),
                          slot(Py_tp_repr, guarded<&repr_of_dtype>),
                          slot(Py_tp_str, guarded<&name_of_dtype>),
                          {Py_tp_getset, attributes_of_dtype},
                          {Py_tp_methods, methods_of_dtype},
                          {Py_tp_doc, const_cast<char*>(dtype_doc)}});
  dtype_type->tp_vectorcall = guarded<&make_dtype>;
  add_type(module, "dtype", dtype_type);
  for (const DType dtype : {bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64,
                            float16, bfloat16, float32, float64, complex64, complex128}) {
    module.attr(dtype.name().c_str()) = dtype_object(dtype);
  }
  module.attr("bool_") = dtype_object(bool_);
}

}  // namespace spanwise::python
