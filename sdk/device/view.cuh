// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// For CUDA C kernels: #include <spanwise/view.cuh>. Compiled by NVRTC and by the host's C++
// compiler, so it includes nothing. spanwise::pack_view() on the host writes the same bytes.

namespace spanwise {

/// A strided array as a kernel parameter, by value: element (i, j, ...) is v(i, j, ...), for any
/// strides, negative and zero ones too. `View<const T, N>` is read-only; declare inputs as such,
/// because a launch rejects a read-only array for a View<T, N>.
///
/// shape and strides are in elements. With SW_CHECK_BOUNDS defined, an index outside the shape
/// stops the kernel with a message.
template <class T, int N>
struct View {
  static_assert(N >= 1, "a View has at least one axis; pass a 0-d array as a pointer");

  T* data;
  long long shape[N];
  long long strides[N];

  template <class... Index>
  __device__ T& operator()(Index... index) const {
    static_assert(sizeof...(Index) == N, "give one index an axis");
    const long long at[N] = {static_cast<long long>(index)...};
    long long offset = 0;
#pragma unroll
    for (int axis = 0; axis < N; ++axis) {
#ifdef SW_CHECK_BOUNDS
      if (at[axis] < 0 || at[axis] >= shape[axis]) {
        printf(
            "spanwise::View: index %lld is outside axis %d of extent %lld, in block (%u, %u, %u) "
            "thread (%u, %u, %u)\n",
            at[axis], axis, shape[axis], blockIdx.x, blockIdx.y, blockIdx.z, threadIdx.x,
            threadIdx.y, threadIdx.z);
        assert(false);
      }
#endif
      offset += at[axis] * strides[axis];
    }
    return data[offset];
  }

  /// Number of elements.
  __device__ long long size() const {
    long long n = 1;
#pragma unroll
    for (int axis = 0; axis < N; ++axis) n *= shape[axis];
    return n;
  }
};

}  // namespace spanwise
