// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <pybind11/stl.h>

#include <chrono>
#include <string>
#include <utility>

#include "python/graph/apply.hpp"  // the holder Ref<T>
#include "python/support/array.hpp"
#include "python/support/bind.hpp"
#include "python/support/declared.hpp"
#include "python/support/gil.hpp"
#include "python/support/value.hpp"
#include "python_engine.hpp"
#include "spanwise/runtime/communicator.hpp"

/// Functions that spanwise/collectives calls with checked arguments.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// `timeout` is in seconds; `engine` is a Python engine, or (name, id) of one that is implemented in
// C++.
Ref<Communicator> make_communicator(const std::string& name, int rank, int size, Device device,
                                    double timeout, std::int64_t check, py::object engine,
                                    py::object monitor) {
  const Communicator::Options options{
      .name = name,
      .rank = rank,
      .size = size,
      .device = device,
      .timeout = std::chrono::milliseconds(static_cast<std::int64_t>(timeout * 1000)),
      .checked_calls = check};
  Ref<CommunicatorMonitor> ranks = monitor_from(std::move(monitor));
  if (!py::isinstance<py::tuple>(engine))
    return Communicator::make(options, engine_from(std::move(engine)), std::move(ranks));
  const auto [type, id] = engine.cast<std::pair<std::string, py::bytes>>();
  const std::string bytes = id;
  const GilRelease unlocked;
  return Communicator::make(options, communicator_engine(type).start(bytes, options),
                            std::move(ranks));
}

// Returns the result as an array; None where this rank receives no result.
PyObject* run_collective(PyObject* object, PyObject* op, PyObject* x, PyObject* reduction,
                         PyObject* peer, PyObject* out, PyObject* overlap) {
  auto& communicator = value_of<Communicator&>(object, "communicator");
  const Array source = is_array(x) ? array_in(x) : import_array(x);
  CollectiveOptions options;
  options.reduction = reduction_named(text_in(reduction));
  options.peer = static_cast<int>(integer_from(peer));
  options.overlap = truth_or(overlap, false);
  std::optional<Array> target;
  if (given(out)) options.out = &target.emplace(is_array(out) ? array_in(out) : import_array(out));
  const Collective collective = collective_named(text_in(op));
  Array result = without_gil([&] { return communicator.run(collective, source, options); });
  if (given(out)) return Py_NewRef(out);
  const bool has_none = collective == Collective::send ||
                        (collective == Collective::reduce && options.peer != communicator.rank());
  return has_none ? Py_NewRef(Py_None) : wrap(std::move(result));
}

PyMethodDef collective_functions[] = {
    declared<"_collective(communicator, operation, x, reduction, peer, out, overlap)", "",
             &run_collective>(),
    {}};

}  // namespace

SW_BIND(collectives) {
  py::class_<Communicator, Ref<Communicator>> type(module, "_Communicator");
  type.def(py::init(&make_communicator));
  type.def_property_readonly("name", member(&Communicator::name), "Equal on all ranks.");
  type.def_property_readonly("rank", member(&Communicator::rank), "The number of this process.");
  type.def_property_readonly("size", member(&Communicator::size), "The number of ranks.");
  type.def_property_readonly("device", member(&Communicator::device),
                             "The device that this rank should compute on.");
  type.def_property_readonly(
      "timeout",
      [](const Communicator& self) {
        return static_cast<double>(self.options().timeout.count()) / 1000;
      },
      "Seconds after which a wait for another rank is an error.");
  type.def_property_readonly(
      "engine", [](const Communicator& self) { return std::string(self.engine().name()); },
      "\"nccl\", \"mpi\", \"torch\", or \"self\" for a single rank.");
  type.def_property_readonly("failure", member(&Communicator::failure),
                             "Why calls raise CollectiveError; \"\" where they do not.");
  const py::call_guard<GilRelease> unlocked;
  type.def("_barrier", [](Communicator& self) { self.barrier(); }, unlocked);
  type.def("_begin_group", [](Communicator& self) { self.begin_group(); });
  type.def("_end_group", [](Communicator& self) { self.end_group(); }, unlocked);
  type.def("_cancel_group", [](Communicator& self) { self.cancel_group(); });
  type.def(
      "_abort", [](Communicator& self, const std::string& reason) { self.abort(reason); },
      unlocked);
  type.def("_poll", [](Communicator& self) { self.poll(); }, unlocked);
  type.def("_close", [](Communicator& self) { self.close(); }, unlocked);
  type.def("_last_call", member(&Communicator::last_call));
  module.def(
      "_why_no_engine",
      [](const std::string& name) { return communicator_engine(name).unavailable_reason(); },
      unlocked);
  module.def("_engine_id", [](const std::string& name) {
    return py::bytes(communicator_engine(name).make_id());
  });
  module.def("_next_collective_node",
             [](const std::string& name) { return Communicator::next_node(name); });
  add_functions(module, collective_functions);
}

}  // namespace spanwise::python
