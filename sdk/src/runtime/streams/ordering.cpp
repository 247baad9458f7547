// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "runtime/streams/ordering.hpp"

#include "spanwise/runtime/stream.hpp"
#include "spanwise/core/device.hpp"

namespace spanwise {
namespace runtime {

void wait_for(StreamState& stream, StreamState& other) {
  if (other.device().is_cpu() || same_queue(stream, other)) return;
  if (stream.device().is_cpu())
    other.record(/*timing=*/false)->synchronize();
  else
    stream.wait(*other.record(/*timing=*/false));
}

void order_after_others(StreamState& stream, const StreamUses& uses, bool writes) {
  uses.for_each_to_wait_for(stream, writes, [&](StreamIdentity& other) {
    wait_for(stream, static_cast<StreamState&>(other));
  });
}

}  // namespace runtime

void order_use(const Stream& stream, const Array& array, bool writes) {
  runtime::order_use(stream.state(), array.storage(), writes);
}

void order_host_use(const Array& array, bool writes) {
  if (!array.storage() || array.storage().uses().none()) return;
  order_use(Stream::current(cpu), array, writes);
}

}  // namespace spanwise
