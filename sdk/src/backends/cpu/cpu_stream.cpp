// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cpu/cpu_stream.hpp"

#include "spanwise/error.hpp"

namespace spanwise::cpu_backend {

CpuEvent::CpuEvent(Device device, bool timing) : EventState(device) {
  if (timing) time_ = std::chrono::steady_clock::now();
}

double CpuEvent::milliseconds_since(EventState& start) {
  const auto* earlier = dynamic_cast<CpuEvent*>(&start);
  if (earlier == nullptr)
    fail<ArgumentError>("event on cpu: the start is an event on ", start.device(),
                        "; expected one on cpu");
  if (!time_ || !earlier->time_)
    fail<DeviceError>("event on cpu: recorded without timing; expected record(timing=True)");
  return std::chrono::duration<double, std::milli>(*time_ - *earlier->time_).count();
}

Ref<runtime::EventState> CpuStream::record(bool timing) {
  return make_ref<CpuEvent>(device(), timing);
}

}  // namespace spanwise::cpu_backend
