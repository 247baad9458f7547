// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/runtime/linear_algebra.hpp"

#include <cstddef>
#include <vector>

#include "spanwise/runtime/instruction_sets.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace spanwise {
namespace {

namespace gemv_baseline {
constexpr int vector_bytes = 16;
template <class T>
auto load_part(const T* from, std::int64_t count) {
  typedef T V __attribute__((vector_size(vector_bytes)));
  V vector{};
  for (std::int64_t i = 0; i < count; ++i) vector[i] = from[i];
  return vector;
}
template <class T, class V>
void store_part(T* to, std::int64_t count, V vector) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = vector[i];
}
#include "backends/cpu/host_gemv.inc"
}  // namespace gemv_baseline
#if defined(__x86_64__)
SW_BEGIN_AVX2_FMA
namespace gemv_avx2 {
constexpr int vector_bytes = 32;
inline __m256i first_floats(std::int64_t count) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)),
                            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
inline __m256i first_doubles(std::int64_t count) {
  return _mm256_cmpgt_epi64(_mm256_set1_epi64x(count), _mm256_setr_epi64x(0, 1, 2, 3));
}
inline __m256 load_part(const float* from, std::int64_t count) {
  return _mm256_maskload_ps(from, first_floats(count));
}
inline __m256d load_part(const double* from, std::int64_t count) {
  return _mm256_maskload_pd(from, first_doubles(count));
}
inline void store_part(float* to, std::int64_t count, __m256 vector) {
  _mm256_maskstore_ps(to, first_floats(count), vector);
}
inline void store_part(double* to, std::int64_t count, __m256d vector) {
  _mm256_maskstore_pd(to, first_doubles(count), vector);
}
#include "backends/cpu/host_gemv.inc"
}  // namespace gemv_avx2
SW_END_INSTRUCTIONS
SW_BEGIN_AVX512
namespace gemv_avx512 {
constexpr int vector_bytes = 64;
inline unsigned first_lanes(std::int64_t count) { return (1U << count) - 1; }
inline __m512 load_part(const float* from, std::int64_t count) {
  return _mm512_maskz_loadu_ps(static_cast<__mmask16>(first_lanes(count)), from);
}
inline __m512d load_part(const double* from, std::int64_t count) {
  return _mm512_maskz_loadu_pd(static_cast<__mmask8>(first_lanes(count)), from);
}
inline void store_part(float* to, std::int64_t count, __m512 vector) {
  _mm512_mask_storeu_ps(to, static_cast<__mmask16>(first_lanes(count)), vector);
}
inline void store_part(double* to, std::int64_t count, __m512d vector) {
  _mm512_mask_storeu_pd(to, static_cast<__mmask8>(first_lanes(count)), vector);
}
#include "backends/cpu/host_gemv.inc"
}  // namespace gemv_avx512
SW_END_INSTRUCTIONS
#endif

template <class T>
void multiply_dense_columns(const HostGemv<T>& gemv) {
#if defined(__x86_64__)
  if (has_avx512()) return gemv_avx512::add_all_columns(gemv);
  if (has_avx2_and_fma()) return gemv_avx2::add_all_columns(gemv);
#endif
  gemv_baseline::add_all_columns(gemv);
}

}  // namespace

template <class T>
void gemv_by_rows(HostGemv<T> gemv) {
  std::vector<T> packed;
  if (gemv.x_stride != 1) {
    for (std::int64_t p = 0; p < gemv.depth; ++p) packed.push_back(gemv.x[p * gemv.x_stride]);
    gemv.x = packed.data();
  }
#if defined(__x86_64__)
  if (has_avx512()) return gemv_avx512::multiply_all_rows(gemv);
  if (has_avx2_and_fma()) return gemv_avx2::multiply_all_rows(gemv);
#endif
  gemv_baseline::multiply_all_rows(gemv);
}

template <class T>
void gemv_by_columns(HostGemv<T> gemv) {
  if (gemv.y_stride == 1) return multiply_dense_columns(gemv);
  std::vector<T> result(static_cast<std::size_t>(gemv.rows));
  const HostGemv<T> strided = gemv;
  gemv.y = result.data();
  gemv.y_stride = 1;
  multiply_dense_columns(gemv);
  for (std::int64_t i = 0; i < gemv.rows; ++i)
    strided.y[i * strided.y_stride] = result[static_cast<std::size_t>(i)];
}

// As the product of the matrix whose columns are the parts, and a vector of ones.
template <class T>
void add_partial_sums(const T* partial, std::int64_t parts, HostGemv<T> gemv) {
  const T one = 1;
  gemv.matrix = partial;
  gemv.row_stride = 1;
  gemv.column_stride = gemv.rows;
  gemv.x = &one;
  gemv.x_stride = 0;
  gemv.depth = parts;
  gemv_by_columns(gemv);
}

template void gemv_by_rows(HostGemv<float>);
template void gemv_by_rows(HostGemv<double>);
template void gemv_by_columns(HostGemv<float>);
template void gemv_by_columns(HostGemv<double>);
template void add_partial_sums(const float*, std::int64_t, HostGemv<float>);
template void add_partial_sums(const double*, std::int64_t, HostGemv<double>);

}  // namespace spanwise
