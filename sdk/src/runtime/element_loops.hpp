// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "runtime/streams/stream_state.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/scalar.hpp"

namespace spanwise::runtime {

/// The loops over elements that the runtime uses on one kind of device. The strided layer defines
/// them, above the runtime, since on a GPU they are compiled kernels.
struct ElementLoops {
  /// Queues on `stream` a copy with cast between two non-empty arrays of its device, of equal shape
  /// and computable dtypes. The caller has ordered the work and ensured that they do not overlap
  /// and that `target` does not overlap itself.
  void (*copy)(const Array& source, const Array& target, StreamState& stream);
  /// Queues a fill with one value, which has the target's dtype, under the same conditions.
  void (*fill)(const Array& target, const Scalar& value, StreamState& stream);
};

/// Registers the loops of a kind of device, which must never be destroyed; called by a static
/// initialiser of the code that defines them. Returns the previous loops of that kind, or null.
SW_API const ElementLoops* register_element_loops(DeviceKind kind, const ElementLoops* loops);
/// The loops for working_device(device). Throws DeviceError where there are none.
SW_API const ElementLoops& element_loops(Device device);

}  // namespace spanwise::runtime
