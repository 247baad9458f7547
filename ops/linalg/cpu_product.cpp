// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "product_problem.hpp"
#include "spanwise/core/element_types.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/instruction_sets.hpp"
#include "spanwise/runtime/interrupt.hpp"
#include "spanwise/runtime/parallel.hpp"

/// Products that no library computes: integers and bool, and every dtype if there is no BLAS.
/// Blocks of both factors are packed in the order in which the innermost loop reads them.
namespace spanwise::ops::linalg {
namespace {

/// How elements of a type are read, accumulated and stored. Integers wrap around, so signedness
/// does not matter.
template <class T>
struct IntegerElement {
  using Element = T;
  using Number = T;
  typedef T Vector __attribute__((vector_size(32)));
  static constexpr std::int64_t lanes = 32 / sizeof(T);
  static Number read(const Element& element, bool) { return element; }
  static void write(Element& element, Number number) { element = number; }
  /// Whether a sum can be final before all products are added, and whether any of eight partial
  /// sums of one element is.
  static constexpr bool stops_early = false;
  static bool is_decided(const Number*) { return false; }
  static void join(Number& sum, Number other) { sum = static_cast<Number>(sum + other); }
  /// `factor` is a whole number.
  static Number scaled(Number number, double factor) {
    return static_cast<Number>(std::uint64_t{number} *
                               static_cast<std::uint64_t>(static_cast<std::int64_t>(factor)));
  }
  static void add_product(Vector& sum, Number a, const Vector& b) { sum += b * a; }
  static void add_product(Number& sum, Number a, Number b) {
    sum = static_cast<Number>(sum + static_cast<Number>(std::uint64_t{a} * b));
  }
};
template <class T>
struct FloatElement : IntegerElement<T> {
  static T scaled(T number, double factor) { return number * static_cast<T>(factor); }
  static void add_product(typename IntegerElement<T>::Vector& sum, T a,
                          const typename IntegerElement<T>::Vector& b) {
    sum += b * a;
  }
  static void add_product(T& sum, T a, T b) { sum += a * b; }
};
/// bool: any byte other than 0 is true, since other libraries may store other values than 1.
struct BoolElement : IntegerElement<std::uint8_t> {
  static Number read(const Element& element, bool) { return element != 0; }
  static constexpr bool stops_early = true;
  static bool is_decided(const Number* sums) {
    std::uint64_t all;
    std::memcpy(&all, sums, sizeof all);
    return all != 0;
  }
  static void join(Number& sum, Number other) { sum = static_cast<Number>(sum | other); }
  static Number scaled(Number number, double factor) { return factor != 0 ? number : Number{0}; }
  static void add_product(Vector& sum, Number a, const Vector& b) {
    sum |= b & static_cast<Number>(-a);
  }
  static void add_product(Number& sum, Number a, Number b) {
    sum = static_cast<Number>(sum | (a & b));
  }
};
/// Complex product without std::complex, whose multiplication checks for infinities when the result
/// is NaN.
template <class T>
struct ComplexValue {
  T re, im;
};
template <class T>
struct ComplexElement {
  using Element = ComplexValue<T>;
  using Number = ComplexValue<T>;
  using Vector = ComplexValue<T>;
  static constexpr std::int64_t lanes = 1;
  static Number read(const Element& element, bool conjugates) {
    return {element.re, conjugates ? -element.im : element.im};
  }
  static void write(Element& element, Number number) { element = number; }
  static constexpr bool stops_early = false;
  static bool is_decided(const Number*) { return false; }
  static void join(Number& sum, Number other) {
    sum.re += other.re;
    sum.im += other.im;
  }
  static Number scaled(Number number, double factor) {
    return {number.re * static_cast<T>(factor), number.im * static_cast<T>(factor)};
  }
  static void add_product(Number& sum, Number a, Number b) {
    sum.re += a.re * b.re - a.im * b.im;
    sum.im += a.re * b.im + a.im * b.re;
  }
};

/// Stores alpha * sum + beta * addend; without an addend, alpha * sum.
template <class E>
struct Scales {
  double alpha = 1, beta = 0;

  void write(typename E::Element& to, typename E::Number sum,
             const typename E::Element* addend) const {
    if (alpha != 1) sum = E::scaled(sum, alpha);
    if (addend != nullptr)
      E::join(sum, beta == 1 ? E::read(*addend, false) : E::scaled(E::read(*addend, false), beta));
    E::write(to, sum);
  }
};

// Sums that stay in the L1 cache, and independent partial sums of one sum.
constexpr std::int64_t max_sums = 256, parallel_sums = 8;

/// The sum of the products of two lines of elements, of which the first may be conjugated. Inlined
/// into each call, so that the compiler vectorizes those with steps of 1.
template <class E>
[[gnu::always_inline]] inline typename E::Number dot(const typename E::Element* a,
                                                     std::int64_t a_step, bool conjugates,
                                                     const typename E::Element* b,
                                                     std::int64_t b_step, std::int64_t depth) {
  typename E::Number sums[parallel_sums] = {};
  std::int64_t p = 0;
  for (; p + parallel_sums <= depth; p += parallel_sums) {
    for (std::int64_t k = 0; k < parallel_sums; ++k)
      E::add_product(sums[k], E::read(a[(p + k) * a_step], conjugates),
                     E::read(b[(p + k) * b_step], false));
    if (E::is_decided(sums)) break;
  }
  const bool is_decided = E::stops_early && p + parallel_sums <= depth;
  for (; p < depth && !is_decided; ++p)
    E::add_product(sums[0], E::read(a[p * a_step], conjugates), E::read(b[p * b_step], false));
  for (std::int64_t k = 1; k < parallel_sums; ++k) E::join(sums[0], sums[k]);
  return sums[0];
}

/// result[i] = alpha * sum over p of matrix[i, p] * vector[p] + beta * addend[i]. Every element of
/// the matrix is read once, so the matrix is not packed. Strides in elements, any sign.
template <class E>
struct MatrixByVector {
  using Element = typename E::Element;
  using Number = typename E::Number;

  const Element* matrix;
  std::int64_t row_stride, column_stride;
  bool conjugates_matrix;
  const Element* vector;
  std::int64_t vector_stride;
  bool conjugates_vector;
  Element* result;
  std::int64_t result_stride;
  std::int64_t rows, depth;
  Scales<E> scales{};
  const Element* addend = nullptr;
  std::int64_t addend_stride = 0;

  /// `grain`: minimum of multiplications per thread.
  void run(std::int64_t grain) const {
    std::vector<Number> packed(static_cast<std::size_t>(depth));
    for (std::int64_t p = 0; p < depth; ++p)
      packed[static_cast<std::size_t>(p)] = E::read(vector[p * vector_stride], conjugates_vector);
    parallel_for(rows, grain / depth + 1, [&](std::int64_t first, std::int64_t last) {
      if (E::stops_early || std::abs(column_stride) <= std::abs(row_stride) || rows == 1)
        add_along_rows(packed.data(), first, last);
      else
        add_whole_columns(packed.data(), first, last);
    });
  }

 private:
  void write(std::int64_t i, Number sum) const {
    scales.write(result[i * result_stride], sum,
                 addend == nullptr ? nullptr : addend + i * addend_stride);
  }

  void add_along_rows(const Number* x, std::int64_t first, std::int64_t last) const {
    for (std::int64_t i = first; i < last; ++i) {
      const Element* row = matrix + i * row_stride;
      if constexpr (E::stops_early) {
        if (column_stride == 1) {
          write(i, any_product(row, x));
          continue;
        }
      }
      write(i, column_stride == 1 ? dot<E>(row, 1, conjugates_matrix, x, 1, depth)
                                  : dot<E>(row, column_stride, conjugates_matrix, x, 1, depth));
    }
  }

  // For bool: whether the row is nonzero anywhere that x is 1, eight elements at a time.
  Number any_product(const Element* row, const Number* x) const {
    std::int64_t p = 0;
    for (; p + 8 <= depth; p += 8) {
      std::uint64_t row_bytes, x_bytes;
      std::memcpy(&row_bytes, row + p, sizeof row_bytes);
      std::memcpy(&x_bytes, x + p, sizeof x_bytes);
      if ((row_bytes & (x_bytes * 255)) != 0) return 1;  // 1 becomes 255: any bit of a true byte
    }
    for (; p < depth; ++p)
      if (row[p] != 0 && x[p] != 0) return 1;
    return 0;
  }

  void add_whole_columns(const Number* x, std::int64_t first, std::int64_t last) const {
    Number sums[max_sums];
    for (std::int64_t start = first; start < last; start += max_sums) {
      const std::int64_t count = std::min(max_sums, last - start);
      std::fill_n(sums, count, Number{});
      for (std::int64_t p = 0; p < depth; ++p) {
        const Element* column = matrix + start * row_stride + p * column_stride;
        if (row_stride == 1)
          add_column(sums, column, 1, count, x[p]);
        else
          add_column(sums, column, row_stride, count, x[p]);
      }
      for (std::int64_t i = 0; i < count; ++i) write(start + i, sums[i]);
    }
  }
  [[gnu::always_inline]] void add_column(Number* sums, const Element* column, std::int64_t step,
                                         std::int64_t count, Number factor) const {
    for (std::int64_t i = 0; i < count; ++i)
      E::add_product(sums[i], E::read(column[i * step], conjugates_matrix), factor);
  }
};

constexpr int panel_rows = 4, panel_vectors = 2;
constexpr std::int64_t block_rows = 64, block_depth = 256, block_panels = 8;
// Products of at most this many multiplications are computed without packing.
constexpr std::int64_t max_unpacked = 216;
constexpr std::int64_t min_products_per_thread = 1 << 16;

namespace product_baseline {
#include "micro_kernel.inc"
}
#if defined(__x86_64__)
SW_BEGIN_AVX2
namespace product_avx2 {
#include "micro_kernel.inc"
}
SW_END_INSTRUCTIONS
#endif

template <class E>
auto choose_panels() {
#if defined(__x86_64__)
  if (has_avx2()) return &product_avx2::multiply_panels<E>;
#endif
  return &product_baseline::multiply_panels<E>;
}

/// Computes a problem for one element type.
template <class E>
class CpuProduct {
 public:
  explicit CpuProduct(const ProductProblem& problem) : problem_(problem) {}

  void run() const {
    const std::int64_t batch = problem_.batches;
    if (problem_.rows == 1 && problem_.columns == 1 && batch > 1) return run_sums();
    const std::int64_t longest = std::max({problem_.rows, problem_.columns, problem_.depth});
    // Multiplications; the product of the extents could overflow if one is longer than the limit.
    const std::int64_t each =
        longest > max_unpacked ? longest : problem_.rows * problem_.columns * problem_.depth;
    if (each <= max_unpacked) {
      const std::int64_t grain = min_products_per_thread / each;
      parallel_for(batch, grain, [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t i = first; i < last; ++i) multiply_unpacked(factors_at(i));
      });
    } else if (problem_.columns == 1 || problem_.rows == 1) {
      run_matrix_by_vector(batch);
    } else {
      run_in_blocks(batch);
    }
  }

 private:
  using Element = typename E::Element;
  using Number = typename E::Number;
  using Vector = typename E::Vector;
  static constexpr std::int64_t panel_columns = panel_vectors * E::lanes;
  static constexpr std::int64_t block_columns = block_panels * panel_columns;

  struct ProductPointers {
    const Element *left, *right;
    Element* result;
    const Element* addend;  // null without one
  };
  struct Workspace {
    Number left[block_rows * block_depth];                  // [group of rows][depth][row]
    alignas(32) Number right[block_columns * block_depth];  // [panel][depth][column]
    alignas(32) Number sums[block_rows * block_columns];
  };

  ProductPointers factors_at(std::int64_t index) const {
    std::int64_t left = 0, right = 0, result = 0, addend = 0;
    for (int i = problem_.batch_rank - 1; i >= 0; --i) {
      const BatchAxis& axis = problem_.batch[static_cast<std::size_t>(i)];
      const std::int64_t batch_index = i == 0 ? index : index % axis.extent;
      index /= axis.extent;
      left += batch_index * axis.left;
      right += batch_index * axis.right;
      result += batch_index * axis.result;
      addend += batch_index * axis.addend;
    }
    const auto* added = reinterpret_cast<const Element*>(problem_.addend.data);
    return {reinterpret_cast<const Element*>(problem_.left.data) + left,
            reinterpret_cast<const Element*>(problem_.right.data) + right,
            reinterpret_cast<Element*>(problem_.result.data) + result,
            added == nullptr ? nullptr : added + addend};
  }

  Scales<E> scales() const { return {problem_.alpha, problem_.beta}; }
  void write(const ProductPointers& to, std::int64_t row, std::int64_t column, Number sum) const {
    const Matrix &z = problem_.result, &c = problem_.addend;
    const Element* addend =
        to.addend == nullptr ? nullptr : to.addend + row * c.row_stride + column * c.column_stride;
    scales().write(to.result[row * z.row_stride + column * z.column_stride], sum, addend);
  }

  void multiply_unpacked(const ProductPointers& factors) const {
    for (std::int64_t column = 0; column < problem_.columns; column += 4)
      switch (std::min<std::int64_t>(problem_.columns - column, 4)) {
        case 1:
          multiply_columns<1>(factors, column);
          break;
        case 2:
          multiply_columns<2>(factors, column);
          break;
        case 3:
          multiply_columns<3>(factors, column);
          break;
        default:
          multiply_columns<4>(factors, column);
      }
  }
  // One sum per column: the additions are independent of one another.
  template <int columns>
  void multiply_columns(const ProductPointers& factors, std::int64_t first) const {
    const Matrix &l = problem_.left, &r = problem_.right;
    for (std::int64_t i = 0; i < problem_.rows; ++i) {
      const Element* a = factors.left + i * l.row_stride;
      const Element* b = factors.right + first * r.column_stride;
      Number sums[columns] = {};
      for (std::int64_t p = 0; p < problem_.depth; ++p, a += l.column_stride, b += r.row_stride) {
        const Number factor = E::read(*a, problem_.conjugate_left);
        for (int c = 0; c < columns; ++c)
          E::add_product(sums[c], factor, E::read(b[c * r.column_stride], false));
      }
      for (int c = 0; c < columns; ++c) write(factors, i, first + c, sums[c]);
    }
  }

  // A matrix times a vector, or a vector times a matrix, computed as the transposed matrix times
  // the vector.
  void run_matrix_by_vector(std::int64_t batch) const {
    const Matrix &l = problem_.left, &r = problem_.right;
    const Matrix &z = problem_.result, &c = problem_.addend;
    const bool is_column = problem_.columns == 1, conjugates = problem_.conjugate_left;
    for (std::int64_t i = 0; i < batch; ++i) {
      const ProductPointers at = factors_at(i);
      MatrixByVector<E> product =
          is_column ? MatrixByVector<E>{at.left,      l.row_stride,  l.column_stride, conjugates,
                                        at.right,     r.row_stride,  false,           at.result,
                                        z.row_stride, problem_.rows, problem_.depth}
                    : MatrixByVector<E>{at.right,        r.column_stride,  r.row_stride,  false,
                                        at.left,         l.column_stride,  conjugates,    at.result,
                                        z.column_stride, problem_.columns, problem_.depth};
      product.scales = scales();
      product.addend = at.addend;
      product.addend_stride = is_column ? c.row_stride : c.column_stride;
      product.run(min_products_per_thread);
    }
  }

  // One sum for each index of the batch. A loop runs along neighbouring sums where the factors'
  // strides are shorter there than along the depth.
  void run_sums() const {
    ProductProblem problem = problem_;
    const auto step = [](const BatchAxis& axis) {
      return std::abs(axis.left) + std::abs(axis.right);
    };
    const auto last_axis = problem.batch.begin() + problem.batch_rank - 1;
    std::iter_swap(std::ranges::min_element(problem.batch.begin(), last_axis + 1, {}, step),
                   last_axis);
    const CpuProduct product(problem);
    const Matrix &l = problem.left, &r = problem.right;
    const bool is_short = step(*last_axis) < std::abs(l.column_stride) + std::abs(r.row_stride);
    const std::int64_t grain =
        std::max(min_products_per_thread / problem.depth + 1, is_short ? panel_columns : 1);
    StopPoint stop;
    parallel_for(problem.batches, grain, [&](std::int64_t first, std::int64_t end) {
      while (first < end && stop.pass()) {
        const std::int64_t left = last_axis->extent - first % last_axis->extent;
        const std::int64_t count = std::min({end - first, left, max_sums});
        is_short ? product.add_along_sums(first, count, *last_axis)
                 : product.add_along_depth(first, count, *last_axis);
        first += count;
      }
    });
  }
  void add_along_sums(std::int64_t first, std::int64_t count, const BatchAxis& axis) const {
    const ProductPointers at = factors_at(first);
    std::int64_t i = 0;
    if constexpr (E::lanes > 1 && !E::stops_early)
      if (axis.left == 1 && axis.right == 1) {
        for (; i + panel_columns <= count; i += panel_columns)
          add_vectors<panel_vectors>(moved(at, axis, i), axis);
        for (; i + E::lanes <= count; i += E::lanes) add_vectors<1>(moved(at, axis, i), axis);
      }
    if (i < count) add_neighbours(moved(at, axis, i), count - i, axis);
  }
  // Sums of parts of the depth, which are added afterwards, round less than one sum.
  template <class F>
  void for_parts_of_depth(const F& add_part) const {
    for (std::int64_t p = 0; p < problem_.depth; p += block_depth)
      add_part(p, std::min(p + block_depth, problem_.depth));
  }
  // Sums side by side in registers.
  template <int vectors>
  void add_vectors(const ProductPointers& at, const BatchAxis& axis) const {
    Vector totals[vectors] = {};
    for_parts_of_depth([&](std::int64_t begin, std::int64_t end) {
      Vector sums[vectors] = {};
      for (std::int64_t k = begin; k < end; ++k)
        for (int v = 0; v < vectors; ++v) {
          Vector a, b;
          std::memcpy(&a, at.left + k * problem_.left.column_stride + v * E::lanes, sizeof a);
          std::memcpy(&b, at.right + k * problem_.right.row_stride + v * E::lanes, sizeof b);
          sums[v] += a * b;
        }
      for (int v = 0; v < vectors; ++v) totals[v] += sums[v];
    });
    for (std::int64_t i = 0; i < vectors * E::lanes; ++i)
      write(moved(at, axis, i), 0, 0, totals[i / E::lanes][i % E::lanes]);
  }
  void add_neighbours(const ProductPointers& at, std::int64_t count, const BatchAxis& axis) const {
    Number totals[max_sums] = {};
    for_parts_of_depth([&](std::int64_t begin, std::int64_t end) {
      Number sums[max_sums] = {};
      for (std::int64_t k = begin; k < end; ++k)
        for (std::int64_t i = 0; i < count; ++i)
          E::add_product(sums[i],
                         E::read(at.left[k * problem_.left.column_stride + i * axis.left],
                                 problem_.conjugate_left),
                         E::read(at.right[k * problem_.right.row_stride + i * axis.right], false));
      for (std::int64_t i = 0; i < count; ++i) E::join(totals[i], sums[i]);
    });
    for (std::int64_t i = 0; i < count; ++i) write(moved(at, axis, i), 0, 0, totals[i]);
  }
  void add_along_depth(std::int64_t first, std::int64_t count, const BatchAxis& axis) const {
    const ProductPointers at = factors_at(first);
    const std::int64_t a_step = problem_.left.column_stride, b_step = problem_.right.row_stride;
    const std::int64_t depth = problem_.depth;
    const bool conjugates = problem_.conjugate_left;
    for (std::int64_t i = 0; i < count; ++i) {
      const ProductPointers to = moved(at, axis, i);
      write(to, 0, 0,
            a_step == 1 && b_step == 1
                ? dot<E>(to.left, 1, conjugates, to.right, 1, depth)
                : dot<E>(to.left, a_step, conjugates, to.right, b_step, depth));
    }
  }
  static ProductPointers moved(const ProductPointers& at, const BatchAxis& axis, std::int64_t i) {
    return {at.left + i * axis.left, at.right + i * axis.right, at.result + i * axis.result,
            at.addend == nullptr ? nullptr : at.addend + i * axis.addend};
  }

  void run_in_blocks(std::int64_t batch) const {
    // Blocks of the result side by side, and one below the other.
    const std::int64_t across = (problem_.columns + block_columns - 1) / block_columns;
    const std::int64_t down = (problem_.rows + block_rows - 1) / block_rows;
    const double products = static_cast<double>(std::min(problem_.rows, block_rows)) *
                            static_cast<double>(std::min(problem_.columns, block_columns)) *
                            static_cast<double>(problem_.depth);
    const auto grain = static_cast<std::int64_t>(min_products_per_thread / products) + 1;
    const auto multiply_panels = choose_panels<E>();
    StopPoint stop;
    parallel_for(batch * down * across, grain, [&](std::int64_t first, std::int64_t last) {
      const auto space = std::make_unique_for_overwrite<Workspace>();
      for (std::int64_t i = first; i < last && stop.pass(); ++i) {
        const std::int64_t block = i % (down * across);
        run_block(factors_at(i / (down * across)), block / across * block_rows,
                  block % across * block_columns, *space, multiply_panels);
      }
    });
  }

  template <class F>
  void run_block(const ProductPointers& factors, std::int64_t row, std::int64_t column,
                 Workspace& space, F multiply_panels) const {
    const std::int64_t rows = std::min(block_rows, problem_.rows - row);
    const std::int64_t columns = std::min(block_columns, problem_.columns - column);
    std::fill_n(space.sums, block_rows * block_columns, Number{});
    for (std::int64_t p = 0; p < problem_.depth; p += block_depth) {
      const std::int64_t depth = std::min(block_depth, problem_.depth - p);
      pack_left(factors, row, rows, p, depth, space);
      pack_right(factors, column, columns, p, depth, space);
      for (std::int64_t c = 0; c < columns; c += panel_columns)
        for (std::int64_t r = 0; r < rows; r += panel_rows)
          multiply_panels(depth, space.left + r * depth,
                          reinterpret_cast<const Vector*>(space.right + c * depth),
                          reinterpret_cast<Vector*>(space.sums + r * block_columns + c),
                          block_columns / E::lanes);
    }
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < columns; ++c)
        write(factors, row + r, column + c, space.sums[r * block_columns + c]);
  }

  // Elements beyond the matrix are packed as 0; their sums are not stored.
  void pack_left(const ProductPointers& factors, std::int64_t row, std::int64_t rows,
                 std::int64_t p, std::int64_t depth, Workspace& space) const {
    const Matrix& l = problem_.left;
    for (std::int64_t group = 0; group < rows; group += panel_rows)
      for (std::int64_t r = 0; r < panel_rows; ++r) {
        Number* to = space.left + group * depth + r;
        const Element* from = factors.left + (row + group + r) * l.row_stride + p * l.column_stride;
        const bool is_inside = group + r < rows;
        for (std::int64_t k = 0; k < depth; ++k)
          to[k * panel_rows] =
              is_inside ? E::read(from[k * l.column_stride], problem_.conjugate_left) : Number{};
      }
  }
  void pack_right(const ProductPointers& factors, std::int64_t column, std::int64_t columns,
                  std::int64_t p, std::int64_t depth, Workspace& space) const {
    const Matrix& r = problem_.right;
    const bool reads_columns = std::abs(r.row_stride) < std::abs(r.column_stride);
    for (std::int64_t c = 0; c < columns; c += panel_columns) {
      Number* to = space.right + c * depth;
      const std::int64_t count = std::min(panel_columns, columns - c);
      const Element* from = factors.right + (column + c) * r.column_stride + p * r.row_stride;
      if (count < panel_columns) std::fill_n(to, panel_columns * depth, Number{});
      // The inner loop runs along the shorter stride, for sequential reads.
      if (reads_columns) {
        for (std::int64_t j = 0; j < count; ++j)
          for (std::int64_t k = 0; k < depth; ++k)
            to[k * panel_columns + j] =
                E::read(from[k * r.row_stride + j * r.column_stride], false);
      } else {
        for (std::int64_t k = 0; k < depth; ++k)
          for (std::int64_t j = 0; j < count; ++j)
            to[k * panel_columns + j] =
                E::read(from[k * r.row_stride + j * r.column_stride], false);
      }
    }
  }

  const ProductProblem& problem_;
};

}  // namespace

void own_product_on_cpu(const ProductProblem& problem) {
  const DType dtype = problem.dtype;
  if (dtype == float32) return CpuProduct<FloatElement<float>>(problem).run();
  if (dtype == float64) return CpuProduct<FloatElement<double>>(problem).run();
  if (dtype == complex64) return CpuProduct<ComplexElement<float>>(problem).run();
  if (dtype == complex128) return CpuProduct<ComplexElement<double>>(problem).run();
  if (dtype.is_bool()) return CpuProduct<BoolElement>(problem).run();
  if (!dtype.is_integer()) fail<DTypeError>("matmul: no product of ", dtype, " on the CPU");
  with_unsigned(dtype.itemsize(),
                [&](auto number) { CpuProduct<IntegerElement<decltype(number)>>(problem).run(); });
}

}  // namespace spanwise::ops::linalg
