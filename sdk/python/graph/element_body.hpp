// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

#include "spanwise/graph/element_body.hpp"

namespace spanwise::python {

/// The body that the Python op `op` declares for `node`; null where it has none. Needs the GIL.
std::shared_ptr<const ElementBody> element_body_of(const pybind11::object& op, const Apply& node);

}  // namespace spanwise::python
