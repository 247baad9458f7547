// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_source.hpp"

#include <string_view>

#include "embedded/reduce_text.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops::reduce {
namespace {

constexpr const char* conversions = R"(
#define SW_FN __device__ __forceinline__
SW_FN float widened(Half x) { return spanwise::half_to_float(x.bits); }
SW_FN float widened(BFloat x) { return spanwise::bfloat16_to_float(x.bits); }
)";

std::string_view reduce_file(std::string_view name) {
  for (const auto& file : embedded::reduce_text)
    if (file.name == name) return file.text;
  fail<Error>("reductions: the library was built without ", name);
}

// An accumulator is unsigned where it is whole: sums wrap around.
std::string accumulator_text(const Kernel& kernel) {
  const bool is_value =
      kernel.kind == Kind::min || kernel.kind == Kind::max || facts(kernel.kind).keeps_place;
  if (is_value && kernel.accumulator.is_bool()) return "unsigned char";
  return !is_value && kernel.accumulator == int64 ? "unsigned long long"
                                                  : type_text(kernel.accumulator);
}

std::string body_text(const CudaShape& shape) {
  const Kernel& kernel = shape.kernel;
  const std::string name = facts(kernel.kind).body;
  switch (kernel.kind) {
    case Kind::any:
    case Kind::all:
    case Kind::count:
      return name;
    case Kind::deviation:
      return text(name, "<", type_text(shape.companion), " >");
    default:
      break;
  }
  const std::string body = text(name, "<", accumulator_text(kernel), " >");
  return facts(kernel.kind).keeps_place ? text("PlaceOf<", body, " >") : body;
}

}  // namespace

int accumulator_bytes(const Kernel& kernel) noexcept {
  const int value = kernel.accumulator.itemsize();
  if (!facts(kernel.kind).keeps_place) return value;
  return (value + 7) / 8 * 8 + 8;
}

std::string cuda_source(const CudaShape& shape) {
  const bool is_scan = shape.form == CudaShape::Form::scan;
  return text(reduce_file("half_bits.cuh"), is_scan ? "#include <spanwise/scan_blocks.cuh>\n" : "",
              reduce_file("numbers.cuh"), conversions, reduce_file("bodies.cuh"), "typedef ",
              type_text(shape.kernel.element), " E;\ntypedef ", type_text(shape.result),
              " Z;\ntypedef ", type_text(shape.companion), " C;\ntypedef ", body_text(shape),
              " Body;\ntypedef ", shape.is_large ? "unsigned long long" : "unsigned int",
              " Index;\n#define FORM ", static_cast<int>(shape.form), "\n#define KEPT ", shape.kept,
              "\n#define GONE ", shape.gone, "\n#define GROUP ", shape.group, "\n#define WIDTH ",
              shape.width, "\n#define IS_PACKED ", int{shape.is_packed}, "\n#define IS_PLACE ",
              int{facts(shape.kernel.kind).keeps_place}, "\n#define HAS_MASK ", int{shape.has_mask},
              "\n#define HAS_PARAM ", int{facts(shape.kernel.kind).has_companion},
              "\n#define HAS_DIVISORS ", int{shape.has_divisors}, "\n#define HAS_INITIAL ",
              int{shape.has_initial}, "\n#define FINISH ", static_cast<int>(shape.finish), "\n",
              reduce_file("parts.cuh"), reduce_file("reductions.cuh"), reduce_file("scans.cuh"));
}

}  // namespace spanwise::ops::reduce
