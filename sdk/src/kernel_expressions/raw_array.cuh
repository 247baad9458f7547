// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
// A raw array of a kernel: x[k] is its k-th element in C order, for any strides.
// ParameterValues::add_raw() writes the same bytes on the host: address, extents, strides in
// elements.
template <class T, int N, bool is_dense>
struct sw_raw {
  T* address;
  long long extents[N];
  long long steps[N];

  __device__ T& operator[](long long k) const {
    if (is_dense) return address[k];
    long long offset = 0;
#pragma unroll
    for (int axis = N - 1; axis > 0; --axis) {
      offset += k % extents[axis] * steps[axis];
      k /= extents[axis];
    }
    return address[offset + k * steps[0]];
  }
  __device__ long long size() const {
    long long count = 1;
    for (int axis = 0; axis < N; ++axis) count *= extents[axis];
    return count;
  }
  __device__ const long long* shape() const { return extents; }
};

// The type of `_ind`, `_in_ind` and `_out_ind`, which user code has as in CuPy: size() is the
// number of elements.
struct sw_count {
  long long count;
  __device__ long long size() const { return count; }
};
