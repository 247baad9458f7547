// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../cpu/host_move.hpp"

namespace spanwise::ops {

/// move_on_host() as a kernel queued on the current stream; all arrays are on one GPU, and the
/// selection has no mask. If several positions may select one element, a first kernel finds the
/// last position of each element, so that the result is NumPy's and reproducible; it allocates 8
/// bytes per element that the indices can select.
void move_on_gpu(const Selection& selection, const Array& value, Direction direction);

}  // namespace spanwise::ops
