// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <optional>
#include <string_view>

#include "python/support/array.hpp"
#include "spanwise/bridge.hpp"

/// Import of foreign arrays as Arrays, through the bridges.
namespace spanwise::python {

/// A view of an object, and the bridge that made it.
struct BridgeMatch {
  BridgeMatch(const Bridge& by, PyObject* object, bool may_copy)
      : bridge(&by), view(by.view(object, may_copy)) {}
  const Bridge* bridge;
  ForeignView view;
};

/// The view by the first bridge that can view `object`, which is cached for its type; nothing if no
/// bridge accepts it. Throws BridgeError, with the reasons of all bridges, if bridges accept it but
/// none can view it, and any other error of a bridge. For a lazy array it throws BridgeError
/// without `may_compute`, SharingError without `may_copy`.
std::optional<BridgeMatch> find_view(PyObject* object, bool may_copy, bool may_compute);

/// Fast path of an import: `object` as a new spanwise.Array that shares its memory, if the bridge
/// cached for its type can describe it (Bridge::try_describe()). Null without a Python error if
/// not: then call import_array(). Null with one when out of memory. Throws what Storage::adopt()
/// throws.
PyObject* shared_object(PyObject* object);
/// The same, only for types whose cached bridge is `bridge`; else call import_through().
PyObject* shared_object_through(const Bridge& bridge, PyObject* object);

/// A foreign view as an Array, with the conversions of `options`; updates the bridge's counters.
/// `who` is the function's name in messages. The array takes over the ownership of `found`. Large
/// copies release the GIL.
Array finish_import(BridgeMatch& found, const ImportOptions& options, std::string_view who);

/// Converts `array` to the dtype, device, and copy mode of `options`, and checks that it is
/// writable if they require it. `private_already`: the memory is a copy already. Throws
/// SharingError, ReadOnlyError.
Array adapt(Array array, const ImportOptions& options, std::string_view who, bool private_already);

/// import_array() through one bridge, for from_torch() etc. Throws BridgeError if the bridge does
/// not accept `object`.
Array import_through(const Bridge& bridge, PyObject* object, const ImportOptions& options);

}  // namespace spanwise::python
