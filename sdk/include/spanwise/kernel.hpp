// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "spanwise/array.hpp"
#include "spanwise/devices.hpp"
#include "spanwise/dtype.hpp"
#include "spanwise/export.hpp"
#include "spanwise/kernel_types.hpp"
#include "spanwise/ref.hpp"
#include "spanwise/scalar.hpp"
#include "spanwise/stream.hpp"

namespace spanwise {

struct LaunchConfig {
  Dim3 grid{};
  Dim3 block{};
  std::int64_t shared_bytes = 0;   ///< dynamic shared memory a block
  std::optional<Stream> stream{};  ///< default: the calling thread's current stream
  /// All blocks run at once, so that cooperative_groups::this_grid().sync() works. The grid must
  /// fit: multiprocessors times max_active_blocks(). On the CPU it changes nothing.
  bool cooperative = false;
  Dim3 cluster{};  ///< blocks that share a cluster (compute capability 9.0); 1 each: none
};

/// A block size and what it leads to.
struct BlockSize {
  int threads = 0;     ///< of the block that keeps most threads of a multiprocessor busy
  int min_blocks = 0;  ///< the smallest grid that fills the device
};

template <class T>
concept Arithmetic = std::is_arithmetic_v<T>;

/// One kernel argument. Arrays are passed as the address of element (0, ..., 0), and to a parameter
/// of type spanwise::View<T, N> (<spanwise/view.cuh>) as address, shape and strides.
///
/// Numbers go to a parameter that keeps their value: integers exactly (also to a floating
/// parameter), reals rounded to the parameter's precision but never to infinity and never to an
/// integer. Where neither source nor binary tells a type, only its size counts: there a number
/// whose C type is decided must have that size, and an int or real without one takes it.
class SW_API KernelArg {
 public:
  enum class Kind { array, memory, scalar, integer, real, bytes, address };

  /// The array must stay alive until the launch call returns; its storage is then held by the order
  /// of streams.
  KernelArg(const Array& array) noexcept : kind_(Kind::array), array_(&array) {}
  /// The array's memory for a pointer to anything: checked as an array is, but for its dtype.
  static KernelArg memory(const Array& array) noexcept;
  /// A value whose C type is decided, such as a NumPy scalar.
  KernelArg(const Scalar& scalar) noexcept : kind_(Kind::scalar), scalar_(scalar) {}
  template <Arithmetic T>
  KernelArg(T value) noexcept : KernelArg(Scalar(value)) {}
  /// The null pointer.
  KernelArg(std::nullptr_t) noexcept : KernelArg(address(0)) {}
  /// A raw pointer says neither its size nor its device: say address(), and mind the order of
  /// streams.
  KernelArg(const volatile void*) = delete;
  /// A Python int. For a pointer parameter it is an address, as `array.ptr` gives it.
  static KernelArg integer(std::int64_t value) noexcept;
  /// A Python float.
  static KernelArg real(double value) noexcept;
  /// A struct by value; the bytes must stay until the launch call returns.
  static KernelArg bytes(std::span<const std::byte> bytes) noexcept;
  /// A raw device address, unchecked but for size; 0 is a null pointer.
  static KernelArg address(std::uintptr_t address) noexcept;

  Kind kind() const noexcept { return kind_; }
  bool is_array() const noexcept { return kind_ == Kind::array || kind_ == Kind::memory; }
  /// Of an array or memory.
  const Array& array() const noexcept { return *array_; }
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

/// How a parameter takes an array.
enum class ParameterLayout : std::uint8_t {
  none,        ///< a number or a struct: no array
  raw,         ///< address only: a C-contiguous array, others are refused
  contiguous,  ///< address only: others are copied in and, unless the parameter is const, back out
  strided,     ///< spanwise::View<T, N>: address, shape and strides, any array
};

/// What is known of one parameter: name and type from the source, place and size from the binary.
struct KernelParameter {
  std::string name;         ///< "" where the source does not say
  std::string type;         ///< as written, e.g. "const float *"
  std::int64_t offset = 0;  ///< bytes into the argument block
  std::int64_t size = 0;    ///< bytes
  bool is_pointer = false;
  bool is_const = false;         ///< a pointer to const: the kernel only reads
  std::optional<DType> dtype{};  ///< of the scalar or the pointee, where the type is a known one
  int view_rank = 0;             ///< N where the type is spanwise::View<T, N>, 0 for every other
  ParameterLayout layout = ParameterLayout::none;
};

struct ModuleOptions {
  std::vector<std::string>
      options{};                     ///< compiler options: -D, -U, -I and -std= reach both devices
  std::vector<std::string> names{};  ///< template instances to compile, e.g. "scale<float>"
  std::vector<std::string> include_dirs{};
  std::optional<Device> device{};  ///< default: default_device()
  bool keep = false;               ///< keep and name the generated files
  /// Further translation units: CUDA C++ texts, compiled each by itself with the same options, and
  /// for a GPU device code that is compiled already (relocatable cubins, PTX, LTO-IR, fat binaries,
  /// objects, archives), as their contents tell. Messages call them "link[0].cu", ...
  std::vector<std::string> link{};
};

namespace kernels {
class ModuleState;
class FunctionState;
}  // namespace kernels

/// A compiled kernel, callable. Copying shares it; it keeps its module loaded.
class SW_API Function {
 public:
  explicit Function(Ref<kernels::FunctionState> state) noexcept;

  /// Checks the arguments against the kernel (count, size, dtype, device, layout, read-only),
  /// orders the launch after queued work on its arrays, and queues it. Throws KernelArgumentError
  /// or ReadOnlyError before anything is launched, DeviceError from the driver.
  ///
  /// An array that is not C-contiguous is refused for a raw pointer, which cannot carry strides:
  /// see ParameterLayout and bind(). Arrays of a parameter that is declared contiguous are copied
  /// on the launch's stream; the same window given twice is copied once.
  void launch(const LaunchConfig& config, std::span<const KernelArg> arguments) const;
  void operator()(const LaunchConfig& config, std::initializer_list<KernelArg> arguments) const {
    launch(config, std::span(arguments.begin(), arguments.size()));
  }

  /// For who wrote the kernel as well: values[i] is the address of parameter i's bytes, as the
  /// kernel has it, until the call returns. Only the configuration and the count are checked, and
  /// nothing is ordered: call order_use() for each array before. Under config "kernel_check" it is
  /// launch(). Throws KernelArgumentError or, from the driver, DeviceError.
  void launch_raw(const LaunchConfig& config, std::span<void* const> values) const;

  /// The same kernel with a declaration for each parameter: "raw float32*", "contiguous const
  /// float*", "strided float32[2]", "int32", or a layout's word alone where the source says the
  /// rest. Types are NumPy's or C's. Declarations add to what is known, also of kernels without
  /// source, and must not contradict it. Throws KernelArgumentError.
  Function bind(std::span<const std::string> declarations) const;

  const std::string& name() const noexcept;
  Device device() const noexcept;
  /// CUfunction as an integer, valid as long as this object; 0 on the CPU.
  std::uintptr_t handle() const noexcept;
  std::span<const KernelParameter> parameters() const noexcept;
  KernelAttributes attributes() const;
  /// Blocks of that size that run at once on one multiprocessor. Throws KernelArgumentError for a
  /// block that cannot be launched.
  int max_active_blocks(int threads, std::int64_t shared_bytes = 0) const;
  /// CUDA's occupancy calculator over all block sizes; on the CPU one of middle size.
  BlockSize occupancy_block_size(std::int64_t shared_bytes = 0) const;
  kernels::FunctionState& state() const noexcept;

 private:
  Ref<RefCounted> state_;  // a kernels::FunctionState, which this header only names
};

/// Compiled kernels loaded on one device. Copying shares them.
class SW_API Module {
 public:
  /// A cubin, PTX, fat binary or LTO-IR, as nvcc, ptxas, NVRTC or nvJitLink write them. Throws
  /// DeviceError saying which architectures it holds where none runs on the device, or which
  /// library LTO-IR needs, ArgumentError for a device that is no GPU or bytes that are none of
  /// these.
  static Module load(std::span<const std::byte> image, std::optional<Device> device = {});
  static Module load_file(const std::string& path, std::optional<Device> device = {});

  /// By plain name, qualified name, mangled symbol or name expression. Throws ArgumentError listing
  /// the kernels there are.
  Function get_function(std::string_view name) const;
  /// A __device__ or __constant__ variable as a uint8 array over its bytes. Throws ArgumentError.
  Array get_global(std::string_view name) const;
  std::vector<std::string> function_names() const;
  Device device() const noexcept;
  /// CUmodule as an integer, valid as long as this object; 0 on the CPU. Throws DeviceError.
  std::uintptr_t handle() const;

 protected:
  explicit Module(Ref<RefCounted> state) noexcept : state_(std::move(state)) {}
  Ref<RefCounted> state_;  // a kernels::ModuleState, which this header only names
};

/// CUDA C/C++ text compiled for one device: by NVRTC to a cubin for a GPU, by the system's C++
/// compiler to native code for the CPU. With ModuleOptions::link, several of them linked: by
/// nvJitLink, which also optimises across them, else by the driver. Compiled binaries are cached on
/// disk, so a second process needs no compiler.
class SW_API SourceModule : public Module {
 public:
  /// Throws CompileError with the compiler's or linker's log in the user's line numbers,
  /// DeviceError where the device or its compiler is absent (naming the package to install).
  explicit SourceModule(std::string_view source, ModuleOptions options = {});
  /// True where the binary came from the disk cache.
  bool from_cache() const noexcept;
};

/// The disk cache of compiled kernels: config "cache_dir" (default $XDG_CACHE_HOME/spanwise, else
/// ~/.cache/spanwise) and "cache_limit_mb" (0: keep nothing). A source compiled again in the same
/// process with the same options, for the same device, gives the module that is loaded already.
namespace kernel_cache {
struct Info {
  std::string path;
  std::int64_t entries = 0, bytes = 0;  ///< on disk now
  std::int64_t hits = 0, misses = 0;    ///< of this process, on disk
  std::string problem{};  ///< why nothing is kept on disk, one sentence; "" where it is
};
SW_API Info info();
/// Removes every entry.
SW_API void clear();
}  // namespace kernel_cache

}  // namespace spanwise
