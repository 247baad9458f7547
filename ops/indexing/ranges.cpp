// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "ranges.hpp"

#include <algorithm>
#include <type_traits>

#include "spanwise/creation.hpp"
#include "spanwise/error.hpp"
#include "spanwise/parallel.hpp"

namespace spanwise::ops {
namespace {

constexpr std::int64_t range_grain = 1 << 16;  // numbers that are worth another thread

// first + i * step, computed in Number and rounded to Element.
template <class Element, class Number>
void write_range(const Array& target, Number first, Number step) {
  auto* const out = static_cast<Element*>(target.data());
  parallel_for(target.size(), range_grain, [=](std::int64_t from, std::int64_t to) {
    if constexpr (std::is_integral_v<Number>) {  // vectors of 64 bits are added, not multiplied
      Number value = first + static_cast<Number>(from) * step;
      for (std::int64_t i = from; i < to; ++i, value += step) out[i] = static_cast<Element>(value);
    } else {
      // Counted in 32 bits, which vectors turn into floating numbers, from a place that is one.
      constexpr std::int64_t most = 1 << 30;
      for (std::int64_t done = from; done < to; done += most) {
        const int count = static_cast<int>(std::min(to - done, most));
        const auto place = static_cast<double>(done);
        Element* const here = out + done;
        for (int i = 0; i < count; ++i) {
          const auto index = static_cast<Number>(place + static_cast<double>(i));
          here[i] = static_cast<Element>(first + index * step);
        }
      }
    }
  });
}

void check_floating(const char* who, DType dtype) {
  if (dtype != float64 && dtype != float32)
    fail<DTypeError>(who, ": expected float64 or float32, got ", dtype,
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
  Array made = empty({count}, dtype, cpu);
  // Unsigned, so that what is computed beyond the last one may wrap around.
  const auto first = static_cast<std::uint64_t>(start), by = static_cast<std::uint64_t>(step);
  if (dtype == int64)
    write_range<std::int64_t>(made, first, by);
  else
    write_range<std::int32_t>(made, first, by);
  return made;
}

Array float_range(double first, double second, std::int64_t count, DType dtype) {
  check_floating("range", dtype);
  Array made = empty({count}, dtype, cpu);
  if (dtype == float64)
    write_float_range<double>(made, first, second);
  else
    write_float_range<float>(made, first, second);
  return made;
}

Array linear_range(double first, double step, std::optional<double> last, std::int64_t count,
                   DType dtype) {
  check_floating("linspace", dtype);
  Array made = empty({count}, dtype, cpu);
  const auto write = [&]<class Element>(Element* out) {
    write_range<Element>(made, first, step);
    if (last && count > 0) out[count - 1] = static_cast<Element>(*last);
  };
  if (dtype == float64)
    write(static_cast<double*>(made.data()));
  else
    write(static_cast<float*>(made.data()));
  return made;
}

}  // namespace spanwise::ops
