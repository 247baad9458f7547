// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "spanwise/array.hpp"
#include "spanwise/bridge.hpp"

/// The dictionary that `__array_interface__` and `__cuda_array_interface__` have in common.
namespace spanwise::python {

struct InterfaceDict {
  ForeignMemory memory{};  ///< without device; data and readonly where "data" is an address
  bool has_address = false;
  pybind11::object data{};  ///< "data" where it is no (address, readonly), else null
  std::int64_t offset = 0;
  std::int64_t version = 0;
  std::optional<std::uintptr_t> stream{};  ///< absent or None: nothing
};

/// Reads and checks `dict`. Throws BridgeError for a malformed one, naming the entry, ArgumentError
/// for a mask, DTypeError for elements that are no numbers. `who` speaks.
InterfaceDict parse_interface(pybind11::handle dict, std::string_view who);

/// The entries shape, typestr, descr, strides (None in C order) and version 3.
pybind11::dict interface_of(const Array& array);

/// An attribute's name as a Python string that is made once, at its first use under the GIL.
class Name {
 public:
  constexpr explicit Name(const char* text) noexcept : text_(text) {}
  PyObject* get() const noexcept {
    if (string_ == nullptr) string_ = PyUnicode_InternFromString(text_);
    return string_;
  }

 private:
  const char* text_;
  mutable PyObject* string_ = nullptr;
};

/// x.<name>, null where there is none or getting it fails; leaves no Python error.
pybind11::object attribute_or_null(PyObject* object, const Name& name) noexcept;

}  // namespace spanwise::python
