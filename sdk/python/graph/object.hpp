// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "python/interop/lifetime.hpp"

namespace spanwise::python {

/// A reference to a Python object that may be dropped on any thread, with or without the GIL.
using SharedObject = std::shared_ptr<PyObject>;

inline SharedObject share_object(pybind11::object object) {
  return SharedObject(object.release().ptr(), &release_with_gil);
}

}  // namespace spanwise::python
