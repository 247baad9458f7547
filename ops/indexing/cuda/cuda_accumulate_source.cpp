// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <string_view>

#include "cuda_source.hpp"
#include "embedded/accumulate_text.hpp"
#include "spanwise/error.hpp"
#include "spanwise/source/element_text.hpp"

namespace spanwise::ops {
namespace {

std::string_view accumulate_file(std::string_view name) {
  return embedded::file_text(embedded::accumulate_text, name);
}

const char* body_text(Accumulation how) {
  static constexpr const char* bodies[] = {"Plus", "Minus", "Times", "Largest", "Smallest"};
  return bodies[static_cast<int>(how)];
}

// The element type that accumulate.cuh expects: unsigned where signedness makes no difference.
const char* accumulated_text(DType dtype, Accumulation how) {
  const bool keeps_sign = how == Accumulation::maximum || how == Accumulation::minimum;
  return dtype.is_integer() && !keeps_sign ? word_text(dtype.itemsize()) : element_text(dtype);
}

}  // namespace

std::string accumulate_source(const AccumulateSource& wanted) {
  return text(accumulate_file("half_bits.cuh"), accumulate_file("elements.cuh"),
              accumulate_file("half_elements.cuh"), "#define SW_FN __device__ __forceinline__\n",
              accumulate_file("accumulate.cuh"), plan_source(wanted.rank, wanted.indices),
              "typedef ", accumulated_text(wanted.dtype, wanted.how), " Element;\ntypedef ",
              body_text(wanted.how), " How;\n", accumulate_file("accumulate_kernels.cuh"));
}

}  // namespace spanwise::ops
