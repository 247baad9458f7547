// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

#include <optional>
#include <string_view>

#include "python/support/array.hpp"
#include "spanwise/bridge.hpp"
#include "types.hpp"

/// Import of foreign arrays as Arrays, through the bridges: describe() reads the common cases
/// through the bridge cached for the object's type, and share() of spanwise/bridge.hpp makes the
/// Array; for all other objects find_view() asks the bridges.
namespace spanwise::python {

/// The bridge cached for the type of `object`, if it can describe the object's memory
/// (Bridge::try_describe()); else null: then call find_view(). With `only`, null for objects of
/// other bridges. `memory` is default-constructed. Leaves no Python error.
inline const Bridge* describe(PyObject* object, BorrowedTensor& memory,
                              const Bridge* only = nullptr) {
  const Bridge* bridge = bridge_of_type(Py_TYPE(object));
  const bool is_candidate = bridge != nullptr && (only == nullptr || bridge == only);
  return is_candidate && bridge->try_describe(object, memory) ? bridge : nullptr;
}

/// `mode`, but never where implicit copies are errors (spanwise.strict_copies()).
inline CopyMode unless_strict(CopyMode mode) noexcept {
  return mode == CopyMode::if_needed && StrictCopies::active() ? CopyMode::never : mode;
}

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

/// `object` as a new spanwise.Array that shares its memory, if describe() succeeds. Null without a
/// Python error if not: then call import_array(). Null with one when out of memory. Throws what
/// Storage::adopt() throws.
PyObject* shared_object(PyObject* object, const Bridge* only = nullptr);

/// A foreign object as an Array, with the conversions of `options`; nothing if no bridge, or not
/// `only`, accepts it. Updates the bridge's counters. Large copies release the GIL. Throws the
/// errors of find_view() and adapt().
std::optional<Array> import_foreign(PyObject* object, const ImportOptions& options,
                                    const Bridge* only = nullptr);

/// Converts `array` to the dtype, device, and copy mode of `options`, and checks that it is
/// writable if they require it. With `is_private_copy` the memory is a copy already, so that
/// CopyMode::always makes no other. Throws SharingError, ReadOnlyError.
Array adapt(Array array, const ImportOptions& options, std::string_view prefix,
            bool is_private_copy);

/// import_array() through one bridge, for from_torch() etc. Throws BridgeError if the bridge does
/// not accept `object`.
Array import_through(const Bridge& bridge, PyObject* object, const ImportOptions& options);

}  // namespace spanwise::python
