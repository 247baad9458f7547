// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <vector>

#include "bind.hpp"
#include "spanwise/version.hpp"

namespace {

std::vector<const spanwise::python::Part*> parts_in_order() {
  std::vector<const spanwise::python::Part*> parts;
  for (const auto* part = spanwise::python::Part::first; part != nullptr; part = part->next) {
    parts.push_back(part);
  }
  std::sort(parts.begin(), parts.end(),
            [](const auto* a, const auto* b) { return a->order < b->order; });
  return parts;
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  module.doc() = "The compiled half of spanwise. Import `spanwise` instead.";
  for (const auto* part : parts_in_order()) part->bind(module);
}
