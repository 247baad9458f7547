// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_source.hpp"

#include <string_view>

#include "embedded/reduce_text.hpp"
#include "spanwise/error.hpp"
#include "spanwise/source/element_text.hpp"

namespace spanwise::ops::reduce {
namespace {

std::string_view reduce_file(std::string_view name) {
  return embedded::file_text(embedded::reduce_text, name);
}

// Integer accumulators are unsigned, so that sums wrap around.
std::string accumulator_text(const ReductionSpec& kernel) {
  const bool is_value =
      kernel.kind == Kind::min || kernel.kind == Kind::max || info(kernel.kind).gives_index;
  if (is_value && kernel.accumulator.is_bool()) return "unsigned char";
  return !is_value && kernel.accumulator == int64 ? word_text(8) : element_text(kernel.accumulator);
}

bool is_scan(const CudaShape& shape) {
  return shape.form == CudaShape::Form::scan || shape.form == CudaShape::Form::scan_columns;
}
bool is_running_product(const CudaShape& shape) {
  return is_scan(shape) && shape.kernel.kind == Kind::prod &&
         (shape.kernel.accumulator.is_floating() || shape.kernel.accumulator.is_complex());
}

std::string body_text(const CudaShape& shape) {
  const ReductionSpec& kernel = shape.kernel;
  const char* const name = info(kernel.kind).body;
  switch (kernel.kind) {
    case Kind::any:
    case Kind::all:
    case Kind::count:
      return name;
    case Kind::deviation:
      return text(name, "<", element_text(shape.companion), " >");
    default:
      break;
  }
  if (is_running_product(shape)) return text("RunningProduct<", accumulator_text(kernel), " >");
  const std::string body = text(name, "<", accumulator_text(kernel), " >");
  return info(kernel.kind).gives_index ? text("IndexOf<", body, " >") : body;
}

}  // namespace

int accumulator_bytes(const CudaShape& shape) noexcept {
  const ReductionSpec& kernel = shape.kernel;
  // The size of Running of running_product.cuh.
  if (is_running_product(shape)) return kernel.accumulator.itemsize() + 16;
  const int value = kernel.accumulator.itemsize();
  if (!info(kernel.kind).gives_index) return value;
  return (value + 7) / 8 * 8 + 8;
}

std::string cuda_source(const CudaShape& shape) {
  const bool is_in_blocks = shape.form == CudaShape::Form::scan;
  return text(
      reduce_file("half_bits.cuh"), is_in_blocks ? "#include <spanwise/scan_blocks.cuh>\n" : "",
      reduce_file("elements.cuh"), reduce_file("half_elements.cuh"),
      "#define SW_FN __device__ __forceinline__\n", reduce_file("element_math.cuh"),
      reduce_file("bodies.cuh"), is_scan(shape) ? reduce_file("running_product.cuh") : "",
      "typedef ", element_text(shape.kernel.element), " E;\ntypedef ", element_text(shape.result),
      " Z;\ntypedef ", element_text(shape.companion), " C;\ntypedef ", body_text(shape),
      " Body;\ntypedef ", shape.is_large ? "unsigned long long" : "unsigned int",
      " Index;\n#define FORM ", static_cast<int>(shape.form), "\n#define KEPT ", shape.kept,
      "\n#define REDUCED ", shape.reduced, "\n#define GROUP ", shape.group, "\n#define WIDTH ",
      shape.width, "\n#define IS_PACKED ", int{shape.is_packed}, "\n#define GIVES_INDEX ",
      int{info(shape.kernel.kind).gives_index}, "\n#define IS_SUM ", int{is_sum(shape.kernel.kind)},
      "\n#define HAS_MASK ", int{shape.has_mask}, "\n#define HAS_PARAM ",
      int{info(shape.kernel.kind).has_companion}, "\n#define HAS_DIVISORS ",
      int{shape.has_divisors}, "\n#define HAS_INITIAL ", int{shape.has_initial},
      "\n#define FINISH ", static_cast<int>(shape.finish), "\n", reduce_file("kernel_common.cuh"),
      reduce_file("reductions.cuh"), reduce_file("scans.cuh"));
}

}  // namespace spanwise::ops::reduce
