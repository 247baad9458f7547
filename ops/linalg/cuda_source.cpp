// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "problem.hpp"

#include <algorithm>
#include <string>

#include "embedded/gemv_text.hpp"
#include "embedded/product_text.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/parse/element_text.hpp"

namespace spanwise::ops::linalg {
namespace {

struct ProductTypes {
  const char *element, *sum;
};

// Integer sums wrap around, so signedness does not matter.
ProductTypes types_for(DType dtype) {
  if (!dtype.is_computable()) fail<DTypeError>("matmul: no product of ", dtype, " on a GPU");
  const char* element = element_text(dtype);
  if (dtype.is_bool()) return {element, word_text(4)};
  if (dtype.is_integer())
    return {word_text(dtype.itemsize()), word_text(std::max(4, dtype.itemsize()))};
  return {element, dtype.itemsize() == 2 ? element_text(float32) : element};
}

std::string definitions(DType dtype, bool conjugates_left, int batch_rank) {
  const auto [element, sum] = types_for(dtype);
  return text("#define ELEMENT ", element, "\n#define SUM ", sum, "\n#define IS_BOOL ",
              int{dtype.is_bool()}, "\n#define IS_INTEGER ", int{dtype.is_integer()},
              "\n#define CONJUGATE ", int{conjugates_left}, "\n#define BATCH ", batch_rank, "\n");
}

}  // namespace

std::string cuda_product_source(DType dtype, bool conjugates_left, int batch_rank) {
  std::string source = definitions(dtype, conjugates_left, batch_rank);
  for (const auto& file : embedded::product_text) source += file.text;
  return source;
}

std::string cuda_gemv_source(DType dtype, bool conjugates_matrix) {
  std::string source = definitions(dtype, conjugates_matrix, 0);
  for (const auto& file : embedded::gemv_text) source += file.text;
  return source;
}

}  // namespace spanwise::ops::linalg
