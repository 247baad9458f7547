// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Random numbers, bit-identical on CPU and GPU: the words of the generator, the distributions, the
// bodies of the loops, and permutations. The host compiler compiles this text as C++, inside one
// namespace per instruction set, and NVRTC as CUDA C++; it therefore includes nothing. The
// including text includes draw_parameters.cuh and defines SW_FN (declares a function), SW_UNROLL
// (unrolls the next loop), fused(), root(), bits_of(), from_bits() and high_product(). Every
// floating operation is correctly rounded by IEEE 754, and none may be contracted into another, so
// all processors agree to the last bit.

// ---- The generator, Philox4x32-10: Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3", SC'11, table 2 and section 3.3

// Both halves of a 64-bit product. W is a Word, or on the host a vector of words.
SW_FN void multiply(Word x, Word factor, Word& high, Word& low) {
  const Wide product = (Wide)x * factor;
  high = (Word)(product >> 32);
  low = (Word)product;
}

template <class W>
struct BlockOf {
  W x, y, z, w;
};
typedef BlockOf<Word> PhiloxBlock;

template <class W>
SW_FN BlockOf<W> philox(BlockOf<W> c, Word key0, Word key1) {
  SW_UNROLL for (int round = 0; round < 10; ++round) {
    W high0, low0, high1, low1;
    multiply(c.x, 0xD2511F53u, high0, low0);
    multiply(c.z, 0xCD9E8D57u, high1, low1);
    const BlockOf<W> next = {high1 ^ c.y ^ key0, low1, high0 ^ c.w ^ key1, low0};
    c = next;
    key0 += 0x9E3779B9u;
    key1 += 0xBB67AE85u;
  }
  return c;
}

// The words of block `at` of a draw. If a word of it is rejected, the next one comes from the same
// block with `attempt` incremented.
SW_FN PhiloxBlock block_of(const Draw& d, Wide at, Word attempt) {
  const Wide position = d.position + at;
  const PhiloxBlock counter = {(Word)position, (Word)(position >> 32), attempt, d.stream};
  return philox(counter, d.key0, d.key1);
}

// ---- Distributions. Each polynomial is a minimax fit of the function named beside it.

// Uniform numbers: multiples of 2^-uniform_bits, and of 2^-53, in [0, 1)

SW_FN float scaled(float x, const Draw& d) { return x * (float)d.scale + (float)d.shift; }
SW_FN double scaled(double x, const Draw& d) { return x * d.scale + d.shift; }

// Signed conversions, since AVX2 has no unsigned ones.
SW_FN float uniform32(Word r, Word uniform_bits) {
  return (float)(int)(r >> (32 - uniform_bits)) * from_bits((127u - uniform_bits) << 23);
}
SW_FN double uniform64(Word high, Word low) {
  return fused((double)(int)(high >> 5), 0x1p-27, (double)(int)(low >> 6) * 0x1p-53);
}

// -ln(u) for u = (r + 1/2) / 2^32 or 2^64: to 2 ulp over the whole range. Near u = 1, the
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

// Normal numbers in pairs: Box and Muller, "A note on the generation of random normal
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

// ---- The bodies of the loops, one for each distribution. A body computes `each` elements from a
// PhiloxBlock, the four words of one Philox counter; `d` holds the parameters of the draw and `at`
// is the number of the block. make() returns whether a word must be rejected; redraw() then
// computes the elements again, with further blocks as needed.

template <class T, int count>
struct WithoutRejection {
  typedef T Out;
  enum { each = count, may_reject = 0 };
  static SW_FN void redraw(const Draw&, Wide, T*) {}
};

struct Words : WithoutRejection<Word, 4> {
  static SW_FN bool make(PhiloxBlock w, const Draw&, Wide, Word* out) {
    out[0] = w.x, out[1] = w.y, out[2] = w.z, out[3] = w.w;
    return false;
  }
};

struct Uniform32 : WithoutRejection<float, 4> {
  static SW_FN bool make(PhiloxBlock w, const Draw& d, Wide, float* out) {
    out[0] = uniform32(w.x, d.uniform_bits), out[1] = uniform32(w.y, d.uniform_bits);
    out[2] = uniform32(w.z, d.uniform_bits), out[3] = uniform32(w.w, d.uniform_bits);
    return false;
  }
};
struct Uniform64 : WithoutRejection<double, 2> {
  static SW_FN bool make(PhiloxBlock w, const Draw&, Wide, double* out) {
    out[0] = uniform64(w.x, w.y), out[1] = uniform64(w.z, w.w);
    return false;
  }
};

struct Normal32 : WithoutRejection<float, 4> {
  static SW_FN bool make(PhiloxBlock w, const Draw&, Wide, float* out) {
    const Pair32 p = normal32(w.x, w.y), q = normal32(w.z, w.w);
    out[0] = p.a, out[1] = p.b, out[2] = q.a, out[3] = q.b;
    return false;
  }
};
struct Normal64 : WithoutRejection<double, 2> {
  static SW_FN bool make(PhiloxBlock w, const Draw&, Wide, double* out) {
    const Pair64 p = normal64(w);
    out[0] = p.a, out[1] = p.b;
    return false;
  }
};

struct Exponential32 : WithoutRejection<float, 4> {
  static SW_FN bool make(PhiloxBlock w, const Draw&, Wide, float* out) {
    out[0] = minus_log32(w.x), out[1] = minus_log32(w.y);
    out[2] = minus_log32(w.z), out[3] = minus_log32(w.w);
    return false;
  }
};
struct Exponential64 : WithoutRejection<double, 2> {
  static SW_FN bool make(PhiloxBlock w, const Draw&, Wide, double* out) {
    out[0] = minus_log64(w.x, w.y), out[1] = minus_log64(w.z, w.w);
    return false;
  }
};

// The elements of Body times d.scale, plus d.shift.
template <class Body>
struct Scaled : Body {
  typedef typename Body::Out Out;
  static SW_FN bool make(PhiloxBlock w, const Draw& d, Wide at, Out* out) {
    Body::make(w, d, at, out);
    SW_UNROLL for (int k = 0; k < Body::each; ++k) out[k] = scaled(out[k], d);
    return false;
  }
};
// The body under a Scaled one, for a scale of 1 and a shift of 0; any other body itself.
template <class Body>
struct Unscaled {
  typedef Body Of;
};
template <class Body>
struct Unscaled<Scaled<Body> > {
  typedef Body Of;
};

// Integers without bias: Lemire, "Fast random integer generation in an interval", 2019. The high
// half of word * span is the number; words for which the low half is less than 2^bits mod span are
// rejected. A span of 0 stands for 2^bits: the number is the word, and none is rejected.

SW_FN Word word_at(PhiloxBlock w, int i) {
  return i == 0 ? w.x : i == 1 ? w.y : i == 2 ? w.z : w.w;
}
SW_FN Wide wide_word_at(PhiloxBlock w, int i) {
  return i == 0 ? (Wide)w.x << 32 | w.y : (Wide)w.z << 32 | w.w;
}

template <class T>
struct Integers {
  typedef T Out;
  enum { each = 4, may_reject = 1 };
  static SW_FN T value(Word r, const Draw& d) {
    const Word span = (Word)d.span, high = (Word)((Wide)r * span >> 32);
    return (T)(d.low + (span == 0 ? r : high));
  }
  static SW_FN bool is_rejected(Word r, const Draw& d) {
    return r * (Word)d.span < (Word)d.threshold;
  }
  static SW_FN bool make(PhiloxBlock w, const Draw& d, Wide, T* out) {
    out[0] = value(w.x, d), out[1] = value(w.y, d);
    out[2] = value(w.z, d), out[3] = value(w.w, d);
    return (int)is_rejected(w.x, d) | (int)is_rejected(w.y, d) | (int)is_rejected(w.z, d) |
           (int)is_rejected(w.w, d);
  }
  static SW_FN void redraw(const Draw& d, Wide at, T* out) {
    SW_UNROLL for (int i = 0; i < each; ++i) {
      Word attempt = 0, r = word_at(block_of(d, at, 0), i);
      while (is_rejected(r, d)) r = word_at(block_of(d, at, ++attempt), i);
      out[i] = value(r, d);
    }
  }
};

SW_FN Wide wide_value(Wide r, Wide low, Wide span) {
  return low + (span == 0 ? r : high_product(r, span));
}

struct WideIntegers {
  typedef Wide Out;
  enum { each = 2, may_reject = 1 };
  static SW_FN bool is_rejected(Wide r, const Draw& d) { return r * d.span < d.threshold; }
  static SW_FN bool make(PhiloxBlock w, const Draw& d, Wide, Wide* out) {
    const Wide a = wide_word_at(w, 0), b = wide_word_at(w, 1);
    out[0] = wide_value(a, d.low, d.span), out[1] = wide_value(b, d.low, d.span);
    return (int)is_rejected(a, d) | (int)is_rejected(b, d);
  }
  static SW_FN void redraw(const Draw& d, Wide at, Wide* out) {
    SW_UNROLL for (int i = 0; i < each; ++i) {
      Word attempt = 0;
      Wide r = wide_word_at(block_of(d, at, 0), i);
      while (is_rejected(r, d)) r = wide_word_at(block_of(d, at, ++attempt), i);
      out[i] = wide_value(r, d.low, d.span);
    }
  }
};

// Integers between bounds that are given for each element.
struct IntegersWithin {
  typedef Wide Out;
  enum { each = 2, may_reject = 1 };
  static SW_FN bool make(PhiloxBlock w, const Draw& d, Wide at, Wide* out) {
    bool rejected = false;
    SW_UNROLL for (int i = 0; i < each; ++i) {
      const Wide element = at * each + i;
      if (element >= d.size) break;
      const Wide r = wide_word_at(w, i), span = d.spans[element];
      out[i] = wide_value(r, d.lows[element], span);
      rejected |= r * span < span;  // with false positives: the exact threshold needs a division
    }
    return rejected;
  }
  static SW_FN void redraw(const Draw& d, Wide at, Wide* out) {
    SW_UNROLL for (int i = 0; i < each; ++i) {
      const Wide element = at * each + i;
      if (element >= d.size) break;
      const Wide span = d.spans[element];
      const Wide threshold = span == 0 ? 0 : (0 - span) % span;
      Word attempt = 0;
      Wide r = wide_word_at(block_of(d, at, 0), i);
      while (r * span < threshold) r = wide_word_at(block_of(d, at, ++attempt), i);
      out[i] = wide_value(r, d.lows[element], span);
    }
  }
};

// The index of the first table entry that is greater than a uniform number.
struct Picks : WithoutRejection<Wide, 2> {
  static SW_FN Wide pick(double u, const Draw& d) {
    Wide first = 0, last = d.entries - 1;
    while (first < last) {
      const Wide middle = first + (last - first) / 2;
      if (d.table[middle] > u)
        last = middle;
      else
        first = middle + 1;
    }
    return first;
  }
  static SW_FN bool make(PhiloxBlock w, const Draw& d, Wide, Wide* out) {
    out[0] = pick(uniform64(w.x, w.y), d);
    out[1] = pick(uniform64(w.z, w.w), d);
    return false;
  }
};

// ---- A permutation of [0, size) whose elements are computed independently of one another:
// VariablePhilox of Mitchell, Stokes, Frank and Holmes, "Bandwidth-optimal random shuffling for
// GPUs", ACM TOPC 2022, permutes [0, next power of two); images >= size are permuted again.

template <class W>
struct HalvesOf {
  W left, right;
};
typedef HalvesOf<Word> Halves;

template <class W>
SW_FN HalvesOf<W> feistel_round(HalvesOf<W> x, Word key, const Bijection& b) {
  const Word left_mask = ((Word)1 << b.left_bits) - 1, more = b.right_bits - b.left_bits;  // 0 or 1
  const Word right_mask = (left_mask << more) | more;
  // The high and low 32 bits of the low 64 bits of x.left times 0xD2B74407B1CE6E93.
  W high, low, beyond, added;
  multiply(x.left, 0xB1CE6E93u, high, low);
  multiply(x.left, 0xD2B74407u, beyond, added);
  const HalvesOf<W> next = {((high + added) ^ key ^ x.right) & left_mask,
                            ((low << more) | (x.right >> b.left_bits)) & right_mask};
  return next;
}

SW_FN Halves split_index(Wide i, const Bijection& b) {
  const Halves x = {(Word)(i >> b.right_bits), (Word)i & (Word)(((Wide)1 << b.right_bits) - 1)};
  return x;
}
SW_FN Wide joined(Halves x, const Bijection& b) { return (Wide)x.left << b.right_bits | x.right; }

SW_FN Wide permuted_once(Wide i, const Bijection& b) {
  Halves x = split_index(i, b);
  for (int round = 0; round < 24; ++round) x = feistel_round(x, b.keys[round], b);
  return joined(x, b);
}

SW_FN Wide permuted(Wide i, const Bijection& b) {
  do {
    i = permuted_once(i, b);
  } while (i >= b.size);
  return i;
}
