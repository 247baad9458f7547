// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/streams/stream_state.hpp"
#include "parse/kernel_source.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/runtime/kernel_types.hpp"

/// The interface of a back end's compiler and of its loaded kernels.
namespace spanwise::runtime {

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

/// The compiler option for kernels that support LaunchCheck.
inline constexpr const char* check_option = "-DSW_KERNEL_CHECK";

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

}  // namespace spanwise::runtime
