// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0
#include "python_engine.hpp"

#include <pybind11/stl.h>

#include <string>
#include <utility>
#include <vector>

#include "python/graph/object.hpp"
#include "python/support/array.hpp"
#include "python/support/errors.hpp"
#include "python/support/gil.hpp"

namespace spanwise::python {

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

}  // namespace spanwise::python
