// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "numpy_types.hpp"

#include <pybind11/numpy.h>

#include <string>

#include "spanwise/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

// NumPy's type numbers are an ABI that has not changed since 1.0 (numpy/ndarraytypes.h).
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

// From here on are the types that packages add to NumPy (NPY_USERDEF).
constexpr int first_added_number = 256;

const char* remedy_for(char kind) {
  switch (kind) {
    case 'M':
    case 'm':
      return "view the times as numbers: x.view(\"int64\")";
    case 'S':
    case 'U':
    case 'V':
      return "view its bytes: x.view(\"uint8\")";
    default:
      return "convert it: x.astype(\"float64\")";
  }
}

// Added types (ml_dtypes) are known by name, and have to agree on the size, since some are padded
// where DLPack packs.
ElementType named_element(const py::dtype& descriptor, int number) {
  const std::string name = py::str(descriptor.attr("name"));
  require<DTypeError>(descriptor.attr("names").is_none(), "numpy: an array of structs (", name,
                      ") has no one dtype; pass one field of it: x[\"field\"]");
  if (number >= first_added_number) {
    try {
      const DType dtype = DType::parse(name);
      if (dtype.itemsize() == descriptor.itemsize()) return {dtype, false};
    } catch (const DTypeError&) {
      // Told below, in words about the array.
    }
  }
  fail<DTypeError>("numpy: dtype ", name, " is none that Spanwise has; ",
                   remedy_for(descriptor.kind()));
}

PyTypeObject* type_attribute(PyObject* module, const char* name) noexcept {
  PyObject* attribute = PyObject_GetAttrString(module, name);
  if (attribute == nullptr) {
    PyErr_Clear();
    return nullptr;
  }
  // The module keeps its class; ours is a borrowed look at it.
  Py_DECREF(attribute);
  return PyType_Check(attribute) ? reinterpret_cast<PyTypeObject*>(attribute) : nullptr;
}

}  // namespace

PyObject* loaded_module(const char* name) noexcept {
  PyObject* modules = PyImport_GetModuleDict();
  return modules != nullptr ? PyDict_GetItemString(modules, name) : nullptr;
}

const NumpyTypes& numpy_types() noexcept {
  static NumpyTypes types;
  if (types.ndarray == nullptr) {
    if (PyObject* numpy = loaded_module("numpy")) {
      types.generic = type_attribute(numpy, "generic");
      types.ndarray = type_attribute(numpy, "ndarray");
    }
  }
  return types;
}

ElementType element_of(PyObject* descriptor) {
  const auto* proxy = py::detail::array_descriptor_proxy(descriptor);
  const int number = proxy->type_num;
  if (number >= 0 && number < table_size && numbers.known[number]) [[likely]] {
    const bool swapped = proxy->byteorder == (PY_LITTLE_ENDIAN ? '>' : '<');
    return {numbers.dtypes[number], swapped};
  }
  return named_element(py::reinterpret_borrow<py::dtype>(descriptor), number);
}

}  // namespace spanwise::python
