// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "convert.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/value.hpp"
#include "spanwise/core/error.hpp"

/// explain(), bridges() and strict_copies().
namespace spanwise::python {

namespace py = pybind11;
using namespace py::literals;

namespace {

std::string sentence(const ExchangeReport& exchange) {
  if (exchange.shares) return text("shares memory: ", exchange.reason);
  return text("copies ", exchange.bytes, " bytes: ", exchange.reason, " (", exchange.layout,
              "); remedy: ", exchange.remedy);
}

// A StrictCopies applies to the thread that constructs it, so each __enter__ makes one.
class StrictCopiesContext {
 public:
  void enter() { guards_.push_back(std::make_unique<StrictCopies>()); }
  void exit() {
    if (!guards_.empty()) guards_.pop_back();
  }

 private:
  std::vector<std::unique_ptr<StrictCopies>> guards_;
};

py::list bridge_rows() {
  py::list rows;
  for (const Bridge* bridge : registered_bridges()) {
    const BridgeCounts counts = bridge->counts();
    rows.append(py::dict(
        "name"_a = counts.name, "module"_a = bridge->module(), "protocols"_a = bridge->protocols(),
        "exports"_a = bridge->exports(), "imports_shared"_a = counts.imports_shared,
        "imports_copied"_a = counts.imports_copied, "exports_shared"_a = counts.exports_shared,
        "exports_copied"_a = counts.exports_copied, "bytes_copied"_a = counts.bytes_copied));
  }
  return rows;
}

}  // namespace

SW_BIND(bridge_report) {
  py::class_<ExchangeReport>(module, "Exchange",
                             "The effect of a conversion between two libraries.")
      .def_readonly("shares", &ExchangeReport::shares, "Whether memory would be shared.")
      .def_readonly("reason", &ExchangeReport::reason, "Why it shares or copies.")
      .def_readonly("bytes", &ExchangeReport::bytes, "Bytes that would be copied.")
      .def_readonly("layout", &ExchangeReport::layout,
                    "Dtype, shape, device and strides of the source.")
      .def_readonly("remedy", &ExchangeReport::remedy, "How to make it share; \"\" if it does.")
      .def("__str__", &sentence)
      .def("__repr__",
           [](const ExchangeReport& self) { return "<Exchange: " + sentence(self) + ">"; });
  module.def(
      "explain",
      [](py::handle x, const std::string& target) {
        if (target == "spanwise") return explain(x);
        const bool names_device =
            target.starts_with("cpu") || target == "cuda" || target.starts_with("cuda:");
        return names_device ? explain(x, Device::parse(target)) : explain(x, target_bridge(target));
      },
      py::arg("x"), py::arg("library"),
      "An Exchange: whether convert(x, library) would share or copy, why, and how many bytes. With "
      "\"spanwise\" as the library for asarray(x), with a device's name for x.to(device).");
  module.def("_bridge_rows", &bridge_rows);
  module.def(
      "bridges", [] { return py::module_::import("spanwise._bridges").attr("bridges")(); },
      "A list of BridgeInfo, printed as a table: each bridge's library, installed version, "
      "directions, protocols, and its exchanges so far.");
  py::class_<StrictCopiesContext>(module, "strict_copies",
                                  "with strict_copies(): implicit copies raise CopyNeededError on "
                                  "this thread.")
      .def(py::init<>())
      .def("__enter__",
           [](py::object self) {
             value_of<StrictCopiesContext&>(self, "strict_copies").enter();
             return self;
           })
      .def("__exit__", [](StrictCopiesContext& self, const py::args&) { self.exit(); });
}

}  // namespace spanwise::python
