// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/gemv.hpp"

#include <algorithm>
#include <vector>

#include "spanwise/runtime/instruction_sets.hpp"

namespace spanwise {
namespace {

namespace gemv_baseline {
constexpr int vector_bytes = 16;
#include "runtime/gemv_loops.inc"
}  // namespace gemv_baseline
#if defined(__x86_64__)
SW_BEGIN_AVX2_FMA
namespace gemv_avx2 {
constexpr int vector_bytes = 32;
#include "runtime/gemv_loops.inc"
}  // namespace gemv_avx2
SW_END_INSTRUCTIONS
SW_BEGIN_AVX512
namespace gemv_avx512 {
constexpr int vector_bytes = 64;
#include "runtime/gemv_loops.inc"
}  // namespace gemv_avx512
SW_END_INSTRUCTIONS
#endif

template <class T>
void run_by_rows(HostGemv<T>& gemv) {
  std::vector<T> packed;
  if (gemv.x_stride != 1) {
    for (std::int64_t p = 0; p < gemv.depth; ++p) packed.push_back(gemv.x[p * gemv.x_stride]);
    gemv.x = packed.data();
  }
#if defined(__x86_64__)
  if (has_avx512()) return gemv_avx512::add_rows(gemv);
  if (has_avx2_and_fma()) return gemv_avx2::add_rows(gemv);
#endif
  gemv_baseline::add_rows(gemv);
}

template <class T>
void run_dense_columns(const HostGemv<T>& gemv) {
#if defined(__x86_64__)
  if (has_avx512()) return gemv_avx512::add_all_columns(gemv);
  if (has_avx2_and_fma()) return gemv_avx2::add_all_columns(gemv);
#endif
  gemv_baseline::add_all_columns(gemv);
}

template <class T>
void run_by_columns(HostGemv<T>& gemv) {
  if (gemv.y_stride == 1) return run_dense_columns(gemv);
  std::vector<T> result(static_cast<std::size_t>(gemv.rows));
  const HostGemv<T> strided = gemv;
  gemv.y = result.data();
  gemv.y_stride = 1;
  run_dense_columns(gemv);
  for (std::int64_t i = 0; i < gemv.rows; ++i)
    strided.y[i * strided.y_stride] = result[static_cast<std::size_t>(i)];
}

}  // namespace

void gemv_by_rows(HostGemv<float> gemv) { run_by_rows(gemv); }
void gemv_by_rows(HostGemv<double> gemv) { run_by_rows(gemv); }
void gemv_by_columns(HostGemv<float> gemv) { run_by_columns(gemv); }
void gemv_by_columns(HostGemv<double> gemv) { run_by_columns(gemv); }

}  // namespace spanwise
