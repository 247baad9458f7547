// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spanwise/op_sdk/plugin_array.hpp"
#include "spanwise/plugin.h"

/// The operations available to an op during a call. Part of <spanwise/plugin.hpp>.
namespace spanwise {
namespace [[gnu::visibility("hidden")]] plugin {

/// The host's function table; set when the library is loaded.
inline const sw_host* host = nullptr;

/// Thrown where a host function failed. The host has stored the reason; the op only has to
/// propagate it.
struct HostFailed {};

inline void check_host(sw_status status) {
  if (status != SW_OK) throw HostFailed{};
}
inline Array check_host(const sw_array* array) {
  if (array == nullptr) throw HostFailed{};
  return Array(*array);
}

/// One integer per axis, from a braced list or a contiguous range.
class Extents {
 public:
  Extents(std::initializer_list<std::int64_t> values) noexcept
      : values_(values.begin(), values.size()) {}
  Extents(std::span<const std::int64_t> values) noexcept : values_(values) {}
  Extents(const std::vector<std::int64_t>& values) noexcept : values_(values) {}
  std::int32_t count() const noexcept { return static_cast<std::int32_t>(values_.size()); }
  const std::int64_t* data() const noexcept { return values_.data(); }

 private:
  std::span<const std::int64_t> values_;
};

/// Type inference for one node: the inputs' types, and the functions that set the outputs'.
class Infer {
 public:
  explicit Infer(const sw_infer& infer) noexcept : infer_(&infer) {}
  int input_count() const noexcept { return infer_->input_count; }
  Type input(int i) const noexcept { return Type(infer_->inputs[i]); }
  /// Sets the type of output i; an extent may be SW_ANY_EXTENT. Call it once for each output.
  void output(int i, sw_dtype dtype, Extents shape) const {
    const sw_type type{dtype, shape.count(), shape.data()};
    check_host(host->set_output_type(infer_->call, i, &type));
  }
  void output(int i, Type type) const { output(i, type.dtype(), type.shape()); }

 private:
  const sw_infer* infer_;
};

/// A node of a function that is being compiled.
class Bind {
 public:
  explicit Bind(const sw_bind& bind) noexcept : bind_(&bind) {}
  int input_count() const noexcept { return bind_->input_count; }
  Type input(int i) const noexcept { return Type(bind_->inputs[i]); }
  sw_device device() const noexcept { return bind_->device; }
  sw_call* call() const noexcept { return bind_->call; }

 private:
  const sw_bind* bind_;
};

/// One execution of one node.
class Run {
 public:
  explicit Run(const sw_run& run) noexcept : run_(&run) {}
  int input_count() const noexcept { return run_->input_count; }
  Array input(int i) const noexcept { return Array(run_->inputs[i]); }
  /// Whether input i is computed: always true unless the op is SW_LAZY.
  bool has_input(int i) const noexcept {
    return run_->computed == nullptr || run_->computed[i] != 0;
  }
  /// For an SW_LAZY op: returns true if input i is computed, else requests it and returns false.
  /// run() must then return; it is called again when the input is computed: `if
  /// (!run.need_input(0)) return;`
  bool need_input(int i) const {
    if (has_input(i)) return true;
    check_host(host->need_input(run_->call, i));
    return false;
  }
  sw_device device() const noexcept { return run_->device; }
  bool on_gpu() const noexcept { return run_->device.kind != 1; }  // 1: the CPU
  /// The CUstream to queue work on; null on the CPU.
  void* stream() const noexcept { return run_->stream; }
  sw_call* call() const noexcept { return run_->call; }
  /// The State that Op::bind returned.
  template <class State>
  State& state() const noexcept {
    return *static_cast<State*>(run_->state);
  }

  /// Allocates output i: C order, uninitialised.
  Array new_output(int i, Extents shape) const {
    return check_host(host->new_output(run_->call, i, shape.count(), shape.data()));
  }
  /// Makes output i the same array as input k; the pair must be declared in OpInfo::views or
  /// overwrites.
  Array output_from_input(int i, int k) const {
    return check_host(host->output_from_input(run_->call, i, k, 0, nullptr, nullptr, 0));
  }
  /// Makes output i a view of input k that begins `offset` elements after its first element.
  Array output_from_input(int i, int k, Extents shape, Extents strides, std::int64_t offset) const {
    if (shape.count() != strides.count())
      throw Error(SW_LAYOUT_ERROR, "output_from_input: expected as many strides as extents");
    return check_host(host->output_from_input(run_->call, i, k, shape.count(), shape.data(),
                                              strides.data(), offset));
  }
  /// Scratch memory, valid for the work that this run queues: C order, uninitialised.
  template <class T>
  Array scratch(Extents shape) const {
    return check_host(host->scratch(run_->call, dtype_of<T>(), shape.count(), shape.data()));
  }

 private:
  const sw_run* run_;
};

/// Launch configuration.
struct Launch {
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{256, 1, 1};
  std::int64_t shared_bytes = 0;  ///< dynamic shared memory per block
};

/// A CUDA C kernel of the plug-in, compiled once per device at first use. Thread-safe.
class Kernel {
 public:
  /// `name` is the name of the __global__ function or of a template instance: "scale<float>".
  Kernel(std::string source, std::string name, std::vector<std::string> options = {})
      : source_(std::move(source)), name_(std::move(name)), options_(std::move(options)) {}
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  ~Kernel() {
    for (const Compiled& compiled : compiled_) host->release_kernel(compiled.kernel);
  }

  /// Call in Op::bind, so that compile errors are reported when the function is compiled.
  void compile(const Bind& bind) const { kernel(bind.call(), bind.device()); }

  /// Queues the kernel on run.stream(). Arguments are arrays of this run (in C order for a pointer,
  /// with any strides for a spanwise::View<T, N>), numbers, and structs by value.
  template <class... Arguments>
  void launch(const Run& run, const Launch& config, const Arguments&... arguments) const {
    const sw_argument list[] = {argument(arguments)...};
    const auto &grid = config.grid, &block = config.block;
    const sw_launch launch{sizeof(sw_launch),
                           {grid[0], grid[1], grid[2]},
                           {block[0], block[1], block[2]},
                           config.shared_bytes};
    check_host(host->launch(run.call(), kernel(run.call(), run.device()), &launch, list,
                            static_cast<std::int32_t>(sizeof...(arguments))));
  }

  /// Launches one thread for each of `count` elements, 256 per block; does nothing for 0.
  template <class... Arguments>
  void launch_over(const Run& run, std::int64_t count, const Arguments&... arguments) const {
    constexpr std::int64_t threads = 256;
    if (count > 0)
      launch(run, {.grid = {(count + threads - 1) / threads, 1, 1}, .block = {threads, 1, 1}},
             arguments...);
  }

 private:
  struct Compiled {
    sw_device device;
    sw_compiled_kernel* kernel;
  };

  template <class T>
  static sw_argument argument(const T& value) {
    sw_argument argument{};
    if constexpr (std::is_same_v<T, Array>) {
      argument.kind = SW_ARRAY_ARGUMENT;
      argument.as.array = &value.c_array();
    } else if constexpr (std::is_integral_v<T>) {
      argument.kind = SW_INT_ARGUMENT;
      argument.as.integer = static_cast<std::int64_t>(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      argument.kind = SW_REAL_ARGUMENT;
      argument.as.real = static_cast<double>(value);
    } else {
      static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                    "expected an Array, a number or a struct by value");
      argument.kind = SW_BYTES_ARGUMENT;
      argument.as.bytes = &value;
      argument.byte_count = sizeof(T);
    }
    return argument;
  }

  sw_compiled_kernel* find(sw_device device) const {
    for (const Compiled& compiled : compiled_)
      if (compiled.device.kind == device.kind && compiled.device.ordinal == device.ordinal)
        return compiled.kernel;
    return nullptr;
  }

  sw_compiled_kernel* kernel(sw_call* call, sw_device device) const {
    {
      const std::lock_guard lock(mutex_);
      if (sw_compiled_kernel* cached = find(device)) return cached;
    }
    // Compiles without holding the mutex: a child forked meanwhile would find it locked.
    std::vector<const char*> options;
    for (const std::string& option : options_) options.push_back(option.c_str());
    const sw_kernel_source source{sizeof(sw_kernel_source), source_.c_str(), name_.c_str(),
                                  options.data(), static_cast<std::int32_t>(options.size())};
    sw_compiled_kernel* compiled = nullptr;
    check_host(host->compile(call, &source, &compiled));
    std::unique_ptr<sw_compiled_kernel, decltype(host->release_kernel)> owner(compiled,
                                                                              host->release_kernel);
    const std::lock_guard lock(mutex_);
    if (sw_compiled_kernel* cached = find(device)) return cached;  // another thread was faster
    compiled_.push_back({device, owner.get()});
    return owner.release();
  }

  std::string source_, name_;
  std::vector<std::string> options_;
  mutable std::mutex mutex_;
  mutable std::vector<Compiled> compiled_;
};

}  // namespace plugin
}  // namespace spanwise
