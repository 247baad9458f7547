// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_source.hpp"

#include <string_view>

#include "embedded/random_text.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops::random {
namespace {

// Intrinsics with explicit rounding, which compiler options do not change.
constexpr const char* device_functions = R"(
#define SW_FN __device__ __forceinline__
#define SW_UNROLL _Pragma("unroll")
SW_FN float fused(float a, float b, float c) { return __fmaf_rn(a, b, c); }
SW_FN double fused(double a, double b, double c) { return __fma_rn(a, b, c); }
// Correctly rounded, as __fsqrt_rn(), for 1e-30 < x < 1e30, without the branch for other numbers:
// one step from an approximation, which is Markstein's ("IA-64 and elementary functions", 2000).
SW_FN float root(float x) {
  float y;
  asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  const float g = __fmul_rn(x, y), h = __fmul_rn(0.5f, y);
  return __fmaf_rn(__fmaf_rn(-g, g, x), h, g);
}
SW_FN double root(double x) { return __dsqrt_rn(x); }
SW_FN unsigned int bits_of(float x) { return __float_as_uint(x); }
SW_FN unsigned long long bits_of(double x) { return (unsigned long long)__double_as_longlong(x); }
SW_FN float from_bits(unsigned int x) { return __uint_as_float(x); }
SW_FN double from_bits(unsigned long long x) { return __longlong_as_double((long long)x); }
SW_FN unsigned long long high_product(unsigned long long a, unsigned long long b) {
  return __umul64hi(a, b);
}
)";

std::string_view random_file(std::string_view name) {
  return embedded::file_text(embedded::random_text, name);
}

const char* body_of(Kind kind, int itemsize) {
#define SW_BODY(name, bytes, ...) \
  if (kind == Kind::name && itemsize == (bytes)) return #__VA_ARGS__;
#include "bodies.inc"
#undef SW_BODY
  fail<Error>("random: no kernel for elements of ", itemsize, " bytes");
}

std::string with_kernel(const std::string& kernel) {
  return text(random_file("plan.cuh"), device_functions, random_file("philox.cuh"),
              random_file("distributions.cuh"), random_file("bodies.cuh"),
              random_file("permutation.cuh"), random_file("kernels.cuh"), kernel);
}

}  // namespace

std::string fill_source(Kind kind, int itemsize) {
  const char* body = body_of(kind, itemsize);
  return with_kernel(text("typedef ", body,
                          " Body;\nextern \"C\" __global__ void run(Draw d, void* out) { "
                          "fill<Body>(d, (Body::Out*)out); }\n"));
}

std::string permutation_source() {
  return with_kernel(
      "extern \"C\" __global__ void run(Bijection b, long long* out, unsigned long long count) { "
      "permute(b, out, count); }\n");
}

}  // namespace spanwise::ops::random
