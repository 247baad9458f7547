// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrix instructions of a warp (PTX ISA 9.0, "Warp Level Matrix Multiply-Accumulate"): all lanes
// pass their registers, and the last one to arrive computes for the warp.

#include "spanwise_barriers.h"
#include "spanwise_half_bits.h"

// `call` is the base of a struct with the registers of a lane.
SW_FN void sw_call_warp(sw_lane_call& call, int line, const char* name) {
  if (sw_warp(sw_warp_call, 0xffffffffu, (unsigned long long)&call, 0, warpSize, line) != 0)
    sw_fail(name, nullptr, line);
}

// Elements: `type` computes, `bits` are those of one in a register, of 32 bits or of one element.
struct sw_half_element {
  typedef float type;
  enum { bits = 16 };
  static float load(unsigned long long word) { return sw_half_to_float((unsigned short)word); }
  static unsigned long long store(float x) { return sw_half_from_float(x); }
};
struct sw_bfloat_element {
  typedef float type;
  enum { bits = 16 };
  static float load(unsigned long long word) { return sw_bits<float>((unsigned)word << 16); }
};
struct sw_tf32_element {  // of a float, only the upper 19 bits are read
  typedef float type;
  enum { bits = 32 };
  static float load(unsigned long long word) {
    return sw_bits<float>((unsigned)word & 0xffffe000u);
  }
};
struct sw_float_element {
  typedef float type;
  enum { bits = 32 };
  static float load(unsigned long long word) { return sw_bits<float>((unsigned)word); }
  static unsigned long long store(float x) { return sw_bits<unsigned>(x); }
};
struct sw_double_element {
  typedef double type;
  enum { bits = 64 };
  static double load(unsigned long long word) { return sw_bits<double>(word); }
  static unsigned long long store(double x) { return sw_bits<unsigned long long>(x); }
};
struct sw_int_element {
  typedef long long type;
  enum { bits = 32 };
  static long long load(unsigned long long word) { return (int)word; }
  static unsigned long long store(long long x) { return (unsigned)x; }
};
template <int width, bool is_signed>
struct sw_small_int_element {
  typedef long long type;
  enum { bits = width };
  static long long load(unsigned long long word) {
    const auto shifted = word << (64 - width);
    return is_signed ? (long long)shifted >> (64 - width) : (long long)(shifted >> (64 - width));
  }
};

SW_FN long long sw_clamp_int(long long x) {
  return x > 2147483647 ? 2147483647 : x < -2147483647 - 1 ? -2147483647 - 1 : x;
}

// The registers of A (rows x depth), B (depth x 8), and of C and D (rows x 8). Registers have 32
// bits, those of double 64. A lane is in group g and has number t in it.
template <class A, class B, class C, class D, int rows, int depth, bool saturates>
struct sw_mma : sw_lane_call {
  enum {
    of_a = A::bits == 64 ? 1 : 32 / A::bits,  // elements of a register
    count_a = rows * depth / 32 / of_a,
    count_b = 8 * depth / 32 / of_a,
    of_c = C::bits == 64 ? 1 : 32 / C::bits,
    count_c = rows * 8 / 32 / of_c
  };
  unsigned long long a[count_a], b[count_b], c[count_c], d[count_c];
  typedef typename A::type Number;

  static unsigned long long part(unsigned long long word, int i, int bits) {
    return bits == 64 ? word : word >> (i * bits) & ((1ull << bits) - 1);
  }
  // The element j of register r of the lane: its row and column in A; in B its column and row.
  static int row_of(int lane, int r) { return lane / 4 + (rows == 16 && r % 2 != 0 ? 8 : 0); }
  static int column_of(int lane, int r, int j) {
    return lane % 4 * of_a + (rows == 16 ? r / 2 : r) * 4 * of_a + j;
  }
  SW_UNCHECKED static void compute(sw_lane_call* const* lanes) {
    Number left[rows][depth], right[depth][8];
    typename C::type sum[rows][8];
    for (int lane = 0; lane < 32; ++lane) {
      const sw_mma& own = *static_cast<sw_mma*>(lanes[lane]);
      for (int r = 0; r < count_a; ++r)
        for (int j = 0; j < of_a; ++j)
          left[row_of(lane, r)][column_of(lane, r, j)] = A::load(part(own.a[r], j, A::bits));
      for (int r = 0; r < count_b; ++r)
        for (int j = 0; j < of_a; ++j)
          right[lane % 4 * of_a + r * 4 * of_a + j][lane / 4] = B::load(part(own.b[r], j, B::bits));
      for (int i = 0; i < count_c * of_c; ++i)
        sum[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2] =
            C::load(part(own.c[i / of_c], i % of_c, C::bits));
    }
    for (int row = 0; row < rows; ++row)
      for (int k = 0; k < depth; ++k)
        for (int column = 0; column < 8; ++column)
          sum[row][column] += (typename C::type)(left[row][k] * right[k][column]);
    for (int lane = 0; lane < 32; ++lane) {
      sw_mma& own = *static_cast<sw_mma*>(lanes[lane]);
      for (int r = 0; r < count_c; ++r) own.d[r] = 0;
      for (int i = 0; i < count_c * of_c; ++i) {
        auto value = sum[lane / 4 + i / 2 * 8][lane % 4 * 2 + i % 2];
        if constexpr (saturates) value = sw_clamp_int(value);
        own.d[i / of_c] |= D::store(value) << (i % of_c * (C::bits == 64 ? 0 : C::bits));
      }
    }
  }
};

// ldmatrix and stmatrix: lane 8 * j + i has the address of row i of matrix j, which has 8 rows of
// 16 bytes. Register j of a lane has two elements of matrix j.
template <int count>
struct sw_matrices : sw_lane_call {
  unsigned row[4];
  unsigned registers[count];

  // The row and the word in it of a lane's register; with `is_transposed`, its two elements are in
  // two rows.
  template <bool is_transposed, bool is_store>
  SW_UNCHECKED static void exchange(sw_lane_call* const* lanes) {
    for (int lane = 0; lane < 32; ++lane)
      for (int j = 0; j < count; ++j) {
        unsigned& own = static_cast<sw_matrices*>(lanes[lane])->registers[j];
        for (int half = 0; half < 2; ++half) {
          const int g = lane / 4, pair = lane % 4 * 2 + half;
          const int row = is_transposed ? pair : g, column = is_transposed ? g : pair;
          unsigned& word = static_cast<sw_matrices*>(lanes[8 * j + row])->row[column / 2];
          const int from = column % 2 * 16, to = half * 16;
          if (is_store)
            word = (word & ~(0xffffu << from)) | (own >> to & 0xffffu) << from;
          else
            own = (own & ~(0xffffu << to)) | (word >> from & 0xffffu) << to;
        }
      }
  }
};
template <int count, bool is_transposed>
SW_FN void sw_ldmatrix(unsigned (&out)[count], const void* address, int line) {
  sw_matrices<count> call{{sw_matrices<count>::template exchange<is_transposed, false>}, {}, {}};
  if ((int)(sw_linear_thread() % 32) < 8 * count) __builtin_memcpy(call.row, address, 16);
  sw_call_warp(call, line, "ldmatrix is executed by fewer than the 32 lanes of a warp");
  for (int j = 0; j < count; ++j) out[j] = call.registers[j];
}
template <int count, bool is_transposed>
SW_FN void sw_stmatrix(void* address, const unsigned (&in)[count], int line) {
  sw_matrices<count> call{{sw_matrices<count>::template exchange<is_transposed, true>}, {}, {}};
  for (int j = 0; j < count; ++j) call.registers[j] = in[j];
  sw_call_warp(call, line, "stmatrix is executed by fewer than the 32 lanes of a warp");
  if ((int)(sw_linear_thread() % 32) < 8 * count) __builtin_memcpy(address, call.row, 16);
}
// movmatrix: the transposed matrix, of which each lane has two elements.
SW_FN unsigned sw_movmatrix(unsigned x, int line) {
  sw_matrices<1> call{{sw_matrices<1>::exchange<false, true>}, {}, {x}};
  sw_call_warp(call, line, "movmatrix is executed by fewer than the 32 lanes of a warp");
  call.run = sw_matrices<1>::exchange<true, false>;
  sw_call_warp(call, line, "movmatrix is executed by fewer than the 32 lanes of a warp");
  return call.registers[0];
}
