// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/kernel_launch.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "core/string_utils.hpp"
#include "runtime/stream_order.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/profiler_range.hpp"

namespace spanwise::kernels {
namespace {

using Rule = ParameterRule::Kind;

// Whether a kernel on `kernel_device` can access memory of device `memory`.
bool is_reachable(Device memory, Device kernel_device) noexcept {
  // Pinned and managed memory has the same address on the host and every GPU (CUDA programming
  // guide, unified virtual addressing).
  return memory == kernel_device || memory.kind() == DeviceKind::cuda_host ||
         memory.kind() == DeviceKind::cuda_managed;
}
// Whether a pointer or view parameter accepts elements of `dtype`.
bool accepts_elements(const ParameterRule& rule, DType dtype) noexcept {
  return !rule.has_dtype || dtype == rule.dtype || (rule.any_byte && dtype.itemsize() == 1);
}

// No allocator returns lower addresses, so a smaller number passed for a pointer is an argument in
// the wrong position.
constexpr std::uintptr_t lowest_address = 65536;

std::string described(const KernelParameter& parameter) {
  if (parameter.type.empty()) return text(parameter.size, " bytes of unknown type");
  const bool needs_space = !parameter.type.ends_with('*') && !parameter.name.empty();
  return text("'", parameter.type, needs_space ? " " : "", parameter.name, "'");
}

// The parameter list in C syntax, for a wrong number of arguments.
std::string signature_text(const KernelState& function) {
  return text('(', joined(function.signature().parameters, ", ", described), ')');
}

/// An argument that does not match its parameter; the members throw the error that says why.
class ArgumentMismatch {
 public:
  ArgumentMismatch(const KernelState& function, std::size_t index, const KernelArg& argument)
      : function_(function),
        index_(index),
        argument_(argument),
        rule_(function.signature().rules[index]),
        parameter_(function.signature().parameters[index]) {}

  [[noreturn]] void explain() const {
    if (argument_.is_array()) explain_array(argument_.array());
    if (argument_.kind() == KernelArg::Kind::bytes) explain_bytes();
    if (argument_.kind() == KernelArg::Kind::address)
      refuse(expected_text(), "an address of 8 bytes", "pass a value of the parameter's type");
    explain_number(argument_.scalar());
  }

 private:
  template <class E = KernelArgumentError>
  [[noreturn]] void refuse(const std::string& expected, const std::string& got,
                           const std::string& remedy) const {
    fail<E>("kernel '", function_.name(), "', argument ", index_ + 1, " of ",
            function_.signature().parameters.size(), " (", described(parameter_), "): expected ",
            expected, ", got ", got, ". Remedy: ", remedy);
  }

  std::string expected_text() const {
    if (rule_.kind == Rule::scalar) return text("a number that ", rule_.dtype, " holds");
    if (rule_.kind == Rule::opaque) return text("a value of ", rule_.size, " bytes");
    const std::string dtype = rule_.has_dtype ? rule_.dtype.name() + " " : "";
    const std::string axes =
        rule_.kind == Rule::view ? text(" with ", int{rule_.view_rank}, " axes") : "";
    return text("a ", dtype, "array", axes, " on ", function_.device());
  }

  [[noreturn]] void explain_array(const Array& array) const {
    const std::string got = text("an array: ", array);
    for (const char* object : {"Texture", "Surface"})
      if (parameter_.type.find(text("cuda", object, "Object_t")) != std::string::npos)
        refuse(text("a spanwise.", object), got,
               text("make one of the array, sw.", object, "(x), and keep it while kernels run"));
    if (rule_.kind == Rule::scalar)
      refuse(expected_text(), got,
             "pass its value, item(x), or declare the parameter as a pointer");
    if (rule_.kind == Rule::opaque && rule_.size != sizeof(void*))
      refuse(expected_text(), got,
             "pass the struct's bytes; arrays require a pointer or a spanwise::View");
    if (!is_reachable(array.device(), function_.device())) explain_device(array, got);
    if (argument_.kind() == KernelArg::Kind::array && !accepts_elements(rule_, array.dtype()))
      explain_dtype(array, got);
    if (argument_.kind() == KernelArg::Kind::memory && rule_.kind == Rule::view)
      refuse(expected_text(), "untyped memory", "give it a dtype and a shape, as an array");
    if (rule_.kind == Rule::view && array.rank() != rule_.view_rank)
      refuse(expected_text(), got,
             "reshape it, or declare the parameter with the array's number of axes");
    if (rule_.writes && array.readonly() && rule_.kind != Rule::opaque) explain_readonly(array);
    refuse("a C-contiguous array, as a raw pointer carries no strides",
           text("an array that is not C-contiguous: ", array),
           text("say how the parameter takes arrays: contiguous, copied in and back out, "
                "f.bind(args=[..., \"contiguous ",
                array.dtype(), "*\", ...]) or contiguous(x) yourself; strided, spanwise::View<T, ",
                array.rank(),
                "> of <spanwise/view.cuh> in the kernel; or raw, its address x.ptr as a number and "
                "its strides as arguments"));
  }

  [[noreturn]] void explain_readonly(const Array& array) const {
    const char* declaration = rule_.kind == Rule::view ? "View<const T, N>" : "a pointer to const";
    refuse<ReadOnlyError>(
        "an array that may be written", text("a read-only array: ", array),
        text("pass a copy, or, if the kernel only reads, declare the parameter as ", declaration));
  }

  [[noreturn]] void explain_device(const Array& array, const std::string& got) const {
    const Device device = function_.device();
    const std::string remedy =
        array.device().is_cpu()
            ? text(
                  "for a host array around one call wrap it in sw.driver.In, Out or InOut; to keep "
                  "it on the device use sw.array(x, device=\"",
                  device, "\") (C++: to_device(x, device))")
            : text("move it with x.to(\"", device,
                   "\") (C++: to_device(x, device)), or compile the kernel for ", array.device());
    refuse(expected_text(), got, remedy);
  }

  [[noreturn]] void explain_dtype(const Array& array, const std::string& got) const {
    refuse(expected_text(), got,
           text("convert it with astype(x, ", rule_.dtype, "), or declare the parameter for ",
                array.dtype()));
  }

  [[noreturn]] void explain_bytes() const {
    const std::string got = text("a struct of ", argument_.raw().size(), " bytes");
    if (rule_.kind == Rule::pointer)
      refuse(expected_text(), got,
             "pass an array of the structs' bytes, such as x.view(\"uint8\") of an array of NumPy");
    refuse(text("a value of ", rule_.size, " bytes"), got,
           "lay the struct out as the kernel's compiler does (NumPy: np.dtype(..., align=True))");
  }

  [[noreturn]] void explain_number(const Scalar& number) const {
    const std::string got = text("the ", number_type(), " ", number);
    if (rule_.kind == Rule::pointer)
      refuse(expected_text(), got,
             "pass an array; is the order of the arguments right? An address is a whole number of "
             "64 bits, and None or nullptr a null pointer");
    if (rule_.kind == Rule::view)
      refuse(expected_text(), got, "pass an array; is the order of the arguments right?");
    if (rule_.kind == Rule::opaque)
      refuse(expected_text(), got,
             "pass a number of that size, such as np.int32(x), or the struct's bytes");
    const bool loses_fraction =
        number.dtype().is_floating() && !rule_.dtype.is_floating() && !rule_.dtype.is_complex();
    refuse(expected_text(), got,
           loses_fraction
               ? text("round it yourself, int(x), or declare the parameter as a floating type")
               : text("pass a value within the range and precision of ", rule_.dtype,
                      ", or declare a wider parameter"));
  }

  std::string number_type() const {
    if (argument_.kind() == KernelArg::Kind::integer) return "integer";
    if (argument_.kind() == KernelArg::Kind::real) return "real number";
    return argument_.scalar().dtype().name() + " value";
  }

  const KernelState& function_;
  std::size_t index_;
  const KernelArg& argument_;
  const ParameterRule& rule_;
  const KernelParameter& parameter_;
};

}  // namespace

void fail_count(const KernelState& function, std::size_t count) {
  const std::size_t expected = function.signature().parameters.size();
  fail<KernelArgumentError>("kernel '", function.name(), "': expected ", expected,
                            expected == 1 ? " argument " : " arguments ", signature_text(function),
                            ", got ", count,
                            ". Remedy: pass one value for each parameter, in this order");
}

namespace {

constexpr int word_size = sizeof(std::uint64_t);
static_assert(word_size == sizeof(void*));

template <class T>
T load(const Scalar& scalar) noexcept {
  T value;
  std::memcpy(&value, scalar.data(), sizeof value);
  return value;
}

// NumPy's term for floating and complex dtypes.
bool is_inexact(DType dtype) noexcept { return dtype.is_floating() || dtype.is_complex(); }

// Whether a finite number became infinite in the target type.
bool overflows(const Scalar& from, const Scalar& to) {
  if (from.dtype().is_complex()) return false;
  return std::isfinite(from.as_double()) && !std::isfinite(to.as_double());
}

}  // namespace

BoundArguments::BoundArguments(const KernelState& function, std::span<const KernelArg> arguments)
    : function_(function), pointers_(inline_pointers_) {
  const std::vector<ParameterRule>& rules = function.signature().rules;
  if (arguments.size() != rules.size()) [[unlikely]]
    fail_count(function, arguments.size());
  if (arguments.size() > inline_count) [[unlikely]] {
    more_pointers_.resize(arguments.size());
    pointers_ = more_pointers_.data();
  }
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (!try_bind(i, rules[i], arguments[i])) [[unlikely]]
      ArgumentMismatch(function, i, arguments[i]).explain();
}

bool BoundArguments::try_bind(std::size_t index, const ParameterRule& rule,
                              const KernelArg& argument) {
  switch (argument.kind()) {
    case KernelArg::Kind::array:
      if (!accepts_elements(rule, argument.array().dtype())) return false;
      return rule.kind == Rule::view ? try_bind_view(index, rule, argument.array())
                                     : try_bind_array(index, rule, argument.array());
    case KernelArg::Kind::memory:
      return try_bind_array(index, rule, argument.array());
    case KernelArg::Kind::bytes:
      return try_bind_bytes(index, rule, argument.raw());
    case KernelArg::Kind::address:
      return try_bind_address(index, rule, argument.scalar());
    case KernelArg::Kind::scalar:
    case KernelArg::Kind::integer:
    case KernelArg::Kind::real:
      return try_bind_number(index, rule, argument);
  }
  return false;
}

bool BoundArguments::try_bind_array(std::size_t index, const ParameterRule& rule,
                                    const Array& array) {
  if (rule.kind != Rule::pointer && (rule.kind != Rule::opaque || rule.size != word_size))
    return false;
  // For an opaque parameter it is unknown whether the kernel writes to the address.
  if (rule.kind == Rule::pointer && rule.writes && array.readonly()) return false;
  if (!is_reachable(array.device(), function_.device()) || !array.layout().is_row_major())
    return false;
  return store(index, array.data());
}

bool BoundArguments::try_bind_view(std::size_t index, const ParameterRule& rule,
                                   const Array& array) {
  if (array.rank() != rule.view_rank || (rule.writes && array.readonly())) return false;
  if (!is_reachable(array.device(), function_.device())) return false;
  // sdk/device/view.cuh: address, extents, strides in elements.
  std::byte* view = reserve(rule.size);
  void* data = array.data();
  const std::size_t dims = 8 * std::size_t{rule.view_rank};
  std::memcpy(view, &data, sizeof data);
  std::memcpy(view + 8, array.shape().data(), dims);
  std::memcpy(view + 8 + dims, array.strides().data(), dims);
  return set_address(index, view);
}

bool BoundArguments::try_bind_bytes(std::size_t index, const ParameterRule& rule,
                                    std::span<const std::byte> bytes) {
  return rule.kind != Rule::pointer && bytes.size() == rule.size &&
         set_address(index, bytes.data());
}

bool BoundArguments::try_bind_address(std::size_t index, const ParameterRule& rule,
                                      const Scalar& address) {
  const bool takes_word = rule.kind == Rule::scalar && rule.dtype.is_integer();
  if (rule.kind != Rule::pointer && rule.kind != Rule::opaque && !takes_word) return false;
  return rule.size == word_size && store(index, load<std::uint64_t>(address));
}

bool BoundArguments::try_bind_number(std::size_t index, const ParameterRule& rule,
                                     const KernelArg& argument) {
  const Scalar& number = argument.scalar();
  switch (rule.kind) {
    case Rule::scalar:
      return try_bind_scalar(index, rule, number);
    case Rule::pointer: {
      const bool is_word = number.dtype().is_integer() && number.dtype().itemsize() == word_size;
      const auto address = is_word ? load<std::uint64_t>(number) : 1;
      return (address == 0 || address >= lowest_address) && store(index, address);
    }
    case Rule::opaque:
      return try_bind_opaque(index, rule, argument);
    case Rule::view:
      return false;
  }
  return false;
}

bool BoundArguments::try_bind_scalar(std::size_t index, const ParameterRule& rule,
                                     const Scalar& number) {
  const DType from = number.dtype(), to = rule.dtype;
  if (from == to) return set_address(index, number.data());
  // Fast path of a Python int.
  if (from == int64 && to == int32) {
    const auto value = load<std::int64_t>(number);
    return value == static_cast<std::int32_t>(value) &&
           store(index, static_cast<std::int32_t>(value));
  }
  if (!from.is_computable()) return false;
  if (!is_inexact(from)) return number.fits(to) && store(index, number.cast(to));
  // Inexact numbers may be rounded, as in C, but do not lose their fraction or imaginary part.
  if (!is_inexact(to) || (from.is_complex() && !to.is_complex())) return false;
  const Scalar rounded = number.cast(to);
  return !overflows(number, rounded) && store(index, rounded);
}

// Checks the size only: a number of a dtype must have the parameter's size; Python's int and float
// are converted to it.
bool BoundArguments::try_bind_opaque(std::size_t index, const ParameterRule& rule,
                                     const KernelArg& argument) {
  const Scalar& number = argument.scalar();
  const int bits = 8 * static_cast<int>(rule.size);
  if (argument.kind() == KernelArg::Kind::scalar) {
    return static_cast<std::uint32_t>(number.dtype().itemsize()) == rule.size &&
           set_address(index, number.data());
  }
  if (argument.kind() == KernelArg::Kind::real) {
    if (bits != 32 && bits != 64) return false;
    return store(index, number.cast(bits == 32 ? float32 : float64));
  }
  if (bits != 8 && bits != 16 && bits != 32 && bits != 64) return false;
  for (const DTypeCode code : {DTypeCode::int_, DTypeCode::uint})
    if (const DType dtype(code, bits); number.fits(dtype)) return store(index, number.cast(dtype));
  return false;
}

template <class T>
bool BoundArguments::store(std::size_t index, const T& value) {
  std::byte* address = reserve(16);
  if constexpr (std::is_same_v<T, Scalar>) {
    std::memcpy(address, value.data(), static_cast<std::size_t>(value.dtype().itemsize()));
  } else {
    std::memcpy(address, &value, sizeof value);
  }
  return set_address(index, address);
}

std::byte* BoundArguments::reserve(std::size_t bytes) {
  const std::size_t rounded = (bytes + 15) / 16 * 16;
  if (inline_bytes - used_ >= rounded) [[likely]] {
    std::byte* address = inline_values_ + used_;
    used_ += rounded;
    return address;
  }
  return more_values_.emplace_back(std::make_unique<std::byte[]>(rounded)).get();
}

namespace {

bool needs_copy(const ParameterRule& rule, const KernelArg& argument) {
  return rule.copies && argument.kind() == KernelArg::Kind::array &&
         !argument.array().layout().is_row_major();
}

}  // namespace

bool ContiguousArguments::are_needed(const KernelState& function,
                                     std::span<const KernelArg> arguments) {
  const auto& rules = function.signature().rules;
  if (arguments.size() != rules.size()) return false;
  for (std::size_t i = 0; i < rules.size(); ++i)
    if (needs_copy(rules[i], arguments[i])) return true;
  return false;
}

ContiguousArguments::ContiguousArguments(const KernelState& function,
                                         std::span<const KernelArg> arguments)
    : arguments_(arguments.begin(), arguments.end()) {
  for (std::size_t i = 0; i < arguments_.size(); ++i)
    if (needs_copy(function.signature().rules[i], arguments[i])) replace(function, i, arguments[i]);
  for (const ContiguousCopy& each : copies_)
    if (each.is_written) check_overlaps(function, each.original, arguments);
}

void ContiguousArguments::check_overlaps(const KernelState& function, const Array& written,
                                         std::span<const KernelArg> arguments) const {
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].is_array() && function.signature().rules[i].writes &&
        overlaps_partially(arguments[i].array(), written))
      fail<KernelArgumentError>(
          "kernel '", function.name(), "', argument ", i + 1, " of ", arguments_.size(),
          ": expected memory apart from that of the other arrays that the kernel may write, got ",
          arguments[i].array(), ", which overlaps ", written,
          ", of which the kernel gets a copy. Remedy: pass separate arrays, or declare what the "
          "kernel only reads const");
}

void ContiguousArguments::replace(const KernelState& function, std::size_t index,
                                  const KernelArg& argument) {
  const ParameterRule& rule = function.signature().rules[index];
  const Array& array = argument.array();
  if (!accepts_elements(rule, array.dtype()) || !is_reachable(array.device(), function.device()) ||
      (rule.writes && array.readonly()))
    ArgumentMismatch(function, index, argument).explain();
  if (rule.writes && array.layout().may_overlap_itself())
    fail<KernelArgumentError>(
        "kernel '", function.name(), "', argument ", index + 1, " of ", arguments_.size(),
        ": expected an array whose elements do not overlap in memory, since what the kernel writes "
        "is copied back, got ",
        array, ". Remedy: pass a copy, or declare the parameter const");
  const auto cached = std::ranges::find_if(
      copies_, [&](const ContiguousCopy& other) { return is_same_view(other.original, array); });
  ContiguousCopy& result = cached != copies_.end()
                               ? *cached
                               : copies_.emplace_back(ContiguousCopy{array, copy(array), false});
  result.is_written |= rule.writes;
  arguments_[index] = KernelArg(result.contiguous);
}

void ContiguousArguments::copy_out() const {
  for (const ContiguousCopy& each : copies_)
    if (each.is_written) copy(each.contiguous, each.original);
}

runtime::StreamState& stream_of(const KernelState& function, const LaunchConfig& config) {
  return config.stream ? config.stream->state() : runtime::current_stream(function.device());
}

namespace {

// Called after all checks, so that an invalid launch changes no stream order.
void order_arrays(const KernelState& function, std::span<const KernelArg> arguments,
                  runtime::StreamState& stream) {
  const auto& rules = function.signature().rules;
  for (std::size_t i = 0; i < arguments.size(); ++i)
    if (arguments[i].is_array())
      runtime::order_use(stream, arguments[i].array().storage(), rules[i].writes);
}

bool has_attributes(const LaunchConfig& config) noexcept {
  return config.cooperative || config.cluster.x * config.cluster.y * config.cluster.z != 1;
}

}  // namespace

void queue_launch(const KernelState& function, runtime::LoadedKernel& kernel,
                  const LaunchConfig& config, std::span<const KernelArg> arguments,
                  const runtime::LaunchCheck* check) {
  const runtime::ProfilerRange range(function.name());
  const BoundArguments bound(function, arguments);
  runtime::StreamState& stream = stream_of(function, config);
  order_arrays(function, arguments, stream);
  if (check == nullptr && !has_attributes(config)) [[likely]]
    return kernel.launch(config.grid, config.block, config.shared_bytes, stream, bound.pointers());
  kernel.launch_with({config.cooperative, config.cluster, check}, config.grid, config.block,
                     config.shared_bytes, stream, bound.pointers());
}

}  // namespace spanwise::kernels
