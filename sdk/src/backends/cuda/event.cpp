// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "backends/cuda/event.hpp"

namespace spanwise::cuda {

CUevent EventPool::take(bool timing) {
  {
    const std::lock_guard lock(mutex_);
    if (auto& free = free_[timing]; !free.empty()) {
      const CUevent event = free.back();
      free.pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  check(api_, api_.event_create(&event, timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING),
        "creating an event");
  return event;
}

void EventPool::put(CUevent event, bool timing) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    free_[timing].push_back(event);
  } catch (...) {  // out of host memory for the list
    if (usable_after_fork()) api_.event_destroy(event);
  }
}

CudaEvent::CudaEvent(DeviceContext& context, CUstream stream, bool timing)
    : EventState(context.device),
      context_(context),
      event_(context.events().take(timing)),
      timing_(timing),
      captured_(is_capturing(context.api, stream)) {
  const CUresult code = context.api.event_record(event_, stream);
  if (code == CUDA_SUCCESS) return;
  context.events().put(event_, timing);
  fail_driver(context.api, code, text("recording an event on a stream of ", context.device));
}

CudaEvent::CudaEvent(DeviceContext& context, CUevent foreign)
    : EventState(context.device),
      context_(context),
      event_(foreign),
      timing_(true),  // assumed; if not, the driver returns an error
      captured_(false),
      retired_(true) {}

CudaEvent::~CudaEvent() {
  if (!retired_.load(std::memory_order_relaxed)) context_.events().put(event_, timing_);
}

void CudaEvent::synchronize() {
  const ContextGuard guard(context_);
  const RelaxedCaptureMode relaxed(context_.api);  // a stream may be captured
  check(context_.api, context_.api.event_synchronize(event_), "waiting for an event of ",
        context_.device);
}

bool CudaEvent::query() {
  const ContextGuard guard(context_);
  const RelaxedCaptureMode relaxed(context_.api);
  const CUresult code = context_.api.event_query(event_);
  if (code == CUDA_ERROR_NOT_READY) return false;
  check(context_.api, code, "querying an event of ", context_.device);
  return true;
}

double CudaEvent::milliseconds_since(runtime::EventState& start) {
  if (start.device() != device())
    fail<ArgumentError>("Event.milliseconds_since: the events are of ", device(), " and ",
                        start.device(), "; times of two devices do not compare");
  auto& first = static_cast<CudaEvent&>(start);
  if (!timing_ || !first.timing_)
    fail<DeviceError>("Event.milliseconds_since: ", timing_ ? "the start" : "this event",
                      " was recorded without timing; record both with timing = true");
  const ContextGuard guard(context_);
  float milliseconds = 0;
  const CUresult code = context_.api.event_elapsed_time(&milliseconds, first.event_, event_);
  if (code == CUDA_ERROR_NOT_READY) {
    throw DeviceError(
        "Event.milliseconds_since: the stream has not reached both events yet; synchronize() this "
        "event first",
        code, "CUDA_ERROR_NOT_READY");
  }
  check(context_.api, code, "reading the time between two events of ", context_.device);
  return milliseconds;
}

}  // namespace spanwise::cuda
