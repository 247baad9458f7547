// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "python/graph/apply.hpp"  // the holder Ref<T>
#include "python/support/array.hpp"
#include "python/support/declared.hpp"
#include "python/support/errors.hpp"
#include "python/support/gil.hpp"
#include "python/support/value.hpp"
#include "spanwise/collectives/communicator.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/python/bridge_kit.hpp"

namespace spanwise::python {

/// Engines and monitors of communicators that are Python objects.

/// An engine of the CPU that calls `object`: name, run(calls), abort(), close(). run() gets a list
/// of (operation, reduction, peer, source or None, target or None), with names and arrays, and
/// returns when the calls are complete. Needs the GIL.
Ref<CommunicatorEngine> engine_from(pybind11::object object);

/// A monitor that calls `object`: agree(items, number, op) with (key, ranks, text) as items,
/// report(error), last_calls(). None gives null. Needs the GIL.
Ref<CommunicatorMonitor> monitor_from(pybind11::object object);

namespace py = pybind11;

namespace {

py::str text_of(std::string_view name) { return py::str(name.data(), name.size()); }

py::object array_or_none(const Array& array) {
  if (array.rank() == 1 && array.size() == 0 && !array.storage()) return py::none();
  return py::cast(array);
}

std::string message_of(const py::error_already_set& error) {
  try {
    return py::str(error.value());
  } catch (py::error_already_set&) {
    return "an exception without a message";
  }
}

// Calls object.<method>(...) from a noexcept function: reports an exception as unraisable.
template <class... Arguments>
void call_noexcept(const SharedObject& object, const char* method, const Arguments&... arguments) {
  const GilAcquire gil;
  try {
    py::handle(object.get()).attr(method)(arguments...);
  } catch (py::error_already_set& error) {
    error.discard_as_unraisable("spanwise.collectives");
  }
}

/// Calls a Python engine. The GIL is taken for each call.
class PythonEngine final : public CommunicatorEngine {
 public:
  explicit PythonEngine(py::object object)
      : name_(py::str(object.attr("name"))), object_(share_object(std::move(object))) {}

  std::string_view name() const noexcept override { return name_; }
  Device device() const noexcept override { return cpu; }

  void run(std::span<const CollectiveCall> calls, const Stream&) override {
    const GilAcquire gil;
    try {
      py::list list;
      for (const CollectiveCall& call : calls)
        list.append(py::make_tuple(text_of(name_of(call.op)), text_of(name_of(call.reduction)),
                                   call.peer, array_or_none(call.source),
                                   array_or_none(call.target)));
      py::handle(object_.get()).attr("run")(list);
    } catch (py::error_already_set& error) {
      // Engines check the dtype before they move data: the communicator remains usable.
      if (error.matches(errors.dtype)) throw DTypeError(message_of(error));
      if (!error.matches(PyExc_Exception)) throw;  // KeyboardInterrupt, SystemExit
      throw CollectiveError(message_of(error));
    }
  }
  void abort() noexcept override { call_noexcept(object_, "abort"); }
  void close() override { call_noexcept(object_, "close"); }

 private:
  std::string name_;
  SharedObject object_;
};

class PythonMonitor final : public CommunicatorMonitor {
 public:
  explicit PythonMonitor(py::object object) : object_(share_object(std::move(object))) {}

  void agree(std::span<const Item> items, std::int64_t number, const std::string& op) override {
    const GilAcquire gil;
    py::list list;
    for (const Item& item : items) list.append(py::make_tuple(item.key, item.ranks, item.text));
    py::handle(object_.get()).attr("agree")(list, number, op);
  }
  void report(const std::string& error) noexcept override {
    call_noexcept(object_, "report", error);
  }
  std::vector<std::string> last_calls() noexcept override {
    const GilAcquire gil;
    try {
      return py::handle(object_.get()).attr("last_calls")().cast<std::vector<std::string>>();
    } catch (const std::exception&) {
      return {};  // the list is only an addition to an error's text
    }
  }

 private:
  SharedObject object_;
};

}  // namespace

Ref<CommunicatorEngine> engine_from(py::object object) {
  return make_ref<PythonEngine>(std::move(object));
}

Ref<CommunicatorMonitor> monitor_from(py::object object) {
  if (object.is_none()) return nullptr;
  return make_ref<PythonMonitor>(std::move(object));
}

/// Functions that spanwise/collectives calls with checked arguments.

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
  type.def(
      "_barrier", [](Communicator& self) { self.barrier(); }, unlocked);
  type.def("_begin_group", [](Communicator& self) { self.begin_group(); });
  type.def(
      "_end_group", [](Communicator& self) { self.end_group(); }, unlocked);
  type.def("_cancel_group", [](Communicator& self) { self.cancel_group(); });
  type.def(
      "_abort", [](Communicator& self, const std::string& reason) { self.abort(reason); },
      unlocked);
  type.def(
      "_poll", [](Communicator& self) { self.poll(); }, unlocked);
  type.def(
      "_close", [](Communicator& self) { self.close(); }, unlocked);
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
