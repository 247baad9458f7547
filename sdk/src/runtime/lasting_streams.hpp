// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "runtime/backend.hpp"

/// Other libraries' streams that nobody will destroy, as PyTorch's. Each import from one names it,
/// and what the driver says of a handle takes several calls; kept here, it is asked once.
namespace spanwise::runtime {

/// The back end's foreign_stream(), the same object for the same handle; but for the per-thread
/// default stream (2), which is another queue on each thread, and goes with it.
Ref<StreamState> lasting_stream(Device device, std::uintptr_t handle);

/// Lets all go that are kept, with the back end that made them. Not while another thread asks.
void forget_lasting_streams() noexcept;

}  // namespace spanwise::runtime
