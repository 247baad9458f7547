// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// SIMD intrinsics (CUDA Math API 13.0, "SIMD Intrinsics"): 4 bytes or 2 halfwords in an unsigned.

// f(a, b, c) of each lane; SwLane is the type of a lane, of which f gets ints.
template <class SwLane, class SwF>
SW_FN unsigned sw_lanes(SwF f, unsigned a, unsigned b = 0, unsigned c = 0) {
  constexpr int bits = 8 * (int)sizeof(SwLane);
  unsigned out = 0;
  for (int i = 0; i < 32; i += bits) {
    const auto lane =
        (unsigned)f((int)(SwLane)(a >> i), (int)(SwLane)(b >> i), (int)(SwLane)(c >> i));
    out |= (lane & (0xffffffffu >> (32 - bits))) << i;
  }
  return out;
}
template <class SwLane>
SW_FN int sw_clamped(int x) {
  constexpr int bits = 8 * (int)sizeof(SwLane), is_signed = (SwLane)-1 < (SwLane)0;
  constexpr int highest = (1 << (bits - is_signed)) - 1, lowest = is_signed ? -highest - 1 : 0;
  return x < lowest ? lowest : x > highest ? highest : x;
}
SW_FN int sw_absolute(int x) { return x < 0 ? -x : x; }
SW_FN int sw_lesser(int a, int b) { return a < b ? a : b; }
SW_FN int sw_greater(int a, int b) { return a > b ? a : b; }

#define SW_LANES(name, SwLane, ...)                                                    \
  SW_FN unsigned name(unsigned a, unsigned b) {                                        \
    typedef SwLane Lane;                                                               \
    return sw_lanes<Lane>([](int a, int b, int) { return (int)(__VA_ARGS__); }, a, b); \
  }
#define SW_LANES_1(name, SwLane, ...)                                             \
  SW_FN unsigned name(unsigned a) {                                               \
    typedef SwLane Lane;                                                          \
    return sw_lanes<Lane>([](int a, int, int) { return (int)(__VA_ARGS__); }, a); \
  }
// For bytes and for halfwords.
#define SW_BOTH(kind, name, sign, ...) \
  kind(name##4, sign char, __VA_ARGS__) kind(name##2, sign short, __VA_ARGS__)

SW_BOTH(SW_LANES_1, __vabs, signed, sw_absolute(a))
SW_BOTH(SW_LANES_1, __vabsss, signed, sw_clamped<Lane>(sw_absolute(a)))
SW_BOTH(SW_LANES_1, __vneg, signed, -a)
SW_BOTH(SW_LANES_1, __vnegss, signed, sw_clamped<Lane>(-a))
SW_BOTH(SW_LANES, __vadd, signed, a + b)
SW_BOTH(SW_LANES, __vaddss, signed, sw_clamped<Lane>(a + b))
SW_BOTH(SW_LANES, __vaddus, unsigned, sw_clamped<Lane>(a + b))
SW_BOTH(SW_LANES, __vsub, signed, a - b)
SW_BOTH(SW_LANES, __vsubss, signed, sw_clamped<Lane>(a - b))
SW_BOTH(SW_LANES, __vsubus, unsigned, sw_clamped<Lane>(a - b))
SW_BOTH(SW_LANES, __vabsdiffs, signed, sw_absolute(a - b))
SW_BOTH(SW_LANES, __vabsdiffu, unsigned, sw_absolute(a - b))
// Halves are rounded up unless the sum is negative, then down, as on a GPU.
SW_BOTH(SW_LANES, __vavgs, signed, (a + b + (a + b >= 0)) >> 1)
SW_BOTH(SW_LANES, __vavgu, unsigned, (a + b + 1) >> 1)
SW_BOTH(SW_LANES, __vhaddu, unsigned, (a + b) >> 1)
SW_BOTH(SW_LANES, __vmins, signed, sw_lesser(a, b))
SW_BOTH(SW_LANES, __vminu, unsigned, sw_lesser(a, b))
SW_BOTH(SW_LANES, __vmaxs, signed, sw_greater(a, b))
SW_BOTH(SW_LANES, __vmaxu, unsigned, sw_greater(a, b))
// __vcmp... gives lanes of all ones, __vset... lanes that are 1.
#define SW_COMPARE(name, sign, op)                 \
  SW_BOTH(SW_LANES, __vcmp##name, sign, -(a op b)) \
  SW_BOTH(SW_LANES, __vset##name, sign, a op b)
SW_COMPARE(eq, signed, ==)
SW_COMPARE(ne, signed, !=)
SW_COMPARE(ges, signed, >=)
SW_COMPARE(geu, unsigned, >=)
SW_COMPARE(gts, signed, >)
SW_COMPARE(gtu, unsigned, >)
SW_COMPARE(les, signed, <=)
SW_COMPARE(leu, unsigned, <=)
SW_COMPARE(lts, signed, <)
SW_COMPARE(ltu, unsigned, <)
#undef SW_COMPARE
// The sum of the absolute differences of the lanes.
#define SW_SAD(name, difference)                                                           \
  SW_FN unsigned name##4(unsigned a, unsigned b) {                                         \
    const unsigned lanes = difference##4(a, b);                                            \
    return (lanes & 0xffu) + (lanes >> 8 & 0xffu) + (lanes >> 16 & 0xffu) + (lanes >> 24); \
  }                                                                                        \
  SW_FN unsigned name##2(unsigned a, unsigned b) {                                         \
    const unsigned lanes = difference##2(a, b);                                            \
    return (lanes & 0xffffu) + (lanes >> 16);                                              \
  }
SW_SAD(__vsads, __vabsdiffs)
SW_SAD(__vsadu, __vabsdiffu)
#undef SW_SAD
#undef SW_BOTH
#undef SW_LANES_1
#undef SW_LANES

// Minima and maxima of three numbers and of a sum and a number, each also with 0 ("relu"), and
// those that tell whether a was chosen. s32, u32: words; s16x2, u16x2: halfwords.
#define SW_EXTREMES(name, type, T, pick, add)                                 \
  SW_FN T __vi##name##3_##type(T a, T b, T c) { return pick(pick(a, b), c); } \
  SW_FN T __viadd##name##_##type(T a, T b, T c) { return pick(add(a, b), c); }
#define SW_RELU(name, type, T, pick, positive)                                     \
  SW_FN T __vi##name##_##type##_relu(T a, T b) { return positive(pick(a, b), 0); } \
  SW_FN T __vi##name##3_##type##_relu(T a, T b, T c) {                             \
    return positive(__vi##name##3_##type(a, b, c), 0);                             \
  }                                                                                \
  SW_FN T __viadd##name##_##type##_relu(T a, T b, T c) {                           \
    return positive(__viadd##name##_##type(a, b, c), 0);                           \
  }
#define SW_CHOSEN(name, type, T, pick)                 \
  SW_FN T __vib##name##_##type(T a, T b, bool* is_a) { \
    const T chosen = pick(a, b);                       \
    *is_a = chosen == a;                               \
    return chosen;                                     \
  }
#define SW_CHOSEN_PAIR(name, type, pick)                                                         \
  SW_FN unsigned __vib##name##_##type(unsigned a, unsigned b, bool* is_high_a, bool* is_low_a) { \
    const unsigned chosen = pick(a, b), other = chosen ^ a;                                      \
    *is_high_a = other >> 16 == 0;                                                               \
    *is_low_a = (other & 0xffffu) == 0;                                                          \
    return chosen;                                                                               \
  }
SW_FN int sw_sum(int a, int b) { return (int)((unsigned)a + (unsigned)b); }
SW_FN unsigned sw_lesser(unsigned a, unsigned b) { return a < b ? a : b; }
SW_FN unsigned sw_greater(unsigned a, unsigned b) { return a > b ? a : b; }
SW_FN unsigned sw_sum(unsigned a, unsigned b) { return a + b; }
#define SW_EXTREME_FAMILY(name, pick)                        \
  SW_EXTREMES(name, s32, int, pick, sw_sum)                  \
  SW_EXTREMES(name, u32, unsigned, pick, sw_sum)             \
  SW_EXTREMES(name, s16x2, unsigned, __v##name##s2, __vadd2) \
  SW_EXTREMES(name, u16x2, unsigned, __v##name##u2, __vadd2) \
  SW_RELU(name, s32, int, pick, sw_greater)                  \
  SW_RELU(name, s16x2, unsigned, __v##name##s2, __vmaxs2)    \
  SW_CHOSEN(name, s32, int, pick)                            \
  SW_CHOSEN(name, u32, unsigned, pick)                       \
  SW_CHOSEN_PAIR(name, s16x2, __v##name##s2)                 \
  SW_CHOSEN_PAIR(name, u16x2, __v##name##u2)
SW_EXTREME_FAMILY(min, sw_lesser)
SW_EXTREME_FAMILY(max, sw_greater)
#undef SW_EXTREME_FAMILY
#undef SW_CHOSEN_PAIR
#undef SW_CHOSEN
#undef SW_RELU
#undef SW_EXTREMES
