// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the C++ for PTX instructions calls (jit/ptx.cpp; PTX ISA 9.0): registers are words of bits,
// which instructions read as a type. Also addresses of shared memory in 32 bits.

#include "spanwise_atomics.h"
#include "spanwise_barriers.h"
#include "spanwise_half_bits.h"
#include "spanwise_intrinsics.h"
#include "spanwise_math.h"
#include "spanwise_matrix.h"
#include "spanwise_rounding.h"

// float16, bfloat16 and pairs of them.
template <int kind>
struct sw_small {
  unsigned short bits;
  operator float() const {
    return kind == 0 ? sw_half_to_float(bits) : sw_bits<float>((unsigned)bits << 16);
  }
  sw_small() = default;
  explicit sw_small(float value) {
    if constexpr (kind == 0) {
      bits = sw_half_from_float(value);
    } else {
      const auto word = sw_bits<unsigned>(value);
      bits = value != value ? (unsigned short)0x7fff
                            : (unsigned short)((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
    }
  }
};
typedef sw_small<0> sw_ptx_f16;
typedef sw_small<1> sw_ptx_bf16;
template <class SwT>
struct sw_two {
  SwT x, y;
};
typedef sw_two<sw_ptx_f16> sw_ptx_f16x2;
typedef sw_two<sw_ptx_bf16> sw_ptx_bf16x2;

// The bits of an operand: signed integers are extended by their sign, others by zeros.
template <class SwT>
SW_FN unsigned long long sw_word(const SwT& x) {
  unsigned long long word = 0;
  __builtin_memcpy(&word, &x, sizeof(SwT) < 8 ? sizeof(SwT) : 8);
  return word;
}
SW_FN unsigned long long sw_word(signed char x) { return (unsigned long long)x; }
SW_FN unsigned long long sw_word(short x) { return (unsigned long long)x; }
SW_FN unsigned long long sw_word(int x) { return (unsigned long long)x; }
SW_FN unsigned long long sw_word(long x) { return (unsigned long long)x; }
SW_FN unsigned long long sw_word(bool x) { return x; }
template <class SwT, int count>
SW_FN unsigned long long sw_word(SwT (&array)[count]) {
  return (unsigned long long)&array[0];
}
// An operand as SwT, and the assignment to one.
template <class SwT, class SwOperand>
SW_FN SwT sw_get(const SwOperand& operand) {
  const unsigned long long word = sw_word(operand);
  SwT value;
  __builtin_memcpy(&value, &word, sizeof(SwT));
  return value;
}
template <class SwOperand, class SwT>
SW_FN void sw_put(SwOperand& operand, const SwT& value) {
  const unsigned long long word = sw_word(value);
  __builtin_memcpy(&operand, &word, sizeof(SwOperand) < 8 ? sizeof(SwOperand) : 8);
}
SW_FN void sw_put(bool& operand, bool value) { operand = value; }
struct sw_sink {};  // the operand _
template <class SwT>
SW_FN void sw_put(sw_sink, const SwT&) {}
template <class SwOperand>
struct sw_unsigned_of;
#define SW_UNSIGNED_OF(T, U)    \
  template <>                   \
  struct sw_unsigned_of<T> {    \
    typedef U type;             \
    enum { is_integer = true }; \
  };
SW_UNSIGNED_OF(signed char, unsigned char)
SW_UNSIGNED_OF(unsigned char, unsigned char)
SW_UNSIGNED_OF(short, unsigned short)
SW_UNSIGNED_OF(unsigned short, unsigned short)
SW_UNSIGNED_OF(int, unsigned)
SW_UNSIGNED_OF(unsigned, unsigned)
SW_UNSIGNED_OF(long long, unsigned long long)
SW_UNSIGNED_OF(unsigned long long, unsigned long long)
#undef SW_UNSIGNED_OF

// Addresses of shared memory in 32 bits: distances from the block's dynamic shared memory or, for
// other variables, from a variable of the worker, which is near to them. Both give back the
// address.
constexpr unsigned sw_dynamic_window = 0x40000000, sw_static_window = 0x10000000;
constexpr unsigned long long sw_window_bytes = 1u << 26;
static __thread char sw_static_anchor;
SW_FN unsigned long long sw_shared_address(unsigned long long address) {
  const unsigned long long from_dynamic = address - (unsigned long long)sw_dynamic_shared;
  if (from_dynamic < sw_window_bytes) return sw_dynamic_window + from_dynamic;
  const unsigned long long from_static = address - (unsigned long long)&sw_static_anchor;
  if (from_static + sw_window_bytes < 2 * sw_window_bytes) return sw_static_window + from_static;
  if (address >> 32 == 0) return address;  // converted already
  sw_fail("an address is converted to one of shared memory, and is none", nullptr, 0);
}
// Accepts addresses in 64 bits, too, which were not converted.
SW_FN unsigned long long sw_shared_pointer(unsigned long long address) {
  if (address >> 32 != 0) return address;
  if (address >= sw_dynamic_window)
    return (unsigned long long)sw_dynamic_shared + (address - sw_dynamic_window);
  return (unsigned long long)&sw_static_anchor + (address - sw_static_window);
}
#define SW_CVTA(space)                                                        \
  SW_FN size_t __cvta_generic_to_##space(const void* p) { return (size_t)p; } \
  SW_FN void* __cvta_##space##_to_generic(size_t address) { return (void*)address; }
SW_CVTA(constant)
SW_CVTA(global)
SW_CVTA(local)
SW_CVTA(grid_constant)
#undef SW_CVTA
SW_FN size_t __cvta_generic_to_shared(const void* p) {
  return sw_shared_address((unsigned long long)p);
}
SW_FN void* __cvta_shared_to_generic(size_t address) { return (void*)sw_shared_pointer(address); }

// Integers wrap around.
#define SW_WRAPPING(name, op)                                              \
  template <class SwT>                                                     \
  SW_FN SwT sw_##name(SwT a, SwT b) {                                      \
    typedef typename sw_unsigned_of<SwT>::type U;                          \
    return (SwT)(U)((unsigned long long)(U)a op(unsigned long long)(U) b); \
  }                                                                        \
  SW_FN float sw_##name(float a, float b) { return a op b; }               \
  SW_FN double sw_##name(double a, double b) { return a op b; }            \
  template <int kind>                                                      \
  SW_FN sw_small<kind> sw_##name(sw_small<kind> a, sw_small<kind> b) {     \
    return sw_small<kind>((float)a op(float) b);                           \
  }                                                                        \
  template <class SwT>                                                     \
  SW_FN sw_two<SwT> sw_##name(sw_two<SwT> a, sw_two<SwT> b) {              \
    return {sw_##name(a.x, b.x), sw_##name(a.y, b.y)};                     \
  }
SW_WRAPPING(ptx_add, +)
SW_WRAPPING(ptx_sub, -)
SW_WRAPPING(ptx_mul, *)
#undef SW_WRAPPING
// The product of two numbers in twice the bits: its upper half, or all of it.
template <class SwT>
SW_FN SwT sw_ptx_mul_hi(SwT a, SwT b) {
  if constexpr (sizeof(SwT) < 8) return (SwT)((long long)a * (long long)b >> (8 * sizeof(SwT)));
  if constexpr ((SwT)-1 < (SwT)0) return (SwT)((__int128)a * b >> 64);
  return (SwT)((unsigned __int128)a * b >> 64);
}
template <class SwWide, class SwT>
SW_FN SwWide sw_ptx_mul_wide(SwT a, SwT b) {
  return (SwWide)((unsigned long long)(SwWide)a * (unsigned long long)(SwWide)b);
}
SW_FN int sw_ptx_mul24(int a, int b) { return __mul24(a, b); }
SW_FN unsigned sw_ptx_mul24(unsigned a, unsigned b) { return __umul24(a, b); }
template <class SwT>
SW_FN SwT sw_ptx_div(SwT a, SwT b) {
  return a / b;
}
template <class SwT>
SW_FN SwT sw_ptx_rem(SwT a, SwT b) {
  return a % b;
}
template <class SwT>
SW_FN SwT sw_ptx_fma(SwT a, SwT b, SwT c) {
  if constexpr (sizeof(SwT) == 2)
    return SwT(__builtin_fmaf(a, b, c));
  else if constexpr (sizeof(SwT) == 4)
    return __builtin_fmaf(a, b, c);
  else
    return __builtin_fma(a, b, c);
}
template <class SwT>
SW_FN sw_two<SwT> sw_ptx_fma(sw_two<SwT> a, sw_two<SwT> b, sw_two<SwT> c) {
  return {sw_ptx_fma(a.x, b.x, c.x), sw_ptx_fma(a.y, b.y, c.y)};
}
// If one operand is NaN, the result is the other one.
template <class SwT>
SW_FN SwT sw_ptx_min(SwT a, SwT b) {
  return a < b || b != b ? a : b;
}
template <class SwT>
SW_FN SwT sw_ptx_max(SwT a, SwT b) {
  return a > b || b != b ? a : b;
}
template <class SwT>
SW_FN sw_two<SwT> sw_ptx_min(sw_two<SwT> a, sw_two<SwT> b) {
  return {sw_ptx_min(a.x, b.x), sw_ptx_min(a.y, b.y)};
}
template <class SwT>
SW_FN sw_two<SwT> sw_ptx_max(sw_two<SwT> a, sw_two<SwT> b) {
  return {sw_ptx_max(a.x, b.x), sw_ptx_max(a.y, b.y)};
}
template <class SwT>
SW_FN SwT sw_ptx_neg(SwT a) {
  return sw_ptx_sub(SwT(0), a);
}
SW_FN float sw_ptx_neg(float a) { return -a; }
SW_FN double sw_ptx_neg(double a) { return -a; }
template <int kind>
SW_FN sw_small<kind> sw_ptx_neg(sw_small<kind> a) {
  a.bits ^= 0x8000;
  return a;
}
template <class SwT>
SW_FN sw_two<SwT> sw_ptx_neg(sw_two<SwT> a) {
  return {sw_ptx_neg(a.x), sw_ptx_neg(a.y)};
}
template <class SwT>
SW_FN SwT sw_ptx_abs(SwT a) {
  return a < 0 ? sw_ptx_neg(a) : a;
}
SW_FN float sw_ptx_abs(float a) { return __builtin_fabsf(a); }
SW_FN double sw_ptx_abs(double a) { return __builtin_fabs(a); }
template <int kind>
SW_FN sw_small<kind> sw_ptx_abs(sw_small<kind> a) {
  a.bits &= 0x7fff;
  return a;
}
template <class SwT>
SW_FN sw_two<SwT> sw_ptx_abs(sw_two<SwT> a) {
  return {sw_ptx_abs(a.x), sw_ptx_abs(a.y)};
}
// The number limited to [0, 1] (sat), and to numbers that are not negative (relu).
template <class SwT>
SW_FN SwT sw_ptx_sat(SwT a) {
  return a > SwT(0.0f) ? (a < SwT(1.0f) ? a : SwT(1.0f)) : SwT(0.0f);
}
template <class SwT>
SW_FN sw_two<SwT> sw_ptx_sat(sw_two<SwT> a) {
  return {sw_ptx_sat(a.x), sw_ptx_sat(a.y)};
}
SW_FN int sw_ptx_sat(long long a) {
  return a > 2147483647 ? 2147483647 : a < -2147483647 - 1 ? -2147483647 - 1 : (int)a;
}
template <class SwT>
SW_FN SwT sw_ptx_relu(SwT a) {
  return a <= SwT(0.0f) ? SwT(0.0f) : a;
}
template <class SwT>
SW_FN sw_two<SwT> sw_ptx_relu(sw_two<SwT> a) {
  return {sw_ptx_relu(a.x), sw_ptx_relu(a.y)};
}
// Shifts by the bits of the number or more give 0, or copies of the sign.
template <class SwT>
SW_FN SwT sw_ptx_shl(SwT a, unsigned count) {
  return count >= 8 * sizeof(SwT) ? (SwT)0 : (SwT)((unsigned long long)a << count);
}
template <class SwT>
SW_FN SwT sw_ptx_shr(SwT a, unsigned count) {
  constexpr unsigned bits = 8 * sizeof(SwT);
  if (count < bits) return (SwT)(a >> count);
  return (SwT)-1 < (SwT)0 ? (SwT)(a >> (bits - 1)) : (SwT)0;
}
template <class SwT>
SW_FN unsigned sw_ptx_popc(SwT a) {
  return (unsigned)__builtin_popcountll(a);
}
template <class SwT>
SW_FN unsigned sw_ptx_clz(SwT a) {
  return a == 0 ? 8 * sizeof(SwT) : (unsigned)__builtin_clzll(a) - (64 - 8 * sizeof(SwT));
}
template <class SwT>
SW_FN SwT sw_ptx_brev(SwT a) {
  return sizeof(SwT) == 4 ? (SwT)__brev((unsigned)a) : (SwT)__brevll(a);
}
// The position of the highest bit that is not a copy of the sign.
template <class SwT>
SW_FN unsigned sw_ptx_bfind(SwT a) {
  typedef typename sw_unsigned_of<SwT>::type U;
  const U bits = a < 0 ? (U) ~(U)a : (U)a;
  return bits == 0 ? ~0u : 63u - (unsigned)__builtin_clzll(bits);
}
template <class SwT>
SW_FN SwT sw_ptx_bfe(SwT a, unsigned first, unsigned count) {
  return sw_bit_field(a, first, count);
}
template <class SwT>
SW_FN SwT sw_ptx_bfi(SwT a, SwT b, unsigned first, unsigned count) {
  return sw_bit_insert(a, b, first, count);
}
// Sums with carry. The flag lives from one instruction to the next, also of another asm statement.
static __thread unsigned sw_carry;
template <class SwT>
SW_FN SwT sw_ptx_add_carry(SwT a, SwT b, bool uses, bool sets) {
  typedef typename sw_unsigned_of<SwT>::type U;
  const unsigned __int128 sum = (unsigned __int128)(U)a + (U)b + (uses ? sw_carry : 0u);
  if (sets) sw_carry = (unsigned)(sum >> (8 * sizeof(U))) & 1u;
  return (SwT)(U)sum;
}
template <class SwT>
SW_FN SwT sw_ptx_sub_carry(SwT a, SwT b, bool uses, bool sets) {
  typedef typename sw_unsigned_of<SwT>::type U;
  const unsigned borrow = uses ? sw_carry : 0u;
  if (sets) sw_carry = (unsigned __int128)(U)a < (unsigned __int128)(U)b + borrow;
  return (SwT)(U)((U)a - (U)b - borrow);
}
// prmt with a mode.
SW_FN unsigned sw_ptx_prmt_mode(unsigned a, unsigned b, unsigned c, const char (&mode)[4]) {
  const unsigned n = c & 3u;
  const auto pick = [&](unsigned i, unsigned j, unsigned k, unsigned l) {
    return __byte_perm(a, b, i | j << 4 | k << 8 | l << 12);
  };
  if (mode[0] == 'f') return pick(n, n + 1, n + 2, n + 3);
  if (mode[0] == 'b') return pick(n, (n + 7) & 7u, (n + 6) & 7u, (n + 5) & 7u);
  if (mode[2] == '8') return pick(n, n, n, n);
  if (mode[2] == '6') return n & 1u ? pick(2, 3, 2, 3) : pick(0, 1, 0, 1);
  const auto larger = [&](unsigned i) { return i > n ? i : n; };
  const auto lesser = [&](unsigned i) { return i < n ? i : n; };
  if (mode[2] == 'l') return pick(larger(0), larger(1), larger(2), larger(3));
  return pick(lesser(0), lesser(1), lesser(2), lesser(3));  // ecr
}
// A comparison of ordered numbers; with `of_nan`, it holds for NaN, too.
template <class SwT>
SW_FN bool sw_ptx_is_nan(SwT a, SwT b) {
  if constexpr (sizeof(SwT) == 2)
    return (float)a != (float)a || (float)b != (float)b;
  else
    return a != a || b != b;
}

// Conversions (cvt); rounding is 'n', 'z', 'm' (down) or 'p' (up). An integer limited to SwTo:
template <class SwTo, class SwFrom>
SW_FN SwTo sw_cvt_sat(SwFrom x) {
  constexpr bool is_signed = (SwTo)-1 < (SwTo)0;
  constexpr __int128 highest = ((__int128)1 << (8 * sizeof(SwTo) - is_signed)) - 1;
  constexpr __int128 lowest = is_signed ? -highest - 1 : 0;
  return (__int128)x > highest ? (SwTo)highest : (__int128)x < lowest ? (SwTo)lowest : (SwTo)x;
}
template <char rounding, class SwReal>
SW_FN SwReal sw_cvt_whole(SwReal x) {
  if constexpr (sizeof(SwReal) == 4)
    return rounding == 'n'   ? __builtin_rintf(x)
           : rounding == 'm' ? __builtin_floorf(x)
           : rounding == 'p' ? __builtin_ceilf(x)
                             : __builtin_truncf(x);
  else
    return rounding == 'n'   ? __builtin_rint(x)
           : rounding == 'm' ? __builtin_floor(x)
           : rounding == 'p' ? __builtin_ceil(x)
                             : __builtin_trunc(x);
}
template <>
struct sw_wider<sw_ptx_f16> {
  typedef float type;
  typedef unsigned short bits;
};
template <>
struct sw_wider<sw_ptx_bf16> {
  typedef float type;
  typedef unsigned short bits;
};
// A real number to one of fewer or as many bits.
template <char rounding, class SwTo, class SwFrom>
SW_FN SwTo sw_cvt_narrowed(SwFrom x) {
  if constexpr (sizeof(SwTo) == 8) return SwTo(x);
  SwTo nearest;
  if constexpr (sizeof(SwTo) == 2)
    nearest = SwTo(sw_round_to_odd((double)x));
  else
    nearest = SwTo(x);
  const double error = (double)x - (double)(float)nearest;
  if constexpr (rounding == 'z') return sw_directed<sw_to_zero>(nearest, error);
  if constexpr (rounding == 'm') return sw_directed<sw_down>(nearest, error);
  if constexpr (rounding == 'p') return sw_directed<sw_up>(nearest, error);
  return nearest;
}

// Functions of reals.
#define SW_PTX_REAL(name, float_function, double_function)            \
  SW_FN float sw_ptx_##name(float x) { return float_function(x); }    \
  SW_FN double sw_ptx_##name(double x) { return double_function(x); } \
  template <int kind>                                                 \
  SW_FN sw_small<kind> sw_ptx_##name(sw_small<kind> x) {              \
    return sw_small<kind>(float_function((float)x));                  \
  }                                                                   \
  template <class SwT>                                                \
  SW_FN sw_two<SwT> sw_ptx_##name(sw_two<SwT> x) {                    \
    return {sw_ptx_##name(x.x), sw_ptx_##name(x.y)};                  \
  }
SW_PTX_REAL(rcp, 1.0f /, 1.0 /)
SW_PTX_REAL(sqrt, __builtin_sqrtf, __builtin_sqrt)
SW_PTX_REAL(rsqrt, rsqrtf, rsqrt)
SW_PTX_REAL(sin, sinf, sin)
SW_PTX_REAL(cos, cosf, cos)
SW_PTX_REAL(ex2, exp2f, exp2)
SW_PTX_REAL(lg2, log2f, log2)
SW_PTX_REAL(tanh, tanhf, tanh)
#undef SW_PTX_REAL

// Copies of `size` bytes to shared memory, of which the last are zeros behind `read` bytes. They
// are synchronous, which PTX permits.
SW_FN void sw_cp_async(unsigned long long target, unsigned long long source, unsigned size,
                       unsigned read) {
  const unsigned count = read < size ? read : size;
  char* const out = (char*)sw_shared_pointer(target);
  memcpy(out, (const void*)source, count);
  if (count < size) memset(out + count, 0, size - count);
}
// Whether a lane of shfl reads a lane of its segment.
SW_FN bool sw_shuffle_is_inside(int op, int distance, int width) {
  const int lane = (int)(sw_linear_thread() % 32), place = lane % width;
  if (op == sw_warp_shuffle_up) return place >= distance;
  if (op == sw_warp_shuffle_down) return place + distance < width;
  if (op == sw_warp_shuffle_xor) return (lane ^ distance) / width <= lane / width;
  return true;
}
