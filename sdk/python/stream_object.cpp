// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/stream_object.hpp"

#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/support/gil.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/devices.hpp"

namespace spanwise::python {

namespace py = pybind11;

namespace {

std::uintptr_t torch_stream(int ordinal) {
  const py::object cuda = loaded_module("torch.cuda");
  if (!cuda) return 0;
  return cuda.attr("current_stream")(ordinal).attr("cuda_stream").cast<std::uintptr_t>();
}

// CuPy has a current stream for each device.
std::uintptr_t cupy_stream(int ordinal) {
  const py::object cuda = loaded_module("cupy.cuda");
  if (!cuda) return 0;
  return cuda.attr("get_current_stream")(ordinal).attr("ptr").cast<std::uintptr_t>();
}

// Numba has one default stream per context: by default the legacy default stream.
std::uintptr_t numba_stream(int) {
  const py::object cuda = loaded_module("numba.cuda");
  if (!cuda) return 0;
  const py::object handle = cuda.attr("default_stream")().attr("handle");
  const py::object value = py::getattr(handle, "value", handle);
  return value.is_none() ? 0 : py::int_(value).cast<std::uintptr_t>();
}

struct StreamLibrary {
  std::string_view package;
  std::uintptr_t (*current_stream)(int ordinal);
};
constexpr std::array<StreamLibrary, 3> libraries{
    {{"torch", &torch_stream}, {"cupy", &cupy_stream}, {"numba", &numba_stream}}};

// "torch.nn.parameter.Parameter" -> "torch"
std::string package_of(PyTypeObject* type) {
  const py::object module =
      py::getattr(reinterpret_cast<PyObject*>(type), "__module__", py::none());
  const std::string name = PyUnicode_Check(module.ptr()) ? std::string(py::str(module)) : "";
  return name.substr(0, name.find('.'));
}

}  // namespace

std::uintptr_t current_stream_of_library(PyObject* object, int ordinal) noexcept {
  try {
    // Also looks at base classes, for subclasses defined in other modules.
    for (PyTypeObject* type = Py_TYPE(object); type != nullptr; type = type->tp_base) {
      const std::string package = package_of(type);
      for (const StreamLibrary& library : libraries)
        if (package == library.package) return library.current_stream(ordinal);
    }
  } catch (const std::exception&) {
    // The caller falls back to the legacy default stream.
  }
  return 0;
}

namespace {

// The CUstream in an integer or a ctypes object; nothing for other objects.
std::optional<std::uintptr_t> handle_value(py::handle value) {
  // ctypes integers (Numba) have the number in .value; a null pointer is None.
  const py::object number = PyLong_Check(value.ptr()) ? py::reinterpret_borrow<py::object>(value)
                                                      : py::getattr(value, "value", value);
  if (number.is_none()) return 0;
  if (!PyIndex_Check(number.ptr())) return std::nullopt;
  return value_of<std::uintptr_t>(py::int_(number), "stream: handle");
}

std::string type_name(py::handle object) {
  return py::type::of(object).attr("__name__").cast<std::string>();
}

// The CUstream of another library's stream object; nothing for other objects.
std::optional<std::uintptr_t> stream_handle(py::handle stream) {
  if (py::hasattr(stream, "__cuda_stream__")) {
    // (protocol version, handle):
    // https://nvidia.github.io/cuda-python/cuda-core/latest/interoperability.html
    const py::object result = stream.attr("__cuda_stream__");
    const py::tuple pair = PyCallable_Check(result.ptr()) ? py::tuple(result()) : py::tuple(result);
    return handle_value(pair[1]);
  }
  // PyTorch; CuPy; Numba and PyCUDA.
  for (const char* name : {"cuda_stream", "ptr", "handle"}) {
    if (py::hasattr(stream, name)) return handle_value(stream.attr(name));
  }
  // Handles of cuda.bindings have __int__ only.
  const std::string type = type_name(stream);
  if (type == "CUstream" || type == "cudaStream_t")
    return handle_value(py::int_(py::reinterpret_borrow<py::object>(stream)));
  return std::nullopt;
}

// Whether the object owns its stream: ExternalStream of PyTorch and CuPy, and the result of Numba's
// external_stream(), do not.
bool owns_its_stream(py::handle stream) {
  const py::object external = py::getattr(stream, "external", py::none());
  return type_name(stream) != "ExternalStream" && external.ptr() != Py_True;
}

// The ordinal of the device that the object names; nothing without one. In CuPy -1 means the
// current device.
std::optional<std::int64_t> ordinal_of(py::handle stream) {
  for (const char* name : {"device_index", "device_id"}) {
    const py::object ordinal = py::getattr(stream, name, py::none());
    if (!PyLong_Check(ordinal.ptr())) continue;
    const auto value = value_of<std::int64_t>(ordinal, name);
    if (value >= 0) return value;
  }
  return std::nullopt;
}

Device device_named_by(py::handle stream) {
  const Device device = default_device();
  const auto ordinal = device.is_cuda() ? ordinal_of(stream) : std::nullopt;
  return ordinal ? Device(DeviceKind::cuda, static_cast<int>(*ordinal)) : device;
}

// Throws ArgumentError if the object names another device.
void check_device(py::handle stream, Device device) {
  const auto ordinal = ordinal_of(stream);
  if (ordinal.has_value() && *ordinal != device.ordinal())
    fail<ArgumentError>("stream: expected a stream of ", device, ", got a ",
                        Py_TYPE(stream.ptr())->tp_name, " of cuda:", *ordinal, "; create it on ",
                        device);
}

}  // namespace

Stream stream_from(py::handle object, std::optional<Device> explicit_device) {
  const bool is_own = py::isinstance<Stream>(object);
  const Device device =
      explicit_device || is_own ? explicit_device.value_or(cpu) : device_named_by(object);
  if (object.is_none()) return Stream::current(device);
  if (is_own) {
    const Stream& own = py::cast<const Stream&>(object);
    if (explicit_device && own.device() != device)
      fail<ArgumentError>("stream: expected a stream of ", device, ", got one of ", own.device(),
                          "; create it with spanwise.Stream(\"", device, "\")");
    return own;
  }
  const bool is_integer = PyLong_Check(object.ptr()) && !PyBool_Check(object.ptr());
  const auto handle = is_integer ? handle_value(object) : stream_handle(object);
  if (!handle.has_value())
    fail<ArgumentError>(
        "stream: expected a spanwise.Stream, an integer handle or a stream of "
        "another library (__cuda_stream__, .cuda_stream, .ptr or .handle), got ",
        std::string(py::repr(object)), " of type ", Py_TYPE(object.ptr())->tp_name);
  if (!device.is_cuda())
    fail<ArgumentError>("stream: work on ", device, " takes no CUDA stream, got ",
                        std::string(py::repr(object)), "; omit the stream, or use arrays of a GPU");
  if (is_integer) return Stream::foreign(device, *handle);
  check_device(object, device);
  // In a stream object 0 is the legacy default stream; as an integer it is ambiguous and refused.
  const std::uintptr_t unambiguous = interface_stream(*handle);
  if (!owns_its_stream(object)) return Stream::foreign(device, unambiguous);
  return Stream::foreign(device, unambiguous, hold_object(object.ptr()));
}

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

// The open `with stream:` blocks of a thread. Those that are open when it ends are not left: what
// a guard restores may be destroyed by then.
struct StreamGuards {
  std::vector<std::unique_ptr<StreamGuard>> stack;
  ~StreamGuards() {
    for (auto& guard : stack) static_cast<void>(guard.release());
  }
};

std::vector<std::unique_ptr<StreamGuard>>& stream_guards() {
  thread_local StreamGuards guards;
  return guards.stack;
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
  type.def(py::init([](Device device, int priority) {
             const GilRelease unlocked;
             return std::make_unique<Stream>(Stream::create(device, priority));
           }),
           py::arg("device") = py::none(), py::arg("priority") = 0,
           "A new stream that does not synchronise with the legacy default stream. A GPU prefers "
           "the work of streams with a lower `priority`, -5 to 0 on present devices.");
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

// Leaves the capture, whose error is raised unless the code in it has raised one; of that nothing
// is kept.
void end_capture(CapturedGraph& self, bool has_failed) {
  leave_stream();
  try {
    const GilRelease unlocked;
    self.end();
    if (has_failed) self = CapturedGraph(self.device());
  } catch (const Error&) {
    if (!has_failed) throw;
  }
}

void bind_capture(py::module_& module) {
  py::class_<CapturedGraph> type(
      module, "CapturedGraph",
      "Work on a GPU that is captured once, in a `with` block, and queued again by replay().");
  type.def(py::init([](Device device) {
             const GilRelease unlocked;
             return std::make_unique<CapturedGraph>(device);
           }),
           py::arg("device") = py::none());
  type.def_property_readonly("device", member(&CapturedGraph::device));
  type.def_property_readonly("stream", member(&CapturedGraph::stream),
                             "The stream whose work is captured, the current one meanwhile.");
  type.def(
      "__enter__",
      [](CapturedGraph& self) -> CapturedGraph& {
        self.begin();
        stream_guards().push_back(std::make_unique<StreamGuard>(self.stream()));
        return self;
      },
      py::return_value_policy::reference);
  type.def("__exit__", [](CapturedGraph& self, const py::handle& kind, const py::args&) {
    end_capture(self, !kind.is_none());
  });
  type.def(
      "replay",
      [](const CapturedGraph& self, py::handle stream) {
        const Stream target =
            stream.is_none() ? Stream::current(self.device()) : stream_from(stream, self.device());
        const GilRelease unlocked;
        self.replay(target);
      },
      py::arg("stream") = py::none(),
      "Queues the captured work on `stream`, by default the current one, with the arrays of the "
      "capture: what is in its inputs now is computed, and its results are overwritten.");
  module.def(
      "capture",
      [](Device device) {
        const GilRelease unlocked;
        return std::make_unique<CapturedGraph>(device);
      },
      py::arg("device") = py::none(),
      "`with sw.capture() as g:` captures the work that the block queues on a GPU, without running "
      "it; `g.replay()` then queues it at the cost of one launch. Returns a CapturedGraph.");
}

void bind_event(py::module_& module) {
  py::class_<PyEvent> type(module, "Event",
                           "An event, which is recorded on a stream; with timing=True for "
                           "elapsed().");
  type.def(py::init([](bool timing) { return std::make_unique<PyEvent>(PyEvent{timing}); }),
           py::arg("timing") = false);
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
  bind_capture(module);
  module.def(
      "current_stream", [](Device device) { return Stream::current(device); },
      py::arg("device") = py::none(), "The calling thread's current stream of the device.");
}

}  // namespace spanwise::python
