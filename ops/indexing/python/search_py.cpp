// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "../search.hpp"
#include "arguments_py.hpp"
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/call.hpp"

namespace spanwise::python {

namespace {

PyObject* search_sorted(PyObject*, PyObject* const* values, Py_ssize_t count, PyObject* kwnames) {
  static constexpr CallSignature<3> signature{"_searchsorted", {"a", "v", "right"}, 3, 3};
  const auto [a, v, right] = signature.read(values, count, kwnames);
  const Array line = import_array(a), wanted = import_array(v);
  const auto side = truth_in(right, false) ? ops::Side::right : ops::Side::left;
  const auto work = [&] { return ops::search_sorted(line, wanted, side); };
  return wrap(is_small(line) && is_small(wanted) ? work() : unlocked(work));
}

PyMethodDef search_functions[] = {
    method<&search_sorted>(
        "_searchsorted",
        "_searchsorted(a, v, right)\n--\n\n"
        "The insertion points of `v` in the sorted vector `a`; both on one device."),
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

SW_BIND(searches) { add_functions(module, search_functions); }

}  // namespace spanwise::python
