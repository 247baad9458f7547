// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runtime/backend.hpp"

namespace spanwise::test {

class LazyStream;

/// A GPU over host memory that executes work as late as possible. Queued work runs only when it is
/// waited for, and then only the work that the wait requires: work that was not ordered by an event
/// has not run, and its result is still the poison of new memory. So a missing wait gives a wrong
/// result, on any machine.
///
/// All requests are recorded, and so are faults: work that accesses memory which, in stream order,
/// is not allocated yet or already freed.
class RecordingBackend final : public runtime::Backend {
 public:
  explicit RecordingBackend(int devices = 1);
  ~RecordingBackend() override;

  /// The requests since the last call, in order, as "wait s2 e1" or "upload d0 48": streams are
  /// d0 (the default stream of device 0), s1, s2, ... (created) and f7 (foreign); events e1, e2,
  /// ...
  std::vector<std::string> take_log();
  /// The number of accesses to memory that was not allocated.
  int faults() const;
  int live_blocks() const;
  /// Until end_capture() the stream is captured into a graph, or, with `graph` 0, unusable because
  /// another stream is captured. Querying its state or recording an event is a fault then.
  void begin_capture(runtime::StreamState& stream, std::uint64_t graph);
  void end_capture(runtime::StreamState& stream);
  /// Destroys a graph, which releases the objects attached to it.
  void destroy_graph(std::uint64_t graph);
  /// The number of flushes of launch batches.
  int flushes() const;
  /// Foreign streams that were detached, by name.
  std::vector<std::string> detached() const;
  /// Expects that one block is never freed, because the device failed.
  void expect_lost_block() { --live_blocks_; }
  /// From now on recording events and querying those that have not passed throws, as on a device
  /// that failed; or no longer.
  void break_events(bool broken = true) { events_broken_ = broken; }
  void break_waits() { waits_broken_ = true; }
  /// From now on allocating throws OutOfMemoryError.
  void exhaust_memory() { memory_exhausted_ = true; }

  DeviceKind kind() const noexcept override { return DeviceKind::cuda; }
  int device_count() noexcept override { return devices_; }
  std::string unavailable_reason() override {
    return devices_ == 0 ? "the fake driver found no device" : "";
  }
  DeviceProperties properties(int ordinal) override;
  void* allocate(int ordinal, std::size_t bytes, runtime::StreamState& stream) override;
  void deallocate(int ordinal, void* data, std::size_t bytes,
                  runtime::StreamState& stream) noexcept override;
  runtime::MemoryInfo memory(int ordinal) override;
  Ref<runtime::StreamState> create_stream(int ordinal) override;
  Ref<runtime::StreamState> foreign_stream(int ordinal, std::uintptr_t handle) override;
  Ref<runtime::StreamState> default_stream(int ordinal) override;
  void synchronize(int ordinal) override;
  /// Does not delay launches; records "open d0" and "close d0".
  Ref<runtime::LaunchBatch> launch_batch(int ordinal) override;
  /// Records "record d0" for a recorded call, and "replay d0" for each launch of it.
  Ref<runtime::RecordedCall> recorded_call(int ordinal) override;
  static const runtime::ElementLoops loops;
  void upload(const void* host, void* device, std::size_t bytes,
              runtime::StreamState& stream) override;
  void upload_pinned(const void* host, void* device, std::size_t bytes,
                     runtime::StreamState& stream) override;
  void download(const void* device, void* host, std::size_t bytes,
                runtime::StreamState& stream) override;
  void copy_peer(const void* source, int source_ordinal, void* target, int target_ordinal,
                 std::size_t bytes, runtime::StreamState& stream) override;
  std::string compiler_fingerprint(int ordinal, const runtime::CompileRequest& request) override;
  runtime::KernelBinary compile(int ordinal, const runtime::CompileRequest& request) override;
  Ref<runtime::LoadedModule> load(int ordinal, const runtime::KernelBinary& binary) override;

 private:
  friend class LazyStream;
  friend class RecordedBatch;
  friend class LazyRecordedCall;
  friend class LazyEvent;
  struct Block {
    std::size_t bytes = 0;
    bool alive = false;
  };

  void note(std::string entry);
  // Counts a fault if a part of [data, data + bytes) is in a block that is not allocated, or behind
  // its end.
  void check_access(const void* data, std::size_t bytes);
  Ref<runtime::StreamState> make_stream(std::string name, int ordinal, std::uintptr_t handle);

  mutable std::recursive_mutex mutex_;
  int devices_;
  bool events_broken_ = false, waits_broken_ = false, memory_exhausted_ = false;
  std::map<std::uint64_t, std::vector<Ref<const RefCounted>>> attached_;  // by graph
  std::vector<std::string> detached_;
  int flushes_ = 0;
  std::uint64_t recorded_graphs_ = 0;
  int created_streams_ = 0, recorded_events_ = 0, faults_ = 0, live_blocks_ = 0, work_done_ = 0;
  std::vector<std::string> log_;
  std::map<const std::byte*, Block> blocks_;
  std::vector<LazyStream*> streams_;
  std::vector<Ref<runtime::StreamState>> default_streams_;
};

}  // namespace spanwise::test
