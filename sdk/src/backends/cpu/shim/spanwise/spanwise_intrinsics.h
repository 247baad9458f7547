// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Integer, bit, conversion and memory intrinsics (CUDA Math API 13.0).

SW_FN int __popc(unsigned x) { return __builtin_popcount(x); }
SW_FN int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
SW_FN int __clz(int x) { return x == 0 ? 32 : __builtin_clz((unsigned)x); }
SW_FN int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll((unsigned long long)x); }
SW_FN int __ffs(int x) { return __builtin_ffs(x); }
SW_FN int __ffsll(long long x) { return __builtin_ffsll(x); }
SW_FN unsigned __brev(unsigned x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  return __builtin_bswap32(x);
}
SW_FN unsigned long long __brevll(unsigned long long x) {
  return (unsigned long long)__brev((unsigned)x) << 32 | __brev((unsigned)(x >> 32));
}
// PTX's bfe, bfi and lop3: `count` bits of x from bit `first` on; y with those bits replaced by x;
// a function of three bits, given by its table of values.
template <class SwT>
SW_FN SwT sw_bit_field(SwT x, unsigned first, unsigned count) {
  constexpr unsigned bits = 8 * sizeof(SwT);
  constexpr bool is_signed = (SwT)-1 < (SwT)0;
  first &= 0xffu, count &= 0xffu;
  if (count == 0u || (!is_signed && first >= bits)) return 0;
  const SwT low = (SwT)(x >> (first < bits ? first : bits - 1));
  const unsigned above =
      first + count < bits || !is_signed ? bits - (count < bits ? count : bits) : 0;
  return (SwT)((unsigned long long)low << above) >> above;
}
template <class SwT>
SW_FN SwT sw_bit_insert(SwT x, SwT y, unsigned first, unsigned count) {
  constexpr unsigned bits = 8 * sizeof(SwT);
  first &= 0xffu, count &= 0xffu;
  if (first >= bits || count == 0u) return y;
  const SwT mask = (SwT)((count >= bits ? ~(SwT)0 : (SwT)(((SwT)1 << count) - 1)) << first);
  return (y & ~mask) | ((SwT)(x << first) & mask);
}
SW_FN unsigned sw_lop3(unsigned a, unsigned b, unsigned c, unsigned table) {
  unsigned out = 0;
  for (unsigned i = 0; i < 8u; ++i)
    if (table >> i & 1u) out |= (i & 4u ? a : ~a) & (i & 2u ? b : ~b) & (i & 1u ? c : ~c);
  return out;
}
SW_FN unsigned sw_prmt(unsigned x, unsigned y, unsigned s) {
  const unsigned long long both = (unsigned long long)y << 32 | x;
  unsigned out = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned selector = s >> (4 * i);
    unsigned byte = (unsigned)(both >> (8 * (selector & 7u))) & 0xffu;
    if (selector & 8u) byte = byte & 0x80u ? 0xffu : 0u;  // replicate the sign
    out |= byte << (8 * i);
  }
  return out;
}
SW_FN unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
  return sw_prmt(x, y, s & 0x7777u);
}
SW_FN unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned s) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) << (s & 31u) >> 32);
}
SW_FN unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned s) {
  return (unsigned)(((unsigned long long)hi << 32 | lo) >> (s & 31u));
}
SW_FN unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned s) {
  return s >= 32u ? lo : __funnelshift_l(lo, hi, s);
}
SW_FN unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned s) {
  return s >= 32u ? hi : __funnelshift_r(lo, hi, s);
}
SW_FN int __mulhi(int a, int b) { return (int)((long long)a * b >> 32); }
SW_FN unsigned __umulhi(unsigned a, unsigned b) {
  return (unsigned)((unsigned long long)a * b >> 32);
}
SW_FN long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
SW_FN unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)((unsigned __int128)a * b >> 64);
}
SW_FN int __mul24(int a, int b) { return (a << 8 >> 8) * (b << 8 >> 8); }
SW_FN unsigned __umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }
SW_FN unsigned __sad(int a, int b, unsigned c) {
  return c + (a > b ? (unsigned)a - (unsigned)b : (unsigned)b - (unsigned)a);
}
SW_FN unsigned __usad(unsigned a, unsigned b, unsigned c) { return c + (a > b ? a - b : b - a); }
SW_FN int __hadd(int a, int b) { return (int)(((long long)a + b) >> 1); }
SW_FN unsigned __uhadd(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a + b) >> 1);
}
SW_FN int __rhadd(int a, int b) { return (int)(((long long)a + b + 1) >> 1); }
SW_FN unsigned __urhadd(unsigned a, unsigned b) {
  return (unsigned)(((unsigned long long)a + b + 1) >> 1);
}
SW_FN int __dp4a(int a, int b, int c) {
  for (int i = 0; i < 32; i += 8) c += (int)(signed char)(a >> i) * (signed char)(b >> i);
  return c;
}
SW_FN unsigned __dp4a(unsigned a, unsigned b, unsigned c) {
  for (int i = 0; i < 32; i += 8) c += (unsigned)(unsigned char)(a >> i) * (unsigned char)(b >> i);
  return c;
}
// The sum of c and of products of halfwords of a with bytes of b, its lower or its upper two.
#define SW_DP2A(name, T, Half, Byte, first)                  \
  SW_FN T name(T a, T b, T c) {                              \
    return c + (T)(Half)a * (T)(Byte)(b >> first) +          \
           (T)(Half)(a >> 16) * (T)(Byte)(b >> (first + 8)); \
  }
SW_DP2A(__dp2a_lo, int, short, signed char, 0)
SW_DP2A(__dp2a_hi, int, short, signed char, 16)
SW_DP2A(__dp2a_lo, unsigned, unsigned short, unsigned char, 0)
SW_DP2A(__dp2a_hi, unsigned, unsigned short, unsigned char, 16)
#undef SW_DP2A
#if defined(SW_WITH_VECTORS) || defined(SW_WITH_ALL)
#define SW_DOT(name, T, A, B) \
  SW_FN T name(A a, B b, T c) { return name(sw_bits<T>(a), sw_bits<T>(b), c); }
SW_DOT(__dp2a_lo, int, short2, char4)
SW_DOT(__dp2a_hi, int, short2, char4)
SW_DOT(__dp2a_lo, unsigned, ushort2, uchar4)
SW_DOT(__dp2a_hi, unsigned, ushort2, uchar4)
SW_DOT(__dp4a, int, char4, char4)
SW_DOT(__dp4a, unsigned, uchar4, uchar4)
#undef SW_DOT
#endif
SW_FN unsigned short __nv_bswap16(unsigned short x) { return __builtin_bswap16(x); }
SW_FN unsigned __nv_bswap32(unsigned x) { return __builtin_bswap32(x); }
SW_FN unsigned long long __nv_bswap64(unsigned long long x) { return __builtin_bswap64(x); }
// The position of a set bit of `mask`: that of number |offset| from bit `base` on, upwards or, if
// offset is negative, downwards; with offset 0, `base` if it is set.
SW_FN unsigned __fns(unsigned mask, unsigned base, int offset) {
  if (offset == 0) return base < 32 && mask >> base & 1u ? base : ~0u;
  int count = offset < 0 ? -offset : offset;
  for (unsigned at = base; at < 32; at += offset < 0 ? -1u : 1u)
    if ((mask >> at & 1u) != 0 && --count == 0) return at;
  return ~0u;
}
// Counters of the profiler.
SW_FN void __prof_trigger(int) {}
SW_FN unsigned __pm0() { return 0; }
SW_FN unsigned __pm1() { return 0; }
SW_FN unsigned __pm2() { return 0; }
SW_FN unsigned __pm3() { return 0; }

SW_FN int __float_as_int(float x) { return sw_bits<int>(x); }
SW_FN unsigned __float_as_uint(float x) { return sw_bits<unsigned>(x); }
SW_FN float __int_as_float(int x) { return sw_bits<float>(x); }
SW_FN float __uint_as_float(unsigned x) { return sw_bits<float>(x); }
SW_FN long long __double_as_longlong(double x) { return sw_bits<long long>(x); }
SW_FN double __longlong_as_double(long long x) { return sw_bits<double>(x); }
SW_FN int __double2hiint(double x) { return (int)(sw_bits<unsigned long long>(x) >> 32); }
SW_FN int __double2loint(double x) { return (int)sw_bits<unsigned long long>(x); }
SW_FN double __hiloint2double(int hi, int lo) {
  return sw_bits<double>((unsigned long long)(unsigned)hi << 32 | (unsigned)lo);
}

// Conversions of a GPU saturate. They convert NaN to 0 or, if either type has 64 bits, to the value
// with only the highest bit set (PTX ISA 8.8, cvt).
template <class To, class From>
SW_FN To sw_saturated(From x) {
  constexpr bool is_signed = (To)-1 < (To)0;
  constexpr int bits = 8 * (int)sizeof(To) - (is_signed ? 1 : 0);
  constexpr To highest =
      (To)(((unsigned long long)1 << (bits - 1)) - 1 + ((unsigned long long)1 << (bits - 1)));
  constexpr To lowest = is_signed ? (To)(-highest - 1) : (To)0;
  constexpr bool is_wide = sizeof(To) == 8 || sizeof(From) == 8;
  if (x != x) return is_wide ? (To)(1ull << (8 * sizeof(To) - 1)) : (To)0;
  const From limit = (From)((unsigned long long)1 << (bits - 1)) * 2;
  if (x >= limit) return highest;
  if (is_signed ? x < -limit : x < 0) return lowest;
  return (To)x;
}

#define SW_ROUNDINGS(name, To, From, f)                                          \
  SW_FN To name##_rn(From x) { return sw_saturated<To>(__builtin_rint##f(x)); }  \
  SW_FN To name##_rz(From x) { return sw_saturated<To>(__builtin_trunc##f(x)); } \
  SW_FN To name##_ru(From x) { return sw_saturated<To>(__builtin_ceil##f(x)); }  \
  SW_FN To name##_rd(From x) { return sw_saturated<To>(__builtin_floor##f(x)); }
SW_ROUNDINGS(__float2int, int, float, f)
SW_ROUNDINGS(__float2uint, unsigned, float, f)
SW_ROUNDINGS(__float2ll, long long, float, f)
SW_ROUNDINGS(__float2ull, unsigned long long, float, f)
SW_ROUNDINGS(__double2int, int, double, )
SW_ROUNDINGS(__double2uint, unsigned, double, )
SW_ROUNDINGS(__double2ll, long long, double, )
SW_ROUNDINGS(__double2ull, unsigned long long, double, )
#undef SW_ROUNDINGS
SW_FN float __int2float_rn(int x) { return (float)x; }
SW_FN float __uint2float_rn(unsigned x) { return (float)x; }
SW_FN float __ll2float_rn(long long x) { return (float)x; }
SW_FN float __ull2float_rn(unsigned long long x) { return (float)x; }
SW_FN double __int2double_rn(int x) { return x; }
SW_FN double __uint2double_rn(unsigned x) { return x; }
SW_FN double __ll2double_rn(long long x) { return (double)x; }
SW_FN double __ull2double_rn(unsigned long long x) { return (double)x; }
SW_FN float __double2float_rn(double x) { return (float)x; }

// Cache hints are ignored.
#define SW_LOAD(name)                  \
  template <class SwT>                 \
  SW_FN SwT name(const SwT* address) { \
    return *address;                   \
  }
SW_LOAD(__ldg)
SW_LOAD(__ldca)
SW_LOAD(__ldcg)
SW_LOAD(__ldcs)
SW_LOAD(__ldlu)
SW_LOAD(__ldcv)
#undef SW_LOAD
#define SW_STORE(name)                       \
  template <class SwT>                       \
  SW_FN void name(SwT* address, SwT value) { \
    *address = value;                        \
  }
SW_STORE(__stwb)
SW_STORE(__stcg)
SW_STORE(__stcs)
SW_STORE(__stwt)
#undef SW_STORE

#ifndef SW_KERNEL_CHECK
#define sw_note_fence() ((void)0)
#endif
SW_FN void __threadfence_block() { sw_note_fence(), __atomic_thread_fence(__ATOMIC_SEQ_CST); }
SW_FN void __threadfence() { sw_note_fence(), __atomic_thread_fence(__ATOMIC_SEQ_CST); }
SW_FN void __threadfence_system() { sw_note_fence(), __atomic_thread_fence(__ATOMIC_SEQ_CST); }
SW_FN void __nanosleep(unsigned) {}
#if defined(__x86_64__)
SW_FN long long clock64() { return (long long)__builtin_ia32_rdtsc(); }
#elif defined(__aarch64__)
SW_FN long long clock64() {
  long long ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
}
#else
extern "C" long clock() noexcept;
SW_FN long long clock64() { return clock(); }
#endif
#ifdef SW_SYSTEM
#define clock() ((long)clock64())  // not a declaration: <time.h> has one
#elif defined(__x86_64__) || defined(__aarch64__)
typedef long clock_t;
SW_FN clock_t clock() { return (clock_t)clock64(); }
#endif
