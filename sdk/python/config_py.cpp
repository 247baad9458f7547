// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <string>
#include <utility>

#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/config.hpp"

/// Access to the settings as strings. The Python interface is spanwise/_config.py.
namespace spanwise::python {

namespace py = pybind11;

SW_BIND(config) {
  using config::Setting;
  py::class_<Setting> type(module, "_Setting",
                           "One setting: name, description, value, default, choices and source.");
  type.def_readonly("name", &Setting::name);
  type.def_readonly("description", &Setting::description);
  type.def_readonly("value", &Setting::value);
  type.def_readonly("default_value", &Setting::default_value);
  type.def_readonly("choices", &Setting::choices);
  type.def_readonly("source", &Setting::source);
  module.def("_config_list", &config::list);
  module.def(
      "_config_get", [](const std::string& name) { return config::get(name); }, py::arg("name"));
  module.def(
      "_config_set",
      [](const std::string& name, std::string value) { config::set(name, std::move(value)); },
      py::arg("name"), py::arg("value"));
}

}  // namespace spanwise::python
