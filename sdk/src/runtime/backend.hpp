// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/loaded_kernel.hpp"
#include "runtime/streams/stream_state.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/linear_algebra.hpp"
#include "spanwise/runtime/tools.hpp"
#include "spanwise/core/device.hpp"

/// The interface of a back end. The runtime and the kernels layer use devices only through these
/// classes; back ends include the runtime's headers, and nothing includes a back end's.
namespace spanwise::runtime {

/// Memory of one device, in bytes.
struct MemoryInfo {
  std::int64_t free = 0, total = 0;
  std::int64_t held = 0, used = 0;  ///< by the library's pool: taken from the driver, and in use
};

/// One kind of device. All members may be called from any thread; none needs the GIL.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual DeviceKind kind() const noexcept = 0;
  /// 0 where the driver or the hardware is missing; never throws.
  virtual int device_count() noexcept = 0;
  /// Why there is no device, one sentence; "" where there is one.
  virtual std::string unavailable_reason() = 0;
  virtual DeviceProperties properties(int ordinal) = 0;
  /// The external programs and libraries that this back end uses (spanwise::tools). Never throws
  /// for a missing one.
  virtual std::vector<Tool> tools() { return {}; }
  /// As spanwise::header_on_cpu, for the back end of the CPU.
  virtual std::string_view header_handling([[maybe_unused]] std::string_view name) { return {}; }

  /// Allocates at least `bytes` bytes, 256-byte aligned, usable in stream order on `stream`. Throws
  /// OutOfMemoryError.
  virtual void* allocate(int ordinal, std::size_t bytes, StreamState& stream) = 0;
  /// As allocate, on a stream under capture (StreamState::is_captured): the allocation does not
  /// become a node of the graph, and the memory can be used at once.
  virtual void* allocate_outside_graph(int ordinal, std::size_t bytes, StreamState& stream) {
    return allocate(ordinal, bytes, stream);
  }
  /// Runs `work`, which may make driver calls that are errors by default while another thread or
  /// library captures a stream; for other libraries' allocators.
  virtual void run_in_relaxed_capture_mode(const std::function<void()>& work) { work(); }
  /// As allocate, filled with zeros, where that is cheaper than filling afterwards; else returns
  /// null.
  virtual void* allocate_zeroed([[maybe_unused]] int ordinal, [[maybe_unused]] std::size_t bytes,
                                [[maybe_unused]] StreamState& stream) {
    return nullptr;
  }
  /// Frees memory in the order of `stream`, after the work queued on it so far. `stream` is not
  /// being captured. Never throws, also at process exit.
  virtual void deallocate(int ordinal, void* data, std::size_t bytes,
                          StreamState& stream) noexcept = 0;
  virtual MemoryInfo memory(int ordinal) = 0;
  /// trim_memory() of memory.hpp.
  virtual void trim([[maybe_unused]] int ordinal) {}
  /// device_of(): the device of `address`; nullopt for memory that this back end's driver does not
  /// know.
  virtual std::optional<Device> device_of([[maybe_unused]] const void* address) {
    return std::nullopt;
  }
  /// gpu_context_of() and current_gpu_context().
  virtual std::optional<GpuContext> context_of([[maybe_unused]] const void* address) {
    return std::nullopt;
  }
  virtual std::optional<GpuContext> current_context() { return std::nullopt; }

  virtual Ref<StreamState> create_stream(int ordinal) = 0;
  virtual Ref<StreamState> foreign_stream(int ordinal, std::uintptr_t handle) = 0;
  /// Wraps an event of another library without owning it. Throws ArgumentError on the CPU, whose
  /// events have no handles.
  virtual Ref<EventState> foreign_event([[maybe_unused]] int ordinal, std::uintptr_t handle) {
    fail<ArgumentError>("Event.foreign: expected an event of a GPU, got ", handle,
                        " for a device whose events have no handles");
  }
  /// The device's default stream, used by all threads that have not set one; the same object at
  /// each call.
  virtual Ref<StreamState> default_stream(int ordinal) = 0;
  virtual void synchronize(int ordinal) = 0;

  /// An object that batches consecutive launches; null where the back end submits every launch at
  /// once.
  virtual Ref<LaunchBatch> launch_batch([[maybe_unused]] int ordinal) { return {}; }

  /// library_gemm() of gemm.hpp.
  virtual bool gemm([[maybe_unused]] const GemmCall& call, [[maybe_unused]] StreamState& stream) {
    return false;
  }
  /// Copy contiguous bytes between the host and a device of this back end, or between two of its
  /// devices. upload returns when `host` may be changed, download when the bytes have arrived.
  virtual void upload(const void* host, void* device, std::size_t bytes, StreamState& stream) = 0;
  virtual void download(const void* device, void* host, std::size_t bytes, StreamState& stream) = 0;
  /// Pinned host memory for a result of `bytes` bytes, to which download() is faster; freed by
  /// release_pinned(). Null where pageable memory is as fast.
  virtual void* allocate_pinned([[maybe_unused]] int ordinal, [[maybe_unused]] std::size_t bytes) {
    return nullptr;
  }
  virtual void release_pinned([[maybe_unused]] int ordinal, [[maybe_unused]] void* data,
                              [[maybe_unused]] std::size_t bytes) noexcept {}
  /// As upload, from pinned memory: may return while the copy is still queued.
  virtual void upload_pinned(const void* host, void* device, std::size_t bytes,
                             StreamState& stream) {
    upload(host, device, bytes, stream);
  }
  virtual void copy_peer(const void* source, int source_ordinal, void* target, int target_ordinal,
                         std::size_t bytes, StreamState& stream) = 0;
  /// Queues a fill of `bytes` contiguous bytes with the first `period` bytes, 1, 2 or 4, at
  /// `value`, where the device needs no compiled kernel for it; else returns false. `data` is
  /// aligned to the period, which divides `bytes`.
  virtual bool fill_bytes([[maybe_unused]] void* data, [[maybe_unused]] const void* value,
                          [[maybe_unused]] int period, [[maybe_unused]] std::size_t bytes,
                          [[maybe_unused]] StreamState& stream) {
    return false;
  }

  /// Number of host threads that run run_parallel(), the caller included; see parallel.hpp.
  virtual int workers() { return 1; }
  /// Calls call(context, i) for every i < chunks on these threads and returns when all are done;
  /// rethrows the first exception.
  virtual void run_parallel(std::uint64_t chunks, void (*call)(void* context, std::uint64_t chunk),
                            void* context) {
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) call(context, chunk);
  }

  /// Everything that determines the compiled result besides the source, its includes and the
  /// request's options. The first line is the compiler and its version, empty where it is not
  /// installed; the rest (architecture, compatibility headers) does not depend on the compiler's
  /// presence, so that a machine without it can use binaries that another machine has cached.
  /// Called for every cache lookup, so it must be fast.
  virtual std::string compiler_fingerprint(int ordinal, const CompileRequest& request) = 0;
  /// Throws CompileError, or DeviceError where there is no compiler.
  virtual KernelBinary compile(int ordinal, const CompileRequest& request) = 0;
  virtual Ref<LoadedModule> load(int ordinal, const KernelBinary& binary) = 0;
};

/// Registers a back end; called by a static initialiser of the back end itself. Returns false and
/// does nothing where its kind has one. Back ends are never destroyed: memory may be released until
/// the process exits.
SW_API bool register_backend(std::unique_ptr<Backend> backend);
/// Replaces the back end of `kind` by `backend` (or none) and returns the previous one; for tests
/// with a simulated device. No array or stream of the previous one may be alive.
SW_API std::unique_ptr<Backend> exchange_backend(DeviceKind kind, std::unique_ptr<Backend> backend);
/// The back end of working_device(device). Throws DeviceError, with the reason, where no back end
/// serves the kind or the ordinal does not exist.
SW_API Backend& backend_for(Device device);
/// The back end of `kind`, the CPU's for pinned and managed memory; null where none is registered.
SW_API Backend* find_backend(DeviceKind kind) noexcept;

/// The calling thread's current stream of working_device(device). Throws as backend_for.
SW_API StreamState& current_stream(Device device);

}  // namespace spanwise::runtime
