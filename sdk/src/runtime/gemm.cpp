// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/linear_algebra.hpp"

#include "runtime/backend.hpp"
#include "runtime/streams/ordering.hpp"

namespace spanwise {

bool library_gemm(const Stream& stream, const GemmCall& call) {
  runtime::StreamState& state = stream.state();
  if (!runtime::backend_for(state.device()).gemm(call, state)) return false;
  runtime::after_queueing(state);
  return true;
}

}  // namespace spanwise
