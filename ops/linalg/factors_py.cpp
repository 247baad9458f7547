// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "factors_py.hpp"

#include <algorithm>

#include "product_op.hpp"
#include "python/graph/variable.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

using ops::linalg::ProductKind;
using ops::linalg::ProductOptions;

namespace {

// The cost of a product, as the number of bytes that a copy would move in the same time: 1/8 byte
// per multiplication, and at least the operands' bytes.
std::int64_t equivalent_bytes(ProductKind product, const Array& left, const Array& right) {
  const bool has_columns =
      right.rank() > 1 && (product == ProductKind::matmul || product == ProductKind::vecmat);
  const double columns = has_columns ? static_cast<double>(right.shape().back()) : 1.0;
  const double products = static_cast<double>(left.size()) * columns;
  const double bytes = static_cast<double>(left.nbytes()) + static_cast<double>(right.nbytes());
  return static_cast<std::int64_t>(std::min(std::max(bytes, products / 8), 1e15));
}

}  // namespace

Array product_unlocked(ProductKind product, const Factors& factors, const ProductOptions& options) {
  const Array &left = factors.left(), &right = factors.right();
  const GilRelease unlocked(is_long(left.device().is_cpu() ? right.device() : left.device(),
                                    equivalent_bytes(product, left, right)));
  return ops::linalg::multiply(product, left, right, options);
}

PyObject* apply_matmul(const char* caller, PyObject* left, PyObject* right, bool has_options) {
  if (!is_variable(left) && !is_variable(right)) return nullptr;
  if (has_options)
    fail<GraphError>(caller,
                     ": out=, dtype=, order= and axes= are for arrays; a variable has no "
                     "memory yet. Use astype() and transposes");
  const Variable operands[] = {as_variable(left), as_variable(right)};
  return wrap_variable((*ops::linalg::matmul_op())(operands)[0]);
}

}  // namespace spanwise::python
