// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <optional>

#include "attributes.hpp"
#include "foreign_class.hpp"
#include "objects.hpp"
#include "spanwise/bridge.hpp"

/// Common functions of the bridges to single libraries.
namespace spanwise::python {

/// Imports the module. Throws BridgeError, which says how to install it, if that fails.
pybind11::module_ import_library(const char* module, const char* package);
/// The same for libraries that pip does not install; `remedy` is the advice in the message.
pybind11::module_ import_library(const char* module, const char* library, const char* remedy);

/// Blocks read-only arrays, for libraries whose arrays are always writable.
std::optional<ShareBlocker> readonly_share_blocker(const Array& array, std::string_view library);
/// Blocks arrays that are not on a GPU, for libraries with arrays on GPUs only.
std::optional<ShareBlocker> host_share_blocker(const Array& array, std::string_view library);
/// A private C-contiguous copy on a GPU: the array's own, else the default device, else cuda:0.
Array copy_on_gpu(const Array& array);

/// bool(x.<name>); throws the errors of reading it.
bool truth_of(PyObject* object, const Name& name);
/// bool(x.<name>()); throws the errors of calling it.
bool answer_of(PyObject* object, const Name& name);

}  // namespace spanwise::python
