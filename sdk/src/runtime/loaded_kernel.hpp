// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "runtime/source/kernel_source.hpp"
#include "runtime/stream_state.hpp"
#include "spanwise/kernel_types.hpp"
#include "spanwise/ref.hpp"

/// Kernels as a back end has them: what its compiler is asked for and makes, and what is loaded of
/// that and launched.
namespace spanwise::runtime {

/// Memory around an array that a kernel must leave alone: what lies in [begin, end), but not in
/// [data, data_end).
struct RedZone {
  const void *begin = nullptr, *end = nullptr, *data = nullptr, *data_end = nullptr;
  int argument = 0;  ///< of the kernel, from 0
};

/// A launch that looks for faults, where the device can (LoadedKernel::launch_with).
struct LaunchCheck {
  /// In which order threads that may run are run, and blocks.
  enum class Order { forward, reverse, random };
  Order order = Order::forward;
  std::uint64_t seed = 0;  ///< of the random order
  std::span<const RedZone> red_zones{};
};

/// What few launches ask for.
struct LaunchAttributes {
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
  virtual void launch_with([[maybe_unused]] const LaunchAttributes& attributes, const Dim3& grid,
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
class LaunchBatch : public RefCounted {
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
};

}  // namespace spanwise::runtime
