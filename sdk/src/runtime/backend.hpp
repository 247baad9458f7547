// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/loaded_kernel.hpp"
#include "runtime/stream_state.hpp"
#include "spanwise/array.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/error.hpp"
#include "spanwise/gemm.hpp"
#include "spanwise/gpu_context.hpp"
#include "spanwise/host_block.hpp"
#include "spanwise/scalar.hpp"
#include "spanwise/tools.hpp"

/// What a back end must offer. The runtime and the kernels layer see devices through these classes
/// only; a back end sees the runtime, and nobody includes a back end.
namespace spanwise::runtime {

struct MemoryInfo {
  std::int64_t free = 0, total = 0, held = 0, used = 0;  ///< bytes; held and used: by our pool
};

/// One kind of device. All members may be called from any thread; none needs the GIL.
class Backend {
 public:
  virtual ~Backend() = default;
  virtual DeviceKind kind() const noexcept = 0;
  /// 0 where the driver or the hardware is absent; never throws.
  virtual int device_count() noexcept = 0;
  /// One sentence, "" where there are devices.
  virtual std::string why_absent() = 0;
  virtual DeviceProperties properties(int ordinal) = 0;
  /// The compilers and the like that this back end uses (spanwise::tools). Never throws for one
  /// that is missing.
  virtual std::vector<Tool> tools() { return {}; }

  /// At least `bytes` bytes, 256-byte aligned, usable in stream order on `stream`. Throws
  /// OutOfMemoryError.
  virtual void* allocate(int ordinal, std::size_t bytes, StreamState& stream) = 0;
  /// As allocate on a stream that is being recorded into a graph (StreamState::is_captured): the
  /// memory is no part of the graph and can be used at once.
  virtual void* allocate_beside_graph(int ordinal, std::size_t bytes, StreamState& stream) {
    return allocate(ordinal, bytes, stream);
  }
  /// Runs `work`, which may make calls of the driver that captures in other threads or of other
  /// libraries forbid by default: another library's allocator takes its memory so.
  virtual void run_beside_captures(const std::function<void()>& work) { work(); }
  /// As allocate, filled with zeros, where that is cheaper than filling afterwards; else nullptr.
  virtual void* allocate_zeroed([[maybe_unused]] int ordinal, [[maybe_unused]] std::size_t bytes,
                                [[maybe_unused]] StreamState& stream) {
    return nullptr;
  }
  /// Gives it back, ordered after work queued on `stream` so far, which is not being recorded.
  /// Never throws, also at process end.
  virtual void deallocate(int ordinal, void* data, std::size_t bytes,
                          StreamState& stream) noexcept = 0;
  virtual MemoryInfo memory(int ordinal) = 0;
  /// trim_memory() of memory.hpp.
  virtual void trim([[maybe_unused]] int ordinal) {}
  /// Where `address` lives, nothing where this back end did not hand it out (device_of).
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
  /// An event that others have made and own. Host back ends have none.
  virtual Ref<EventState> foreign_event([[maybe_unused]] int ordinal, std::uintptr_t handle) {
    fail<ArgumentError>("Event.foreign: expected an event of a GPU, got ", handle,
                        " for a device whose events have no handles");
  }
  /// The stream that threads share when they set none; the same object at each call.
  virtual Ref<StreamState> default_stream(int ordinal) = 0;
  virtual void synchronize(int ordinal) = 0;

  /// For launches that come one after the other again and again; null where all go at once anyway.
  virtual Ref<LaunchBatch> launch_batch([[maybe_unused]] int ordinal) { return {}; }

  /// Copies and casts between two arrays of this device, of equal shape, with elements, of
  /// computable dtypes. The caller has ordered the work and seen to it that they share no byte and
  /// that `target` does not overlap itself. Queued on `stream`.
  virtual void copy(const Array& source, const Array& target, StreamState& stream) = 0;
  /// The same for one value, whose dtype is the target's.
  virtual void fill(const Array& target, const Scalar& value, StreamState& stream) = 0;
  /// convert_block() of host_block.hpp; the host's back end only.
  virtual void convert_block([[maybe_unused]] DType from, [[maybe_unused]] DType to,
                             [[maybe_unused]] const HostBlock& block) {
    fail<DeviceError>("convert_block: this back end has no host memory to convert in");
  }
  /// library_gemm() of gemm.hpp.
  virtual bool gemm([[maybe_unused]] const GemmCall& call, [[maybe_unused]] StreamState& stream) {
    return false;
  }
  /// Contiguous bytes between the host and a device of this back end, or between two of its
  /// devices. upload returns when `host` may be changed, download when the bytes are there.
  virtual void upload(const void* host, void* device, std::size_t bytes, StreamState& stream) = 0;
  virtual void download(const void* device, void* host, std::size_t bytes, StreamState& stream) = 0;
  /// Memory of the host that download() fills sooner than any other, for a result of `bytes` bytes,
  /// given back by release_pinned(); null where any memory serves as well.
  virtual void* allocate_pinned([[maybe_unused]] int ordinal, [[maybe_unused]] std::size_t bytes) {
    return nullptr;
  }
  virtual void release_pinned([[maybe_unused]] int ordinal, [[maybe_unused]] void* data,
                              [[maybe_unused]] std::size_t bytes) noexcept {}
  /// As upload from page-locked memory: may return while the copy is queued.
  virtual void upload_pinned(const void* host, void* device, std::size_t bytes,
                             StreamState& stream) {
    upload(host, device, bytes, stream);
  }
  virtual void copy_peer(const void* source, int source_ordinal, void* target, int target_ordinal,
                         std::size_t bytes, StreamState& stream) = 0;

  /// Threads of the host that share work, the caller included; see parallel.hpp.
  virtual int workers() { return 1; }
  /// Calls call(context, i) for every i < chunks on these threads and returns when all are done;
  /// rethrows the first exception.
  virtual void run_parallel(std::uint64_t chunks, void (*call)(void* context, std::uint64_t chunk),
                            void* context) {
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) call(context, chunk);
  }

  /// All that decides the compiled result besides the source, its includes and the request's
  /// options. The first line is the compiler and its version, empty where there is none on this
  /// machine; the rest (architecture, the shim) must not depend on the compiler's presence, so that
  /// a machine without one finds what another has compiled. Fast: called on every cache lookup.
  virtual std::string compiler_fingerprint(int ordinal, const CompileRequest& request) = 0;
  /// Throws CompileError, or DeviceError where there is no compiler.
  virtual KernelBinary compile(int ordinal, const CompileRequest& request) = 0;
  virtual Ref<LoadedModule> load(int ordinal, const KernelBinary& binary) = 0;
};

/// How a back end gets kernels of its own, such as those of its copies: through the disk cache
/// where the layer that has one is there (it sets `loader` when it is loaded), else from the back
/// end's compiler. Null puts the plain way back; set_module_loader returns the loader before.
using ModuleLoader = Ref<LoadedModule> (*)(Device device, const KernelSource& source);
SW_API ModuleLoader set_module_loader(ModuleLoader loader) noexcept;
/// Throws CompileError, DeviceError.
SW_API Ref<LoadedModule> load_own_module(Device device, const KernelSource& source);

/// Adds a back end; called by a static initialiser of the back end itself. False, and nothing is
/// done, where its kind has one. Back ends are never destroyed: memory may be given back until the
/// process ends.
SW_API bool register_backend(std::unique_ptr<Backend> backend);
/// Puts `backend` (or none) in the place of the kind's and returns the one that was there, for
/// tests that prove logic on a device that is not there. No array and stream of the old one may be
/// alive.
SW_API std::unique_ptr<Backend> exchange_backend(DeviceKind kind, std::unique_ptr<Backend> backend);
/// Where work on memory of `device` runs: the CPU for memory that the host can address (pinned and
/// managed), else `device` itself.
constexpr Device execution_device(Device device) noexcept {
  const bool host =
      device.kind() == DeviceKind::cuda_host || device.kind() == DeviceKind::cuda_managed;
  return host ? cpu : device;
}
/// The back end of execution_device(device). Throws DeviceError where no back end serves the kind,
/// or the ordinal is not there, saying why.
SW_API Backend& backend_for(Device device);
/// Nullptr where there is none. As backend_for, the CPU's for memory that the host can address.
SW_API Backend* find_backend(DeviceKind kind) noexcept;

/// The calling thread's current stream of execution_device(device) as its state. Throws as
/// backend_for.
SW_API StreamState& current_stream(Device device);

}  // namespace spanwise::runtime
