// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "assign.hpp"

#include "python/support/array.hpp"
#include "python/support/call.hpp"
#include "python/support/scalar.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/runtime/copy.hpp"

namespace spanwise::python {

namespace {

// As NumPy, a value may have more axes than the target if the leading ones have extent 1.
Array without_surplus_axes(Array value, int rank) {
  while (value.rank() > rank && value.shape()[0] == 1) value = value.squeeze(0);
  return value;
}

void check_writeable(const Array& target) {
  if (target.readonly())
    fail<ReadOnlyError>("Array: cannot assign to ", target, "; assign to a copy: a.copy()");
}

}  // namespace

Array assignable(PyObject* value, DType dtype) {
  if (is_array(value)) return array_in(value);
  ImportOptions options;
  if (PyList_Check(value) || PyTuple_Check(value)) {
    options.dtype = dtype;
    options.device = cpu;  // assign() copies them to the target's device
  }
  return import_array(value, options);
}

void assign(const Array& target, PyObject* value) {
  if (is_array(value)) return assign(target, array_in(value));
  if (!is_python_scalar(value)) return assign(target, assignable(value, target.dtype()));
  check_writeable(target);
  const Scalar scalar = scalar_from(value, target.dtype());
  const GilRelease unlocked(is_long(target));
  fill(target, scalar);
}

void assign(const Array& target, const Array& source) {
  check_writeable(target);
  if (source.rank() > target.rank()) {
    const Array trimmed = without_surplus_axes(source, target.rank());
    const GilRelease unlocked(is_long(trimmed, target));
    return copy(trimmed, target);
  }
  const GilRelease unlocked(is_long(source, target));
  copy(source, target);
}

}  // namespace spanwise::python
