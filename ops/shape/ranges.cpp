// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "shape_functions.hpp"

#include <algorithm>
#include <type_traits>

#include "spanwise/core/error.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/parallel.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t range_grain = 1 << 16;  // numbers that make a second thread worthwhile

// first + i * step, computed in Number and rounded to Element.
template <class Element, class Number>
void write_range(const Array& target, Number first, Number step) {
  auto* const out = static_cast<Element*>(target.data());
  parallel_for(target.size(), range_grain, [=](std::int64_t from, std::int64_t to) {
    if constexpr (std::is_integral_v<Number>) {
      // Vector units add 64-bit integers, but do not multiply them.
      Number value = first + static_cast<Number>(from) * step;
      for (std::int64_t i = from; i < to; ++i, value += step) out[i] = static_cast<Element>(value);
    } else {
      // The counter has 32 bits, which vector units convert to floating point; `begin` is exact.
      constexpr std::int64_t max_chunk = 1 << 30;
      for (std::int64_t done = from; done < to; done += max_chunk) {
        const int count = static_cast<int>(std::min(to - done, max_chunk));
        const auto begin = static_cast<double>(done);
        Element* const chunk = out + done;
        for (int i = 0; i < count; ++i) {
          const auto index = static_cast<Number>(begin + static_cast<double>(i));
          chunk[i] = static_cast<Element>(first + index * step);
        }
      }
    }
  });
}

void check_floating(const char* caller, DType dtype) {
  if (dtype != float64 && dtype != float32)
    fail<DTypeError>(caller, ": expected float64 or float32, got ", dtype,
                     "; cast the range of float64");
}

template <class Element>
void write_float_range(const Array& target, double first, double second) {
  const auto start = static_cast<Element>(first), next = static_cast<Element>(second);
  write_range<Element>(target, start, next - start);
  if (target.size() > 1) static_cast<Element*>(target.data())[1] = next;
}

}  // namespace

Array integer_range(std::int64_t start, std::int64_t step, std::int64_t count, DType dtype) {
  if (dtype != int64 && dtype != int32)
    fail<DTypeError>("range: expected int64 or int32, got ", dtype, "; cast the range of int64");
  Array result = empty({count}, dtype, cpu);
  // Unsigned: the value after the last one may wrap around.
  const auto first = static_cast<std::uint64_t>(start), by = static_cast<std::uint64_t>(step);
  if (dtype == int64)
    write_range<std::int64_t>(result, first, by);
  else
    write_range<std::int32_t>(result, first, by);
  return result;
}

Array float_range(double first, double second, std::int64_t count, DType dtype) {
  check_floating("range", dtype);
  Array result = empty({count}, dtype, cpu);
  if (dtype == float64)
    write_float_range<double>(result, first, second);
  else
    write_float_range<float>(result, first, second);
  return result;
}

Array linear_range(double first, double step, std::optional<double> last, std::int64_t count,
                   DType dtype) {
  check_floating("linspace", dtype);
  Array result = empty({count}, dtype, cpu);
  const auto write = [&]<class Element>(Element* out) {
    write_range<Element>(result, first, step);
    if (last && count > 0) out[count - 1] = static_cast<Element>(*last);
  };
  if (dtype == float64)
    write(static_cast<double*>(result.data()));
  else
    write(static_cast<float*>(result.data()));
  return result;
}

}  // namespace spanwise::ops
