// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <bit>
#include <exception>

#include "backends/cuda/cuda_memory_pool.hpp"
#include "backends/cuda/cuda_stream.hpp"

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

CudaStream::CudaStream(DeviceContext& context, CUstream stream, Owner owner)
    : StreamState(context.device), context_(context), stream_(stream), owner_(owner) {
  // Foreign streams may be destroyed by their owners, the legacy stream cannot be destroyed.
  if (owner == Owner::ours || stream == CU_STREAM_LEGACY)
    small_blocks_ = context.memory().make_small_blocks();
}

CudaStream::~CudaStream() {
  const ContextGuard guard(context_, std::nothrow);
  if (recording_workspace_ != 0 && guard.ok()) {
    const RelaxedCaptureMode relaxed(context_.api);
    context_.api.mem_free_async(recording_workspace_, current());
  }
  if (small_blocks_ != nullptr && guard.ok())
    context_.memory().release_cache(*small_blocks_, current());
  if (owner_ != Owner::ours) return;
  const RelaxedCaptureMode relaxed(context_.api);  // another stream may be captured
  // Returns immediately; the driver frees the stream when its work has completed.
  if (guard.ok()) context_.api.stream_destroy(current());
}

void CudaStream::synchronize() {
  const ContextGuard guard(context_);
  const RelaxedCaptureMode relaxed(context_.api);  // another stream may be captured
  check(context_.api, context_.api.stream_synchronize(raw()), "waiting for a stream of ", device());
}

bool CudaStream::query() {
  const ContextGuard guard(context_);
  const RelaxedCaptureMode relaxed(context_.api);
  const CUresult code = context_.api.stream_query(raw());
  if (code == CUDA_ERROR_NOT_READY) return false;
  check(context_.api, code, "querying a stream of ", device());
  return true;
}

Ref<runtime::EventState> CudaStream::record(bool timing) {
  const ContextGuard guard(context_);
  return make_ref<CudaEvent>(context_, raw(), timing);
}

void CudaStream::wait(runtime::EventState& event) {
  if (!event.device().is_cuda()) return event.synchronize();  // CPU events have always completed
  auto& cuda_event = static_cast<CudaEvent&>(event);
  const ContextGuard guard(context_);
  const CUstream stream = raw();
  unsigned flags = CU_EVENT_WAIT_DEFAULT;
  // In a captured stream, a wait for an event outside of the graph must become an external event
  // wait node.
  if (!cuda_event.is_captured() && is_capturing(context_.api, stream)) [[unlikely]] {
    flags = CU_EVENT_WAIT_EXTERNAL;
    cuda_event.retire();  // each launch of the graph waits for it: it must not be recorded again
  }
  check(context_.api, context_.api.stream_wait_event(stream, cuda_event.raw(), flags),
        "making a stream of ", device(), " wait for an event of ", event.device());
}

constinit thread_local StreamRecording stream_recording;

void CudaStream::begin_recording(const StreamRecording& recording) noexcept {
  flush_launches();
  const std::lock_guard lock(recording_mutex_);
  if (recording_threads_++ == 0) {
    unrecorded_.store(current(), std::memory_order_relaxed);
    stream_.store(reinterpret_cast<CUstream>(recorded_handle), std::memory_order_release);
  }
  stream_recording = recording;
}

void CudaStream::end_recording() noexcept {
  stream_recording = {};
  const std::lock_guard lock(recording_mutex_);
  if (--recording_threads_ == 0)
    stream_.store(unrecorded_.load(std::memory_order_relaxed), std::memory_order_release);
}

CUstream CudaStream::unrecorded_or_target() const noexcept {
  return stream_recording.stream == this ? stream_recording.target
                                         : unrecorded_.load(std::memory_order_relaxed);
}

void* CudaStream::recording_workspace(std::size_t bytes) {
  const std::lock_guard lock(recording_mutex_);
  if (recording_workspace_ == 0 && small_blocks_ != nullptr)
    recording_workspace_ =
        reinterpret_cast<CUdeviceptr>(context_.memory().allocate_outside_graph(bytes, *this));
  return reinterpret_cast<void*>(recording_workspace_);
}

bool CudaStream::is_captured() noexcept {
  const ContextGuard guard(context_, std::nothrow);
  return guard.ok() && is_capturing(context_.api, peek());
}

CudaStream::CaptureInfo CudaStream::capture_info() const noexcept {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t id = 0;
  CUgraph graph = nullptr;
  const CUresult code =
      context_.api.stream_get_capture_info(peek(), &status, &id, &graph, nullptr, nullptr);
  if (code != CUDA_SUCCESS || status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return {};
  return {id, graph};
}

std::uint64_t CudaStream::capture_id() noexcept {
  const ContextGuard guard(context_, std::nothrow);
  return guard.ok() ? capture_info().id : 0;
}

namespace {

class CudaGraph final : public runtime::GraphState {
 public:
  CudaGraph(DeviceContext& context, CUgraphExec exec) noexcept : context_(context), exec_(exec) {}
  ~CudaGraph() override {
    const ContextGuard guard(context_, std::nothrow);
    const RelaxedCaptureMode relaxed(context_.api);  // another stream may be captured
    if (guard.ok()) context_.api.graph_exec_destroy(exec_);
  }
  void launch(runtime::StreamState& stream) override {
    const ContextGuard guard(context_);
    check(context_.api, context_.api.graph_launch(exec_, cuda_stream(context_, stream).raw()),
          "launching a captured graph on ", context_.device);
  }

 private:
  DeviceContext& context_;
  CUgraphExec exec_;
};

}  // namespace

void CudaStream::begin_capture() {
  const ContextGuard guard(context_);
  check(context_.api, context_.api.stream_begin_capture(raw(), CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
        "beginning to capture a stream of ", device());
}

Ref<runtime::GraphState> CudaStream::end_capture() {
  const ContextGuard guard(context_);
  const DriverApi& api = context_.api;
  CUgraph graph = nullptr;
  check(api, api.stream_end_capture(raw(), &graph), "capturing the work of a stream of ", device(),
        " (work that waits for the device, or that is queued on a stream which does not wait for "
        "this one, cannot be captured)");
  CUgraphExec exec = nullptr;
  const CUresult code = api.graph_instantiate(&exec, graph, 0);
  api.graph_destroy(graph);
  check(api, code, "making an executable graph of captured work on ", device());
  try {
    return make_ref<CudaGraph>(context_, exec);
  } catch (...) {
    api.graph_exec_destroy(exec);
    throw;
  }
}

// Attached as a user object (CUDA programming guide, "CUDA User Objects"): the graph, its clones,
// the executable graphs made from them, and launches that still run, hold the reference.
bool CudaStream::attach_to_graph(const RefCounted& object) noexcept {
  const ContextGuard guard(context_, std::nothrow);
  if (!guard.ok()) return false;
  const DriverApi& api = context_.api;
  const RelaxedCaptureMode relaxed(api);
  const CaptureInfo capture = capture_info();
  if (capture.graph == nullptr) return false;
  const CUhostFn release_object = [](void* held) {
    static_cast<const RefCounted*>(held)->release();
  };
  CUuserObject holder = nullptr;
  object.add_ref();
  if (api.user_object_create(&holder, const_cast<RefCounted*>(&object), release_object, 1,
                             CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) != CUDA_SUCCESS) {
    object.release();
    return false;
  }
  if (api.graph_retain_user_object(capture.graph, holder, 1, CU_GRAPH_USER_OBJECT_MOVE) ==
      CUDA_SUCCESS)
    return true;
  api.user_object_release(holder, 1);
  return false;
}

// Replaces a stream that its owner may destroy from now on by one of Spanwise's that waits for its
// work.
void CudaStream::detach() noexcept {
  constexpr std::uintptr_t per_thread = 2;  // CU_STREAM_PER_THREAD; default streams always exist
  if (owner_ != Owner::foreign || handle() <= per_thread) return;
  const ContextGuard guard(context_, std::nothrow);
  // The work of a captured stream runs when the graph is launched: there is nothing to wait for.
  if (!guard.ok() || is_capturing(context_.api, raw())) return;
  try {
    const CUstream successor = context_.successor_stream();
    const CudaEvent end(context_, raw(), /*timing=*/false);
    check(context_.api, context_.api.stream_wait_event(successor, end.raw(), CU_EVENT_WAIT_DEFAULT),
          "taking over the work of a stream of ", device());
    stream_.store(successor, std::memory_order_release);
  } catch (const std::exception&) {  // the next synchronization of the device reports the error
  }
}

Ref<runtime::StreamState> make_default_stream(DeviceContext& context) {
  // The legacy default stream, because PyTorch, CuPy and PyCUDA use it by default: their work is
  // then ordered with Spanwise's even if they do not pass a stream. A separate stream would need
  // events for every exchange with them.
  return make_ref<CudaStream>(context, CU_STREAM_LEGACY, CudaStream::Owner::foreign);
}

Ref<runtime::StreamState> create_stream(DeviceContext& context, int priority) {
  const ContextGuard guard(context);
  const RelaxedCaptureMode relaxed(context.api);  // another stream may be captured
  CUstream stream = nullptr;
  check(context.api,
        context.api.stream_create_with_priority(&stream, CU_STREAM_NON_BLOCKING, priority),
        "creating a stream on ", context.device);
  try {
    return make_ref<CudaStream>(context, stream, CudaStream::Owner::ours);
  } catch (...) {
    context.api.stream_destroy(stream);
    throw;
  }
}

namespace {

// The ordinal of the device of any context, or -1.
int ordinal_of(const DriverApi& api, CUcontext context) {
  CUdevice handle = -1;
  if (api.ctx_push_current(context) != CUDA_SUCCESS) return -1;
  api.ctx_get_device(&handle);
  CUcontext popped = nullptr;
  api.ctx_pop_current(&popped);
  for (int i = 0; i < driver_status().device_count; ++i) {
    if (device_info(i).handle == handle) return i;
  }
  return -1;
}

void check_foreign(DeviceContext& context, CUstream stream) {
  const DriverApi& api = context.api;
  CUcontext owner = nullptr;
  check(api, api.stream_get_ctx(stream, &owner), "querying the context of the foreign stream ",
        stream, " for ", context.device);
  if (owner == context.handle) return;
  const int ordinal = ordinal_of(api, owner);
  if (ordinal != context.device.ordinal())
    fail<ArgumentError>("Stream.foreign: the stream ", stream, " belongs to cuda:", ordinal,
                        ", not to ", context.device, "; pass the device of the stream");
  fail<ArgumentError>(
      "Stream.foreign: the stream ", stream, " belongs to a context of ", context.device,
      " that is not the primary one (pycuda.autoinit makes such contexts), and memory of one is "
      "not valid in the other; use the primary context there (pycuda.autoprimaryctx)");
}

}  // namespace

Ref<runtime::StreamState> foreign_stream(DeviceContext& context, std::uintptr_t handle) {
  if (handle == 0)
    fail<ArgumentError>(
        "Stream.foreign: 0 may mean the legacy (1) or the per-thread (2) default "
        "stream; pass 1 or 2");
  if (handle > 2 && handle < first_page)
    fail<ArgumentError>("Stream.foreign: ", handle, " is no stream: expected 1, 2 or a CUstream");
  const auto stream = std::bit_cast<CUstream>(handle);
  const ContextGuard guard(context);
  if (handle > 2) check_foreign(context, stream);
  return make_ref<CudaStream>(context, stream, CudaStream::Owner::foreign);
}

}  // namespace spanwise::cuda
