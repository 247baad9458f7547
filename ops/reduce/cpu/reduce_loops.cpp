// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "reduce_loops.hpp"

#include <bit>
#include <cstring>
#include <type_traits>

#include "spanwise/core/element_types.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/instruction_sets.hpp"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace spanwise::ops::reduce {
namespace {

namespace reduce_baseline {
#define SW_EXTREME_LANE_BYTES 64
#include "reduce_loops.inc"

template <template <class> class Body, bool can_scan>
const ReduceLoops* sum_like(const ReductionTypes& types) {
#define SW_ELEMENT(dtype, T, A) \
  if (types.element == (dtype)) return loops_of<Body<A>, T, can_scan>();
  if (types.element.is_complex()) {
    SW_ELEMENT(complex64, Complex<float>, Complex<double>)
    SW_ELEMENT(complex128, Complex<double>, Complex<double>)
  }
  SW_ELEMENT(float32, float, double)
  SW_ELEMENT(float64, double, double)
  SW_ELEMENT(float16, Half, double)
  SW_ELEMENT(bfloat16, BFloat, double)
  if constexpr (can_scan) {
    if (types.accumulator.is_floating()) {
      SW_ELEMENT(int64, long long, double)
      SW_ELEMENT(uint64, unsigned long long, double)
    }
    if (types.element == int64 || types.element == uint64)
      return loops_of<Body<unsigned long long>, unsigned long long, can_scan>();
  }
#undef SW_ELEMENT
  return nullptr;
}

const ReduceLoops* sum_of_narrow(const ReductionTypes& types) {
#define SW_ELEMENT(dtype, T) \
  if (types.element == (dtype)) return loops_of<Sum<unsigned long long>, T, true>();
  SW_ELEMENT(bool_, Bool)
  SW_ELEMENT(int8, signed char)
  SW_ELEMENT(uint8, unsigned char)
  SW_ELEMENT(int16, short)
  SW_ELEMENT(uint16, unsigned short)
  SW_ELEMENT(int32, int)
  SW_ELEMENT(uint32, unsigned int)
#undef SW_ELEMENT
  return nullptr;
}

const ReduceLoops* deviation(const ReductionTypes& types) {
#define SW_REAL(dtype, T) \
  if (types.element == (dtype)) return loops_of<Deviation<double>, T>();
  SW_REAL(float16, Half)
  SW_REAL(bfloat16, BFloat)
  SW_REAL(float32, float)
  SW_REAL(float64, double)
#undef SW_REAL
  if (types.element == complex64) return loops_of<Deviation<Complex<double>>, Complex<float>>();
  return loops_of<Deviation<Complex<double>>, Complex<double>>();
}

// F(dtype, type of the elements, type of the values that are compared)
#define SW_ORDERED(F)                               \
  F(int8, signed char, signed char)                 \
  F(uint8, unsigned char, unsigned char)            \
  F(int16, short, short)                            \
  F(uint16, unsigned short, unsigned short)         \
  F(int32, int, int)                                \
  F(uint32, unsigned int, unsigned int)             \
  F(int64, long long, long long)                    \
  F(uint64, unsigned long long, unsigned long long) \
  F(float16, Half, float)                           \
  F(bfloat16, BFloat, float)                        \
  F(float32, float, float)                          \
  F(float64, double, double)                        \
  F(complex64, Complex<float>, Complex<float>)      \
  F(complex128, Complex<double>, Complex<double>)

template <class Value, class T, bool gives_index>
const ReduceLoops* extreme_loops() {
  if constexpr (gives_index)
    return index_loops_of<Value, T>();
  else
    return loops_of<Value, T>();
}

template <template <class> class Value, bool gives_index = false>
const ReduceLoops* extreme(const ReductionTypes& types) {
#define SW_VALUE(dtype, T, A) \
  if (types.element == (dtype)) return extreme_loops<Value<A>, T, gives_index>();
  SW_ORDERED(SW_VALUE)
#undef SW_VALUE
  if constexpr (gives_index)
    if (types.element.is_bool()) return index_loops_of<Value<unsigned char>, Bool>();
  return nullptr;
}

// Only whether an element is 0 matters: signed and unsigned integers have the same loops, and so do
// float16 and bfloat16.
template <class Body>
const ReduceLoops* find_boolean(const ReductionTypes& types) {
  const DType element = types.element;
  if (element.is_complex())
    return element == complex64 ? loops_of<Body, Complex<float>>()
                                : loops_of<Body, Complex<double>>();
  if (is_half(element)) return loops_of<Body, Half>();
  if (element.is_floating())
    return element == float32 ? loops_of<Body, float>() : loops_of<Body, double>();
  if (element.itemsize() == 1) return loops_of<Body, Bool>();
  return with_unsigned(element.itemsize(),
                       [](auto word) { return loops_of<Body, decltype(word)>(); });
}

const ReduceLoops* find_reduction(const ReductionTypes& types) {
  switch (types.kind) {
    case ReductionKind::sum:
      if (types.element.itemsize() < 8 && !types.element.is_floating()) return sum_of_narrow(types);
      return sum_like<Sum, true>(types);
    case ReductionKind::prod:
      return sum_like<Product, true>(types);
    case ReductionKind::nansum:
      return sum_like<NanSum, false>(types);
    case ReductionKind::deviation:
      return deviation(types);
    case ReductionKind::min:
      return extreme<Minimum>(types);
    case ReductionKind::max:
      return extreme<Maximum>(types);
    case ReductionKind::any:
      return find_boolean<Any>(types);
    case ReductionKind::all:
      return find_boolean<All>(types);
    case ReductionKind::count:
      return find_boolean<Count>(types);
    case ReductionKind::argmin:
      return extreme<Minimum, true>(types);
    case ReductionKind::argmax:
      return extreme<Maximum, true>(types);
  }
  return nullptr;
}
}  // namespace reduce_baseline

#if defined(__x86_64__)
#define SW_HAS_WIDE_REDUCTIONS 1
SW_BEGIN_AVX2
namespace reduce_avx2 {
#define SW_EXTREME_LANE_BYTES 256
#include "reduce_loops.inc"
}  // namespace reduce_avx2
SW_END_INSTRUCTIONS
SW_BEGIN_AVX512
namespace reduce_avx512 {
#define SW_EXTREME_LANE_BYTES 512
#include "reduce_loops.inc"
}  // namespace reduce_avx512
SW_END_INSTRUCTIONS

const ReduceLoops* find_wide(const ReductionTypes& types) {
  if (has_avx512()) return reduce_avx512::find_reduction(types);
  return has_avx2() ? reduce_avx2::find_reduction(types) : nullptr;
}
#endif

}  // namespace

const ReduceLoops& find_loops(const ReductionTypes& types) {
  const ReduceLoops* loops = nullptr;
#if defined(SW_HAS_WIDE_REDUCTIONS)
  loops = find_wide(types);
#endif
  if (loops == nullptr) loops = reduce_baseline::find_reduction(types);
  if (loops == nullptr)
    fail<DTypeError>(info(types.kind).body, ": cannot reduce ", types.element,
                     "; cast with astype() first");
  return *loops;
}

void indices_of(const ReduceLoops& loops, const void* accumulators, std::int64_t n,
                std::int64_t* indices) {
  // The index is the last word of each accumulator, whatever the type of the value.
  const std::int64_t bytes = loops.accumulator_bytes;
  const auto* at = static_cast<const std::byte*>(accumulators);
  for (std::int64_t i = 0; i < n; ++i)
    std::memcpy(indices + i, at + (i + 1) * bytes - 8, sizeof indices[i]);
}

}  // namespace spanwise::ops::reduce
