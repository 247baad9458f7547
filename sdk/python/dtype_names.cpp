// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <cstdlib>
#include <cstring>
#include <ranges>
#include <string>
#include <string_view>
#include <unordered_map>

#include "python/interop/typestr.hpp"
#include "python/support/array.hpp"
#include "python/support/call.hpp"
#include "python/support/dtype.hpp"
#include "spanwise/core/error.hpp"

/// dtype_from(): the dtype of names, numpy.dtypes, scalar types and dtype objects of other
/// libraries.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// NumPy's names and one-character codes (numpy.org/doc/stable/reference/arrays.dtypes.html) as on
// 64-bit Linux; the canonical names are looked up first, as the most frequent.
struct DTypeNames {
  std::string_view canonical;
  DType dtype;
  std::string_view aliases;  // separated by spaces
};
constexpr DTypeNames all_names[] = {{"float32", float32, "single f"},
                                    {"float64", float64, "float double d"},
                                    {"int32", int32, "intc i"},
                                    {"int64", int64, "int long longlong intp l q"},
                                    {"uint8", uint8, "ubyte B"},
                                    {"bool", bool_, "bool_ ?"},
                                    {"float16", float16, "half e"},
                                    {"bfloat16", bfloat16, ""},
                                    {"int8", int8, "byte b"},
                                    {"int16", int16, "short h"},
                                    {"uint16", uint16, "ushort H"},
                                    {"uint32", uint32, "uintc I"},
                                    {"uint64", uint64, "uint ulong ulonglong uintp L Q"},
                                    {"complex64", complex64, "csingle F"},
                                    {"complex128", complex128, "complex cdouble D"}};

std::unordered_map<std::string_view, DType> make_aliases() {
  std::unordered_map<std::string_view, DType> aliases;
  for (const DTypeNames& names : all_names)
    for (const auto name : std::views::split(names.aliases, ' '))
      aliases.emplace(std::string_view(name.begin(), name.end()), names.dtype);
  return aliases;
}

std::optional<DType> from_known_name(std::string_view name) {
  for (const DTypeNames& names : all_names)
    if (names.canonical == name) return names.dtype;
  static const auto& aliases = *new auto(make_aliases());
  const auto entry = aliases.find(name);
  return entry != aliases.end() ? std::optional(entry->second) : std::nullopt;
}

std::optional<DType> from_code(std::string_view code) {
  if (code.size() < 2 || code.size() > 3) return std::nullopt;
  const auto kind = code_of_kind(code[0]);
  const int bytes = std::atoi(std::string(code.substr(1)).c_str());
  if (!kind || bytes < 1 || bytes > 16) return std::nullopt;
  const DType dtype(*kind, bytes * 8);
  return dtype.is_computable() ? std::optional(dtype) : std::nullopt;
}

std::optional<DType> from_name(std::string_view name) {
  if (const auto dtype = from_known_name(name)) return dtype;
  std::string_view code = name;
  if (!code.empty() && std::strchr("=<|", code[0]) != nullptr) code.remove_prefix(1);
  if (code.size() == 1) return from_known_name(code);
  if (const auto dtype = from_code(code)) return dtype;
  try {
    return DType::parse(name);
  } catch (const DTypeError&) {
    return std::nullopt;
  }
}

std::string module_of(py::handle type) {
  const py::object name = py::getattr(type, "__module__", py::none());
  return py::isinstance<py::str>(name) ? std::string(text_in(name.ptr())) : std::string();
}

// numpy.dtype and similar objects: by name, in native byte order only. The names of structured
// dtypes ("void64") are not found.
std::optional<DType> from_numpy_dtype(py::handle object) {
  if (!py::hasattr(object, "itemsize") || !py::hasattr(object, "isnative")) return std::nullopt;
  if (!object.attr("isnative").cast<bool>()) return std::nullopt;
  const py::object name = object.attr("name");
  return py::isinstance<py::str>(name) ? from_name(text_in(name.ptr())) : std::nullopt;
}

// find(object), which takes microseconds, cached. Only objects that name a dtype are added, at most
// 128: dtypes of other byte orders and structs, which may be many, are not.
std::optional<DType> cached(py::handle object, std::optional<DType> (*find)(py::handle)) {
  static constexpr std::size_t max_cached = 128;
  static auto* const cache = new std::unordered_map<PyObject*, DType>;
  if (const auto entry = cache->find(object.ptr()); entry != cache->end()) return entry->second;
  const auto dtype = find(object);
  // The cache owns a reference, so that the address is not reused.
  if (dtype && cache->size() < max_cached) cache->emplace(object.inc_ref().ptr(), *dtype);
  return dtype;
}

std::optional<DType> from_type(py::handle type) {
  const auto* python_type = reinterpret_cast<const PyTypeObject*>(type.ptr());
  if (python_type == &PyBool_Type) return bool_;
  if (python_type == &PyLong_Type) return int64;
  if (python_type == &PyFloat_Type) return float64;
  if (python_type == &PyComplex_Type) return complex128;
  const std::string module = module_of(type);
  if (module != "numpy" && module != "ml_dtypes") return std::nullopt;
  const auto dtype = py::reinterpret_steal<py::object>(
      PyObject_CallOneArg(py::module_::import("numpy").attr("dtype").ptr(), type.ptr()));
  if (!dtype) {
    // Abstract types (numpy.generic, numpy.floating) have no dtype.
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
    PyErr_Clear();
    return std::nullopt;
  }
  // For abstract types older versions of NumPy return a default dtype, of another scalar type.
  return dtype.attr("type").ptr() == type.ptr() ? from_numpy_dtype(dtype) : std::nullopt;
}

std::optional<DType> find_dtype(py::handle object, bool through_attribute = true) {
  if (const DType* dtype = dtype_in(object)) return *dtype;
  if (py::isinstance<py::str>(object)) return from_name(text_in(object.ptr()));
  if (PyType_Check(object.ptr())) {
    if (const auto dtype = cached(object, &from_type)) return dtype;
  } else if (const auto dtype = cached(object, &from_numpy_dtype)) {
    return dtype;
  }
  // torch.dtype has no name attribute; str() of it is "torch.float32".
  const std::string torch_name = module_of(py::type::handle_of(object)) == "torch"
                                     ? std::string(py::str(object))
                                     : std::string();
  if (torch_name.starts_with("torch.")) return from_name(torch_name.substr(std::strlen("torch.")));
  // Scalar types of JAX, Numba and others have an attribute that is a dtype.
  if (through_attribute && py::hasattr(object, "dtype"))
    return find_dtype(object.attr("dtype"), false);
  return std::nullopt;
}

}  // namespace

DType dtype_from(py::handle object) {
  const auto dtype = find_dtype(object);
  if (dtype) return *dtype;
  if (py::isinstance<py::str>(object))
    return DType::parse(text_in(object.ptr()));  // throws, with a list of the names
  fail<DTypeError>(
      "spanwise: expected a dtype (\"float32\", spanwise.float32, numpy.float32, float, ...), got ",
      std::string(py::repr(object)), " of type ", Py_TYPE(object.ptr())->tp_name,
      "; byte-swapped and structured dtypes have to be converted by NumPy first: "
      "x.astype(\"float32\")");
}

std::optional<DType> try_dtype_from(py::handle object) noexcept {
  try {
    return find_dtype(object);
  } catch (py::error_already_set&) {
    return std::nullopt;  // raised by an attribute of the object
  } catch (...) {
    return std::nullopt;
  }
}

}  // namespace spanwise::python
