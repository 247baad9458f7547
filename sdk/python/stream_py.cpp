// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>

#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "python/support/array.hpp"
#include "spanwise/python/binding.hpp"
#include "python/support/stream.hpp"
#include "python/support/value.hpp"
#include "spanwise/core/error.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

// An event that may be recorded later, and repeatedly, as a cudaEvent_t.
struct PyEvent {
  bool timing = false;
  std::optional<Event> event{};

  const Event& recorded() const {
    if (!event.has_value())
      fail<ArgumentError>("Event: it has not been recorded; call event.record(stream) first");
    return *event;
  }
};

std::vector<std::unique_ptr<StreamGuard>>& stream_guards() {
  thread_local std::vector<std::unique_ptr<StreamGuard>> stack;
  return stack;
}

void leave_stream() {
  if (stream_guards().empty())
    fail<ArgumentError>("Stream: left a `with` block that this thread has not entered");
  stream_guards().pop_back();
}

// An event of another library: PyTorch's has .cuda_event, CuPy's .ptr, and that of cuda.bindings is
// an integer.
Event foreign_event(py::handle event, Device device) {
  for (const char* name : {"cuda_event", "ptr", "handle"})
    if (py::hasattr(event, name)) return foreign_event(event.attr(name), device);
  const py::object value = py::getattr(event, "value", event);  // Numba: a ctypes pointer
  if (PyNumber_Check(value.ptr()) == 0)
    fail<ArgumentError>(
        "Event.foreign: expected an integer handle or an event of another library "
        "(.cuda_event, .ptr or .handle), got ",
        std::string(py::repr(event)));
  return Event::foreign(device, value_of<std::uintptr_t>(py::int_(value), "Event.foreign: handle"));
}

bool is_foreign_event(py::handle object) {
  const auto name = py::type::of(object).attr("__name__").cast<std::string>();
  return name == "Event" || name == "CUevent" || name == "cudaEvent_t";
}

void wait_for(const Stream& stream, py::handle other) {
  if (py::isinstance<PyEvent>(other))
    return stream.wait(py::cast<const PyEvent&>(other).recorded());
  if (is_array(other.ptr())) return order_use(stream, array_in(other.ptr()), false);
  if (py::isinstance<Stream>(other)) return stream.wait(py::cast<const Stream&>(other));
  if (is_foreign_event(other)) return stream.wait(foreign_event(other, stream.device()));
  stream.wait(stream_from(other, stream.device()));
}

PyEvent record(const Stream& stream, bool timing) { return {timing, stream.record(timing)}; }

py::tuple cuda_stream(const Stream& stream) {
  if (!stream.device().is_cuda())
    fail<BridgeError>("Stream: a stream of ", stream.device(),
                      " is no CUDA stream; make one with spanwise.Stream(\"cuda:0\")");
  return py::make_tuple(0, stream.handle());
}

void bind_stream(py::module_& module) {
  py::class_<Stream> type(
      module, "Stream",
      "A stream: a queue of work on one device, executed in order. As a context manager it is the "
      "thread's current stream of that device.");
  type.def(py::init([](Device device) {
             const GilRelease unlocked;
             return Stream::create(device);
           }),
           py::arg("device") = py::none(),
           "A new stream that does not synchronise with the legacy default stream.");
  type.def_static(
      "foreign", &stream_from, py::arg("stream"), py::arg("device") = py::none(),
      "A Stream for another library's stream object or integer handle, by default on the device "
      "that the object names, else on the default device. It keeps a stream object alive; a bare "
      "handle must outlive it.");
  type.def_property_readonly("device", member(&Stream::device));
  type.def_property_readonly("handle", member(&Stream::handle),
                             "The CUstream as an integer; 0 on the CPU.");
  type.def("__int__", member(&Stream::handle));
  type.def("synchronize", member(&Stream::synchronize), py::call_guard<GilRelease>(),
           "Waits for all work queued on the stream. Raises errors of earlier asynchronous work.");
  type.def("query", member(&Stream::query), "Whether all queued work is complete. Does not wait.");
  type.def(
      "wait", &wait_for, py::arg("x"), py::pos_only(),
      "Makes work queued later on this stream wait for `x`: an Event, a stream of any library, or "
      "the work queued on an Array. Does not block the host.");
  type.def("record", &record, py::arg("timing") = false, "A new Event, recorded on the stream.");
  type.def("__cuda_stream__", &cuda_stream, "(protocol version 0, handle), for other libraries.");
  type.def("__enter__", [](const py::object& self) {
    if (!py::isinstance<Stream>(self)) raise_unexpected(self, "Stream.__enter__", "a Stream");
    stream_guards().push_back(std::make_unique<StreamGuard>(py::cast<const Stream&>(self)));
    return self;
  });
  type.def("__exit__", [](const Stream&, const py::args&) { leave_stream(); });
  type.def("__eq__", [](const Stream& a, const Stream& b) { return a == b; }, py::is_operator());
  type.def("__hash__", [](const Stream& self) {
    return py::hash(py::make_tuple(self.device().name(), self.handle()));
  });
  type.def("__repr__", [](const Stream& self) {
    std::ostringstream out;
    out << "<Stream of " << self.device();
    if (self.device().is_cuda()) out << " at 0x" << std::hex << self.handle();
    out << '>';
    return out.str();
  });
}

void bind_event(py::module_& module) {
  py::class_<PyEvent> type(module, "Event",
                           "An event, which is recorded on a stream; with timing=True for "
                           "elapsed().");
  type.def(py::init([](bool timing) { return PyEvent{timing}; }), py::arg("timing") = false);
  type.def(
      "record",
      [](PyEvent& self, py::handle stream, py::handle device) {
        const bool is_own = py::isinstance<Stream>(stream);
        const Device event_device =
            is_own ? py::cast<const Stream&>(stream).device() : device_from(device);
        self.event = stream_from(stream, event_device).record(self.timing);
      },
      py::arg("stream") = py::none(), py::kw_only(), py::arg("device") = py::none(),
      "Records the event on `stream`, by default the current stream of `device`.");
  type.def_static(
      "foreign",
      [](py::handle event, Device device) { return PyEvent{true, foreign_event(event, device)}; },
      py::arg("event"), py::arg("device") = py::none(),
      "An Event for another library's event object or integer handle, which must be recorded "
      "already and is not owned.");
  type.def_property_readonly("device",
                             [](const PyEvent& self) { return self.recorded().device(); });
  type.def_property_readonly(
      "handle", [](const PyEvent& self) { return self.recorded().handle(); },
      "The CUevent as an integer, once it is recorded; 0 on the CPU.");
  type.def("__int__", [](const PyEvent& self) { return self.recorded().handle(); });
  type.def(
      "synchronize", [](const PyEvent& self) { self.recorded().synchronize(); },
      py::call_guard<GilRelease>(), "Waits for the work before the event.");
  type.def(
      "query", [](const PyEvent& self) { return self.recorded().query(); },
      "Whether the work before the event is complete. Does not wait.");
  type.def(
      "elapsed",
      [](const PyEvent& self, const PyEvent& end) {
        return end.recorded().milliseconds_since(self.recorded());
      },
      py::arg("end"),
      "Milliseconds from this event to `end`; both must have timing=True and be complete.");
}

}  // namespace

SW_BIND(streams) {
  bind_event(module);  // first, since signatures of Stream name the class
  bind_stream(module);
  module.def(
      "current_stream", [](Device device) { return Stream::current(device); },
      py::arg("device") = py::none(), "The calling thread's current stream of the device.");
}

}  // namespace spanwise::python
