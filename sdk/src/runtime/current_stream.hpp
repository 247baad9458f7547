// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/backend.hpp"

namespace spanwise::runtime {

/// Sets (or with null unsets) the calling thread's stream of `device`; returns the one before, null
/// where the thread had set none.
Ref<StreamState> exchange_current_stream(Device device, Ref<StreamState> stream);

}  // namespace spanwise::runtime
