// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "spanwise/graph/variable.hpp"

namespace spanwise::graph {

/// A node that copies `variable` into memory of its own.
Variable copied(const Variable& variable);

}  // namespace spanwise::graph
