// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

#include "spanwise/kernel.hpp"

namespace spanwise::python {

/// A module and the arguments that it was made from, as which it is pickled.
struct RecordedModule : Module {
  RecordedModule(Module module, pybind11::tuple made_from)
      : Module(std::move(module)), arguments(std::move(made_from)) {}
  pybind11::tuple arguments;
};

struct RecordedSourceModule : RecordedModule {
  RecordedSourceModule(const SourceModule& module, pybind11::tuple made_from)
      : RecordedModule(module, std::move(made_from)), from_cache(module.from_cache()) {}
  bool from_cache;
};

}  // namespace spanwise::python
