// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>

#include "product.hpp"
#include "python/support/array.hpp"
#include "python/support/call.hpp"

/// The operands of products from Python, and products of them without the GIL.
namespace spanwise::python {

/// Two operands as arrays, on the devices that import_operands() determines.
class Factors {
 public:
  Factors(PyObject* left, PyObject* right) {
    PyObject* const operands[] = {left, right};
    import_operands(operands, [&](std::size_t i, const ImportOptions& options) {
      if (is_array(operands[i]))
        arrays_[i] = &array_in(operands[i]);
      else
        arrays_[i] = &imported_[i].emplace(import_array(operands[i], options));
      return arrays_[i]->device();
    });
  }
  const Array& left() const noexcept { return *arrays_[0]; }
  const Array& right() const noexcept { return *arrays_[1]; }

 private:
  const Array* arrays_[2] = {};
  std::optional<Array> imported_[2];
};

/// The product, computed without the GIL unless it is short.
Array product_unlocked(ops::linalg::ProductKind product, const Factors& factors,
                       const ops::linalg::ProductOptions& options);

/// Returns the result of a graph node if an operand is a variable, else null.
PyObject* apply_matmul(const char* caller, PyObject* left, PyObject* right, bool has_options);

}  // namespace spanwise::python
