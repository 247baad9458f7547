// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

template <int bytes>
struct Alignment {
  enum { value = bytes < 16 ? bytes : 16 };
};

// Computes the elements of block `at` and stores them: if `packed`, all of them at once, at an
// aligned address; else one by one, without those beyond the end of the result.
template <class Body, bool packed>
__device__ __forceinline__ void fill_block(const Draw& d, Wide at, typename Body::Out* out) {
  typedef typename Body::Out Out;
  enum { each = Body::each, bytes = Body::each * sizeof(Out) };
  struct __align__(Alignment<bytes>::value) Pack {
    Out at[each];
  };
  Pack values;
  const bool rejected = Body::make(block_of(d, at, 0), d, at, values.at);
  if (Body::may_reject && rejected) Body::redraw(d, at, values.at);
  if (packed) {
    *(Pack*)out = values;
  } else {
    SW_UNROLL for (int k = 0; k < each; ++k) {
      if (at * each + k < d.size) out[k] = values.at[k];
    }
  }
}
