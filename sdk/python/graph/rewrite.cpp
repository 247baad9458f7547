// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "spanwise/graph/rewrite.hpp"

#include <pybind11/stl.h>

#include <utility>

#include "apply.hpp"
#include "spanwise/python/bridge_kit.hpp"
#include "spanwise/python/binding.hpp"
#include "python_op.hpp"
#include "variable.hpp"

/// The implementation of spanwise.graph.rewrite() and rewrites().
namespace spanwise::python {

namespace py = pybind11;

namespace {

// `function(node)` returns the replacements of a node's outputs as a list of Variables.
bool register_python_rewrite(const std::string& name, double position,
                             std::vector<std::string> tags, py::object function) {
  return register_node_rewrite(
      {.name = name,
       .position = position,
       .tags = std::move(tags),
       .apply = [function = share_object(std::move(function))](const Apply& node) {
         const GilAcquire gil;
         return py::reinterpret_borrow<py::object>(function.get())(apply_object(node))
             .cast<std::vector<Variable>>();
       }});
}

py::list listed_rewrites() {
  py::list all;
  for (const Rewrite& rewrite : rewrites())
    all.append(py::make_tuple(rewrite.name, rewrite.position, rewrite.tags));
  return all;
}

}  // namespace

SW_BIND(graph_rewrite) {
  module.def("_rewrites", &listed_rewrites);
  module.def("_register_rewrite", &register_python_rewrite);
  module.def("_remove_rewrite", &remove_rewrite, py::call_guard<GilRelease>());
}

}  // namespace spanwise::python
