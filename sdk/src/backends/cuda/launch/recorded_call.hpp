// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backends/cuda/device_context.hpp"
#include "runtime/backend.hpp"

namespace spanwise::cuda {

/// runtime::RecordedCall as a CUDA graph: begin() captures a stream of its own, to which the
/// thread's work on the given stream goes (CudaStream::begin_recording), so that the legacy stream,
/// which cannot be captured, can be recorded too. Products of cuBLAS are part of the graph, with a
/// workspace that belongs to the stream. The copies are memory copy nodes, whose addresses a launch
/// sets where they differ from those of the launch before.
Ref<runtime::RecordedCall> make_recorded_call(DeviceContext& context);

}  // namespace spanwise::cuda
