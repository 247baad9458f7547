// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "shape_functions.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>
#include <type_traits>

#include "spanwise/core/device.hpp"
#include "spanwise/core/element_types.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/c_text.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/parallel.hpp"
#include "spanwise/strided/strided_call.hpp"
#include "spanwise/strided/walk.hpp"

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

// ---- The same by a kernel, which computes each element from its index.

using strided::ArrayRole;

/// The C type that a range is computed in.
template <class Number>
constexpr const char* number_text = std::is_integral_v<Number>       ? "unsigned long long"
                                    : std::is_same_v<Number, double> ? "double"
                                                                     : "float";

strided::Body range_body(DType element, const char* number) {
  strided::Body body;
  body.parameters = text("const ", number, " first, const ", number, " step, const ", number,
                         " other, const long long other_index, ");
  const char* type = element_text(element);
  body.arrays = {{type, ArrayRole::write}, {"long long", ArrayRole::index}};
  // As on the host, an index becomes a float by way of double.
  const char* exact = element.is_floating() ? "(double)" : "";
  body.statements = text("    sw_e0 = (", type, ")(sw_e1 == other_index ? other : first + (",
                         number, ")", exact, "sw_e1 * step);\n");
  return body;
}

// first + i * step, and `other` at `other_index` if that is not negative.
template <class Number>
void write_range_by_kernel(const Array& target, Number first, Number step, Number other = 0,
                           std::int64_t other_index = -1) {
  if (target.size() == 0) return;
  static auto& bodies = *new strided::BodyTable<std::tuple<DTypeCode, int, bool>>;
  const DType dtype = target.dtype();
  const std::tuple key(dtype.code(), dtype.bits(), std::is_same_v<Number, float>);
  const Layout index = Layout::row_major(target.shape());
  strided::StridedCall call(target.shape());
  call.add(target, ArrayRole::write);
  call.add_index(index);
  call.plan();
  void* const parameters[] = {&first, &step, &other, &other_index};
  call.launch(call.kernel(bodies[key], target.device(),
                          [&] { return range_body(dtype, number_text<Number>); }),
              parameters);
}

void check_floating(const char* caller, DType dtype) {
  if (dtype != float64 && dtype != float32)
    fail<DTypeError>(caller, ": expected float64 or float32, got ", dtype,
                     "; cast the range of float64");
}

template <class Element>
void write_float_range(const Array& target, double first, double second, bool by_kernel) {
  const auto start = static_cast<Element>(first), next = static_cast<Element>(second);
  if (by_kernel) return write_range_by_kernel<Element>(target, start, next - start, next, 1);
  write_range<Element>(target, start, next - start);
  if (target.size() > 1) static_cast<Element*>(target.data())[1] = next;
}

}  // namespace

void write_integer_range(const Array& target, std::int64_t start, std::int64_t step,
                         bool by_kernel) {
  // Unsigned: the value after the last one may wrap around.
  const auto first = static_cast<std::uint64_t>(start), by = static_cast<std::uint64_t>(step);
  if (by_kernel)
    write_range_by_kernel(target, first, by);
  else if (target.dtype() == int64)
    write_range<std::int64_t>(target, first, by);
  else
    write_range<std::int32_t>(target, first, by);
}

void write_float_range(const Array& target, double first, double second, bool by_kernel) {
  if (target.dtype() == float64)
    write_float_range<double>(target, first, second, by_kernel);
  else
    write_float_range<float>(target, first, second, by_kernel);
}

void write_linear_range(const Array& target, double first, double step, std::optional<double> last,
                        bool by_kernel) {
  const std::int64_t end = target.size() - 1;
  if (by_kernel)
    return write_range_by_kernel(target, first, step, last.value_or(0), last ? end : -1);
  const auto write = [&]<class Element>(Element* out) {
    write_range<Element>(target, first, step);
    if (last && end >= 0) out[end] = static_cast<Element>(*last);
  };
  if (target.dtype() == float64)
    write(static_cast<double*>(target.data()));
  else
    write(static_cast<float*>(target.data()));
}

Array integer_range(std::int64_t start, std::int64_t step, std::int64_t count, DType dtype,
                    Device device) {
  if (dtype != int64 && dtype != int32)
    fail<DTypeError>("range: expected int64 or int32, got ", dtype, "; cast the range of int64");
  const Array result = empty({count}, dtype, device);
  write_integer_range(result, start, step, !runs_on_host(device));
  return result;
}

Array float_range(double first, double second, std::int64_t count, DType dtype, Device device) {
  check_floating("range", dtype);
  const Array result = empty({count}, dtype, device);
  write_float_range(result, first, second, !runs_on_host(device));
  return result;
}

Array linear_range(double first, double step, std::optional<double> last, std::int64_t count,
                   DType dtype, Device device) {
  check_floating("linspace", dtype);
  const Array result = empty({count}, dtype, device);
  write_linear_range(result, first, step, last, !runs_on_host(device));
  return result;
}

// ---- Triangles of matrices

namespace {

strided::Body triangle_body(int itemsize) {
  strided::Body body;
  body.prelude = itemsize == 16 ? "struct Word { unsigned long long low, high; };\n"
                                : text("typedef ", word_text(itemsize), " Word;\n");
  body.parameters = "const long long last, const int keeps_lower, ";
  body.arrays = {
      {"Word", ArrayRole::read}, {"Word", ArrayRole::write}, {"long long", ArrayRole::index}};
  body.statements = "    sw_e1 = (sw_e2 <= last) == (keeps_lower != 0) ? sw_e0 : Word();\n";
  return body;
}

/// The triangle of matrices in the last two axes, in rows of elements on the host.
class TriangleRows {
 public:
  TriangleRows(const Array& source, const Array& target, std::int64_t last, bool keeps_lower)
      : source_(static_cast<const std::byte*>(source.data())),
        target_(static_cast<std::byte*>(target.data())),
        rows_(target.shape()[target.rank() - 2]),
        columns_(target.shape()[target.rank() - 1]),
        bytes_(target.dtype().itemsize()),
        last_(last),
        keeps_lower_(keeps_lower) {}

  /// Writes the rows of all matrices from `first` to `end`; with `copies` also what is kept.
  void write(std::int64_t first, std::int64_t end, bool copies) const {
    constexpr std::int64_t short_row = 32;
    if (columns_ < short_row && bytes_ <= 8)
      return with_unsigned(static_cast<int>(bytes_), [&](auto word) {
        write_short<decltype(word)>(first, end, copies ? source_ : target_);
      });
    for (std::int64_t row = first; row < end; ++row) {
      // The lower triangle of a row ends here.
      const std::int64_t bound = std::clamp<std::int64_t>(row % rows_ + last_ + 1, 0, columns_);
      const std::int64_t kept = keeps_lower_ ? 0 : bound, cleared = keeps_lower_ ? bound : 0;
      const std::int64_t kept_count = keeps_lower_ ? bound : columns_ - bound;
      const std::int64_t at = row * columns_;
      if (copies)
        std::memcpy(target_ + (at + kept) * bytes_, source_ + (at + kept) * bytes_,
                    static_cast<std::size_t>(kept_count * bytes_));
      std::memset(target_ + (at + cleared) * bytes_, 0,
                  static_cast<std::size_t>((columns_ - kept_count) * bytes_));
    }
  }

 private:
  // One loop over the elements of a row, which takes less time than two calls.
  template <class Word>
  void write_short(std::int64_t first, std::int64_t end, const std::byte* source) const {
    const auto columns = static_cast<int>(columns_);
    for (std::int64_t row = first; row < end; ++row) {
      const auto bound =
          static_cast<int>(std::clamp<std::int64_t>(row % rows_ + last_ + 1, 0, columns_));
      const Word* const x = reinterpret_cast<const Word*>(source) + row * columns_;
      Word* const z = reinterpret_cast<Word*>(target_) + row * columns_;
      for (int c = 0; c < columns; ++c) z[c] = (c < bound) == keeps_lower_ ? x[c] : Word{0};
    }
  }

  const std::byte* source_;
  std::byte* target_;
  std::int64_t rows_, columns_, bytes_, last_;
  bool keeps_lower_;
};

}  // namespace

void triangle_by_kernel(const Array& matrices, std::int64_t last, bool keeps_lower,
                        const Array& result) {
  static auto& bodies = *new strided::BodyTable<int>;
  // A column's index minus the row's.
  Layout diagonals{matrices.shape(), Strides(matrices.rank())};
  diagonals.strides[matrices.rank() - 2] = -1;
  diagonals.strides[matrices.rank() - 1] = 1;
  strided::StridedCall call(matrices.shape());
  call.add(matrices, ArrayRole::read);
  call.add(result, ArrayRole::write);
  call.add_index(diagonals);
  call.plan();
  int lower = keeps_lower;
  void* const parameters[] = {&last, &lower};
  const int itemsize = matrices.dtype().itemsize();
  call.launch(
      call.kernel(bodies[itemsize], result.device(), [=] { return triangle_body(itemsize); }),
      parameters);
}

Array triangle(const Array& matrices, std::int64_t diagonal, bool keeps_lower) {
  if (matrices.rank() < 2)
    fail<LayoutError>("triangle: expected at least 2 axes, got shape ", matrices.shape());
  // The last diagonal of the lower triangle that is kept, or cleared.
  constexpr std::int64_t limit = std::int64_t{1} << 62;
  const std::int64_t last = std::clamp(diagonal, -limit, limit) - (keeps_lower ? 0 : 1);
  const Device device = working_device(matrices.device());
  if (matrices.size() == 0) return empty(matrices.shape(), matrices.dtype(), device);
  if (!runs_on_host(device)) {
    const Array result = empty(matrices.shape(), matrices.dtype(), device);
    triangle_by_kernel(is_item_aligned(matrices) ? matrices : copy(matrices), last, keeps_lower,
                       result);
    return result;
  }
  const Array target = empty(matrices.shape(), matrices.dtype(), device);
  const bool is_plain = matrices.layout().is_row_major() && is_item_aligned(matrices);
  if (is_plain)
    order_host_use(matrices, false);
  else
    copy(matrices, target);
  const std::int64_t columns = target.shape()[target.rank() - 1];
  const TriangleRows rows(matrices, target, last, keeps_lower);
  parallel_for(target.size() / columns, std::max<std::int64_t>(1, range_grain / columns),
               [&](std::int64_t first, std::int64_t end) { rows.write(first, end, is_plain); });
  return target;
}

}  // namespace spanwise::ops
