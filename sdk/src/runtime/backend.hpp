// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parse/kernel_source.hpp"
#include "spanwise/core/array.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/core/scalar.hpp"
#include "spanwise/core/storage.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/kernel_types.hpp"
#include "spanwise/runtime/linear_algebra.hpp"
#include "spanwise/runtime/tools.hpp"

/// The interface of a back end: its streams and events, its compiler and loaded kernels, its
/// memory, and the registry of back ends. The runtime and the layers above use devices only through
/// these classes; back ends include the runtime's headers, and nothing includes a back end's.
namespace spanwise::runtime {

/// The handle of the per-thread default stream (CU_STREAM_PER_THREAD), which is another stream on
/// each thread.
inline constexpr std::uintptr_t per_thread_stream = 2;

/// An event recorded in a stream.
class EventState : public RefCounted {
 public:
  Device device() const noexcept { return device_; }
  /// CUevent as an integer; 0 on the CPU.
  virtual std::uintptr_t handle() const noexcept = 0;
  virtual void synchronize() = 0;
  /// Whether the work before the event is complete. Does not wait.
  virtual bool query() = 0;
  /// Both events must be recorded with timing.
  virtual double milliseconds_since(EventState& start) = 0;

 protected:
  explicit EventState(Device device) noexcept : device_(device) {}

 private:
  Device device_;
};

class StreamState;

/// Work that was captured from a stream, and can be queued any number of times.
class GraphState : public RefCounted {
 public:
  virtual void launch(StreamState& stream) = 0;
};

/// A stream. Every StreamIdentity is one.
class StreamState : public StreamIdentity {
 public:
  /// CUstream as an integer; 0 on the CPU.
  virtual std::uintptr_t handle() const noexcept = 0;
  virtual void synchronize() = 0;
  /// Whether all queued work is complete. Does not wait.
  virtual bool query() = 0;
  virtual Ref<EventState> record(bool timing) = 0;
  /// Makes work queued from now on wait for `event`, which may be of another device of the same
  /// back end.
  virtual void wait(EventState& event) = 0;

  /// Submits the launches that the calling thread has batched on any stream (LaunchBatch).
  virtual void flush() noexcept {}

  /// Whether queued work does not run now: the stream is being captured into a graph, or nothing
  /// can be queued because a stream that this one waits for is being captured.
  virtual bool is_captured() noexcept { return false; }
  /// Identifies the capture of this stream, unique in the process; 0 where there is none.
  virtual std::uint64_t capture_id() noexcept { return 0; }
  /// From here to end_capture(), on the same thread, work queued on this stream is captured and not
  /// run. Throws DeviceError where the device executes work when it is queued.
  virtual void begin_capture() {
    fail<DeviceError>("capture: expected a GPU, got ", device(),
                      ", which executes work when it is queued; call the code again, or "
                      "compile it by function()");
  }
  /// Throws DeviceError where the captured work makes no graph.
  virtual Ref<GraphState> end_capture() { return {}; }
  /// Attaches a reference to `object` to the graph that this stream is being captured into; it is
  /// dropped when the graph and all its executable instances are destroyed and no longer run,
  /// possibly on a thread where no function of the driver may be called. Returns false where the
  /// device does not support this.
  virtual bool attach_to_graph([[maybe_unused]] const RefCounted& object) noexcept { return false; }

  /// For a foreign stream whose owner may destroy it from here on: replaces it by a new stream of
  /// this back end, which waits for the work queued so far.
  virtual void detach() noexcept {}
  /// Keeps `owner`, which keeps the foreign stream alive, as long as this object. Called only by
  /// the creator of this object, before other threads use it.
  void hold(Ref<RefCounted> owner) noexcept { owner_ = std::move(owner); }

  void release_memory(const UnheldMemory& memory, StreamUses& uses) noexcept final;

 protected:
  using StreamIdentity::StreamIdentity;

 private:
  Ref<RefCounted> owner_;
};

/// "(x, y, z)", for messages.
inline std::string extents_text(const Dim3& extents) {
  return text('(', extents.x, ", ", extents.y, ", ", extents.z, ')');
}

/// A guard region around a kernel's array, in which accesses are errors: [begin, end) without
/// [data, data_end).
struct RedZone {
  const void *begin = nullptr, *end = nullptr, *data = nullptr, *data_end = nullptr;
  int argument = 0;    ///< index of the kernel's argument
  std::string name{};  ///< "the array of argument 1 ('int *x')"
};

/// Observations of a checked launch that are errors only if runs in other orders of threads have
/// other results.
struct LaunchFindings {
  std::string suspect_access;  ///< "thread ... reads ..."; "" if there is none
  bool has_atomics = false;    ///< the order of atomic operations may determine the result
};

/// Options of a checked launch, where the device supports them (LoadedKernel::launch_with).
struct LaunchCheck {
  /// The order in which blocks, and runnable threads, are executed.
  enum class ExecutionOrder { forward, reverse, random };
  ExecutionOrder order = ExecutionOrder::forward;
  std::uint64_t seed = 0;  ///< for ExecutionOrder::random
  std::span<const RedZone> red_zones{};
  bool races = false;   ///< report unordered accesses by two threads
  bool strict = false;  ///< the arguments hold no addresses besides those of `red_zones`
  LaunchFindings* findings = nullptr;
};

/// Whether one of the 8-byte words of `data` has a value in the range of the addresses of user
/// space. Small integers and most floating-point numbers are outside of it.
bool may_hold_address(const void* data, std::size_t bytes) noexcept;

/// Rarely used launch options.
struct LaunchAttributes {
  bool cooperative = false;            ///< all blocks are resident and may synchronise
  Dim3 cluster{};                      ///< blocks per cluster
  const LaunchCheck* check = nullptr;  ///< ignored where LoadedKernel::checks() is false
};

/// A kernel loaded on one device.
class LoadedKernel : public RefCounted {
 public:
  /// Where a parameter is in the kernel's parameter buffer, in bytes.
  struct ParameterInfo {
    std::int64_t offset = 0, size = 0;
  };
  /// Offset and size of each parameter, read from the binary.
  virtual std::vector<ParameterInfo> parameter_info() const = 0;
  virtual KernelAttributes attributes() const = 0;
  /// CUfunction as an integer; 0 on the CPU.
  virtual std::uintptr_t handle() const noexcept { return 0; }
  /// The parameters' types with typedefs resolved, "float*, float const*, int"; "" where the binary
  /// does not have them.
  virtual std::string parameter_types() const { return {}; }
  /// Queues the kernel on `stream`. `arguments[i]` points to parameter_info()[i].size bytes. The
  /// caller has checked the arguments and ordered the stream; this checks the launch limits (block,
  /// grid, shared memory) and throws KernelArgumentError naming the limit.
  virtual void launch(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes,
                      StreamState& stream, void* const* arguments) = 0;
  /// launch() with attributes. Throws KernelArgumentError where the device does not support one.
  virtual void launch_with([[maybe_unused]] const LaunchAttributes& attributes, const Dim3& grid,
                           const Dim3& block, std::int64_t shared_bytes, StreamState& stream,
                           void* const* arguments) {
    launch(grid, block, shared_bytes, stream, arguments);
  }
  /// Whether launch_with() implements LaunchCheck: the order, and throwing at accesses to red
  /// zones. Only for kernels compiled with check_option.
  virtual bool checks() const noexcept { return false; }
  /// Number of blocks of `threads` threads that are resident on one multiprocessor; 0 where none
  /// fits.
  virtual int max_active_blocks([[maybe_unused]] int threads,
                                [[maybe_unused]] std::int64_t shared_bytes) {
    return 1;
  }
};

/// Batches the launches of one thread on one stream, so that the device gets several at once. Any
/// other call of that thread into this back end first submits the batch, so batching only changes
/// the timing.
class LaunchBatch : public RefCounted {
 public:
  /// From now on the calling thread's launches on `stream` may be batched. Returns false and
  /// changes nothing where batching is impossible or disabled.
  virtual bool open(StreamState& stream) = 0;
  /// Submits the batch and ends batching. Call on the thread that called open(). Throws the error
  /// of any launch since open().
  virtual void close() = 0;
};

/// The work that a thread queues on a stream, recorded once and queued again at each launch(), with
/// copies before and after it whose addresses change between launches. Memory that the recorded
/// work uses must stay allocated as long as this object; what is allocated or released while
/// recording does (graph_memory.hpp).
class RecordedCall : public RefCounted {
 public:
  /// `bytes` bytes of the device, at least one.
  struct Copy {
    const void* source = nullptr;
    void* target = nullptr;
    std::size_t bytes = 0;
    bool operator==(const Copy&) const = default;
  };
  /// From now on the work that the calling thread queues on `stream` is recorded instead of run;
  /// the stream is captured for this thread (StreamState::is_captured). Returns false and changes
  /// nothing where that is impossible now.
  virtual bool begin(StreamState& stream) = 0;
  /// Ends recording, on the thread of begin(). Returns false if the work cannot be repeated.
  virtual bool end(std::span<const Copy> before, std::span<const Copy> after) = 0;
  /// Ends recording after an error; the object can only be destroyed.
  virtual void abort() noexcept = 0;
  /// Queues the copies, as many and as large as in end(), and the work on the stream of begin().
  /// Returns false, with nothing queued, if the device rejects these copies; the object can then
  /// only be destroyed. Throws DeviceError.
  virtual bool launch(std::span<const Copy> before, std::span<const Copy> after) = 0;
};

/// The compiler option for kernels that support LaunchCheck.
inline constexpr const char* check_option = "-DSW_KERNEL_CHECK";
/// Macro, with its value, by which options make the lanes of a warp run in step on the CPU.
inline constexpr const char* warp_step_macro = "SW_CPU_WARPS step";
/// The same for fibers as the threads of all kernels with barriers.
inline constexpr const char* fibers_macro = "SW_CPU_BARRIERS fibers";

/// A binary loaded on one device; its kernels keep it loaded.
class LoadedModule : public RefCounted {
 public:
  virtual Ref<LoadedKernel> kernel(const std::string& symbol) = 0;
  struct Global {
    void* data = nullptr;
    std::size_t bytes = 0;
  };
  /// Null data where the module has no such variable.
  virtual Global global(const std::string& symbol) = 0;
  /// Gives this module's variables the values of those of `from`, a module of the same source,
  /// where the device supports it.
  virtual void copy_variables([[maybe_unused]] LoadedModule& from) {}
  /// CUmodule as an integer; 0 on the CPU.
  virtual std::uintptr_t handle() { return 0; }
  /// Demangled kernel name -> symbol; empty where the binary does not have the names.
  virtual std::map<std::string, std::string> kernel_symbols() const { return {}; }
};

/// A compile request.
struct CompileRequest {
  const parse::KernelSource* source = nullptr;  ///< scanned by the kernels layer
  std::vector<std::string> options{};
  std::vector<std::string> names{};  ///< name expressions of template kernels to instantiate
  std::vector<std::string> include_dirs{};
  bool keep = false;  ///< keeps the generated files (ModuleOptions::keep)
  /// ModuleOptions::is_covered, and config cpu_coverage is set: compiled for this process alone.
  bool is_covered = false;
  /// Further translation units: each source is compiled separately with the same options, and all
  /// are linked into one binary.
  std::vector<parse::KernelSource> linked{};
};

/// The remedy in messages about linker errors.
inline constexpr const char* link_remedy =
    "Define each function and variable that is declared extern in one of the linked sources, and "
    "in one only; C++ names are linked with their parameter types, extern \"C\" names without.";

/// A compiled binary, and the symbol of each kernel in it.
struct KernelBinary {
  std::string image;
  std::map<std::string, std::string> symbols;  ///< plain name or name expression -> symbol
};

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
  /// spanwise::write_coverage(), for the back end of the CPU.
  virtual void write_coverage() {}
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
  /// GpuContextGuard: makes the device's context current, and returns what leave_context() gets.
  virtual unsigned enter_context([[maybe_unused]] int ordinal,
                                 [[maybe_unused]] bool relaxed_capture) {
    return 0;
  }
  virtual void leave_context([[maybe_unused]] unsigned entered) noexcept {}

  virtual Ref<StreamState> create_stream(int ordinal) = 0;
  /// A stream whose work is preferred to that of streams of greater numbers, where the device has
  /// priorities.
  virtual Ref<StreamState> create_prioritized_stream(int ordinal, [[maybe_unused]] int priority) {
    return create_stream(ordinal);
  }
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
  /// An object that records calls; null where the back end cannot.
  virtual Ref<RecordedCall> recorded_call([[maybe_unused]] int ordinal) { return {}; }

  /// library_gemm() of linear_algebra.hpp.
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
  /// Host memory that work of the device may write, never freed. Throws OutOfMemoryError.
  virtual void* allocate_mapped([[maybe_unused]] int ordinal, std::size_t bytes) {
    return ::operator new(bytes);
  }
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
  /// The same for a target that need not be present: "x86-64-v3" for a CPU, "sm_90" and
  /// "compute_80" (PTX) for a GPU. Throws ArgumentError for an unknown one.
  virtual KernelBinary compile_for(const std::string& target,
                                   [[maybe_unused]] const CompileRequest& request) {
    fail<ArgumentError>("compile: expected a target of this back end, got ", target);
  }
  /// How well binaries for such a target suit a device: 0 where they do not run, else the greater
  /// the better.
  virtual int suitability([[maybe_unused]] int ordinal, [[maybe_unused]] std::string_view target) {
    return 0;
  }
  virtual Ref<LoadedModule> load(int ordinal, const KernelBinary& binary) = 0;
};

/// Registers a back end; called by a static initialiser of the back end itself. Returns false and
/// does nothing where its kind has one. Back ends are never destroyed: memory may be released until
/// the process exits.
bool register_backend(std::unique_ptr<Backend> backend);
/// Replaces the back end of `kind` by `backend` (or none) and returns the previous one; for tests
/// with a simulated device. No array or stream of the previous one may be alive.
std::unique_ptr<Backend> exchange_backend(DeviceKind kind, std::unique_ptr<Backend> backend);
/// The back end of working_device(device). Throws DeviceError, with the reason, where no back end
/// serves the kind or the ordinal does not exist.
Backend& backend_for(Device device);
/// The back end of `kind`, the CPU's for pinned and managed memory; null where none is registered.
Backend* find_backend(DeviceKind kind) noexcept;

/// Incremented whenever a back end is registered or exchanged, so that cached facts about devices
/// can be validated.
std::uint64_t backend_generation() noexcept;

/// The default stream of working_device(device), used by all threads that have not set one.
/// Throws as backend_for.
StreamState& default_stream(Device device);
/// The calling thread's current stream of working_device(device). Throws as backend_for.
StreamState& current_stream(Device device);
/// Sets (with null: unsets) the calling thread's current stream of `device`; returns the previous
/// one, null where none was set.
Ref<StreamState> exchange_current_stream(Device device, Ref<StreamState> stream);

/// The loops over elements that the runtime uses on one kind of device. The strided layer defines
/// them, above the runtime, since on a GPU they are compiled kernels.
struct ElementLoops {
  /// Queues on `stream` a copy with cast between two non-empty arrays of its device, of equal shape
  /// and computable dtypes. The caller has ordered the work and ensured that they do not overlap
  /// and that `target` does not overlap itself.
  void (*copy)(const Array& source, const Array& target, StreamState& stream);
  /// Queues a fill with one value, which has the target's dtype, under the same conditions.
  void (*fill)(const Array& target, const Scalar& value, StreamState& stream);
};

/// Registers the loops of a kind of device, which must never be destroyed; called by a static
/// initialiser of the code that defines them. Returns the previous loops of that kind, or null.
const ElementLoops* register_element_loops(DeviceKind kind, const ElementLoops* loops);
/// The loops for working_device(device). Throws DeviceError where there are none.
const ElementLoops& element_loops(Device device);

}  // namespace spanwise::runtime
