// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/backend.hpp"

namespace spanwise::runtime {

/// Sets (with null: unsets) the calling thread's current stream of `device`; returns the previous
/// one, null where none was set.
Ref<StreamState> exchange_current_stream(Device device, Ref<StreamState> stream);

}  // namespace spanwise::runtime
