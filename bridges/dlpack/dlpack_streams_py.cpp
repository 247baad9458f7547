// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "dlpack_streams.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::dlpack {

std::optional<Stream> consumer_stream(std::optional<std::int64_t> stream, Device device) {
  if (device.is_cpu()) {
    if (stream)
      fail<ArgumentError>("__dlpack__: stream ", stream.value_or(0),
                          " for an array on the CPU, which has no streams; expected None");
    return std::nullopt;
  }
  const std::int64_t handle = stream.value_or(1);  // None: the legacy default stream
  if (handle == 0 || handle < -1)
    fail<ArgumentError>("__dlpack__: stream ", handle,
                        "; expected -1 (no order), 1 (legacy default), 2 (per-thread default) or "
                        "the address of a CUstream");
  if (handle == -1) return std::nullopt;
  return Stream::foreign(device, static_cast<std::uintptr_t>(handle));
}

void order_consumer(const Stream& consumer, const Array& array) {
  if (!array.storage()) return;
  // The consumer may write, so it also waits for readers. The use of the legacy default stream can
  // be recorded, because it lives as long as the process; other streams may be destroyed at any
  // time.
  if (consumer.handle() == 1) return order_use(consumer, array, true);
  for (const Ref<StreamIdentity>& used : array.storage().uses().all())
    consumer.wait(Stream::of(*used));
}

}  // namespace spanwise::dlpack
