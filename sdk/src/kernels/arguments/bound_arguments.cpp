// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels/arguments/bound_arguments.hpp"

#include <cmath>
#include <cstring>
#include <type_traits>

#include "kernels/arguments/argument_errors.hpp"

namespace spanwise::kernels {
namespace {

using Rule = ParameterRule::Kind;

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
      fail_argument(function, i, arguments[i]);
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

}  // namespace spanwise::kernels
