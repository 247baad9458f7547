// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "python/array/array_object.hpp"
#include "python/support/error_classes.hpp"
#include "python/support/gil.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/version.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/interrupt.hpp"
#include "spanwise/runtime/tools.hpp"

/// The extension module: its parts in order, what modules other than this one use of it, and the
/// small parts that no other file has: settings, tools of the machine, and interrupts.
namespace spanwise::python {

namespace py = pybind11;

namespace {

PyObject* refuse_to_reduce(PyObject* self, PyObject*) noexcept {
  return PyErr_Format(
      PyExc_TypeError,
      "cannot pickle '%s' object: it belongs to this process; pickle the arguments that make it, "
      "and make it again",
      Py_TYPE(self)->tp_name);
}

PyMethodDef reduce_refusal = {"__reduce__", &refuse_to_reduce, METH_NOARGS, nullptr};

// Whether `value` is a class of spanwise, not an exception, that does not define __reduce__.
bool needs_refusal(const py::handle& value) {
  if (!PyType_Check(value.ptr()) ||
      PyType_HasFeature(reinterpret_cast<PyTypeObject*>(value.ptr()), Py_TPFLAGS_BASE_EXC_SUBCLASS))
    return false;
  const auto module = value.attr("__module__").cast<std::string>();
  if (module != "spanwise" && !std::string_view(module).starts_with("spanwise.")) return false;
  const py::handle root(reinterpret_cast<PyObject*>(&PyBaseObject_Type));
  return value.attr("__reduce__").is(root.attr("__reduce__"));
}

// Makes pickling of process-local handles (streams, kernels, caches, ...), the classes of `module`
// that inherit object.__reduce__, raise TypeError under every protocol. object.__reduce__ does so
// from protocol 2 on; under protocols 0 and 1 it would write an unreadable pickle, or
// instantiate pybind11's base class, which aborts the process.
void refuse_pickling(const py::module_& module) {
  const py::dict names = module.attr("__dict__");
  for (const auto& [name, value] : names) {
    if (!needs_refusal(value)) continue;
    auto* type = reinterpret_cast<PyTypeObject*>(value.ptr());
    py::setattr(value, "__reduce__", owned(PyDescr_NewMethod(type, &reduce_refusal)));
  }
}

// Gives pybind11's public classes the module from which programs import them.
void name_public_classes(const py::module_& module) {
  const py::dict names = module.attr("__dict__");
  for (const auto& [name, value] : names)
    if (py::cast<std::string>(name)[0] != '_' && py::isinstance<py::type>(value) &&
        value.attr("__module__").equal(module.attr("__name__")))
      py::setattr(value, "__module__", py::str("spanwise"));
}

[[noreturn]] void* raise_not_initialised(std::size_t) {
  throw py::type_error("spanwise: the object was not initialised; call its class, not __new__");
}

// register_instance() in pybind11's init_instance functions allocates. Where that fails, the
// instance has an object but no holder, and its release would free the object a second time, or
// without its destructor. This gives it its holder first: the factory functions of py::init() and
// conversions of results then raise MemoryError. Factories return holders: for others pybind11
// calls init_instance where no exception is caught.
using InitInstance = void (*)(py::detail::instance*, const void*);
std::map<const py::detail::type_info*, InitInstance>& unguarded_init_instance() {
  static auto& functions = *new std::map<const py::detail::type_info*, InitInstance>;
  return functions;
}

void init_instance(py::detail::instance* object, const void* holder) {
  py::detail::value_and_holder held = *py::detail::values_and_holders(object).begin();
  const InitInstance initialise = unguarded_init_instance().at(held.type);
  try {
    initialise(object, holder);
  } catch (...) {
    if (!held.instance_registered()) {
      held.set_instance_registered(true);  // so that it is not registered, but gets its holder
      initialise(object, holder);
      held.set_instance_registered(false);
    }
    throw;
  }
}

// For an object whose __init__ did not run (`T.__new__(T)`), pybind11 would allocate the C++ object
// without constructing it when a method is called. Replacing operator_new, which only this case
// calls, makes it raise TypeError instead. Also guards init_instance, as described above.
void guard_instances() {
  py::detail::with_internals([](py::detail::internals& internals) {
    for (const auto& [cpp_type, record] : internals.registered_types_cpp) {
      const std::string module =
          py::str(py::handle(reinterpret_cast<PyObject*>(record->type)).attr("__module__"));
      if (!module.starts_with("spanwise")) continue;
      record->operator_new = &raise_not_initialised;
      unguarded_init_instance().emplace(record,
                                        std::exchange(record->init_instance, &init_instance));
    }
  });
}

// Runs the parts of the module, each after the parts that it names.
class ModuleParts {
 public:
  explicit ModuleParts(py::module_& module) : module_(module) {
    for (const ModulePart* part = ModulePart::first; part != nullptr; part = part->next)
      waiting_.emplace(part->name, part);
  }

  void bind_all() {
    while (!waiting_.empty()) bind(waiting_.begin()->second->name);
  }

 private:
  void bind(std::string_view name) {
    if (done_.contains(name)) return;
    const auto node = waiting_.extract(name);
    if (node.empty())
      throw std::logic_error("spanwise: SW_BIND names the part \"" + std::string(name) +
                             "\", which does not exist or depends on the part that names it");
    std::string_view left = node.mapped()->after;
    while (!left.empty()) {
      const std::string_view before = left.substr(0, left.find(", "));
      left.remove_prefix(std::min(left.size(), before.size() + 2));
      bind(before);
    }
    node.mapped()->bind(module_);
    done_.insert(name);
  }

  py::module_& module_;
  std::map<std::string_view, const ModulePart*> waiting_;
  std::set<std::string_view> done_;
};

// What modules other than this one, and the inline functions of spanwise/python/, use.
constexpr ObjectBinding binding{
    .release = &release_object,
    .wrap = [](const Array& array) noexcept { return wrap(array); },
    .array_in = [](PyObject* object) noexcept -> const Array* {
      return is_array(object) ? &array_in(object) : nullptr;
    },
    .import = &import_array,
    .import_output = &import_output,
    .dtype_from = [](PyObject* object) { return dtype_from(object); },
    .dtype_object = [](DType dtype) { return dtype_object(dtype).release().ptr(); },
    .device_from = [](PyObject* object) { return device_from(object); },
    .device_object = [](Device device) { return device_object(device).release().ptr(); },
    .shape_from = [](PyObject* object) { return shape_from(object); },
    .shape_object = [](const Shape& shape) { return integer_tuple(shape).release().ptr(); },
    .take_lock = &take_gil,
    .release_dropped = &release_dropped,
    .raise_current = &set_current_error};

// Runs pending Python signal handlers, which Python does on the main thread only; has no effect on
// other threads.
void run_signal_handlers() {
  if (::gettid() != ::getpid() || Py_IsInitialized() == 0) return;
  const GilAcquire locked;
  if (PyErr_CheckSignals() != 0) throw py::error_already_set();
}

// Passes a message to the logger "spanwise", if the program uses Python's logging.
void log_to_python(LogLevel level, std::string_view message) noexcept {
  if (Py_IsInitialized() == 0) return;
  const GilAcquire locked;
  const py::error_scope error;  // of the caller, which may hold the GIL
  try {
    const py::object logging = loaded_module("logging");
    if (!logging) return;
    const py::object logger = logging.attr("getLogger")("spanwise");
    logger.attr("log")(static_cast<int>(level), "%s", py::str(message.data(), message.size()));
  } catch (py::error_already_set& raised) {
    raised.discard_as_unraisable("the logger of spanwise");
  } catch (const std::exception&) {  // no memory for the message
  }
}

}  // namespace

SW_BIND(config) {
  using config::Setting;
  py::class_<Setting> type(module, "_Setting",
                           "One setting: name, description, value, default, choices and source.");
  type.def_readonly("name", &Setting::name);
  type.def_readonly("description", &Setting::description);
  const auto add = [&](const char* name, std::string Setting::* member) {
    type.def_property_readonly(name,
                               [member](const Setting& self) { return system_text(self.*member); });
  };
  add("value", &Setting::value);
  add("default_value", &Setting::default_value);
  type.def_readonly("choices", &Setting::choices);
  type.def_readonly("source", &Setting::source);
  module.def("_config_list", &config::list);
  module.def(
      "_config_get", [](const std::string& name) { return system_text(config::get(name)); },
      py::arg("name"));
  module.def(
      "_config_set",
      [](const std::string& name, const py::str& value) { config::set(name, system_bytes(value)); },
      py::arg("name"), py::arg("value"));
}

// The functions for `python -m spanwise doctor`.
SW_BIND(doctor) {
  py::class_<Tool> type(module, "_Tool", "A compiler or library of this machine.");
  type.def_readonly("name", &Tool::name);
  type.def_readonly("version", &Tool::version);
  type.def_readonly("path", &Tool::path);
  type.def_readonly("missing", &Tool::missing);
  module.def("_tools", &tools, py::call_guard<GilRelease>());
  module.def("_write_coverage", &write_coverage, py::call_guard<GilRelease>());
  module.attr("__version__") = version();
  module.def("_typed_signature", &typed_signature, py::arg("function"));
}

SW_BIND(interrupt) {
  set_interrupt_check(&run_signal_handlers);
  set_log_sink(&log_to_python);
}

}  // namespace spanwise::python

// Where pybind11 makes an ImportError of every exception, an interrupt during the import stays one.
#undef PYBIND11_CATCH_INIT_EXCEPTIONS
#define PYBIND11_CATCH_INIT_EXCEPTIONS                    \
  catch (pybind11::error_already_set & error) {           \
    error.restore();                                      \
  }                                                       \
  catch (const std::exception& error) {                   \
    pybind11::set_error(PyExc_ImportError, error.what()); \
  }

PYBIND11_MODULE(_core_of_main_interpreter, module) {
  using namespace spanwise::python;
  spanwise::set_object_binding(binding);
  module.doc() = "The extension module of spanwise. Import `spanwise` instead.";
  ModuleParts(module).bind_all();
  name_public_classes(module);
  refuse_pickling(module);
  guard_instances();
  explain_functions(module);
}

// The entry point of the import. Raises ImportError in a sub-interpreter, where pybind11 would
// deadlock: it waits for a thread state of the main interpreter, whose GIL this thread holds.
extern "C" PYBIND11_EXPORT PyObject* PyInit__core() {
  if (PyInterpreterState_Get() == PyInterpreterState_Main())
    return PyInit__core_of_main_interpreter();
  PyErr_SetString(PyExc_ImportError,
                  "spanwise: expected the main interpreter, got a sub-interpreter, in which the "
                  "compiled half cannot run; import it in the main interpreter, or run the work in "
                  "a process of its own (multiprocessing)");
  return nullptr;
}
