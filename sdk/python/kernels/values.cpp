// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "values.hpp"

#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <unordered_map>

#include "python/interop/library.hpp"
#include "python/support/array.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

using Value = std::variant<KernelArg, ValueBytes>;

constinit const ForeignClass numpy_scalar("numpy", "generic"), numpy_struct("numpy", "void");
constinit const ForeignClass ctypes_number("_ctypes", "_SimpleCData"),
    ctypes_struct("_ctypes", "Structure"), ctypes_union("_ctypes", "Union"),
    ctypes_pointer("_ctypes", "_Pointer");

std::string bytes_of(PyObject* object) {
  Py_buffer buffer;
  if (PyObject_GetBuffer(object, &buffer, PyBUF_SIMPLE) == 0) {
    std::string bytes(static_cast<const char*>(buffer.buf), static_cast<std::size_t>(buffer.len));
    PyBuffer_Release(&buffer);
    return bytes;
  }
  // Scalars of ml_dtypes have no buffer.
  PyErr_Clear();
  return py::handle(object).attr("tobytes")().cast<std::string>();
}

/// The cached properties of a NumPy scalar type.
struct ScalarType {
  DType dtype;
  /// NumPy's own scalar types store the value right after PyObject_HEAD (numpy/arrayscalars.h, part
  /// of NumPy's C API); reading it there is many times faster than through the buffer protocol.
  bool value_follows_head;
};

// The value follows PyObject_HEAD at its alignment, which for a complex number is that of a part.
std::size_t value_offset(DType dtype) {
  const int part = dtype.is_complex() ? dtype.itemsize() / 2 : dtype.itemsize();
  const auto alignment = static_cast<std::size_t>(std::min(part, 8));
  return (sizeof(PyObject) + alignment - 1) / alignment * alignment;
}

const char* value_in(PyObject* scalar, DType dtype) {
  return reinterpret_cast<const char*>(scalar) + value_offset(dtype);
}

// Checks the layout once per type: true only for a class of the numpy module, if the buffer
// protocol gives the same bytes.
bool value_follows_head(PyObject* scalar, DType dtype) {
  PyTypeObject* type = Py_TYPE(scalar);
  const py::handle class_object(reinterpret_cast<PyObject*>(type));
  const py::object numpy_type =
      py::getattr(py::module_::import("numpy"), class_object.attr("__name__"), py::none());
  const std::string bytes = bytes_of(scalar);
  return numpy_type.is(class_object) &&
         bytes.size() == static_cast<std::size_t>(dtype.itemsize()) &&
         static_cast<std::size_t>(type->tp_basicsize) >= value_offset(dtype) + bytes.size() &&
         std::memcmp(value_in(scalar, dtype), bytes.data(), bytes.size()) == 0;
}

// The scalar types with value_follows_head, in the order of their first use; searched linearly by
// address, which is fastest for the few types that a program uses.
struct CachedType {
  PyTypeObject* type;
  DType dtype;
};
constinit std::array<CachedType, 16> number_types{};
constinit std::size_t number_type_count = 0;

// The properties of a scalar's type, cached: reading scalar.dtype takes longer than a launch.
const ScalarType& scalar_type_of(PyObject* scalar) {
  static auto& cache = *new std::unordered_map<PyTypeObject*, ScalarType>;
  PyTypeObject* type = Py_TYPE(scalar);
  if (const auto entry = cache.find(type); entry != cache.end()) return entry->second;
  const DType dtype = dtype_from(py::handle(scalar).attr("dtype"));
  const bool follows_head = value_follows_head(scalar, dtype);
  Py_INCREF(type);  // keeps the address from being reused
  if (follows_head && number_type_count < number_types.size())
    number_types[number_type_count++] = {type, dtype};
  return cache.emplace(type, ScalarType{dtype, follows_head}).first->second;
}

Value numpy_value(PyObject* scalar) {
  if (numpy_struct.has(scalar)) return bytes_of(scalar);
  const auto& [dtype, follows_head] = scalar_type_of(scalar);
  if (follows_head) [[likely]]
    return KernelArg(Scalar(dtype, value_in(scalar, dtype)));
  std::string bytes = bytes_of(scalar);
  // A scalar whose size differs from its dtype's (an aligned long double) is passed as bytes.
  if (bytes.size() != static_cast<std::size_t>(dtype.itemsize()) || dtype.itemsize() > 16)
    return bytes;
  return KernelArg(Scalar(dtype, bytes.data()));
}

// The kind of a ctypes simple type, from its code (as in the struct module).
std::optional<DTypeCode> ctypes_code(char code) {
  constexpr std::string_view signed_codes = "bhilqc", unsigned_codes = "BHILQ",
                             floating_codes = "fd";
  if (signed_codes.find(code) != std::string_view::npos) return DTypeCode::int_;
  if (unsigned_codes.find(code) != std::string_view::npos) return DTypeCode::uint;
  if (floating_codes.find(code) != std::string_view::npos) return DTypeCode::float_;
  if (code == '?') return DTypeCode::bool_;
  return std::nullopt;
}

KernelArg address_in(const std::string& bytes) {
  std::uintptr_t address = 0;
  std::memcpy(&address, bytes.data(), std::min(bytes.size(), sizeof address));
  return KernelArg::address(address);
}

Value ctypes_value(PyObject* object) {
  const std::string code = py::handle(object).attr("_type_").cast<std::string>();
  std::string bytes = bytes_of(object);
  if (code == "P" || code == "z" || code == "Z") return address_in(bytes);
  const auto kind = code.size() == 1 ? ctypes_code(code[0]) : std::nullopt;
  if (!kind) return bytes;
  return KernelArg(Scalar(DType(*kind, 8 * static_cast<int>(bytes.size())), bytes.data()));
}

}  // namespace

std::optional<Value> value_from(PyObject* object) {
  if (PyComplex_CheckExact(object)) {
    const Py_complex value = PyComplex_AsCComplex(object);
    return KernelArg(Scalar(std::complex<double>(value.real, value.imag)));
  }
  if (numpy_scalar.has(object)) return numpy_value(object);
  if (PyBytes_Check(object)) return bytes_of(object);
  // Types of ctypes have metaclasses; other types skip the checks below.
  if (Py_TYPE(Py_TYPE(object)) == &PyType_Type) return std::nullopt;
  if (ctypes_struct.has(object) || ctypes_union.has(object)) return bytes_of(object);
  if (ctypes_number.has(object)) return ctypes_value(object);
  if (ctypes_pointer.has(object)) return address_in(bytes_of(object));
  return std::nullopt;
}

std::optional<KernelArg> cached_type_number(PyObject* object) {
  const PyTypeObject* type = Py_TYPE(object);
  for (std::size_t i = 0; i < number_type_count; ++i) {
    const auto& [cached, dtype] = number_types[i];
    if (cached == type) return KernelArg(Scalar(dtype, value_in(object, dtype)));
  }
  return std::nullopt;
}

KernelArg integer_argument(PyObject* object) {
  int overflow = 0;
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow == 0) [[likely]]
    return KernelArg::integer(value);
  const unsigned long long large = PyLong_AsUnsignedLongLong(object);
  if (overflow > 0 && PyErr_Occurred() == nullptr) return KernelArg(Scalar(std::uint64_t{large}));
  PyErr_Clear();
  fail<KernelArgumentError>("expected an integer of at most 64 bits, got ",
                            std::string(py::repr(object)), ". Remedy: split it, or pass an array");
}

}  // namespace spanwise::python
