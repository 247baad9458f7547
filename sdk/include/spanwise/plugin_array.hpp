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

/// What a plug-in's op sees of arrays and their types. Part of <spanwise/plugin.hpp>; needs no
/// library. Hidden, so that two plug-ins in one process never share what is inline here.
namespace spanwise {
namespace [[gnu::visibility("hidden")]] plugin {

/// What an op throws: the status says which error users see, the message why.
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

// Apart from the checks, which so cost a comparison.
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_dtype(sw_dtype got, sw_dtype expected,
                                                              const char* what) {
  throw Error(SW_DTYPE_ERROR,
              std::string(what) + ": expected dtype " + name(expected) + ", got " + name(got));
}
[[noreturn, gnu::cold, gnu::noinline]] inline void fail_rank(int got, int expected,
                                                             const char* what) {
  throw Error(SW_LAYOUT_ERROR, std::string(what) + ": expected " + std::to_string(expected) +
                                   (expected == 1 ? " axis, got " : " axes, got ") +
                                   std::to_string(got));
}

/// Throws Error unless the two are one dtype; `what` names the value.
inline void expect_dtype(sw_dtype got, sw_dtype expected, const char* what) {
  if (!(got == expected)) fail_dtype(got, expected, what);
}

/// Throws Error unless the ranks are equal.
inline void expect_rank(int got, int expected, const char* what) {
  if (got != expected) fail_rank(got, expected, what);
}

/// What is known of a value while a graph is built; an extent may be SW_ANY_EXTENT.
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

/// Elements of memory that the host can read, by index and for any strides: v(i, j).
template <class T, int N>
struct HostView {
  static_assert(N >= 1, "a view has at least one axis");
  T* data;
  const std::int64_t* shape;
  const std::int64_t* strides;

  template <class... Index>
  T& operator()(Index... index) const {
    static_assert(sizeof...(Index) == N, "give one index an axis");
    int axis = 0;
    std::int64_t offset = 0;
    ((offset += static_cast<std::int64_t>(index) * strides[axis++]), ...);
    return data[offset];
  }
};

/// An array of one call, which holds it: not to be kept longer.
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
  /// C order: element i of the whole is data()[i].
  bool is_contiguous() const noexcept {
    std::int64_t step = 1;
    if (size() == 0) return true;
    for (int axis = rank() - 1; axis >= 0; --axis) {
      if (array_->shape[axis] != 1 && array_->strides[axis] != step) return false;
      step *= array_->shape[axis];
    }
    return true;
  }

  /// The address of element (0, ..., 0), on the device of the call. Throws Error for another
  /// dtype.
  template <class T>
  T* data() const {
    expect_dtype(dtype(), dtype_of<std::remove_const_t<T>>(), "an array");
    return static_cast<T*>(array_->data);
  }
  /// Throws Error for another dtype or rank, or for memory of a GPU.
  template <class T, int N>
  HostView<T, N> view() const {
    expect_rank(rank(), N, "an array");
    if (array_->device.kind != 1)
      throw Error(SW_DEVICE_ERROR, "an array: expected memory of the CPU, to read it here");
    return {data<T>(), array_->shape, array_->strides};
  }

 private:
  const sw_array* array_;
};

}  // namespace gnu::visibility("hidden")]]plugin
}  // namespace spanwise
