// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>

#include "backends/cuda/context.hpp"
#include "backends/cuda/memory/small_blocks.hpp"
#include "runtime/backend.hpp"

namespace spanwise::cuda {

/// Whether the calling thread keeps back launches (launch_batch.hpp), and what ends that: whatever
/// is queued next comes after them.
extern constinit thread_local bool launches_are_kept_back;
void flush_launches() noexcept;
inline void hand_over_launches() noexcept {
  if (launches_are_kept_back) [[unlikely]]
    flush_launches();
}

/// A stream of a device's primary context: ours, or another library's.
class CudaStream final : public runtime::StreamState {
 public:
  enum class Owner { ours, foreign };
  CudaStream(DeviceContext& context, CUstream stream, Owner owner);
  ~CudaStream() override;

  std::uintptr_t handle() const noexcept override {
    hand_over_launches();
    return reinterpret_cast<std::uintptr_t>(current());
  }
  void synchronize() override;
  bool query() override;
  Ref<runtime::EventState> record(bool timing) override;
  void wait(runtime::EventState& event) override;
  void flush() noexcept override { hand_over_launches(); }
  bool is_captured() noexcept override;
  std::uint64_t capture_id() noexcept override;
  bool attach_to_graph(const RefCounted& object) noexcept override;
  void detach() noexcept override;

  /// Null where the stream is not known to live as long as this: memory that waits for its next use
  /// would wait for nothing.
  SmallBlocks* small_blocks() const noexcept { return small_blocks_.get(); }

  /// What to give to the driver. "The per-thread default stream" is another queue on each thread,
  /// so off the thread that named it the legacy stream stands for it: that one is ordered with
  /// every thread's (CUDA programming guide, "Default stream").
  CUstream raw() const noexcept {
    hand_over_launches();
    return peek();
  }
  /// The same for what may overtake launches that are kept back: taking memory, questions.
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
  CUstream current() const noexcept { return stream_.load(std::memory_order_acquire); }

  DeviceContext& context_;
  std::atomic<CUstream> stream_;  // another one after detach()
  Owner owner_;
  std::unique_ptr<SmallBlocks> small_blocks_;
  std::thread::id thread_ = std::this_thread::get_id();
};

/// The stream behind `stream`. Throws ArgumentError where it is of another device than `context`.
inline CudaStream& cuda_stream(const DeviceContext& context, runtime::StreamState& stream) {
  if (stream.device() != context.device) [[unlikely]]
    fail<ArgumentError>("cuda: work for ", context.device, " was given a stream of ",
                        stream.device(), "; use a stream of the device where the data is");
  return static_cast<CudaStream&>(stream);
}

/// The stream that threads share when they set none.
Ref<runtime::StreamState> make_default_stream(DeviceContext& context);
/// A new stream that neither waits for the legacy default stream nor holds it up.
Ref<runtime::StreamState> create_stream(DeviceContext& context);
/// Another library's stream: 1 (legacy), 2 (per-thread) or a CUstream. Throws ArgumentError for 0,
/// for what cannot be a stream, and for a stream of another device or of a context that is not the
/// device's primary one.
Ref<runtime::StreamState> foreign_stream(DeviceContext& context, std::uintptr_t handle);

/// Handles are addresses; no stream, and nothing else, lies in a process' first page.
inline constexpr std::uintptr_t first_page = 4096;

}  // namespace spanwise::cuda
