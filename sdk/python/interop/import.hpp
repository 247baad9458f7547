// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <optional>
#include <string_view>

#include "python/support/array.hpp"
#include "spanwise/bridge.hpp"

/// The one way by which foreign arrays become Arrays.
namespace spanwise::python {

/// An object's view and the bridge that gave it.
struct BridgeMatch {
  BridgeMatch(const Bridge& by, PyObject* object, bool may_copy)
      : bridge(&by), view(by.view(object, may_copy)) {}
  const Bridge* bridge;
  ForeignView view;
};

/// The first bridge that can view `object`, remembered for its type; nothing where none accepts it.
/// Throws BridgeError with each bridge's reason where some accepted it but none could view it, and
/// what else a bridge throws. A lazy array is a BridgeError without `may_compute`, a SharingError
/// without `may_copy`.
std::optional<BridgeMatch> find_view(PyObject* object, bool may_copy, bool may_compute);

/// `object` as a new spanwise.Array that shares its memory, where a bridge that served its type
/// before reads it without a decision. Null, without a Python error, where import_array() has to be
/// asked; null with one where there is no memory left. Throws what Storage::adopt() throws.
PyObject* shared_object(PyObject* object);
/// The same for objects of `bridge` only: before import_through().
PyObject* shared_object_through(const Bridge& bridge, PyObject* object);

/// A foreign view as an Array, by `options`; counts what it did. `who` speaks in messages. Large
/// copies release the GIL. What `found` owned, the array owns.
Array finish_import(BridgeMatch& found, const ImportOptions& options, std::string_view who);

/// Dtype, device, privacy and writability of an array as `options` ask for; `private_already` where
/// nobody else has the memory. Throws SharingError, ReadOnlyError.
Array adapt(Array array, const ImportOptions& options, std::string_view who, bool private_already);

/// import_array() through one bridge only, for from_torch() and its like. Throws BridgeError where
/// `object` is not that bridge's.
Array import_through(const Bridge& bridge, PyObject* object, const ImportOptions& options);

}  // namespace spanwise::python
