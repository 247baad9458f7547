// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include "python/kernels/kernel_function.hpp"

#include <Python.h>
#include <pybind11/pybind11.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/kernels/kernel_arguments.hpp"
#include "python/stream_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/bridge.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernels/kernel.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/kernel_types.hpp"

/// spanwise.KernelFunction and KernelLaunch: grid, block and keywords of a call, the launch, the
/// methods (PyCUDA's prepared calls, bind, occupancy), and the types.
namespace spanwise::python {

namespace py = pybind11;

namespace {

// The object struct of spanwise.KernelFunction: a plain heap type with a vectorcall slot, so that a
// launch from Python costs little more than one from C++.
struct PyKernelFunction {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  Kernel kernel;
  PyObject* origin;  ///< (module, name, declarations of bind() or None), for pickling
};

// The result of f[grid, block, stream]: a kernel with its launch configuration. Called with the
// kernel's arguments.
struct PyKernelLaunch {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  Kernel kernel;
  LaunchConfig config;
  PyObject* stream_owner;  ///< the stream object that `config` was made from, or null
};

// Set by module initialisation, constant afterwards.
PyTypeObject* kernel_function_type = nullptr;
PyTypeObject* kernel_launch_type = nullptr;

PyObject* origin_of(PyObject* object) noexcept {
  return reinterpret_cast<PyKernelFunction*>(object)->origin;
}

Kernel& kernel_in(PyObject* object) noexcept {
  return reinterpret_cast<PyKernelFunction*>(object)->kernel;
}

// Clears the conversion error, if one is set, and throws instead.
[[noreturn]] void fail_dims(PyObject* object, const char* argument) {
  clear_conversion_error();
  const bool is_float = PyFloat_Check(object);
  fail<KernelArgumentError>("launch: expected ", argument,
                            " as a whole number or up to three of them, got ",
                            std::string(py::repr(object)), " of type ", Py_TYPE(object)->tp_name,
                            is_float ? "; round it yourself, for example -(-n // 256)" : "");
}

// Returns false with a Python error set, or for an object without __index__.
bool try_read(PyObject* object, std::int64_t& value) {
  if (PyLong_CheckExact(object)) {
    value = PyLong_AsLongLong(object);
    return value != -1 || PyErr_Occurred() == nullptr;
  }
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(object));
  return number && try_read(number.ptr(), value);
}

// Fast path for tuples: their items are borrowed.
bool try_read_tuple(PyObject* tuple, Dim3& dims) {
  const Py_ssize_t size = PyTuple_GET_SIZE(tuple);
  if (size < 1 || size > 3) return false;
  std::int64_t* const extents[] = {&dims.x, &dims.y, &dims.z};
  for (Py_ssize_t i = 0; i < size; ++i)
    if (!try_read(PyTuple_GET_ITEM(tuple, i), *extents[i])) return false;
  return true;
}

// The extents of a grid or block from an integer, or a sequence of one to three integers (objects
// with __index__). Missing extents are 1. `argument` is its name in messages. Throws
// KernelArgumentError.
Dim3 dim3_from(PyObject* object, const char* argument) {
  Dim3 dims;
  bool is_valid = false;
  if (PyTuple_Check(object)) {
    is_valid = try_read_tuple(object, dims);
  } else if (PyLong_Check(object)) {
    is_valid = try_read(object, dims.x);
  } else if (PySequence_Check(object) && !PyUnicode_Check(object) && PySequence_Size(object) >= 0) {
    const auto items = py::reinterpret_steal<py::object>(PySequence_Tuple(object));
    is_valid = items && try_read_tuple(items.ptr(), dims);
  } else {
    clear_conversion_error();  // set by PySequence_Size() for an array of rank 0
    is_valid = PyIndex_Check(object) && try_read(object, dims.x);
  }
  if (!is_valid) fail_dims(object, argument);
  return dims;
}

// `object` as an integer, by __index__; `argument` is its name in messages. Throws
// KernelArgumentError.
std::int64_t int64_from(PyObject* object, const char* argument) {
  std::int64_t value = 0;
  if (PyIndex_Check(object) && try_read(object, value)) return value;
  clear_conversion_error();
  fail<KernelArgumentError>("launch: expected ", argument, " as a whole number, got ",
                            std::string(py::repr(object)), " of type ", Py_TYPE(object)->tp_name);
}

enum class Keyword : std::size_t { block, grid, shared, stream, cooperative, cluster, unknown };

// Interned: keyword names in calls are interned as well, so comparing addresses usually suffices.
constexpr std::array keyword_names{"block", "grid", "shared", "stream", "cooperative", "cluster"};
std::array<PyObject*, keyword_names.size()> keywords{};

Keyword keyword_named(PyObject* name) {
  for (std::size_t i = 0; i < keywords.size(); ++i)
    if (keywords[i] == name) return static_cast<Keyword>(i);
  for (std::size_t i = 0; i < keywords.size(); ++i)
    if (PyUnicode_CompareWithASCIIString(name, keyword_names[i]) == 0)
      return static_cast<Keyword>(i);
  return Keyword::unknown;
}

// Reads the keyword arguments of a vectorcall into `config`. Returns whether block= was given.
// Throws KernelArgumentError for other names, ArgumentError for a stream of another device.
bool read_keywords(PyObject* names, PyObject* const* values, const Kernel& kernel,
                   LaunchConfig& config) {
  const Py_ssize_t count = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
  bool has_block = false;
  for (Py_ssize_t i = 0; i < count; ++i) {
    switch (keyword_named(PyTuple_GET_ITEM(names, i))) {
      case Keyword::block:
        config.block = dim3_from(values[i], "block=");
        has_block = true;
        break;
      case Keyword::grid:
        config.grid = dim3_from(values[i], "grid=");
        break;
      case Keyword::shared:
        config.shared_bytes = int64_from(values[i], "shared=");
        break;
      case Keyword::stream:
        if (values[i] != Py_None) config.stream = stream_from(values[i], kernel.device());
        break;
      case Keyword::cooperative:
        config.cooperative = truth_or(values[i], false);
        break;
      case Keyword::cluster:
        config.cluster = dim3_from(values[i], "cluster=");
        break;
      case Keyword::unknown:
        fail<KernelArgumentError>(
            "kernel '", kernel.name(), "': unexpected keyword argument '",
            std::string(py::str(PyTuple_GET_ITEM(names, i))),
            "'; there are block, grid, shared, stream, cooperative and cluster, and kernel "
            "arguments go by position");
    }
  }
  return has_block;
}

bool may_wait(const Kernel& kernel) {
  static constinit const config::Flag launch_blocking{"launch_blocking"};
  return kernel.device().is_cpu() || launch_blocking.get();
}

// Inside sw.strict_copies(): throws for arrays that a declared "contiguous" parameter would copy.
void refuse_copies(const Kernel& kernel, std::span<const KernelArg> arguments) {
  const auto parameters = kernel.parameters();
  for (std::size_t i = 0; i < std::min(parameters.size(), arguments.size()); ++i) {
    const bool copies = parameters[i].layout == ParameterLayout::contiguous &&
                        arguments[i].kind() == KernelArg::Kind::array &&
                        !arguments[i].array().layout().is_row_major();
    if (copies)
      fail<CopyNeededError>("kernel '", kernel.name(), "', argument ", i + 1, " of ",
                            parameters.size(),
                            ": expected a C-contiguous array inside strict_copies(), got ",
                            text(arguments[i].array()),
                            ". Remedy: make it contiguous before, or declare the parameter as a "
                            "spanwise::View");
  }
}

void launch_with_transfers(const Kernel& kernel, const LaunchConfig& config,
                           PackedArguments& packed) {
  const GilRelease unlocked;
  const StreamGuard guard(config.stream ? *config.stream : Stream::current(kernel.device()));
  packed.copy_in();
  kernel.launch(config, packed.arguments());
  packed.copy_out();
}

// Launches with `count` Python arguments. Releases the GIL if the launch may wait: on the CPU,
// whose kernels are complete on return, for copies of host arrays, and with config.launch_blocking.
void launch(const Kernel& kernel, const LaunchConfig& config, PyObject* const* values,
            std::size_t count) {
  PackedArguments packed(kernel, values, count);
  if (StrictCopies::active()) [[unlikely]]
    refuse_copies(kernel, packed.arguments());
  if (packed.needs_transfers()) {
    launch_with_transfers(kernel, config, packed);
  } else {
    const GilRelease unlocked(may_wait(kernel));
    kernel.launch(config, packed.arguments());
  }
}

PyObject* call_kernel(PyObject* self, PyObject* const* values, std::size_t flags, PyObject* names) {
  const Kernel& kernel = kernel_in(self);
  const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
  LaunchConfig config;
  if (!read_keywords(names, values + count, kernel, config)) [[unlikely]]
    fail<KernelArgumentError>("kernel '", kernel.name(),
                              "': expected block=, the threads of a block, got none; "
                              "pass block=(x, y, z) and grid=(x, y, z)");
  launch(kernel, config, values, count);
  Py_RETURN_NONE;
}

PyObject* call_launch(PyObject* object, PyObject* const* values, std::size_t flags,
                      PyObject* names) {
  const auto* self = reinterpret_cast<PyKernelLaunch*>(object);
  const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
  if (names == nullptr) {
    launch(self->kernel, self->config, values, count);
  } else {
    LaunchConfig config = self->config;
    read_keywords(names, values + count, self->kernel, config);
    launch(self->kernel, config, values, count);
  }
  Py_RETURN_NONE;
}

PyObject* wrap_launch(const Kernel& kernel, const LaunchConfig& config, PyObject* stream) noexcept {
  auto* self = PyObject_New(PyKernelLaunch, kernel_launch_type);
  if (self == nullptr) return nullptr;
  self->vectorcall = guarded<&call_launch>;
  new (&self->kernel) Kernel(kernel);
  new (&self->config) LaunchConfig(config);
  self->stream_owner = Py_XNewRef(stream);
  return reinterpret_cast<PyObject*>(self);
}

py::tuple parameters(PyObject* self) {
  const auto all = kernel_in(self).parameters();
  py::tuple out(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) out[i] = py::cast(all[i]);
  return out;
}

// The only keyword of a prepared call is PyCUDA's shared_size=.
void read_prepared_keywords(PyObject* names, PyObject* const* values, LaunchConfig& config) {
  const Py_ssize_t count = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    PyObject* name = PyTuple_GET_ITEM(names, i);
    if (PyUnicode_CompareWithASCIIString(name, "shared_size") != 0)
      fail<KernelArgumentError>("prepared call: unexpected keyword argument '",
                                std::string(py::str(name)), "'; there is shared_size");
    config.shared_bytes = int64_from(values[i], "shared_size=");
  }
}

// (grid, block[, stream], *args): `leading` arguments precede the kernel's.
template <Py_ssize_t leading>
PyObject* prepared(PyObject* self, PyObject* const* values, Py_ssize_t count, PyObject* names) {
  const Kernel& kernel = kernel_in(self);
  if (count < leading)
    fail<KernelArgumentError>("kernel '", kernel.name(), "': expected grid, block",
                              leading == 3 ? ", stream" : "", " and the kernel's arguments, got ",
                              count, " arguments");
  LaunchConfig config;
  config.grid = dim3_from(values[0], "grid");
  config.block = dim3_from(values[1], "block");
  if (leading == 3 && values[2] != Py_None) config.stream = stream_from(values[2], kernel.device());
  read_prepared_keywords(names, values + count, config);
  launch(kernel, config, values + leading, static_cast<std::size_t>(count - leading));
  Py_RETURN_NONE;
}

// The declarations of bind(args) or bind(args=...).
std::vector<std::string> declarations_from(PyObject* object) {
  const bool is_list = PyTuple_Check(object) || PyList_Check(object);
  if (!is_list)
    fail<KernelArgumentError>(
        "bind: expected args as a tuple of texts, one a parameter, "
        "got ",
        std::string(py::repr(object)));
  std::vector<std::string> out;
  for (const py::handle item : py::reinterpret_borrow<py::object>(object)) {
    if (!py::isinstance<py::str>(item))
      fail<KernelArgumentError>("bind: expected a text such as ", "\"contiguous float32*\", got ",
                                std::string(py::repr(item)));
    out.push_back(item.cast<std::string>());
  }
  return out;
}

PyObject* bind(PyObject* self, PyObject* args) {
  const std::vector<std::string> declarations = declarations_from(args);
  const auto origin = py::reinterpret_borrow<py::tuple>(origin_of(self));
  const auto declared = py::tuple(py::reinterpret_borrow<py::object>(args));
  return wrap_kernel(kernel_in(self).bind(declarations),
                     py::make_tuple(origin[0], origin[1], declared).ptr());
}

std::int64_t shared_from(PyObject* shared) {
  return given(shared) ? int64_from(shared, "shared=") : 0;
}

PyObject* max_active_blocks(PyObject* self, PyObject* threads, PyObject* shared) {
  const Dim3 block = dim3_from(threads, "the block");
  return PyLong_FromLong(kernel_in(self).max_active_blocks(
      static_cast<int>(block.x * block.y * block.z), shared_from(shared)));
}

PyObject* occupancy_block_size(PyObject* self, PyObject* shared) {
  const BlockSize best = kernel_in(self).occupancy_block_size(shared_from(shared));
  return py::make_tuple(best.min_blocks, best.threads).release().ptr();
}

PyObject* reduce_function(PyObject* self) {
  return PyObject_CallObject(python_function<"kernels._pickle", "reduce_kernel">(),
                             origin_of(self));
}

// f[grid, block], f[grid, block, stream] and f[grid, block, stream, shared].
PyObject* kernel_subscript(PyObject* self, PyObject* key) {
  const Kernel& kernel = kernel_in(self);
  const Py_ssize_t size = PyTuple_Check(key) ? PyTuple_GET_SIZE(key) : 0;
  if (size < 2 || size > 4)
    fail<KernelArgumentError>(
        "kernel '", kernel.name(),
        "': expected f[grid, block], f[grid, block, stream] or f[grid, block, stream, shared], "
        "got ",
        std::string(py::repr(key)));
  LaunchConfig config;
  config.grid = dim3_from(PyTuple_GET_ITEM(key, 0), "grid");
  config.block = dim3_from(PyTuple_GET_ITEM(key, 1), "block");
  PyObject* stream = size > 2 ? PyTuple_GET_ITEM(key, 2) : Py_None;
  if (stream != Py_None) config.stream = stream_from(stream, kernel.device());
  if (size > 3) config.shared_bytes = int64_from(PyTuple_GET_ITEM(key, 3), "shared");
  return wrap_launch(kernel, config, stream);
}

PyMethodDef kernel_methods[] = {
    declared<"__reduce__($self)", "", &reduce_function>(),
    in_python<"kernels", "prepare($self, arg_types)",
              "Checks PyCUDA's argument types against the kernel and returns the function itself. "
              "Optional:\narguments are converted by the kernel's signature. Raises "
              "KernelArgumentError.">(),
    declared<"bind($self, args)",
             "The kernel with declared parameters, one string each: \"raw float32*\", \"contiguous "
             "float32*\"\n(other layouts are copied, and copied back unless const), \"strided "
             "float32[2]\" (spanwise::View),\n\"int32\".",
             &bind>(),
    declared<"max_active_blocks($self, block, shared=0)",
             "The number of blocks of `block` threads and `shared` bytes of dynamic shared memory "
             "that\nare resident on one multiprocessor.",
             &max_active_blocks>(),
    declared<"occupancy_block_size($self, shared=0)",
             "(min_grid, block): the number of threads per block with the highest occupancy, and "
             "the\nsmallest grid that then fills the device.",
             &occupancy_block_size>(),
    method<&prepared<2>>("prepared_call",
                         "prepared_call($self, grid, block, /, *args, shared_size=0)\n--\n\n"
                         "Launches on the current stream."),
    method<&prepared<3>>("prepared_async_call",
                         "prepared_async_call($self, grid, block, stream, /, *args, "
                         "shared_size=0)\n--\n\nLaunches on `stream`."),
    in_python<"kernels", "prepared_timed_call($self, grid, block, /, *args, shared_size=0)",
              "Launches on the current stream. Returns a function that waits for the kernel and "
              "returns its\nduration in seconds.">(),
    in_python<"kernels._tuning",
              "tune($self, args, block=(64, 128, 256, 512), options=((),), grid=None, "
              "seconds=0.05)",
              "Measures launches with each block and each list of further compiler options, and "
              "returns the\nfastest as a TunedKernel: f.tune(args=(x, y, n), block=[64, 128])(x, "
              "y, n). `grid` is a tuple or\na function of (block, args). The result is kept in the "
              "cache of compiled kernels.">(),
    in_python<"kernels", "get_attribute($self, attribute)",
              "The value of a spanwise.driver.function_attribute.">(),
    in_python<"kernels", "set_attribute($self, attribute, value)",
              "Checks the limit of dynamic shared memory and sets nothing: a launch raises the "
              "limit itself.">(),
    in_python<"kernels", "set_cache_config($self, config)",
              "Checks `config`, one of spanwise.driver.func_cache, and has no effect.">(),
    {nullptr, nullptr, 0, nullptr}};

// The attribute get(kernel).
template <auto get>
PyGetSetDef of_kernel(const char* name, const char* doc) {
  return attribute<[](PyObject* self) { return py::cast(get(kernel_in(self))); }>(name, doc);
}

PyGetSetDef kernel_attributes[] = {
    of_kernel<[](const Kernel& f) { return f.name(); }>("name", "The kernel's name."),
    of_kernel<[](const Kernel& f) { return f.name(); }>("__name__", nullptr),
    attribute<[](PyObject* self) { return device_object(kernel_in(self).device()); }>(
        "device", "The device it is loaded on."),
    of_kernel<[](const Kernel& f) { return f.source(); }>(
        "source", "The text that its module was compiled from; \"\" for one that was loaded."),
    of_kernel<[](const Kernel& f) { return f.handle(); }>(
        "handle", "The CUfunction as an integer; 0 on the CPU."),
    attribute<&parameters>(
        "parameters",
        "A tuple of KernelParameter: name, type, size, offset and dtype, where known."),
    of_kernel<[](const Kernel& f) { return f.attributes(); }>(
        "attributes", "The resources it uses: a KernelAttributes."),
    of_kernel<[](const Kernel& f) { return f.attributes().registers; }>("num_regs",
                                                                        "Registers per thread."),
    of_kernel<[](const Kernel& f) { return f.attributes().static_shared_bytes; }>(
        "shared_size_bytes", "Static shared memory per block, in bytes."),
    of_kernel<[](const Kernel& f) { return f.attributes().local_bytes; }>(
        "local_size_bytes", "Local memory per thread, in bytes."),
    of_kernel<[](const Kernel& f) { return f.attributes().const_bytes; }>(
        "const_size_bytes", "Constant memory, in bytes."),
    of_kernel<[](const Kernel& f) { return f.attributes().max_threads_per_block; }>(
        "max_threads_per_block", "The largest block that can be launched."),
    {}};

template <class T>
void kernel_dealloc(PyObject* object) noexcept {
  auto* self = reinterpret_cast<T*>(object);
  if constexpr (std::is_same_v<T, PyKernelLaunch>) {
    Py_XDECREF(self->stream_owner);
    self->config.~LaunchConfig();
  } else {
    Py_DECREF(self->origin);
  }
  self->kernel.~Kernel();
  free_object(object);
}

py::str repr_of_kernel(PyObject* self) {
  const Kernel& kernel = kernel_in(self);
  std::string parameters;
  for (const KernelParameter& parameter : kernel.parameters()) {
    if (!parameters.empty()) parameters += ", ";
    const bool starred = parameter.type.ends_with('*');
    parameters += parameter.type.empty() ? text(parameter.size, " bytes")
                                         : parameter.type + (starred ? "" : " ") + parameter.name;
  }
  return text("<kernel ", kernel.name(), "(", parameters, ") on ", kernel.device(), ">");
}

py::str launch_repr(PyObject* object) {
  const auto* self = reinterpret_cast<PyKernelLaunch*>(object);
  const auto shown = [](const Dim3& d) { return text('(', d.x, ", ", d.y, ", ", d.z, ')'); };
  return text("<kernel ", self->kernel.name(), " on ", self->kernel.device(), ", grid ",
              shown(self->config.grid), ", block ", shown(self->config.block), ">");
}

constexpr const char* kernel_doc =
    "A compiled kernel: f(*args, block=(x, y, z), grid=(x, y, z), shared=0, stream=None), or\n"
    "f[grid, block, stream](*args). Arguments are checked against the kernel's parameters before "
    "the launch.\n\n"
    "Arguments are arrays of any library, numbers, NumPy and ctypes scalars and structs, None for "
    "a\n"
    "null pointer, and host arrays wrapped in spanwise.driver.In, Out or InOut.";

constexpr const char* launch_doc =
    "A kernel with its grid, block and stream. Call it with the kernel's arguments.";

// The type of objects T, which are called through their member vectorcall.
template <class T>
PyTypeObject* make_callable_type(const char* name, const char* doc,
                                 std::vector<PyType_Slot> more_slots) {
  static PyMemberDef own_members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(T, vectorcall), READONLY, nullptr}, {}};
  more_slots.insert(more_slots.end(), {slot(Py_tp_dealloc, &kernel_dealloc<T>),
                                       slot(Py_tp_call, &PyVectorcall_Call),
                                       {Py_tp_members, own_members},
                                       {Py_tp_doc, const_cast<char*>(doc)}});
  return make_type(name, sizeof(T), std::move(more_slots),
                   Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION);
}

}  // namespace

PyObject* wrap_kernel(Kernel kernel, PyObject* origin) noexcept {
  auto* self = PyObject_New(PyKernelFunction, kernel_function_type);
  if (self == nullptr) return nullptr;
  self->vectorcall = guarded<&call_kernel>;
  new (&self->kernel) Kernel(std::move(kernel));
  self->origin = Py_NewRef(origin);
  return reinterpret_cast<PyObject*>(self);
}

SW_BIND(kernels_function) {
  for (std::size_t i = 0; i < keywords.size(); ++i) {
    keywords[i] = PyUnicode_InternFromString(keyword_names[i]);
    if (keywords[i] == nullptr) throw py::error_already_set();
  }
  kernel_function_type =
      make_callable_type<PyKernelFunction>("spanwise.KernelFunction", kernel_doc,
                                           {slot(Py_tp_repr, guarded<&repr_of_kernel>),
                                            slot(Py_mp_subscript, guarded<&kernel_subscript>),
                                            {Py_tp_methods, kernel_methods},
                                            {Py_tp_getset, kernel_attributes}});
  kernel_launch_type = make_callable_type<PyKernelLaunch>(
      "spanwise.KernelLaunch", launch_doc, {slot(Py_tp_repr, guarded<&launch_repr>)});
  add_type(module, "KernelFunction", kernel_function_type);
}

}  // namespace spanwise::python
