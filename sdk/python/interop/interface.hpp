// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "spanwise/python/bridge_kit.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/bridge.hpp"

/// Arrays described by the dictionaries `__array_interface__` and `__cuda_array_interface__`, or by
/// attributes.
namespace spanwise::python {

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
