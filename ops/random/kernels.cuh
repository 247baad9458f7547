// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

// Each thread computes blocks of words and stores their elements, mostly 16 bytes per block.

template <int bytes>
struct Alignment {
  enum { value = bytes < 16 ? bytes : 16 };
};

template <class Body>
__device__ __forceinline__ void fill(const Draw& d, typename Body::Out* out) {
  typedef typename Body::Out Out;
  enum { each = Body::each, bytes = Body::each * sizeof(Out) };
  struct __align__(Alignment<bytes>::value) Pack {
    Out at[each];
  };
  const bool in_packs = (Wide)out % Alignment<bytes>::value == 0;
  const Wide blocks = (d.size + each - 1) / each, step = (Wide)gridDim.x * blockDim.x;
  for (Wide at = (Wide)blockIdx.x * blockDim.x + threadIdx.x; at < blocks; at += step) {
    Pack values;
    const bool rejected = Body::make(block_of(d, at, 0), d, at, values.at);
    if (Body::may_reject && rejected) Body::redraw(d, at, values.at);
    const Wide first = at * each;
    if (in_packs && first + each <= d.size) {
      *(Pack*)(out + first) = values;
    } else {
      SW_UNROLL for (int k = 0; k < each; ++k) {
        if (first + k < d.size) out[first + k] = values.at[k];
      }
    }
  }
}

__device__ __forceinline__ void permute(const Bijection& b, long long* out, Wide count) {
  const Wide step = (Wide)gridDim.x * blockDim.x;
  for (Wide i = (Wide)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
    out[i] = (long long)permuted(i, b);
}
