// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string_view>

#include "spanwise/bridge.hpp"

/// The way of an array from one library to another, through the bridges. Import into a Spanwise
/// Array is import_array() of array/array_object.hpp.
namespace spanwise::python {

/// The bridge that imported an object of exactly this type before, or null.
const Bridge* bridge_of_type(PyTypeObject* type) noexcept;

/// `object` as a new spanwise.Array that shares its memory, if the bridge that is cached for its
/// type, which must be `only` if that is given, can describe the memory. Null without a Python
/// error if not: then call import_array(). Null with one when out of memory. Throws what
/// Storage::adopt() throws.
PyObject* shared_object(PyObject* object, const Bridge* only = nullptr);

/// A foreign object as an Array, with the conversions of `options`; nothing if no bridge, or not
/// `only`, accepts it. Updates the bridge's counters. Large copies release the GIL. Throws
/// BridgeError, with the reasons of all bridges, if bridges accept the object but none can view it,
/// and any other error of a bridge; for a lazy array BridgeError without may_compute, SharingError
/// if it may not be copied; SharingError and ReadOnlyError where `options` forbid the result.
std::optional<Array> import_foreign(PyObject* object, const ImportOptions& options,
                                    const Bridge* only = nullptr);

/// The dtype of the array that import_foreign() would make. Throws its errors.
std::optional<DType> foreign_dtype(PyObject* object);

/// import_array() through one bridge, for from_torch() etc. Throws BridgeError if the bridge does
/// not accept `object`.
Array import_through(const Bridge& bridge, PyObject* object, const ImportOptions& options);

/// The bridge that exports to `library`. Throws BridgeError for a bridge without export,
/// ArgumentError for an unknown name; both messages list the supported names.
const Bridge& target_bridge(std::string_view library);

/// `object` as an array of `target`: itself if it is one already, else an array that shares its
/// memory, or, if that is not possible and `mode` allows it, a copy. Throws SharingError and the
/// errors of the bridges.
pybind11::object convert(pybind11::handle object, const Bridge& target, CopyMode mode);

}  // namespace spanwise::python
