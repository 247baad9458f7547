// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "backends/cuda/cuda_memory_pool.hpp"
#include "backends/cuda/device_context.hpp"
#include "runtime/backend.hpp"
#include "spanwise/core/fork.hpp"

namespace spanwise::cuda {

/// A pool of driver events of one device: creating an event takes microseconds, recording one a
/// fraction of that. An event may be reused while streams still wait for it: they wait for the
/// record that was current when cuStreamWaitEvent was called.
class EventPool {
 public:
  explicit EventPool(const DriverApi& api) : api_(api) {}
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;

  /// An event from the pool, or a new one; `timing`: whether it measures time. The device's context
  /// must be current. Throws DeviceError.
  CUevent take(bool timing);
  /// Returns an event of take(timing) to the pool.
  void put(CUevent event, bool timing) noexcept;

 private:
  const DriverApi& api_;
  Mutex mutex_;
  std::array<std::vector<CUevent>, 2> free_;  // without timing, with it
};

/// A recorded event. CudaStream::wait() makes a stream wait for it.
class CudaEvent final : public runtime::EventState {
 public:
  /// Records on `stream`, which belongs to `context`. The context must be current.
  CudaEvent(DeviceContext& context, CUstream stream, bool timing);
  /// Wraps an event that another library owns and has recorded.
  CudaEvent(DeviceContext& context, CUevent foreign);
  ~CudaEvent() override;

  std::uintptr_t handle() const noexcept override {
    return reinterpret_cast<std::uintptr_t>(event_);
  }
  void synchronize() override;
  bool query() override;
  double milliseconds_since(runtime::EventState& start) override;

  CUevent raw() const noexcept { return event_; }
  /// Recorded on a captured stream: the event refers to a node of the graph and never completes by
  /// itself.
  bool is_captured() const noexcept { return captured_; }
  /// Keeps the event out of the pool for ever, because a graph waits for it at each launch: it must
  /// not be recorded again.
  void retire() noexcept { retired_.store(true, std::memory_order_relaxed); }

 private:
  DeviceContext& context_;
  CUevent event_;
  bool timing_;
  bool captured_;
  std::atomic<bool> retired_{false};
};

/// Whether the calling thread holds launches in a batch (launch_chain.hpp). flush_launches() queues
/// them; call it before queueing other work, which must come after them.
extern constinit thread_local bool launches_are_held;
void flush_held_launches() noexcept;
inline void flush_launches() noexcept {
  if (launches_are_held) [[unlikely]]
    flush_held_launches();
}

class CudaStream;

/// What the calling thread records instead of queueing it (launch/recorded_call.hpp): its work on
/// `stream` goes to `target`, which is captured. Products use `workspace`.
struct StreamRecording {
  const CudaStream* stream = nullptr;
  CUstream target = nullptr;
  void* workspace = nullptr;
};
extern constinit thread_local StreamRecording stream_recording;

/// A stream of a device's primary context, owned by Spanwise or by another library.
class CudaStream final : public runtime::StreamState {
 public:
  enum class Owner { ours, foreign };
  CudaStream(DeviceContext& context, CUstream stream, Owner owner);
  ~CudaStream() override;

  std::uintptr_t handle() const noexcept override {
    flush_launches();
    return reinterpret_cast<std::uintptr_t>(current());
  }
  void synchronize() override;
  bool query() override;
  Ref<runtime::EventState> record(bool timing) override;
  void wait(runtime::EventState& event) override;
  void flush() noexcept override { flush_launches(); }
  bool is_captured() noexcept override;
  std::uint64_t capture_id() noexcept override;
  void begin_capture() override;
  Ref<runtime::GraphState> end_capture() override;
  bool attach_to_graph(const RefCounted& object) noexcept override;
  void detach() noexcept override;

  /// From here on the calling thread's work on this stream goes to recording.target; that of other
  /// threads does not. Sets stream_recording, which end_recording() clears.
  void begin_recording(const StreamRecording& recording) noexcept;
  void end_recording() noexcept;
  /// Memory for the products of all calls recorded on this stream, which run one after the other;
  /// null without memory pools. The context must be current. Throws DeviceError.
  void* recording_workspace(std::size_t bytes);

  DeviceContext& context() const noexcept { return context_; }
  /// The stream's block cache. Null for foreign streams other than the legacy stream: they may be
  /// destroyed earlier than this object, and the order of their work would be lost.
  SmallBlocks* small_blocks() const noexcept { return small_blocks_.get(); }

  /// The handle for driver calls that queue work; first queues the launches that are held. The
  /// per-thread default stream is a different stream on each thread, so on threads other than the
  /// one that created this object the legacy stream takes its place: it synchronizes with the
  /// per-thread streams of all threads (CUDA programming guide, "Default stream").
  CUstream raw() const noexcept {
    flush_launches();
    return peek();
  }
  /// As raw(), but does not queue the launches that are held: for calls that need no order
  /// with them, such as allocations and queries.
  CUstream peek() const noexcept {
    const CUstream stream = current();
    if (stream == CU_STREAM_PER_THREAD && std::this_thread::get_id() != thread_) [[unlikely]]
      return CU_STREAM_LEGACY;
    return stream;
  }

 private:
  struct CaptureInfo {
    std::uint64_t id = 0;
    CUgraph graph = nullptr;
  };
  CaptureInfo capture_info() const noexcept;
  /// The handle as stored, possibly CU_STREAM_PER_THREAD; for a thread that records, the stream
  /// that is captured.
  CUstream current() const noexcept {
    const CUstream stream = stream_.load(std::memory_order_acquire);
    return reinterpret_cast<std::uintptr_t>(stream) == recorded_handle ? unrecorded_or_target()
                                                                       : stream;
  }
  CUstream unrecorded_or_target() const noexcept;

  /// Takes the place of the handle while threads record, so that others need not ask. No stream has
  /// this handle.
  static constexpr std::uintptr_t recorded_handle = 3;

  DeviceContext& context_;
  std::atomic<CUstream> stream_;               // replaced in detach() and begin_recording()
  std::atomic<CUstream> unrecorded_{nullptr};  // the handle while stream_ is recorded_handle
  Mutex recording_mutex_;
  int recording_threads_ = 0;
  CUdeviceptr recording_workspace_ = 0;
  Owner owner_;
  std::unique_ptr<SmallBlocks> small_blocks_;
  std::thread::id thread_ = std::this_thread::get_id();
};

/// `stream` as a CudaStream. Throws ArgumentError if it belongs to another device than `context`.
inline CudaStream& cuda_stream(const DeviceContext& context, runtime::StreamState& stream) {
  if (stream.device() != context.device) [[unlikely]]
    fail<ArgumentError>("cuda: work for ", context.device, " was given a stream of ",
                        stream.device(), "; use a stream of the device where the data is");
  return static_cast<CudaStream&>(stream);
}
inline CudaStream& cuda_stream(runtime::StreamState& stream) {
  return cuda_stream(DeviceContext::of(stream.device().ordinal()), stream);
}

/// The stream of threads that have not set a current stream.
Ref<runtime::StreamState> make_default_stream(DeviceContext& context);
/// A new stream that does not synchronize with the legacy default stream (CU_STREAM_NON_BLOCKING).
/// The driver limits `priority` to the range of the device.
Ref<runtime::StreamState> create_stream(DeviceContext& context, int priority);
/// Wraps another library's stream: 1 (legacy), 2 (per-thread) or a CUstream. Throws ArgumentError
/// for 0, for values that cannot be a stream, and for a stream of another device or of a context
/// that is not the device's primary one.
Ref<runtime::StreamState> foreign_stream(DeviceContext& context, std::uintptr_t handle);

/// Handles are addresses, and the first page of a process is never mapped.
inline constexpr std::uintptr_t first_page = 4096;

}  // namespace spanwise::cuda
