// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/source/kernel_source.hpp"
#include "spanwise/array.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/error.hpp"
#include "spanwise/gemm.hpp"
#include "spanwise/gpu_context.hpp"
#include "spanwise/host_block.hpp"
#include "spanwise/kernel_types.hpp"
#include "spanwise/scalar.hpp"
#include "spanwise/storage.hpp"
#include "spanwise/tools.hpp"

/// What a back end must offer. The runtime and the kernels layer see devices through these classes
/// only; a back end sees the runtime, and nobody includes a back end.
namespace spanwise::runtime {

/// A point in a stream.
class EventState : public RefCounted {
 public:
  Device device() const noexcept { return device_; }
  /// CUevent as an integer; 0 on the CPU.
  virtual std::uintptr_t handle() const noexcept = 0;
  virtual void synchronize() = 0;
  virtual bool query() = 0;
  virtual double milliseconds_since(EventState& start) = 0;

 protected:
  explicit EventState(Device device) noexcept : device_(device) {}

 private:
  Device device_;
};

/// A queue of work.
class StreamState : public StreamIdentity {
 public:
  /// CUstream as an integer; 0 on the CPU.
  virtual std::uintptr_t handle() const noexcept = 0;
  virtual void synchronize() = 0;
  virtual bool query() = 0;
  virtual Ref<EventState> record(bool timing) = 0;
  /// `event` may be of another device of the same back end.
  virtual void wait(EventState& event) = 0;

  bool come_after(const StreamUses& uses) noexcept final;

 protected:
  using StreamIdentity::StreamIdentity;
};

/// Memory around an array that a kernel must leave alone: what lies in [begin, end), but not in
/// [data, data_end).
struct Fence {
  const void *begin = nullptr, *end = nullptr, *data = nullptr, *data_end = nullptr;
  int argument = 0;  ///< of the kernel, from 0
};

/// A launch that looks for faults, where the device can (LoadedKernel::launch_with).
struct LaunchCheck {
  /// In which order threads that may run are run, and blocks.
  enum class Order { forward, reverse, random };
  Order order = Order::forward;
  std::uint64_t seed = 0;  ///< of the random order
  std::span<const Fence> fences{};
};

/// What few launches ask for.
struct LaunchExtras {
  bool cooperative = false;            ///< all blocks run at once and may wait for one another
  Dim3 cluster{};                      ///< blocks of a cluster
  const LaunchCheck* check = nullptr;  ///< may be ignored
};

/// A kernel loaded on one device.
class LoadedKernel : public RefCounted {
 public:
  struct Slot {
    std::int64_t offset = 0, size = 0;
  };
  /// Place and size of each parameter as the binary has them.
  virtual std::vector<Slot> slots() const = 0;
  virtual KernelAttributes attributes() const = 0;
  /// CUfunction as an integer; 0 on the CPU.
  virtual std::uintptr_t handle() const noexcept { return 0; }
  /// The parameters' types as the compiler understood them, "float*, float const*, int", with no
  /// typedef left; "" where the binary does not say.
  virtual std::string parameter_types() const { return {}; }
  /// Queues the kernel. `arguments[i]` points to slots()[i].size bytes. The caller has checked
  /// arguments and ordering; this checks the launch limits (block, grid, shared memory) and throws
  /// KernelArgumentError naming the limit.
  virtual void launch(const Dim3& grid, const Dim3& block, std::int64_t shared_bytes,
                      StreamState& stream, void* const* arguments) = 0;
  /// The same with extras. Throws KernelArgumentError where the device lacks one.
  virtual void launch_with([[maybe_unused]] const LaunchExtras& extras, const Dim3& grid,
                           const Dim3& block, std::int64_t shared_bytes, StreamState& stream,
                           void* const* arguments) {
    launch(grid, block, shared_bytes, stream, arguments);
  }
  /// Whether launch_with() follows LaunchCheck::order and stops at fences. Only for kernels that
  /// were compiled with check_option.
  virtual bool checks() const noexcept { return false; }
  /// Blocks of `threads` threads that a multiprocessor holds at once; 0 where none fits.
  virtual int max_active_blocks([[maybe_unused]] int threads,
                                [[maybe_unused]] std::int64_t shared_bytes) {
    return 1;
  }
};

/// Launches that one thread makes on one stream, kept back so that the device gets several at once.
/// Whatever else the thread does through this back end first hands over what is kept back, so that
/// nobody sees the difference but in time.
class LaunchRow : public RefCounted {
 public:
  /// From now on the calling thread's launches on `stream` may be kept back. False, and nothing is
  /// different, where that cannot be or is not wanted now.
  virtual bool open(StreamState& stream) = 0;
  /// Hands over what is kept back; launches go at once again. For the thread that opened it. Throws
  /// what a launch throws, for any launch since open().
  virtual void close() = 0;
};

/// The compiler option that asks for a kernel which can be checked.
inline constexpr const char* check_option = "-DSW_KERNEL_CHECK";

/// A binary loaded on one device; its kernels keep it loaded.
class LoadedModule : public RefCounted {
 public:
  virtual Ref<LoadedKernel> kernel(const std::string& symbol) = 0;
  struct Global {
    void* data = nullptr;
    std::size_t bytes = 0;
  };
  /// Null data where there is no such variable.
  virtual Global global(const std::string& symbol) = 0;
  /// CUmodule as an integer; 0 on the CPU.
  virtual std::uintptr_t handle() { return 0; }
  /// The kernels by their readable name; empty where the binary does not say.
  virtual std::map<std::string, std::string> kernel_symbols() const { return {}; }
};

/// What the compiler is asked for; `source` is scanned once, by the kernels layer.
struct CompileRequest {
  const KernelSource* source = nullptr;
  std::vector<std::string> options{}, names{}, include_dirs{};
  bool keep = false;
  /// Further translation units: each text is compiled by itself with the same options, and all are
  /// linked into one binary.
  std::vector<KernelSource> linked{};
};

/// What to do where linked sources do not fit together, for messages.
inline constexpr const char* link_remedy =
    "Define each function and variable that is declared extern in one of the linked sources, and "
    "in "
    "one only; C++ names are linked with their parameter types, extern \"C\" names without.";

/// What a compiler made: bytes to load, and under which symbol each kernel stands in them.
struct KernelBinary {
  std::string image;
  std::map<std::string, std::string> symbols;  ///< plain name or name expression -> symbol
  /// The image as a file, where it came from or went to the disk cache; a back end that loads files
  /// (dlopen) uses it, and otherwise writes a private temporary one.
  std::string path{};
};

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
  /// As allocate, filled with zeros, where that is cheaper than filling afterwards; else nullptr.
  virtual void* allocate_zeroed([[maybe_unused]] int ordinal, [[maybe_unused]] std::size_t bytes,
                                [[maybe_unused]] StreamState& stream) {
    return nullptr;
  }
  /// Gives it back, ordered after work queued on `stream` so far. Never throws, also at process
  /// end.
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
  virtual Ref<LaunchRow> launch_row([[maybe_unused]] int ordinal) { return {}; }

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
  /// given back by give_back_landing(); null where any memory serves as well.
  virtual void* landing([[maybe_unused]] int ordinal, [[maybe_unused]] std::size_t bytes) {
    return nullptr;
  }
  virtual void give_back_landing([[maybe_unused]] int ordinal, [[maybe_unused]] void* data,
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
