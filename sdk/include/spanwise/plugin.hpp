// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <initializer_list>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "spanwise/plugin.h"

namespace spanwise {

/// Arrays and types as seen by a plug-in's op. Part of <spanwise/plugin.hpp>; needs no library.
/// Symbols are hidden, so that two plug-ins in one process do not share inline functions.

namespace [[gnu::visibility("hidden")]] plugin {

/// The exception of ops: `status` selects the Python exception, `message` is its text.
class Error : public std::exception {
 public:
  Error(sw_status status, std::string message) : status_(status), message_(std::move(message)) {}
  sw_status status() const noexcept { return status_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  sw_status status_;
  std::string message_;
};

template <class T>
inline constexpr bool is_complex =
    std::is_same_v<T, std::complex<float>> || std::is_same_v<T, std::complex<double>>;

/// The dtype of T: bool, an integer, float, double, or std::complex of these.
template <class T>
constexpr sw_dtype dtype_of() {
  static_assert(std::is_arithmetic_v<T> || is_complex<T>,
                "expected bool, an integer, float, double or std::complex of these");
  // As sw_dtype::code.
  constexpr int code = std::is_same_v<T, bool>       ? 6
                       : is_complex<T>               ? 5
                       : std::is_floating_point_v<T> ? 2
                       : std::is_signed_v<T>         ? 0
                                                     : 1;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * sizeof(T)), 1};
}

inline bool operator==(sw_dtype a, sw_dtype b) noexcept {
  return a.code == b.code && a.bits == b.bits && a.lanes == b.lanes;
}

/// "float32", for messages.
inline std::string name(sw_dtype dtype) {
  constexpr const char* kinds[] = {"int", "uint", "float", "opaque", "bfloat", "complex", "bool"};
  if (dtype.code == 6 && dtype.bits == 8) return "bool";
  const std::string kind =
      dtype.code < 7 ? kinds[dtype.code] : "dtype " + std::to_string(dtype.code);
  return kind + std::to_string(dtype.bits);
}

// Out of line, so that a check that passes costs one comparison.
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_dtype(sw_dtype got, sw_dtype expected,
                                                              const char* value_name) {
  throw Error(SW_DTYPE_ERROR, std::string(value_name) + ": expected dtype " + name(expected) +
                                  ", got " + name(got));
}
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_rank(int got, int expected,
                                                             const char* value_name) {
  throw Error(SW_LAYOUT_ERROR, std::string(value_name) + ": expected " + std::to_string(expected) +
                                   (expected == 1 ? " axis, got " : " axes, got ") +
                                   std::to_string(got));
}

/// Throws Error unless the dtypes are equal; `value_name` begins the message.
inline void expect_dtype(sw_dtype got, sw_dtype expected, const char* value_name) {
  if (!(got == expected)) fail_dtype(got, expected, value_name);
}

/// Throws Error unless the ranks are equal.
inline void expect_rank(int got, int expected, const char* value_name) {
  if (got != expected) fail_rank(got, expected, value_name);
}

/// The static type of a value; an extent may be SW_ANY_EXTENT.
class Type {
 public:
  explicit Type(const sw_type& type) noexcept : type_(&type) {}
  sw_dtype dtype() const noexcept { return type_->dtype; }
  int rank() const noexcept { return type_->rank; }
  std::span<const std::int64_t> shape() const noexcept {
    return {type_->shape, static_cast<std::size_t>(rank())};
  }

 private:
  const sw_type* type_;
};

/// Strided access to elements in host memory: v(i, j).
template <class T, int N>
struct HostView {
  static_assert(N >= 1, "a view has at least one axis");
  T* data;
  const std::int64_t* shape;
  const std::int64_t* strides;

  template <class... Index>
  T& operator()(Index... index) const {
    static_assert(sizeof...(Index) == N, "expected one index per axis");
    int axis = 0;
    std::int64_t offset = 0;
    ((offset += static_cast<std::int64_t>(index) * strides[axis++]), ...);
    return data[offset];
  }
};

/// An array of one call. The call owns it; do not keep it longer.
class Array {
 public:
  explicit Array(const sw_array& array) noexcept : array_(&array) {}
  const sw_array& c_array() const noexcept { return *array_; }

  sw_dtype dtype() const noexcept { return array_->dtype; }
  int rank() const noexcept { return array_->rank; }
  std::span<const std::int64_t> shape() const noexcept {
    return {array_->shape, static_cast<std::size_t>(rank())};
  }
  /// In elements.
  std::span<const std::int64_t> strides() const noexcept {
    return {array_->strides, static_cast<std::size_t>(rank())};
  }
  std::int64_t size() const noexcept {
    std::int64_t size = 1;
    for (const std::int64_t extent : shape()) size *= extent;
    return size;
  }
  /// Whether the array is in C order: element i is data()[i].
  bool is_contiguous() const noexcept {
    std::int64_t step = 1;
    if (size() == 0) return true;
    for (int axis = rank() - 1; axis >= 0; --axis) {
      if (array_->shape[axis] != 1 && array_->strides[axis] != step) return false;
      step *= array_->shape[axis];
    }
    return true;
  }

  /// The address of element (0, ..., 0), on the call's device. Throws Error for another dtype.
  template <class T>
  T* data() const {
    expect_dtype(dtype(), dtype_of<std::remove_const_t<T>>(), "an array");
    return static_cast<T*>(array_->data);
  }
  /// A view for reading and writing on the host. Throws Error for another dtype or rank, or for GPU
  /// memory.
  template <class T, int N>
  HostView<T, N> view() const {
    expect_rank(rank(), N, "an array");
    if (array_->device.kind != 1)  // as sw_device::kind: no memory of the CPU
      throw Error(SW_DEVICE_ERROR, "an array: expected memory of the CPU, got memory of a GPU");
    return {data<T>(), array_->shape, array_->strides};
  }

 private:
  const sw_array* array_;
};

}  // namespace plugin

/// The operations available to an op during a call. Part of <spanwise/plugin.hpp>.

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

/// Ops in a separate shared library, loaded by sw.load_ops(): derive from Op, use SW_REGISTER_OP
/// for each, and SW_PLUGIN once. Includes no header of Spanwise's library and needs no linking: all
/// calls use the C interface of <spanwise/plugin.h>, and no exception crosses it.

namespace [[gnu::visibility("hidden")]] plugin {

/// State of one node, made by Op::bind; destroyed with the compiled function.
struct State {
  virtual ~State() = default;
};

/// An op with its properties. Several threads may call one op at the same time.
class Op {
 public:
  virtual ~Op() = default;
  /// Checks the inputs' types and sets the outputs'. Throws Error.
  virtual void infer(const Infer& infer) const = 0;
  /// Called once per node of a compiled function, before its first run: compile kernels, make a
  /// State.
  virtual std::unique_ptr<State> bind(const Bind&) const { return nullptr; }
  /// Computes the outputs; on a GPU, queues the work on the stream. Throws Error.
  virtual void run(const Run& run) const = 0;
};

/// A property that users pass by keyword, with its default.
struct Property {
  enum Required { boolean = SW_BOOL, integer, real, text, integers };

  /// A required property: {"length", Property::integer}.
  Property(const char* property_name, Required kind) : name(property_name), required(true) {
    value.kind = kind;
  }
  Property(const char* property_name, bool default_value) : name(property_name) {
    value.kind = SW_BOOL;
    value.as.integer = default_value;
  }
  template <class T>
    requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
  Property(const char* property_name, T default_value) : name(property_name) {
    value.kind = SW_INT;
    value.as.integer = static_cast<std::int64_t>(default_value);
  }
  Property(const char* property_name, double default_value) : name(property_name) {
    value.kind = SW_REAL;
    value.as.real = default_value;
  }
  /// `default_value` must have static lifetime, as a string literal has.
  Property(const char* property_name, const char* default_value) : name(property_name) {
    value.kind = SW_TEXT;
    value.as.text = default_value;
  }
  Property(const char* property_name, std::vector<std::int64_t> default_value)
      : name(property_name), list(std::move(default_value)) {
    value.kind = SW_INTS;
  }

  const char* name;
  sw_value value{};  ///< without the elements of a list
  std::vector<std::int64_t> list{};
  bool required = false;
};

/// The inputs of a gradient op: input `i` of the node, its output `i`, or the derivative of the
/// cost with respect to its output `i`.
constexpr sw_gradient_input from_input(std::int32_t i) noexcept { return {SW_FROM_INPUT, i}; }
constexpr sw_gradient_input from_output(std::int32_t i) noexcept { return {SW_FROM_OUTPUT, i}; }
constexpr sw_gradient_input from_gradient(std::int32_t i) noexcept { return {SW_FROM_GRADIENT, i}; }

/// The derivatives of an op, computed by another op of the library. Members as in sw_op.
struct Gradient {
  const char* op = nullptr;                 ///< its name; null: the op has no derivative
  std::vector<sw_gradient_input> inputs{};  ///< empty: inputs, outputs, derivatives of all outputs
  std::vector<std::int32_t> wrt{};          ///< empty: input 0, 1, ...
};

/// The description of an op. Strings must have static lifetime.
struct OpInfo {
  const char* name;
  const char* summary = "";
  int inputs = 1;
  int outputs = 1;
  std::vector<Property> properties{};
  std::vector<sw_alias> views{};                ///< {output, input}: may share memory
  std::vector<sw_alias> overwrites{};           ///< {output, input}: computed in the input's memory
  std::vector<std::int32_t> reusable_inputs{};  ///< see sw_op
  std::uint32_t flags = SW_ON_CPU | SW_ON_GPU;
  Gradient gradient{};
  const char* element_body = nullptr;        ///< "z = x * y": see sw_op; Op::run computes the same
  std::vector<const char*> element_names{};  ///< of the inputs, then the outputs
  std::vector<sw_condition> needed_if{};     ///< {input, condition, is_true}: see sw_op
};

/// The values of an op's properties.
class Properties {
 public:
  Properties(const sw_create& create, const OpInfo& info) noexcept : create_(create), info_(info) {}
  bool boolean(const std::string& name) const { return value(name, SW_BOOL).as.integer != 0; }
  std::int64_t integer(const std::string& name) const { return value(name, SW_INT).as.integer; }
  double real(const std::string& name) const { return value(name, SW_REAL).as.real; }
  std::string text(const std::string& name) const { return value(name, SW_TEXT).as.text; }
  std::vector<std::int64_t> integers(const std::string& name) const {
    const sw_value& list = value(name, SW_INTS);
    return {list.as.integers, list.as.integers + list.count};
  }

 private:
  const sw_value& value(const std::string& name, std::int32_t kind) const {
    for (std::size_t i = 0; i < info_.properties.size(); ++i)
      if (name == info_.properties[i].name && create_.values[i].kind == kind)
        return create_.values[i];
    throw Error(SW_ERROR, "OpInfo::properties has no " + name + " of the kind that is read");
  }

  const sw_create& create_;
  const OpInfo& info_;
};

/// Runs `work`; converts an exception to a status, and passes its message to the host.
template <class Work>
sw_status guarded(sw_call* call, Work&& work) noexcept {
  try {
    work();
    return SW_OK;
  } catch (const HostFailed&) {
    return SW_HOST_FAILED;
  } catch (const Error& error) {
    return host->fail(call, error.status(), error.what());
  } catch (const std::bad_alloc&) {
    return host->fail(call, SW_MEMORY_ERROR, "the host has no memory left");
  } catch (const std::invalid_argument& error) {
    return host->fail(call, SW_ARGUMENT_ERROR, error.what());
  } catch (const std::exception& error) {
    return host->fail(call, SW_ERROR, error.what());
  } catch (...) {
    return host->fail(call, SW_ERROR, "an exception that is no std::exception");
  }
}

/// Holds the sw_op table of an op.
class Registration {
 public:
  template <class OpClass>
  static Registration of(OpInfo info) {
    Registration registration(std::move(info));
    registration.table_.create = &create<OpClass>;
    return registration;
  }

  /// Valid while this object lives and is not moved.
  const sw_op& table() {
    properties_.clear();
    for (const Property& property : info_.properties) {
      sw_property& entry = properties_.emplace_back();
      entry = {property.name, property.value, property.required};
      if (property.value.kind != SW_INTS) continue;
      entry.value.count = static_cast<std::int32_t>(property.list.size());
      entry.value.as.integers = property.list.data();
    }
    table_.properties = properties_.data();
    table_.views = info_.views.data();
    table_.overwrites = info_.overwrites.data();
    table_.reusable_inputs = info_.reusable_inputs.data();
    table_.user_data = &info_;
    const Gradient& gradient = info_.gradient;
    table_.gradient_inputs = gradient.inputs.empty() ? nullptr : gradient.inputs.data();
    table_.element_names = info_.element_names.data();
    table_.needed_if = info_.needed_if.data();
    table_.gradient_wrt = gradient.wrt.empty() ? nullptr : gradient.wrt.data();
    return table_;
  }

 private:
  explicit Registration(OpInfo info) : info_(std::move(info)) {
    const auto count = [](const auto& list) { return static_cast<std::int32_t>(list.size()); };
    table_.struct_size = sizeof(sw_op);
    table_.flags = info_.flags;
    table_.name = info_.name;
    table_.summary = info_.summary;
    table_.input_count = info_.inputs;
    table_.output_count = info_.outputs;
    table_.property_count = count(info_.properties);
    table_.view_count = count(info_.views);
    table_.overwrite_count = count(info_.overwrites);
    table_.reusable_count = count(info_.reusable_inputs);
    table_.gradient_op = info_.gradient.op;
    table_.element_body = info_.element_body;
    table_.gradient_input_count = count(info_.gradient.inputs);
    table_.gradient_wrt_count = count(info_.gradient.wrt);
    table_.needed_if_count = count(info_.needed_if);
    table_.destroy = [](void* op) { delete static_cast<Op*>(op); };
    table_.infer = [](void* op, const sw_infer* infer) {
      return guarded(infer->call, [&] { static_cast<const Op*>(op)->infer(Infer(*infer)); });
    };
    table_.bind = [](void* op, const sw_bind* bind, void** state) {
      return guarded(bind->call,
                     [&] { *state = static_cast<const Op*>(op)->bind(Bind(*bind)).release(); });
    };
    table_.unbind = [](void* state) { delete static_cast<State*>(state); };
    table_.run = [](void* op, const sw_run* run) {
      return guarded(run->call, [&] { static_cast<const Op*>(op)->run(Run(*run)); });
    };
  }

  template <class OpClass>
  static sw_status create(void* info, const sw_create* create, void** op) {
    return guarded(create->call, [&] {
      const Properties properties(*create, *static_cast<const OpInfo*>(info));
      // As Op*, which is the type that the other functions of the table expect.
      Op* created = nullptr;
      if constexpr (std::is_constructible_v<OpClass, const Properties&>)
        created = new OpClass(properties);
      else
        created = new OpClass;
      *op = created;
    });
  }

  OpInfo info_;
  sw_op table_{};
  std::vector<sw_property> properties_;
};

/// The ops of this library, in order of registration. Never destroyed: ops outlive static objects.
inline std::vector<Registration>& registrations() {
  static auto& all = *new std::vector<Registration>;
  return all;
}

template <class OpClass>
bool register_op(OpInfo info) {
  registrations().push_back(Registration::of<OpClass>(std::move(info)));
  return true;
}

/// The body of the entry function: stores the host's functions and describes the registered ops.
inline sw_status describe(const char* name_space, const sw_host* functions, sw_call* call,
                          const sw_plugin** plugin) noexcept {
  host = functions;
  // A host of another major version reads only the version fields, and reports the mismatch itself.
  if (host->abi_major == SW_PLUGIN_ABI_MAJOR && host->struct_size < sizeof(sw_host))
    return host->fail(call, SW_ERROR,
                      "was built for a newer Spanwise; build it with this one's "
                      "headers, or install the newer");
  return guarded(call, [&] {
    static auto& tables = *new std::vector<const sw_op*>;
    static auto& library = *new sw_plugin{};
    for (Registration& op : registrations()) tables.push_back(&op.table());
    library = {SW_PLUGIN_ABI_MAJOR, SW_PLUGIN_ABI_MINOR,
               sizeof(sw_plugin),   static_cast<std::int32_t>(tables.size()),
               name_space,          tables.data()};
    *plugin = &library;
  });
}

}  // namespace plugin

}  // namespace spanwise

/// Registers an op, at namespace scope: SW_REGISTER_OP(Scale, {.name = "scale", .properties =
/// {{"factor", 2.0}}});
#define SW_REGISTER_OP(OpClass, ...) SW_REGISTER_OP_AT(__LINE__, OpClass, __VA_ARGS__)
#define SW_REGISTER_OP_AT(line, OpClass, ...) SW_REGISTER_OP_NAMED(line, OpClass, __VA_ARGS__)
#define SW_REGISTER_OP_NAMED(line, OpClass, ...)            \
  [[maybe_unused]] static const bool sw_op_of_line_##line = \
      ::spanwise::plugin::register_op<OpClass>(__VA_ARGS__)

/// Defines the entry function, once per library: SW_PLUGIN(signal) makes the ops
/// sw.ops.signal.<name>.
#define SW_PLUGIN(name_space)                                                               \
  extern "C" SW_PLUGIN_EXPORT sw_status spanwise_plugin(const sw_host* host, sw_call* call, \
                                                        const sw_plugin** plugin) {         \
    return ::spanwise::plugin::describe(#name_space, host, call, plugin);                   \
  }                                                                                         \
  static_assert(true, "so that a semicolon may follow")
