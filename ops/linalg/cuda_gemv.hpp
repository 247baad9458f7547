// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "problem.hpp"

namespace spanwise::ops::linalg {

/// Computes a product of a matrix and a vector, or of a vector and a matrix, by kernels of their
/// own. Queues a launch on the device's current stream. Returns false, and does nothing, for other
/// products and where few blocks would read a large matrix.
bool gemv_on_cuda(const Problem& problem, Device device);

}  // namespace spanwise::ops::linalg
