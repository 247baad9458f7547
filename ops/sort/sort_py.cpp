// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/array/array_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "sort.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"

namespace spanwise::python {
namespace {

// The sorted values, or the indices that sort, or both as a tuple.
PyObject* sort(PyObject* x, PyObject* axis, PyObject* descending, PyObject* values,
               PyObject* indices) {
  const Array array = is_array(x) ? array_in(x) : import_array(x);
  const int along = array.layout().normalise_axis(integer_from(axis));
  const ops::SortRequest request{.is_descending = truth_or(descending, false),
                                 .wants_values = truth_or(values, true),
                                 .wants_indices = truth_or(indices, false)};
  if (!request.wants_values && !request.wants_indices)
    fail<ArgumentError>("_sort: values and indices are both false; one of them has to be true");
  ops::Sorted sorted = without_gil(true, [&] { return ops::sort(array, along, request); });
  if (!sorted.indices) return wrap(*std::move(sorted.values));
  if (!sorted.values) return wrap(*std::move(sorted.indices));
  const auto both = pybind11::make_tuple(
      pybind11::reinterpret_steal<pybind11::object>(wrap(*std::move(sorted.values))),
      pybind11::reinterpret_steal<pybind11::object>(wrap(*std::move(sorted.indices))));
  return both.inc_ref().ptr();
}

PyMethodDef sort_functions[] = {
    declared<"_sort(x, axis, descending, values, indices)",
             "The sorted values, or the indices that sort, or both as a tuple; by kernels.",
             &sort>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(sort) { add_functions(module, sort_functions); }

}  // namespace spanwise::python
