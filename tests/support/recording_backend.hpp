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

/// A GPU over host memory that is as late as a GPU may be. Work on a stream is done only when
/// somebody waits for it, and then no more than has to be: what was not ordered by an event has not
/// happened, and reads the poison of fresh memory. So a missing wait is a wrong result, on any
/// machine.
///
/// Everything asked for is recorded, and so is a fault: work that touches memory which, in the
/// order of the streams, is not allocated yet or has been given back.
class RecordingBackend final : public runtime::Backend {
 public:
  explicit RecordingBackend(int devices = 1);
  ~RecordingBackend() override;

  /// What was asked since the last call, in order, as "wait s2 e1" or "upload d0 48": streams are
  /// d0 (the default stream of device 0), s1, s2, ... (created) and f7 (foreign); events e1, e2,
  /// ...
  std::vector<std::string> take_log();
  /// Work that touched memory outside its life.
  int faults() const;
  int live_blocks() const;
  /// Plays a stream that is recorded into a graph until end_capture(), or with `graph` 0 one that
  /// can queue nothing because another is recorded. To ask it for its state or an event is a fault
  /// then.
  void begin_capture(runtime::StreamState& stream, std::uint64_t graph);
  void end_capture(runtime::StreamState& stream);
  /// Ends a graph, which drops what was attached to it.
  void destroy_graph(std::uint64_t graph);
  /// How often launches that are kept back were asked for.
  int flushes() const;
  /// Foreign streams that were detached, by name.
  std::vector<std::string> detached() const;
  /// A block that is never given back, because the device failed.
  void expect_lost_block() { --live_blocks_; }
  /// From now on recording an event throws, as on a device that failed.
  void break_events() { events_broken_ = true; }
  /// From now on allocating throws OutOfMemoryError.
  void exhaust_memory() { memory_exhausted_ = true; }

  DeviceKind kind() const noexcept override { return DeviceKind::cuda; }
  int device_count() noexcept override { return devices_; }
  std::string why_absent() override {
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
  /// Keeps nothing back; the log says "open d0" and "close d0".
  Ref<runtime::LaunchBatch> launch_batch(int ordinal) override;
  void copy(const Array& source, const Array& target, runtime::StreamState& stream) override;
  void fill(const Array& target, const Scalar& value, runtime::StreamState& stream) override;
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
  friend class RecordedRow;
  friend class LazyEvent;
  struct Block {
    std::size_t bytes = 0;
    bool alive = false;
  };

  void note(std::string entry);
  // Counts a fault where [data, data + bytes) is not inside the life of its block.
  void touch(const void* data, std::size_t bytes);
  Ref<runtime::StreamState> make_stream(std::string name, int ordinal, std::uintptr_t handle);

  mutable std::recursive_mutex mutex_;
  int devices_;
  bool events_broken_ = false, memory_exhausted_ = false;
  std::map<std::uint64_t, std::vector<Ref<const RefCounted>>> attached_;  // by graph
  std::vector<std::string> detached_;
  int flushes_ = 0;
  int created_streams_ = 0, recorded_events_ = 0, faults_ = 0, live_blocks_ = 0, work_done_ = 0;
  std::vector<std::string> log_;
  std::map<const std::byte*, Block> blocks_;
  std::vector<LazyStream*> streams_;
  std::vector<Ref<runtime::StreamState>> default_streams_;
};

}  // namespace spanwise::test
