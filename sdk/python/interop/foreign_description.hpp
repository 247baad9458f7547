// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "spanwise/bridge.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/python/bridge_kit.hpp"

/// How other libraries describe arrays: type strings of NumPy's and the CUDA array interface (byte
/// order, kind, bytes: "<f4", "|b1"), formats of the buffer protocol, numpy.dtype objects, the
/// dictionaries `__array_interface__` and `__cuda_array_interface__`, and attributes.
namespace spanwise::python {

/// numpy.dtype.kind: b, i, u, f, c; V for dtypes that NumPy itself does not have, as in ml_dtypes.
char kind_letter(DType dtype) noexcept;
/// Nothing for letters of other kinds.
std::optional<DTypeCode> code_of_kind(char letter) noexcept;

struct ElementType {
  DType dtype{};
  bool byte_swapped = false;
};

/// Throws DTypeError, with advice, for kinds that Spanwise does not have, BridgeError for a
/// malformed string; `prefix` begins messages.
ElementType element_from_typestr(std::string_view typestr, std::string_view prefix);

/// A format of one element in the buffer protocol (PEP 3118). Throws as above.
ElementType element_from_format(std::string_view format, int itemsize, std::string_view prefix);

/// "<f4", ...; for dtypes that the interface has no kind for (bfloat16, float8) raw bytes: "<V2".
std::string typestr_of(DType dtype);

// Reads numpy.dtype objects, which other libraries' arrays have too, by the fields of their C
// struct. Its layout is part of NumPy's ABI.

/// The element type of `descriptor`, a numpy.dtype; nothing if it is not one of NumPy's numeric
/// types that Spanwise has. Leaves no Python error.
std::optional<ElementType> numpy_element(PyObject* descriptor) noexcept;

/// The dtype if `object` is a numpy.dtype of such a type in native byte order, else nothing.
std::optional<DType> native_numpy_dtype(PyObject* object) noexcept;

// Arrays described by the dictionaries `__array_interface__` and `__cuda_array_interface__`, or by
// attributes.

struct InterfaceDict {
  ForeignMemory memory{};    ///< device is not set; data and readonly only if has_address
  bool has_address = false;  ///< "data" is a tuple (address, readonly)
  pybind11::object data{};   ///< any other "data", else null
  std::int64_t offset = 0;
  std::int64_t version = 0;
  std::optional<std::uintptr_t> stream{};  ///< nothing if absent or None
};

/// Reads and checks `dict`. Throws BridgeError, naming the entry, for a malformed one,
/// ArgumentError for a mask, DTypeError for unsupported element types. `prefix` begins
/// messages.
InterfaceDict parse_interface(pybind11::handle dict, std::string_view prefix);

/// The entries shape, typestr, descr, strides (None in C order) and version 3.
pybind11::dict interface_of(const Array& array);

/// x.<name> as a Shape. Throws BridgeError if it is no tuple or list of integers. `prefix` begins
/// messages.
Shape integers_of(PyObject* object, const AttributeName& name, std::string_view prefix);

/// The attributes of one library's arrays that describe their layout, named as NumPy's.
struct LayoutAttributes {
  CachedAttribute shape{"shape"}, strides{"strides"}, dtype{"dtype"};
};

/// Sets shape, strides (bytes) and dtype of `memory` from the attributes. Returns false if they
/// have other types than NumPy's. With `is_packed` (C-contiguous) the strides are not read: some
/// libraries make a new tuple of them at each access. Leaves no Python error.
bool try_read_layout(PyObject* array, const LayoutAttributes& attributes, BorrowedTensor& memory,
                     bool is_packed = false) noexcept;

}  // namespace spanwise::python
