// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "draw.hpp"
#include "embedded/random_text.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/stream.hpp"
#include "spanwise/strided/strided_call.hpp"

// The generators of random numbers as kernels: strided loops whose elements are blocks.
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

const char* body_of(Distribution kind, int itemsize) {
#define SW_BODY(name, bytes, ...) \
  if (kind == Distribution::name && itemsize == (bytes)) return #__VA_ARGS__;
  SW_RANDOM_BODIES(SW_BODY)
#undef SW_BODY
  fail<Error>("random: no kernel for elements of ", itemsize, " bytes");
}

strided::Body body_with(const char* parameter) {
  strided::Body body;
  const auto file = [](std::string_view name) {
    return embedded::file_text(embedded::random_text, name);
  };
  body.prelude = text(file("draw_parameters.cuh"), device_functions, file("distributions.cuh"),
                      file("fill_block.cuh"));
  body.parameters = text("const ", parameter, " d, ");
  return body;
}

}  // namespace

strided::Body fill_body(const FillKey& key) {
  strided::Body body = body_with("Draw");
  // The strided loop's elements are blocks, in place: the last one may be incomplete.
  body.prelude += text("typedef ", key.is_scaled ? "" : "Unscaled<",
                       body_of(key.kind, key.itemsize), key.is_scaled ? " Body" : " >::Of Body",
                       ";\nconstexpr bool is_packed = ", key.is_packed ? "true" : "false",
                       ";\nstruct Elements { Body::Out at[Body::each]; };\n");
  body.arrays = {{"Elements", strided::ArrayRole::write_in_place},
                 {"long long", strided::ArrayRole::index}};
  body.statements = "    fill_block<Body, is_packed>(d, (Wide)sw_e1, sw_e0.at);\n";
  return body;
}

strided::Body permutation_body() {
  strided::Body body = body_with("Bijection");
  body.arrays = {{"long long", strided::ArrayRole::write},
                 {"long long", strided::ArrayRole::index}};
  body.statements = "    sw_e0 = (long long)permuted((Wide)sw_e1, d);\n";
  return body;
}

namespace {

using strided::ArrayRole;

void fill_on_cuda(const DrawSpec& spec, Draw draw, const Array& out) {
  static auto& bodies = *new strided::BodyTable<FillKey>;
  const Distribution kind = spec.kind;
  const int itemsize = out.dtype().itemsize(), each = elements_per_block(kind, itemsize);
  const int block_bytes = itemsize * each;
  const Layout blocks = Layout::row_major({(out.size() + each - 1) / each});
  strided::StridedCall call(blocks.shape);
  call.add(out, blocks, out.data(), block_bytes, ArrayRole::write_in_place);
  call.add_index(blocks);
  // Several blocks per thread share the keys of all rounds; other bodies are long.
  const bool is_short =
      itemsize == 4 && (kind == Distribution::words || kind == Distribution::uniform ||
                        kind == Distribution::normal || kind == Distribution::exponential);
  call.plan({.max_width = 1, .packs = is_short ? 4 : 1});
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(out.data()) %
                              static_cast<unsigned>(std::min(block_bytes, 16)) ==
                          0;
  const FillKey key{kind, itemsize, draw.scale != 1 || draw.shift != 0,
                    out.size() % each == 0 && is_aligned};
  const strided::BodyKernel& kernel =
      call.kernel(bodies[key], out.device(), [&] { return fill_body(key); });
  const Stream stream = Stream::current(out.device());
  for (const Array* array : {spec.lows, spec.spans, spec.table})
    if (array != nullptr) order_use(stream, *array, false);
  void* const parameters[] = {&draw};
  call.launch(kernel, parameters);
}

void permute_on_cuda(Bijection bijection, const Array& out) {
  static auto& kernels = *new strided::BodyKernels;
  const Layout indices = Layout::row_major(out.shape());
  strided::StridedCall call(out.shape());
  call.add(out, ArrayRole::write);
  call.add_index(indices);
  call.plan();
  void* const parameters[] = {&bijection};
  call.launch(call.kernel(kernels, out.device(), permutation_body), parameters);
}

constexpr RandomBackend cuda_backend{&fill_on_cuda, &permute_on_cuda};
[[maybe_unused]] const auto* const previous_cuda_backend =
    random_backends.set(DeviceKind::cuda, &cuda_backend);

}  // namespace
}  // namespace spanwise::ops::random
