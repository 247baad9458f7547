// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// The bodies of the loops, one for each distribution. A body computes `each` elements from a
// PhiloxBlock, the four words of one Philox counter (philox.cuh); `d` holds the parameters of the
// Draw (parameters.cuh) and `at` is the number of the block. make() returns whether a word must be
// rejected; redraw() then computes the elements again, with further blocks as needed.

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
