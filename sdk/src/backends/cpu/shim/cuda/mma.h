// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrix products of a warp (CUDA C++ Programming Guide 13.0, "Warp Matrix Functions"). Which
// elements a lane holds is unspecified: here element i of lane l is number 32 * i + l, by rows.

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "spanwise_matrix.h"

namespace nvcuda {
namespace wmma {

struct matrix_a {};
struct matrix_b {};
struct accumulator {};
struct row_major {};
struct col_major {};
namespace precision {
struct tf32 {};
}  // namespace precision
enum layout_t { mem_row_major, mem_col_major };

template <class T>
struct sw_storage {
  typedef T type;
};
template <>
struct sw_storage<precision::tf32> {
  typedef float type;
};
template <class Use, int m, int n, int k>
struct sw_extent_of {
  enum { rows = m, columns = n };
};
template <int m, int n, int k>
struct sw_extent_of<matrix_a, m, n, k> {
  enum { rows = m, columns = k };
};
template <int m, int n, int k>
struct sw_extent_of<matrix_b, m, n, k> {
  enum { rows = k, columns = n };
};

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
  typedef typename sw_storage<T>::type element_type, storage_element_type;
  enum {
    rows = sw_extent_of<Use, m, n, k>::rows,
    columns = sw_extent_of<Use, m, n, k>::columns,
    num_elements = rows * columns / 32,
    num_storage_elements = num_elements
  };
  element_type x[num_elements];
};

template <class Use, int m, int n, int k, class T, class Layout>
SW_FN void fill_fragment(fragment<Use, m, n, k, T, Layout>& f,
                         const typename fragment<Use, m, n, k, T, Layout>::element_type& value) {
  for (auto& x : f.x) x = value;
}

template <class Layout>
constexpr bool sw_is_by_columns = false;
template <>
constexpr bool sw_is_by_columns<col_major> = true;
// The element `i` of this lane in a matrix in memory.
template <class Fragment>
SW_FN size_t sw_offset(int i, unsigned stride, bool is_by_columns) {
  const unsigned number = 32u * (unsigned)i + sw_linear_thread() % 32;
  const size_t row = number / Fragment::columns, column = number % Fragment::columns;
  return is_by_columns ? column * stride + row : row * stride + column;
}
// What lanes have written to memory before is read, and what they write may be read behind.
template <class Fragment, class Memory>
SW_FN void sw_load(Fragment& f, const Memory* p, unsigned stride, bool is_by_columns, int line) {
  sw_warp(sw_warp_sync, 0xffffffffu, 0, 0, warpSize, line);
  for (int i = 0; i < f.num_elements; ++i)
    f.x[i] = p[sw_offset<Fragment>(i, stride, is_by_columns)];
}
template <class Use, int m, int n, int k, class T, class Layout, class Memory>
SW_FN void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f, const Memory* p, unsigned stride,
                            int line = __builtin_LINE()) {
  sw_load(f, p, stride, sw_is_by_columns<Layout>, line);
}
template <int m, int n, int k, class T, class Memory>
SW_FN void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, const Memory* p, unsigned stride,
                            layout_t layout, int line = __builtin_LINE()) {
  sw_load(f, p, stride, layout == mem_col_major, line);
}
template <int m, int n, int k, class T, class Memory>
SW_FN void store_matrix_sync(Memory* p, const fragment<accumulator, m, n, k, T>& f, unsigned stride,
                             layout_t layout, int line = __builtin_LINE()) {
  typedef fragment<accumulator, m, n, k, T> Fragment;
  for (int i = 0; i < f.num_elements; ++i)
    p[sw_offset<Fragment>(i, stride, layout == mem_col_major)] = f.x[i];
  sw_warp(sw_warp_sync, 0xffffffffu, 0, 0, warpSize, line);
}

SW_FN float __float_to_tf32(float x) {
  const auto word = sw_bits<unsigned>(x);
  return x != x ? x : sw_bits<float>((word + 0x1000u) & 0xffffe000u);
}
template <class T>
SW_FN float sw_factor(T x) {
  return (float)x;
}
SW_FN long long sw_factor(signed char x) { return x; }
SW_FN long long sw_factor(unsigned char x) { return x; }
SW_FN double sw_factor(double x) { return x; }
SW_FN float sw_addend(float x) { return x; }
SW_FN float sw_addend(__half x) { return x; }
SW_FN long long sw_addend(int x) { return x; }
SW_FN double sw_addend(double x) { return x; }

template <class T>
constexpr bool sw_is_tf32 = false;
template <>
constexpr bool sw_is_tf32<precision::tf32> = true;
template <class T>
constexpr bool sw_is_int = false;
template <>
constexpr bool sw_is_int<int> = true;

template <class A, class B, class C, class D, bool is_tf32>
struct sw_product : sw_lane_call {
  const A* a;
  const B* b;
  const C* c;
  D* d;
  bool saturates;
  SW_UNCHECKED static void compute(sw_lane_call* const* lanes) {
    enum { rows = A::rows, depth = A::columns, columns = B::columns };
    typedef decltype(sw_factor(typename A::element_type())) Number;
    typedef decltype(sw_addend(typename C::element_type())) Sum;
    Number left[rows][depth], right[depth][columns];
    Sum sum[rows][columns];
    const auto of = [&](int lane) { return static_cast<sw_product*>(lanes[lane]); };
    const auto factor = [](auto x) {
      if constexpr (is_tf32)
        return sw_bits<float>(sw_bits<unsigned>((float)x) & 0xffffe000u);
      else
        return sw_factor(x);
    };
    for (int i = 0; i < rows * depth; ++i) (&left[0][0])[i] = factor(of(i % 32)->a->x[i / 32]);
    for (int i = 0; i < depth * columns; ++i) (&right[0][0])[i] = factor(of(i % 32)->b->x[i / 32]);
    for (int i = 0; i < rows * columns; ++i) (&sum[0][0])[i] = sw_addend(of(i % 32)->c->x[i / 32]);
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < depth; ++k)
        for (int column = 0; column < columns; ++column)
          sum[row][column] += (Sum)(left[row][k] * right[k][column]);
    for (int i = 0; i < rows * columns; ++i) {
      auto value = (&sum[0][0])[i];
      if constexpr (sw_is_int<typename C::element_type>)
        if (of(0)->saturates) value = sw_clamp_int(value);
      of(i % 32)->d->x[i / 32] = (typename D::element_type)value;
    }
  }
};
template <int m, int n, int k, class TA, class LA, class TB, class LB, class TC, class TD>
SW_FN void mma_sync(fragment<accumulator, m, n, k, TD>& d,
                    const fragment<matrix_a, m, n, k, TA, LA>& a,
                    const fragment<matrix_b, m, n, k, TB, LB>& b,
                    const fragment<accumulator, m, n, k, TC>& c, bool saturates = false,
                    int line = __builtin_LINE()) {
  typedef sw_product<fragment<matrix_a, m, n, k, TA, LA>, fragment<matrix_b, m, n, k, TB, LB>,
                     fragment<accumulator, m, n, k, TC>, fragment<accumulator, m, n, k, TD>,
                     sw_is_tf32<TA>>
      Product;
  Product call{{Product::compute}, &a, &b, &c, &d, saturates};
  sw_call_warp(call, line, "mma_sync() is called by fewer than the 32 lanes of a warp");
}

}  // namespace wmma
}  // namespace nvcuda
