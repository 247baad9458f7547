// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "numpy_descriptor.hpp"

#include <pybind11/numpy.h>

#include <array>

#include "python/interop/library.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

constinit const ForeignClass descriptor_class("numpy", "dtype");

// NumPy's type numbers are part of its ABI, unchanged since 1.0 (numpy/ndarraytypes.h).
using Numbers = py::detail::npy_api::constants;
constexpr int half_number = 23;  // NPY_HALF, which pybind11 does not name
constexpr int table_size = half_number + 1;

constexpr auto dtypes_by_number = [] {
  constexpr bool is_long_64 = sizeof(long) == 8;
  std::array<std::optional<DType>, table_size> dtypes{};
  dtypes[Numbers::NPY_BOOL_] = bool_;
  dtypes[Numbers::NPY_BYTE_] = int8;
  dtypes[Numbers::NPY_UBYTE_] = uint8;
  dtypes[Numbers::NPY_SHORT_] = int16;
  dtypes[Numbers::NPY_USHORT_] = uint16;
  dtypes[Numbers::NPY_INT_] = int32;
  dtypes[Numbers::NPY_UINT_] = uint32;
  dtypes[Numbers::NPY_LONG_] = is_long_64 ? int64 : int32;
  dtypes[Numbers::NPY_ULONG_] = is_long_64 ? uint64 : uint32;
  dtypes[Numbers::NPY_LONGLONG_] = int64;
  dtypes[Numbers::NPY_ULONGLONG_] = uint64;
  dtypes[Numbers::NPY_FLOAT_] = float32;
  dtypes[Numbers::NPY_DOUBLE_] = float64;
  dtypes[Numbers::NPY_CFLOAT_] = complex64;
  dtypes[Numbers::NPY_CDOUBLE_] = complex128;
  dtypes[half_number] = float16;
  return dtypes;
}();

}  // namespace

std::optional<ElementType> numpy_element(PyObject* descriptor) noexcept {
  const auto* fields = py::detail::array_descriptor_proxy(descriptor);
  const auto number = static_cast<std::size_t>(fields->type_num);
  if (number >= dtypes_by_number.size() || !dtypes_by_number[number]) [[unlikely]]
    return std::nullopt;
  return ElementType{*dtypes_by_number[number],
                     fields->byteorder == (PY_LITTLE_ENDIAN ? '>' : '<')};
}

std::optional<DType> native_numpy_dtype(PyObject* object) noexcept {
  auto* type = reinterpret_cast<PyTypeObject*>(descriptor_class.get());
  if (type == nullptr || !PyObject_TypeCheck(object, type)) return std::nullopt;
  const auto element = numpy_element(object);
  if (!element || element->byte_swapped) return std::nullopt;
  return element->dtype;
}

}  // namespace spanwise::python
