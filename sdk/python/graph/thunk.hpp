// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "spanwise/graph/op.hpp"

namespace spanwise::python {

/// Calls `op.make_thunk` and wraps the returned callable as a Thunk; with a true attribute `lazy`
/// it follows Theano's protocol of lazy thunks. Needs the GIL. Throws error_already_set,
/// GraphError.
std::unique_ptr<Thunk> make_python_thunk(pybind11::object op, const ThunkContext& context);

}  // namespace spanwise::python
