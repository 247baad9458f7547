// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "spanwise/bridge.hpp"

/// Conversion of any library's array to another library's.
namespace spanwise::python {

/// Describes an exchange that was done, or that would be done.
struct ExchangeReport {
  bool shares = false;
  std::string reason;      ///< one clause: "C-contiguous float32 on cpu"
  std::int64_t bytes = 0;  ///< number of bytes copied
  std::string layout;      ///< of the source array
  std::string remedy;      ///< how to avoid the copy; "" where memory is shared
};

/// The bridge that exports to `library`. Throws BridgeError for a bridge without export,
/// ArgumentError for an unknown name; both messages list the supported names.
const Bridge& target_bridge(std::string_view library);

/// `object` as an array of `target`: itself if it is one already, else an array that shares its
/// memory, or, if that is not possible and `mode` allows it, a copy. Throws SharingError and the
/// errors of the bridges.
pybind11::object convert(pybind11::handle object, const Bridge& target, CopyMode mode);

/// `array` as an array of `target` that shares its memory, a new reference. Null, without a Python
/// error, if it cannot be shared: then call convert(). Throws the errors of the bridges.
PyObject* shared_with(const Bridge& target, const Array& array);

/// What convert() would do. Throws the errors of convert() that allowing a copy does not avoid.
ExchangeReport explain(pybind11::handle object, const Bridge& target);
/// What importing `object` would do.
ExchangeReport explain(pybind11::handle object);
/// What moving `object` to the device `target` would do.
ExchangeReport explain(pybind11::handle object, Device target);

}  // namespace spanwise::python
