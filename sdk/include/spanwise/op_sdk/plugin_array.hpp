// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "spanwise/plugin.h"

/// Arrays and types as seen by a plug-in's op. Part of <spanwise/plugin.hpp>; needs no library.
/// Symbols are hidden, so that two plug-ins in one process do not share inline functions.
namespace spanwise {
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
}  // namespace spanwise
