// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "../cpu/host_move.hpp"

namespace spanwise::ops {

/// As move_on_host(), by a kernel queued on the current stream; all on one GPU, and no mask. Where
/// positions may name an element twice, a first kernel finds the last of each, so that the result
/// is NumPy's and the same each time; it needs 8 bytes for each place that the indices can name.
void move_on_gpu(const Selection& selection, const Array& value, Direction direction);

}  // namespace spanwise::ops
