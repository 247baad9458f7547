// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include "cuda_source.hpp"
#include "embedded/accumulate_text.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops {
namespace {

std::string_view accumulate_file(std::string_view name) {
  for (const auto& file : embedded::accumulate_text)
    if (file.name == name) return file.text;
  fail<Error>("indexing: the library was built without ", name);
}

const char* body_text(Accumulation how) {
  static constexpr const char* bodies[] = {"Plus", "Minus", "Times", "Largest", "Smallest"};
  return bodies[static_cast<int>(how)];
}

// As accumulate.cuh has it: without a sign where that makes no difference.
std::string element_text(DType dtype, Accumulation how) {
  if (dtype.is_bool()) return "Bool";
  if (dtype == float16) return "Half";
  if (dtype == bfloat16) return "BFloat";
  if (dtype.is_complex()) return dtype == complex64 ? "Complex<float>" : "Complex<double>";
  const bool keeps_sign = how == Accumulation::maximum || how == Accumulation::minimum;
  return number_text(dtype, keeps_sign);
}

}  // namespace

std::string accumulate_source(const AccumulateSource& wanted) {
  return text(accumulate_file("half_bits.cuh"), "#define SW_FN __device__ __forceinline__\n",
              accumulate_file("accumulate.cuh"), plan_source(wanted.rank, wanted.indices),
              "typedef ", element_text(wanted.dtype, wanted.how), " Element;\ntypedef ",
              body_text(wanted.how), " How;\n", accumulate_file("accumulate_kernels.cuh"));
}

}  // namespace spanwise::ops
