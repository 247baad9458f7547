// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda_source.hpp"

#include <string>

#include "embedded/product_text.hpp"
#include "spanwise/error.hpp"

namespace spanwise::ops::linalg {
namespace {

struct ProductTypes {
  const char *element, *sum;
};

// Signs do not matter to sums that wrap around.
ProductTypes types_for(DType dtype) {
  if (dtype.is_bool()) return {"Bool", "unsigned int"};
  if (dtype == float16) return {"Half", "float"};
  if (dtype == bfloat16) return {"BFloat", "float"};
  if (dtype == float32) return {"float", "float"};
  if (dtype == float64) return {"double", "double"};
  if (dtype == complex64) return {"Pair<float>", "Pair<float>"};
  if (dtype == complex128) return {"Pair<double>", "Pair<double>"};
  require<DTypeError>(dtype.is_integer(), "matmul: no product of ", dtype, " on a GPU");
  switch (dtype.itemsize()) {
    case 1:
      return {"unsigned char", "unsigned int"};
    case 2:
      return {"unsigned short", "unsigned int"};
    case 4:
      return {"unsigned int", "unsigned int"};
    default:
      return {"unsigned long long", "unsigned long long"};
  }
}

}  // namespace

std::string cuda_product_source(DType dtype, bool conjugates_left, int batch_rank) {
  const auto [element, sum] = types_for(dtype);
  std::string source = text("#define ELEMENT ", element, "\n#define SUM ", sum,
                            "\n#define IS_BOOL ", int{dtype.is_bool()}, "\n#define CONJUGATE ",
                            int{conjugates_left}, "\n#define BATCH ", batch_rank, "\n");
  for (const auto& file : embedded::product_text) source += file.text;
  return source;
}

}  // namespace spanwise::ops::linalg
