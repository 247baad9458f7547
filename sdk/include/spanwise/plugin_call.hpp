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

#include "spanwise/plugin.h"
#include "spanwise/plugin_array.hpp"

/// What an op may do while it is called. Part of <spanwise/plugin.hpp>.
namespace spanwise {
namespace [[gnu::visibility("hidden")]] plugin {

/// The host's functions; set when the library is loaded.
inline const sw_host* host = nullptr;

/// A function of the host failed. It has said why, so the op only has to let this through.
struct HostFailed {};

inline void check_host(sw_status status) {
  if (status != SW_OK) throw HostFailed{};
}
inline Array check_host(const sw_array* array) {
  if (array == nullptr) throw HostFailed{};
  return Array(*array);
}

/// A number for each axis, as a braced list or anything contiguous.
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

/// One use of an op in a graph: its inputs' types, and the place to say its outputs'.
class Infer {
 public:
  explicit Infer(const sw_infer& infer) noexcept : infer_(&infer) {}
  int input_count() const noexcept { return infer_->input_count; }
  Type input(int i) const noexcept { return Type(infer_->inputs[i]); }
  /// An extent may be SW_ANY_EXTENT. To be called for each output.
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

/// One run of one node.
class Run {
 public:
  explicit Run(const sw_run& run) noexcept : run_(&run) {}
  int input_count() const noexcept { return run_->input_count; }
  Array input(int i) const noexcept { return Array(run_->inputs[i]); }
  /// Whether input i is computed: always so but in an op that is SW_LAZY.
  bool has_input(int i) const noexcept {
    return run_->computed == nullptr || run_->computed[i] != 0;
  }
  /// For an op that is SW_LAZY: false where input i is not there yet. Then it has been asked for,
  /// and run() has to return, to be called again with it: `if (!run.need_input(0)) return;`
  bool need_input(int i) const {
    if (has_input(i)) return true;
    check_host(host->need_input(run_->call, i));
    return false;
  }
  sw_device device() const noexcept { return run_->device; }
  bool on_gpu() const noexcept { return run_->device.kind != 1; }
  /// The CUstream to queue on; null on the CPU.
  void* stream() const noexcept { return run_->stream; }
  sw_call* call() const noexcept { return run_->call; }
  /// What Op::bind made.
  template <class State>
  State& state() const noexcept {
    return *static_cast<State*>(run_->state);
  }

  /// The array to compute output i into: C order, not initialised.
  Array new_output(int i, Extents shape) const {
    return check_host(host->new_output(run_->call, i, shape.count(), shape.data()));
  }
  /// Output i is input k itself, declared in OpInfo::views or overwrites.
  Array output_from_input(int i, int k) const {
    return check_host(host->output_from_input(run_->call, i, k, 0, nullptr, nullptr, 0));
  }
  /// Output i is a window onto input k that begins `offset` elements after it.
  Array output_from_input(int i, int k, Extents shape, Extents strides, std::int64_t offset) const {
    if (shape.count() != strides.count())
      throw Error(SW_LAYOUT_ERROR, "a window: expected as many strides as extents");
    return check_host(host->output_from_input(run_->call, i, k, shape.count(), shape.data(),
                                              strides.data(), offset));
  }
  /// Memory for this run.
  template <class T>
  Array scratch(Extents shape) const {
    return check_host(host->scratch(run_->call, dtype_of<T>(), shape.count(), shape.data()));
  }

 private:
  const sw_run* run_;
};

/// How many blocks of how many threads run a kernel.
struct Launch {
  std::array<std::int64_t, 3> grid{1, 1, 1};
  std::array<std::int64_t, 3> block{256, 1, 1};
  std::int64_t shared_bytes = 0;  ///< dynamic shared memory of a block
};

/// A CUDA C kernel of the plug-in, compiled once for each device that it meets; safe on any
/// thread.
class Kernel {
 public:
  /// `name` is the __global__ function's, or of an instance: "scale<float>".
  Kernel(std::string source, std::string name, std::vector<std::string> options = {})
      : source_(std::move(source)), name_(std::move(name)), options_(std::move(options)) {}
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;
  ~Kernel() {
    for (const Compiled& compiled : compiled_) host->release_kernel(compiled.kernel);
  }

  /// In Op::bind, so that what does not compile is found when a function is made.
  void compile(const Bind& bind) const { kernel(bind.call(), bind.device()); }

  /// Queues the kernel. Arguments are arrays of this run (for a pointer, or any strides for a
  /// spanwise::View<T, N>), numbers, and structs by value.
  template <class... Arguments>
  void launch(const Run& run, const Launch& size, const Arguments&... arguments) const {
    const sw_argument list[] = {argument(arguments)...};
    const auto &grid = size.grid, &block = size.block;
    const sw_launch launch{sizeof(sw_launch),
                           {grid[0], grid[1], grid[2]},
                           {block[0], block[1], block[2]},
                           size.shared_bytes};
    check_host(host->launch(run.call(), kernel(run.call(), run.device()), &launch, list,
                            static_cast<std::int32_t>(sizeof...(arguments))));
  }

  /// A thread for each of `count` elements; nothing where there is none.
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
    sw_argument made{};
    if constexpr (std::is_same_v<T, Array>) {
      made.kind = SW_ARRAY_ARGUMENT;
      made.as.array = &value.c_array();
    } else if constexpr (std::is_integral_v<T>) {
      made.kind = SW_INT_ARGUMENT;
      made.as.integer = static_cast<std::int64_t>(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      made.kind = SW_REAL_ARGUMENT;
      made.as.real = static_cast<double>(value);
    } else {
      static_assert(std::is_trivially_copyable_v<T> && !std::is_pointer_v<T>,
                    "expected an Array, a number or a struct by value");
      made.kind = SW_BYTES_ARGUMENT;
      made.as.bytes = &value;
      made.byte_count = sizeof(T);
    }
    return made;
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
      if (sw_compiled_kernel* known = find(device)) return known;
    }
    // Without the mutex, which a forked child could find locked for as long as a compile takes.
    std::vector<const char*> options;
    for (const std::string& option : options_) options.push_back(option.c_str());
    const sw_kernel_source source{sizeof(sw_kernel_source), source_.c_str(), name_.c_str(),
                                  options.data(), static_cast<std::int32_t>(options.size())};
    sw_compiled_kernel* compiled = nullptr;
    check_host(host->compile(call, &source, &compiled));
    std::unique_ptr<sw_compiled_kernel, decltype(host->release_kernel)> made(compiled,
                                                                             host->release_kernel);
    const std::lock_guard lock(mutex_);
    if (sw_compiled_kernel* known = find(device)) return known;  // another thread was sooner
    compiled_.push_back({device, made.get()});
    return made.release();
  }

  std::string source_, name_;
  std::vector<std::string> options_;
  mutable std::mutex mutex_;
  mutable std::vector<Compiled> compiled_;
};

}  // namespace gnu::visibility("hidden")]]plugin
}  // namespace spanwise
