// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spanwise/core/array.hpp"
#include "spanwise/core/dtype.hpp"
#include "spanwise/core/export.hpp"
#include "spanwise/core/ref.hpp"
#include "spanwise/core/scalar.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/kernel_types.hpp"
#include "spanwise/runtime/stream.hpp"

namespace spanwise {

/// How a kernel is launched.
struct LaunchConfig {
  Dim3 grid{};
  Dim3 block{};
  std::int64_t shared_bytes = 0;   ///< dynamic shared memory per block
  std::optional<Stream> stream{};  ///< default: the calling thread's current stream
  /// Cooperative launch: all blocks are resident, so cooperative_groups::this_grid().sync() works.
  /// The grid must have at most multiprocessors * max_active_blocks() blocks. Ignored on the CPU.
  bool cooperative = false;
  Dim3 cluster{};  ///< blocks per cluster (compute capability 9.0); 1 x 1 x 1: none
};

/// Result of occupancy_block_size().
struct BlockSize {
  int threads = 0;     ///< threads per block with the highest occupancy
  int min_blocks = 0;  ///< smallest grid that reaches this occupancy on the whole device
};

template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;

/// One kernel argument. An array is passed as the address of element (0, ..., 0), or for a
/// parameter of type spanwise::View<T, N> (<spanwise/view.cuh>) as address, shape and strides.
///
/// Numbers are converted to the parameter's type if it keeps their value: integers exactly (also to
/// floating parameters); reals are rounded to the parameter's precision, but not to infinity and
/// not to an integer. Where neither source nor binary gives the parameter's type, only its size is
/// checked: a number with a definite C type must have that size, and integer() and real() adopt it.
class SW_API KernelArg {
 public:
  enum class Kind { array, memory, scalar, integer, real, bytes, address };

  /// The array must stay alive until the launch call returns; after that stream order protects its
  /// storage.
  KernelArg(const Array& array) noexcept : kind_(Kind::array), array_(&array) {}
  /// The array's memory for a pointer of any type: checked like an array, except for the dtype.
  static KernelArg memory(const Array& array) noexcept;
  /// A number with a definite C type, such as a NumPy scalar.
  KernelArg(const Scalar& scalar) noexcept : kind_(Kind::scalar), scalar_(scalar) {}
  template <Arithmetic T>
  KernelArg(T value) noexcept : KernelArg(Scalar(value)) {}
  /// The null pointer.
  KernelArg(std::nullptr_t) noexcept : KernelArg(address(0)) {}
  /// Deleted, since a raw pointer has neither size nor device; use address(), and order the streams
  /// yourself.
  KernelArg(const volatile void*) = delete;
  /// A Python int, without a definite C type. For a pointer parameter it is an address
  /// (`array.ptr`).
  static KernelArg integer(std::int64_t value) noexcept;
  /// A Python float, without a definite C type.
  static KernelArg real(double value) noexcept;
  /// A struct by value; the bytes must stay valid until the launch call returns.
  static KernelArg bytes(std::span<const std::byte> bytes) noexcept;
  /// A raw device address, of which only the size is checked; 0 is the null pointer.
  static KernelArg address(std::uintptr_t address) noexcept;
  /// An address within the memory of `array`, or a struct that begins with one, such as a View. The
  /// caller has checked the array and ordered the stream; config "kernel_check" needs the array.
  static KernelArg address(std::uintptr_t address, const Array& array) noexcept;
  static KernelArg bytes(std::span<const std::byte> bytes, const Array& array) noexcept;

  Kind kind() const noexcept { return kind_; }
  bool is_array() const noexcept { return kind_ == Kind::array || kind_ == Kind::memory; }
  /// For Kind::array and Kind::memory only.
  const Array& array() const noexcept { return *array_; }
  /// The array that the argument is, or that its address belongs to; null where that is unknown.
  const Array* known_array() const noexcept { return array_; }
  /// The value of a scalar, integer (int64), real (float64) or address (uint64).
  const Scalar& scalar() const noexcept { return scalar_; }
  std::span<const std::byte> raw() const noexcept { return bytes_; }

 private:
  KernelArg(Kind kind, const Scalar& scalar) noexcept : kind_(kind), scalar_(scalar) {}
  Kind kind_;
  const Array* array_ = nullptr;
  Scalar scalar_{std::int64_t{0}};
  std::span<const std::byte> bytes_{};
};

/// The values of a kernel's parameters, in order, for Kernel::launch_raw(): each is added by the
/// address of its bytes. Values and arrays must live until the launch call returns.
class RawArguments {
 public:
  static constexpr std::size_t max_count = 64;

  RawArguments() = default;
  RawArguments(const RawArguments&) = delete;
  RawArguments& operator=(const RawArguments&) = delete;

  /// A value that holds no address of an array.
  void add(const void* value) { add(value, nullptr); }
  /// A value that begins with an address within the memory of `array`: a pointer, or a struct such
  /// as a View.
  void add(const void* value, const Array& array) { add(value, &array); }
  /// All values of `other`.
  void add(const RawArguments& other) {
    for (std::size_t i = 0; i < other.count_; ++i) add(other.values_[i], other.arrays_[i]);
  }

  std::span<void* const> values() const noexcept { return {values_.data(), count_}; }
  /// For each value the array, or null.
  std::span<const Array* const> arrays() const noexcept { return {arrays_.data(), count_}; }

 private:
  void add(const void* value, const Array* array) {
    values_.at(count_) = const_cast<void*>(value);
    arrays_[count_++] = array;
  }

  std::array<void*, max_count> values_;
  std::array<const Array*, max_count> arrays_;
  std::size_t count_ = 0;
};

/// How an array is passed to a parameter.
enum class ParameterLayout : std::uint8_t {
  none,  ///< not an array: a number or a struct
  raw,   ///< address only; throws for an array that is not C-contiguous
  /// address only; an array that is not C-contiguous is copied in and, unless the parameter is
  /// const, copied back
  contiguous,
  strided,  ///< spanwise::View<T, N>: address, shape and strides, any array
};

/// One parameter of a kernel: name and type from the source, offset and size from the binary.
struct KernelParameter {
  std::string name;         ///< "" where unknown
  std::string type;         ///< as written, e.g. "const float *"
  std::int64_t offset = 0;  ///< in bytes, in the argument block
  std::int64_t size = 0;    ///< bytes
  bool is_pointer = false;
  bool is_const = false;         ///< a pointer to const
  std::optional<DType> dtype{};  ///< of the number or the pointee, if known
  int view_rank = 0;             ///< N where the type is spanwise::View<T, N>, 0 for every other
  ParameterLayout layout = ParameterLayout::none;
};

/// How a SourceModule is compiled.
struct ModuleOptions {
  std::vector<std::string>
      options{};                     ///< compiler options: -D, -U, -I and -std= reach both devices
  std::vector<std::string> names{};  ///< template instances to compile, e.g. "scale<float>"
  std::vector<std::string> include_dirs{};
  std::optional<Device> device{};  ///< default: default_device()
  bool keep = false;               ///< keep the generated files; prints their folder to stderr
  /// Further translation units: CUDA C++ texts, each compiled separately with the same options, and
  /// for a GPU compiled device code (relocatable cubins, PTX, LTO-IR, fat binaries, objects,
  /// archives), recognised by its contents. Messages call them "link[0].cu", ...
  std::vector<std::string> link{};
  std::string file_name = "kernel.cu";  ///< the name of the source in messages
  /// The source is the user's: config cpu_coverage counts how often its lines run.
  bool is_covered = false;

  bool operator==(const ModuleOptions&) const = default;
};

namespace kernels {
class ModuleState;
class KernelState;
}  // namespace kernels

class Module;

/// A compiled kernel. Copying shares it; it keeps its module loaded.
class SW_API Kernel {
 public:
  explicit Kernel(Ref<kernels::KernelState> state) noexcept;

  /// Checks the arguments against the kernel (count, size, dtype, device, layout, read-only),
  /// orders the launch after queued work on its arrays, and queues it. Does not wait for the
  /// device. Throws KernelArgumentError or ReadOnlyError before anything is launched, DeviceError
  /// from the driver.
  ///
  /// Throws for an array that is not C-contiguous where the parameter is a raw pointer, which
  /// carries no strides: see ParameterLayout and bind(). Arrays for a parameter declared contiguous
  /// are copied on the launch's stream; a view that is passed twice is copied once.
  void launch(const LaunchConfig& config, std::span<const KernelArg> arguments) const;
  void operator()(const LaunchConfig& config, std::initializer_list<KernelArg> arguments) const {
    launch(config, std::span(arguments.begin(), arguments.size()));
  }

  /// Launches without checking the arguments. Only the configuration and the number of values are
  /// checked, and streams are not ordered: call order_use() for each array before. Under config
  /// "kernel_check" the arrays that the arguments name are checked as by launch(). Throws
  /// KernelArgumentError or, from the driver, DeviceError.
  void launch_raw(const LaunchConfig& config, const RawArguments& arguments) const;

  /// The same kernel with one declaration per parameter: "raw float32*", "contiguous const float*",
  /// "strided float32[2]", "int32", or only a layout where the source gives the type. Types are
  /// NumPy's or C's names. Declarations add to what source and binary say (also for kernels without
  /// source) and must not contradict it. Throws KernelArgumentError.
  Kernel bind(std::span<const std::string> declarations) const;

  const std::string& name() const noexcept;
  Device device() const noexcept;
  /// CUfunction as an integer, valid as long as this object; 0 on the CPU.
  std::uintptr_t handle() const noexcept;
  std::span<const KernelParameter> parameters() const noexcept;
  Module module() const;
  /// The text that its module was compiled from; "" for one that was loaded.
  std::string_view source() const noexcept;
  KernelAttributes attributes() const;
  /// Number of blocks of `threads` threads that are resident on one multiprocessor. Throws
  /// KernelArgumentError for a block that cannot be launched.
  int max_active_blocks(int threads, std::int64_t shared_bytes = 0) const;
  /// The block size with the highest occupancy, from CUDA's occupancy calculator; on the CPU a
  /// fixed medium size.
  BlockSize occupancy_block_size(std::int64_t shared_bytes = 0) const;
  kernels::KernelState& state() const noexcept;

 private:
  Ref<RefCounted> state_;  // a kernels::KernelState, which is incomplete here
};

/// Compiled kernels loaded on one device. Copying shares them.
class SW_API Module {
 public:
  /// Loads a cubin, PTX, fat binary or LTO-IR, as nvcc, ptxas, NVRTC or nvJitLink write them.
  /// Throws DeviceError naming the architectures in the image where none runs on the device, or the
  /// library that LTO-IR needs; ArgumentError for a device that is not a GPU or an unknown format.
  static Module load(std::span<const std::byte> image, std::optional<Device> device = {});
  static Module load_file(const std::string& path, std::optional<Device> device = {});

  /// Finds a kernel by plain name, qualified name, mangled symbol or name expression. Throws
  /// ArgumentError listing the module's kernels.
  Kernel get_function(std::string_view name) const;
  /// A __device__ or __constant__ variable as a uint8 array over its bytes. Throws ArgumentError
  /// where there is none of that name.
  Array get_global(std::string_view name) const;
  std::vector<std::string> function_names() const;
  Device device() const noexcept;
  /// CUmodule as an integer, valid as long as this object; 0 on the CPU. Throws DeviceError.
  std::uintptr_t handle() const;

 protected:
  friend class Kernel;
  explicit Module(Ref<RefCounted> state) noexcept : state_(std::move(state)) {}
  Ref<RefCounted> state_;  // a kernels::ModuleState, which is incomplete here
};

/// CUDA C/C++ source compiled for one device: by NVRTC to a cubin for a GPU, by the system's C++
/// compiler to native code for the CPU. With ModuleOptions::link several translation units are
/// linked: by nvJitLink, which also optimises across them, else by the driver. Binaries are cached
/// on disk, so that a second process needs no compiler.
class SW_API SourceModule : public Module {
 public:
  /// Throws CompileError with the compiler's or linker's log, with the line numbers of `source`;
  /// DeviceError where the device or its compiler is missing (naming the package to install).
  explicit SourceModule(std::string_view source, ModuleOptions options = {});
  /// Whether the binary was read from the disk cache.
  bool from_cache() const noexcept;
};

/// The disk cache of compiled kernels: config "cache_dir" (default $XDG_CACHE_HOME/spanwise, else
/// ~/.cache/spanwise) and "cache_limit_mb" (0: no caching). Compiling the same source again in a
/// process, with the same options and for the same device, returns the module that is already
/// loaded.
namespace kernel_cache {
struct Info {
  std::string path;
  std::int64_t entries = 0, bytes = 0;  ///< on disk now
  std::int64_t hits = 0, misses = 0;    ///< lookups of this process in the disk cache
  std::string problem{};  ///< why nothing is cached on disk, one sentence; "" where it is
};
SW_API Info info();
/// Removes every entry.
SW_API void clear();
}  // namespace kernel_cache

}  // namespace spanwise
