// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "spanwise/collectives/communicator.hpp"
#include "spanwise/python/binding.hpp"

// The module spanwise.collectives._native: communicators with the engines of the library or of
// Python, for the Python package, which checks the arguments.
namespace spanwise::collectives {
namespace {

namespace py = pybind11;
using namespace python;

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
  } catch (const std::bad_alloc&) {  // for the arguments: there is no call
  }
}

/// An engine of the CPU that calls a Python object: name, run(calls), abort(), close(). run() gets
/// a list of (operation, reduction, peer, source or None, target or None), with names and arrays,
/// for messages the tag in place of the reduction, and returns when the calls are complete. The GIL
/// is taken for each call.
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
      for (const CollectiveCall& call : calls) {
        const bool is_message = call.op == Collective::send || call.op == Collective::recv;
        const py::object detail = is_message ? py::object(py::int_(call.tag()))
                                             : py::object(text_of(name_of(call.reduction)));
        list.append(py::make_tuple(text_of(name_of(call.op)), detail, call.peer,
                                   array_or_none(call.source), array_or_none(call.target)));
      }
      py::handle(object_.get()).attr("run")(list);
    } catch (py::error_already_set& error) {
      // Engines check the dtype before they move data: the communicator remains usable.
      if (error.matches(py::module_::import("spanwise").attr("DTypeError")))
        throw DTypeError(message_of(error));
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

/// A monitor that calls a Python object: agree(items, number, op) with (key, ranks, text) as items,
/// report(error), last_calls().
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
  Ref<CommunicatorMonitor> ranks;
  if (!monitor.is_none()) ranks = make_ref<PythonMonitor>(std::move(monitor));
  if (!py::isinstance<py::tuple>(engine))
    return Communicator::make(options, make_ref<PythonEngine>(std::move(engine)), std::move(ranks));
  const auto [type, id] = engine.cast<std::pair<std::string, py::bytes>>();
  const std::string bytes = id;
  const GilRelease unlocked;
  return Communicator::make(options, communicator_engine(type).start(bytes, options),
                            std::move(ranks));
}

Communicator& communicator_in(py::handle object) {
  try {
    return object.cast<Communicator&>();
  } catch (const py::cast_error&) {
    throw py::type_error(text("communicator: expected a spanwise.collectives.Communicator, got ",
                              std::string(py::repr(object))));
  }
}

// collective(communicator, operation, x, reduction, peer, out, overlap): the result as an array;
// None where this rank receives no result.
py::object run_collective(PyObject*, PyObject* const* arguments, Py_ssize_t count, PyObject*) {
  if (count != 7) throw py::type_error(text("collective: expected 7 arguments, got ", count));
  Communicator& communicator = communicator_in(arguments[0]);
  const Collective collective = collective_named(text_in(arguments[1]));
  const Array source = array_from(arguments[2]);
  CollectiveOptions options;
  options.reduction = reduction_named(text_in(arguments[3]));
  options.peer = static_cast<int>(integer_from(arguments[4]));
  options.overlap = truth_or(arguments[6], false);
  const py::handle out = arguments[5];
  std::optional<OutputArray> target;
  if (given(out.ptr())) options.out = &target.emplace(out, text_in(arguments[1])).array();
  const Array result = without_gil([&] { return communicator.run(collective, source, options); });
  if (options.out != nullptr) return py::reinterpret_borrow<py::object>(out);
  const bool has_none = collective == Collective::send ||
                        (collective == Collective::reduce && options.peer != communicator.rank());
  return has_none ? py::none() : object_of(result);
}

PyMethodDef functions[] = {method<&run_collective>("collective", nullptr), {}};

}  // namespace

SW_BIND(collectives) {
  constexpr const char* name = "spanwise.collectives._native";
  auto native = py::reinterpret_steal<py::module_>(PyModule_New(name));
  py::module_::import("sys").attr("modules")[name] = native;
  py::class_<Communicator, Ref<Communicator>> type(native, "Communicator");
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
  type.def("_last_call", [](const Communicator& self) {
    const Communicator::Digest digest = self.digest();
    return py::make_tuple(self.last_call(), digest.count, digest.hash);
  });
  type.def("_agrees_with", [](const Communicator& self, std::int64_t count, std::uint64_t hash) {
    return self.agrees_with({count, hash});
  });
  native.def(
      "why_no_engine",
      [](const std::string& engine) { return communicator_engine(engine).unavailable_reason(); },
      unlocked);
  native.def("engine_id", [](const std::string& engine) {
    return py::bytes(communicator_engine(engine).make_id());
  });
  native.def("next_node",
             [](const std::string& communicator) { return Communicator::next_node(communicator); });
  add_functions(native, functions);
}

}  // namespace spanwise::collectives
