// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Uniform, exponential and normal numbers from words of philox.cuh. Each polynomial is a minimax
// fit of the function named beside it.

// ---- Uniform numbers: multiples of 2^-uniform_bits, and of 2^-53, in [0, 1)

SW_FN float scaled(float x, const Draw& d) { return x * (float)d.scale + (float)d.shift; }
SW_FN double scaled(double x, const Draw& d) { return x * d.scale + d.shift; }

// Signed conversions, since AVX2 has no unsigned ones.
SW_FN float uniform32(Word r, Word uniform_bits) {
  return (float)(int)(r >> (32 - uniform_bits)) * from_bits((127u - uniform_bits) << 23);
}
SW_FN double uniform64(Word high, Word low) {
  return fused((double)(int)(high >> 5), 0x1p-27, (double)(int)(low >> 6) * 0x1p-53);
}

// ---- -ln(u) for u = (r + 1/2) / 2^32 or 2^64: to 2 ulp over the whole range. Near u = 1, the
// difference 1 - u is computed from r without cancellation.

SW_FN float minus_log32(Word r) {
  // Below 1/2, u = m 2^(k - 126) with m from 1/2 to 1; above, its logarithm is that of 1 + w.
  const float w = fused((float)(int)r, 0x1p-32f, 0x1p-33f);  // u, or u - 1
  const bool is_upper = w < 0.0f;
  const Word bits = bits_of(w);
  const float m = from_bits((bits & 0x7fffffu) | 0x3f000000u), f = is_upper ? w : m - 1.0f;
  // k is converted through the mantissa of a float.
  const Word k = is_upper ? 0x4b00007eu : (bits >> 23) + 0x4b000000u;
  // ln(1 + f) = f + f^2 q
  float q = 0x1.6a0b1cp+0f;
  q = fused(q, f, 0x1.a3914p+0f);
  q = fused(q, f, 0x1.3549eap+0f);
  q = fused(q, f, 0x1.72159ap-3f);
  q = fused(q, f, 0x1.0df4dap-2f);
  q = fused(q, f, -0x1.f3144cp-3f);
  q = fused(q, f, 0x1.55a382p-2f);
  q = fused(q, f, -0x1.fffecp-2f);
  return fused(0x1.0000fcp+23f - from_bits(k), 0x1.62e43p-1f, -fused(f * f, q, f));
}

SW_FN double double_of(Word x) { return (double)(int)(x ^ 0x80000000u) + 2147483648.0; }
// 2^65 u, for u of the words as above: an odd integer, rounded to double.
SW_FN double odd64(Word high, Word low) {
  return fused(double_of(high), 0x1p33, fused(double_of(low), 2.0, 1.0));
}

SW_FN double minus_log64(Word high, Word low) {
  // u = 2^(k - 65) m. k is converted through the mantissa of a double, since AVX2 has no conversion
  // of 64-bit integers.
  const Wide shifted = bits_of(odd64(high, low)) - 0x3fe6a09e667f3bcdull;
  const double k = from_bits((shifted >> 52) | 0x4330000000000000ull) - 0x1p52;
  const double m = from_bits((shifted & 0xfffffffffffffull) + 0x3fe6a09e667f3bcdull);
  const double f = k == 65.0 ? odd64(~high, ~low) * -0x1p-65 : m - 1.0;
  // ln(1 + f) = f - s (f - z p) with s = f / (2 + f), z = s^2
  const double s = f / (2.0 + f), z = s * s;
  double p = 0x1.2e3e47bb8e1b6p-3;
  p = fused(p, z, 0x1.39b6f255972f6p-3);
  p = fused(p, z, 0x1.74655a7c5a2e9p-3);
  p = fused(p, z, 0x1.c71c56d2e8d55p-3);
  p = fused(p, z, 0x1.2492493b52c16p-2);
  p = fused(p, z, 0x1.9999999988881p-2);
  p = fused(p, z, 0x1.5555555555572p-1);
  const double log_m = fused(-s, fused(-z, p, f), f);
  const double e = 65.0 - k;
  return fused(e, 0x1.62e42fefa39efp-1, fused(e, 0x1.abc9e3b39803fp-56, -log_m));
}

// ---- Normal numbers in pairs: Box and Muller, "A note on the generation of random normal
// deviates", 1958. The angle is a word in units of 2^-32 turns, so no range reduction is needed.

struct Pair32 {
  float a, b;
};
struct Pair64 {
  double a, b;
};

SW_FN Pair32 normal32(Word r, Word angle) {
  const float f = fused((float)(int)(angle << 2), 0x1p-31f, 0x1p-30f), y = f * f;
  float s = -0x1.af30fcp-15f;  // sqrt(2) sin(pi/4 f) / f
  s = fused(s, y, 0x1.cdabbp-9f);
  s = fused(s, y, -0x1.d3ba9cp-4f);
  s = fused(s, y, 0x1.1c5832p+0f) * f;
  float c = -0x1.d8dc84p-12f;  // sqrt(2) cos(pi/4 f)
  c = fused(c, y, 0x1.6f402cp-6f);
  c = fused(c, y, -0x1.bea566p-2f);
  c = fused(c, y, 0x1.6a09e6p+0f);
  const float radius = root(minus_log32(r));
  // The upper two bits are the number of quarter turns.
  const Word turned = angle + 0x20000000u;
  const bool is_odd = (turned & 0x40000000u) != 0;
  const float a = radius * (is_odd ? s : c), b = radius * (is_odd ? c : s);
  const Pair32 pair = {from_bits(bits_of(a) ^ ((turned + 0x40000000u) & 0x80000000u)),
                       from_bits(bits_of(b) ^ (turned & 0x80000000u))};
  return pair;
}

SW_FN Pair64 normal64(PhiloxBlock w) {
  const Word quarter = (w.z + 0x20000000u) >> 30;
  const double f = fused((double)(int)((w.z << 2) | (w.w >> 30)), 0x1p-32,
                         double_of((w.w << 2) | 2u) * 0x1p-64),
               y = f * f;
  double s = 0x1.e3f39e4e58707p-25;
  s = fused(s, y, -0x1.e3007200beee2p-19);
  s = fused(s, y, 0x1.50782fda6f1c4p-13);
  s = fused(s, y, -0x1.32d2cce2e612bp-8);
  s = fused(s, y, 0x1.466bc677587fdp-4);
  s = fused(s, y, -0x1.4abbce625be41p-1);
  s = fused(s, y, 0x1.921fb54442d18p+0) * f;
  double c = -0x1.b26fe92617f3fp-28;
  c = fused(c, y, 0x1.f9cc6ad2607f7p-22);
  c = fused(c, y, -0x1.a6d1ecb743441p-16);
  c = fused(c, y, 0x1.e1f50683b4301p-11);
  c = fused(c, y, -0x1.55d3c7e3c95bcp-6);
  c = fused(c, y, 0x1.03c1f081b5ab0p-2);
  c = fused(c, y, -0x1.3bd3cc9be45dep+0);
  c = fused(c, y, 1.0);
  const double radius = root(2.0 * minus_log64(w.x, w.y));
  const double a = radius * (quarter & 1u ? s : c), b = radius * (quarter & 1u ? c : s);
  const Pair64 pair = {from_bits(bits_of(a) ^ ((Wide)((quarter + 1u) & 2u) << 62)),
                       from_bits(bits_of(b) ^ ((Wide)(quarter & 2u) << 62))};
  return pair;
}
