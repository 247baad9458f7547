// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <concepts>
#include <cstdint>
#include <string>
#include <vector>

namespace spanwise::python {

/// Raises TypeError "<argument>: expected <expected>, got <object> of type <type>".
[[noreturn]] void raise_unexpected(pybind11::handle object, const char* argument,
                                   const char* expected);

/// The name of type T in error messages for Python users.
template <class T>
constexpr const char* python_name() noexcept {
  if constexpr (std::same_as<T, std::string>) {
    return "a str";
  } else if constexpr (std::same_as<T, bool>) {
    return "a bool";
  } else if constexpr (std::unsigned_integral<T>) {
    return sizeof(T) == 8 ? "an int from 0 to 2**64 - 1" : "an int from 0 to 2**32 - 1";
  } else if constexpr (std::integral<T>) {
    return sizeof(T) == 8 ? "an int of 64 bits" : "an int of 32 bits";
  } else if constexpr (std::floating_point<T>) {
    return "a float";
  } else if constexpr (std::same_as<T, std::vector<std::string>>) {
    return "a list of str";
  } else if constexpr (std::same_as<T, std::vector<int>> ||
                       std::same_as<T, std::vector<std::int64_t>>) {
    return "a list of int";
  } else if constexpr (requires { typename T::mapped_type; }) {
    return "a dict of other keys and values";
  } else {
    return "another type";
  }
}

/// `object` as a T, by pybind11's conversions. Throws TypeError (as pybind11::error_already_set),
/// which names the argument, if it has none. Use handle::cast<T>() only for objects whose type
/// is known: its errors name C++ types.
template <class T>
T value_of(pybind11::handle object, const char* argument) {
  try {
    return object.cast<T>();
  } catch (const pybind11::cast_error&) {
    raise_unexpected(object, argument, python_name<T>());
  }
}

}  // namespace spanwise::python
