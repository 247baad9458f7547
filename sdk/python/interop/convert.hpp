// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <string_view>

#include "spanwise/bridge.hpp"

/// Any library's array as another library's.
namespace spanwise::python {

/// The bridge that makes `library`'s objects. Throws BridgeError for one whose arrays can only be
/// taken, ArgumentError for an unknown one; both say what there is.
const Bridge& target_bridge(std::string_view library);

/// `object` as `target`'s array: itself where it is one already, sharing memory where it can, else
/// by `mode` a copy that shares nothing. Throws SharingError and what bridges throw.
pybind11::object convert(pybind11::handle object, const Bridge& target, CopyMode mode);

/// `array` as `target`'s, a new reference, where they share memory. Null, without a Python error,
/// where convert() has to be asked, which then tells why. Throws what bridges throw.
PyObject* shared_with(const Bridge& target, const Array& array);

/// What convert() would do, without doing it. Throws what convert() would throw where no copy could
/// help either.
Exchange explain(pybind11::handle object, const Bridge& target);
/// What importing `object` would do.
Exchange explain(pybind11::handle object);
/// What having `object` on `target` would do.
Exchange explain(pybind11::handle object, Device target);

}  // namespace spanwise::python
