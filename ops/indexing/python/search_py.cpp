// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "../search.hpp"
#include "arguments_py.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/declared.hpp"

namespace spanwise::python {

namespace {

PyObject* search_sorted(PyObject* a, PyObject* v, PyObject* right) {
  const Array line = import_array(a), wanted = import_array(v);
  const auto side = truth_in(right, false) ? ops::Side::right : ops::Side::left;
  const auto work = [&] { return ops::search_sorted(line, wanted, side); };
  return wrap(is_small(line) && is_small(wanted) ? work() : unlocked(work));
}

PyMethodDef search_functions[] = {
    declared<"_searchsorted(a, v, right)",
             "The insertion points of `v` in the sorted vector `a`; both on one device.",
             &search_sorted>(),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(searches) { add_functions(module, search_functions); }

}  // namespace spanwise::python
