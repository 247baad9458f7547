// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "arguments_py.hpp"
#include "indexing.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/declared.hpp"
#include "spanwise/runtime/copy.hpp"
#include "spanwise/core/error.hpp"

/// nonzero, argwhere and flatnonzero, and the method nonzero of arrays.
namespace spanwise::python {

namespace py = pybind11;

namespace {

Array positions_in(const Array& array) {
  return without_gil(is_long(array), [&] { return ops::positions_of_true(array); });
}

py::tuple nonzero(PyObject* a) {
  const Array array = import_array(a);
  if (array.rank() <= 0)
    fail<ArgumentError>(
        "nonzero: calling nonzero on 0d arrays is not allowed; use "
        "a.reshape(1).nonzero()");
  const Array positions = positions_in(array);
  py::tuple rows(positions.shape()[0]);
  for (Py_ssize_t i = 0; i < positions.shape()[0]; ++i)
    PyTuple_SET_ITEM(rows.ptr(), i, owned(wrap(positions.index(0, i))).release().ptr());
  return rows;
}

PyObject* argwhere(PyObject* a) { return wrap(positions_in(import_array(a)).transpose()); }

PyObject* flatnonzero(PyObject* a) {
  const Array array = import_array(a);
  return wrap(without_gil(is_long(array), [&] {
    return ops::positions_of_true(array.rank() == 1 ? array : reshape(array, {-1})).index(0, 0);
  }));
}

PyMethodDef nonzero_functions[] = {
    declared<"nonzero(a)", "The indices of nonzero elements: one int64 array per axis, in C order.",
             &nonzero>(),
    declared<"argwhere(a)", "The indices of nonzero elements, one row per element.", &argwhere>(),
    declared<"flatnonzero(a)", "The indices of nonzero elements of the flattened `a`.",
             &flatnonzero>(),
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef nonzero_methods[] = {declared<"nonzero($self)", "As spanwise.nonzero.", &nonzero>(),
                                 {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(indexing_nonzero, array_type) {
  add_array_methods(nonzero_methods);
  add_functions(module, nonzero_functions);
}

}  // namespace spanwise::python
