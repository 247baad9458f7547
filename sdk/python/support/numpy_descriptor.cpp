// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "numpy_descriptor.hpp"

#include <pybind11/numpy.h>

#include "python/interop/library.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

constinit const ForeignClass descriptor_class("numpy", "dtype");

// NumPy's type numbers are part of its ABI, unchanged since 1.0 (numpy/ndarraytypes.h).
using Numbers = py::detail::npy_api::constants;
constexpr int half_number = 23;
constexpr int table_size = half_number + 1;

struct NumberTable {
  DType dtypes[table_size];
  bool known[table_size] = {};

  constexpr void set(int number, DType dtype) {
    dtypes[number] = dtype;
    known[number] = true;
  }
  constexpr NumberTable() {
    constexpr DType integers[] = {int8, int16, int32, int64},
                    unsigneds[] = {uint8, uint16, uint32, uint64};
    constexpr int long_index = sizeof(long) == 8 ? 3 : 2;
    set(Numbers::NPY_BOOL_, bool_);
    set(Numbers::NPY_BYTE_, integers[0]);
    set(Numbers::NPY_UBYTE_, unsigneds[0]);
    set(Numbers::NPY_SHORT_, integers[1]);
    set(Numbers::NPY_USHORT_, unsigneds[1]);
    set(Numbers::NPY_INT_, integers[2]);
    set(Numbers::NPY_UINT_, unsigneds[2]);
    set(Numbers::NPY_LONG_, integers[long_index]);
    set(Numbers::NPY_ULONG_, unsigneds[long_index]);
    set(Numbers::NPY_LONGLONG_, integers[3]);
    set(Numbers::NPY_ULONGLONG_, unsigneds[3]);
    set(Numbers::NPY_FLOAT_, float32);
    set(Numbers::NPY_DOUBLE_, float64);
    set(Numbers::NPY_CFLOAT_, complex64);
    set(Numbers::NPY_CDOUBLE_, complex128);
    set(half_number, float16);
  }
};
constexpr NumberTable numbers;

}  // namespace

std::optional<ElementType> numpy_element(PyObject* descriptor) noexcept {
  const auto* fields = py::detail::array_descriptor_proxy(descriptor);
  const int number = fields->type_num;
  if (number < 0 || number >= table_size || !numbers.known[number]) [[unlikely]]
    return std::nullopt;
  return ElementType{numbers.dtypes[number], fields->byteorder == (PY_LITTLE_ENDIAN ? '>' : '<')};
}

std::optional<DType> native_numpy_dtype(PyObject* object) noexcept {
  auto* type = reinterpret_cast<PyTypeObject*>(descriptor_class.get());
  if (type == nullptr || !PyObject_TypeCheck(object, type)) return std::nullopt;
  const auto element = numpy_element(object);
  if (!element || element->byte_swapped) return std::nullopt;
  return element->dtype;
}

}  // namespace spanwise::python
