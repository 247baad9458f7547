// Copyright 2026 The Spanwise Authors
// SPDX-License-Identifier: Apache-2.0

#include <Python.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <structmember.h>

#include <algorithm>
#include <array>
#include <complex>
#include <cstddef>
#include <initializer_list>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "python/array/array_object.hpp"
#include "python/kernels/kernel_arguments.hpp"
#include "python/stream_object.hpp"
#include "python/support/c_api.hpp"
#include "python/support/python_values.hpp"
#include "spanwise/core/device.hpp"
#include "spanwise/core/error.hpp"
#include "spanwise/kernel_expressions/expression_kernels.hpp"
#include "spanwise/python/binding.hpp"
#include "spanwise/runtime/config.hpp"
#include "spanwise/runtime/creation.hpp"
#include "spanwise/runtime/devices.hpp"
#include "spanwise/runtime/stream.hpp"

// sw.ElementwiseKernel, ReductionKernel and ScanKernel: heap types with a vectorcall slot, from
// which the classes in Python derive; these parse the constructor's arguments.
namespace spanwise::python {

namespace py = pybind11;

namespace {

using kernel_expressions::Argument;
using kernel_expressions::ElementwiseKernel;
using kernel_expressions::ElementwiseSpec;
using kernel_expressions::Parameter;
using kernel_expressions::ParameterStyle;
using kernel_expressions::ReductionAxes;
using kernel_expressions::ReductionKernel;
using kernel_expressions::ReductionSpec;
using kernel_expressions::ScanKernel;
using kernel_expressions::ScanSpec;

// ---- The arguments of a call ----

/// The converted arguments of one call. Imported arrays live as long as this object.
class KernelCallArguments {
 public:
  /// The first `values` are for the first parameters. Throws KernelArgumentError in the name of
  /// `label` if there are more than parameters.
  KernelCallArguments(const std::string& label, std::span<const Parameter> parameters,
                      const std::string& preamble, std::span<PyObject* const> values);
  KernelCallArguments(const KernelCallArguments&) = delete;
  KernelCallArguments& operator=(const KernelCallArguments&) = delete;

  /// Converts the argument for parameter `index`.
  void set(std::size_t index, PyObject* value);
  const kernel_expressions::Argument* data() const noexcept { return arguments_.data(); }
  /// The device that the kernel runs on, see device_array(); the default device without arrays.
  Device device() const;
  /// The bytes of the largest array.
  std::int64_t bytes() const noexcept;

 private:
  std::span<const kernel_expressions::Argument> all() const noexcept {
    return {arguments_.data(), parameters_.size()};
  }
  // An array of another library; the memory of one that the kernel writes to is shared.
  void set_foreign(std::size_t index, PyObject* value);

  const std::string& label_;
  std::span<const Parameter> parameters_;
  const std::string& preamble_;
  kernel_expressions::UninitializedArray<kernel_expressions::Argument> arguments_;
  std::vector<Array> imported_;
  std::vector<std::string> structs_;
};

/// The outputs of a kernel call: the objects that are passed for them, or new arrays. In the
/// kernel's parameters, inputs come first.
class KernelOutputs {
 public:
  /// Reads the outputs among the `count` values, and those of `out` (null and None: none; one
  /// object or a tuple), which are added to `arguments`. Throws KernelArgumentError in the name of
  /// `label` if some, but not all, are given.
  KernelOutputs(const std::string& label, KernelCallArguments& arguments, PyObject* const* values,
                std::size_t count, std::size_t inputs, std::size_t total, PyObject* out);

  /// The outputs that the kernel allocates, in order.
  std::vector<Array>& allocated() noexcept { return allocated_; }
  /// The result of the call: all outputs as a tuple, or a single output itself unless `as_tuple`. A
  /// new reference; call once.
  PyObject* result(bool as_tuple);

 private:
  void read_out(PyObject* out, KernelCallArguments& arguments);
  py::object object_of(std::size_t output);

  const std::string& label_;
  std::size_t inputs_, count_;
  std::array<PyObject*, kernel_expressions::max_operands> objects_{};  // borrowed from the call
  std::vector<Array> allocated_;
  std::size_t next_allocated_ = 0;
};

// Reads a Python number, which has no dtype; returns false for other objects.
bool try_read_python_number(PyObject* value, Argument& argument) {
  if (PyFloat_CheckExact(value)) {
    argument.number = Scalar(PyFloat_AS_DOUBLE(value));
  } else if (PyBool_Check(value)) {
    argument.number = Scalar(value == Py_True);
  } else if (PyLong_Check(value)) {
    const KernelArg number = integer_argument(value);
    argument.number = number.scalar();
  } else if (PyComplex_CheckExact(value)) {
    const Py_complex number = PyComplex_AsCComplex(value);
    argument.number = Scalar(std::complex<double>(number.real, number.imag));
  } else {
    return false;
  }
  argument.is_weak = true;
  return true;
}

KernelCallArguments::KernelCallArguments(const std::string& label,
                                         std::span<const Parameter> parameters,
                                         const std::string& preamble,
                                         std::span<PyObject* const> values)
    : label_(label), parameters_(parameters), preamble_(preamble) {
  if (values.size() > parameters.size())
    fail<KernelArgumentError>(label_, ": expected at most ", parameters.size(), " arguments, got ",
                              values.size());
  arguments_.make(parameters.size());
  for (std::size_t i = 0; i < values.size(); ++i) set(i, values[i]);
}

void KernelCallArguments::set(std::size_t index, PyObject* value) {
  Argument& argument = arguments_[index];
  if (is_array(value)) {
    argument.array = &array_in(value);
    return;
  }
  if (value == Py_None || try_read_python_number(value, argument)) return;
  if (const auto number = cached_type_number(value)) {
    argument.number = number->scalar();
    return;
  }
  if (auto by_value = value_from(value)) {
    if (auto* bytes = std::get_if<ValueBytes>(&*by_value)) {
      const Parameter& parameter = parameters_[index];
      const std::string problem = struct_mismatch(value, parameter.type, preamble_);
      if (!problem.empty())
        fail<KernelArgumentError>(label_, ": argument '", parameter.name, "': ", problem);
      // Never reallocated, since arguments refer to the elements. Likewise imported_.
      structs_.reserve(kernel_expressions::max_operands);
      argument.bytes = std::as_bytes(std::span(structs_.emplace_back(std::move(*bytes))));
      return;
    }
    argument.number = std::get<KernelArg>(*by_value).scalar();
    return;
  }
  set_foreign(index, value);
}

void KernelCallArguments::set_foreign(std::size_t index, PyObject* value) {
  imported_.reserve(kernel_expressions::max_operands);
  const Parameter& parameter = parameters_[index];
  arguments_[index].array = &imported_.emplace_back(
      parameter.is_output ? OutputArray(value, label_, parameter.name).array()
                          : import_array(value));
}

Device KernelCallArguments::device() const {
  const Array* array = kernel_expressions::device_array(all());
  if (array == nullptr) return default_device();
  return runs_on_host(array->device()) ? cpu : array->device();
}

std::int64_t KernelCallArguments::bytes() const noexcept {
  std::int64_t bytes = 0;
  for (const Argument& argument : all())
    if (argument.array != nullptr) bytes = std::max(bytes, argument.array->nbytes());
  return bytes;
}

KernelOutputs::KernelOutputs(const std::string& label, KernelCallArguments& arguments,
                             PyObject* const* values, std::size_t count, std::size_t inputs,
                             std::size_t total, PyObject* out)
    : label_(label), inputs_(inputs), count_(total - inputs) {
  if (count != inputs && count != total) {
    const std::string with_outputs = count_ == 0 ? "" : text(", or ", total, " with the outputs");
    fail<KernelArgumentError>(label, ": expected ", inputs, " arguments", with_outputs, ", got ",
                              count);
  }
  if (given(out) && count != inputs)
    fail<KernelArgumentError>(label,
                              ": outputs were given by position and in out=; use one of them");
  std::copy(values + inputs, values + count, objects_.begin());
  if (given(out)) read_out(out, arguments);
}

void KernelOutputs::read_out(PyObject* out, KernelCallArguments& arguments) {
  const bool is_tuple = PyTuple_Check(out);
  const auto count = is_tuple ? static_cast<std::size_t>(PyTuple_GET_SIZE(out)) : 1;
  if (count != count_)
    fail<KernelArgumentError>(label_, ": expected ", count_, " outputs in out=, got ", count);
  for (std::size_t k = 0; k < count_; ++k) {
    objects_[k] = is_tuple ? PyTuple_GET_ITEM(out, static_cast<Py_ssize_t>(k)) : out;
    arguments.set(inputs_ + k, objects_[k]);
  }
}

PyObject* KernelOutputs::result(bool as_tuple) {
  if (count_ == 1 && !as_tuple) return object_of(0).release().ptr();
  py::tuple all(count_);
  for (std::size_t k = 0; k < count_; ++k) all[k] = object_of(k);
  return all.release().ptr();
}

py::object KernelOutputs::object_of(std::size_t output) {
  if (given(objects_[output])) return py::reinterpret_borrow<py::object>(objects_[output]);
  return owned(wrap(std::move(allocated_[next_allocated_++])));
}

/// The keyword arguments of a call, null if absent. They are borrowed.
struct KernelKeywords {
  PyObject *size = nullptr, *out = nullptr, *axis = nullptr, *keepdims = nullptr;
  PyObject *stream = nullptr, *block_size = nullptr;
};

// Reads the keyword arguments that are among `accepted`; throws KernelArgumentError, or
// ArgumentError for range= and slice=, in the name of `label` for others.
KernelKeywords kernel_keywords(const std::string& label,
                               std::initializer_list<const char*> accepted, PyObject* names,
                               PyObject* const* values) {
  static constexpr std::pair<std::string_view, PyObject * KernelKeywords::*> members[] = {
      {"size", &KernelKeywords::size},     {"out", &KernelKeywords::out},
      {"axis", &KernelKeywords::axis},     {"keepdims", &KernelKeywords::keepdims},
      {"stream", &KernelKeywords::stream}, {"block_size", &KernelKeywords::block_size}};
  KernelKeywords keywords;
  const Py_ssize_t count = names != nullptr ? PyTuple_GET_SIZE(names) : 0;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const std::string keyword = py::str(PyTuple_GET_ITEM(names, i));
    if (keyword == "range" || keyword == "slice")
      fail<ArgumentError>(label, ": ", keyword,
                          "= is not supported; pass slices of the arrays instead, for example "
                          "kernel(x[a:b], z[a:b]), which are views");
    if (std::find(accepted.begin(), accepted.end(), keyword) == accepted.end()) {
      std::string list;
      for (const char* name : accepted) list += text(list.empty() ? "" : ", ", name);
      fail<KernelArgumentError>(label, ": unexpected keyword argument '", keyword, "'; expected ",
                                list, ", and arguments by position");
    }
    for (const auto& [name, member] : members)
      if (name == keyword) keywords.*member = values[i];
  }
  return keywords;
}

// Whether a call on arrays of at most `bytes` bytes releases the GIL: for long work on the CPU, or
// with config.launch_blocking on a GPU, where launches are asynchronous otherwise. Compiling
// releases it in any case.
bool is_long_call(Device device, std::int64_t bytes) {
  static constinit const config::Flag launch_blocking{"launch_blocking"};
  constexpr std::int64_t small = 1 << 16;
  return !runs_on_host(device) ? launch_blocking.get() : bytes >= small;
}

// Makes `stream` the current stream of `device` while the result lives; nothing for null and None.
std::optional<StreamGuard> stream_guard(PyObject* stream, Device device) {
  if (!given(stream)) return std::nullopt;
  return std::optional<StreamGuard>(std::in_place, stream_from(stream, device));
}

/// One call of a kernel with named outputs.
struct UserKernelCall {
  /// Reads the arguments; `accepted` are the names of keyword arguments.
  template <class Kernel>
  UserKernelCall(const Kernel& kernel, std::initializer_list<const char*> accepted,
                 PyObject* const* values, std::size_t flags, PyObject* names)
      : count(static_cast<std::size_t>(PyVectorcall_NARGS(flags))),
        total(kernel.parameters().size()),
        keywords(kernel_keywords(kernel.label(), accepted, names, values + count)),
        arguments(kernel.label(), kernel.parameters(), kernel.spec().common.preamble,
                  {values, count}),
        outputs(kernel.label(), arguments, values, count, kernel.inputs(), total, keywords.out) {}

  template <class Kernel, class Option>
  void run(const Kernel& kernel, const Option& option) {
    const Device device = arguments.device();
    const auto guard = stream_guard(keywords.stream, device);
    const GilRelease unlocked(is_long_call(device, arguments.bytes()));
    kernel({arguments.data(), total}, option, outputs.allocated());
  }

  std::size_t count, total;
  KernelKeywords keywords;
  KernelCallArguments arguments;
  KernelOutputs outputs;
};

// ---- The Python types ----

template <class Kernel>
struct PyUserKernel {
  PyObject_HEAD
  vectorcallfunc vectorcall;
  Ref<Kernel> kernel;
  bool returns_tuple;
  bool returns_nothing;
  PyObject* spec;  // the keyword arguments of `__new__`, for pickling
};

template <class Kernel>
PyUserKernel<Kernel>* user_kernel_in(PyObject* object) noexcept {
  return reinterpret_cast<PyUserKernel<Kernel>*>(object);
}

template <class Kernel>
void dealloc_user_kernel(PyObject* object) noexcept {
  user_kernel_in<Kernel>(object)->kernel.~Ref();
  Py_DECREF(user_kernel_in<Kernel>(object)->spec);
  free_object(object);
}

/// Reads the keyword arguments of `__new__`, which are members of a spec, as the Python class
/// passes them; those that are absent keep their defaults.
class SpecReader {
 public:
  SpecReader(const char* kind, PyObject* arguments, PyObject* keywords) : kind_(kind) {
    if (PyTuple_GET_SIZE(arguments) != 0 || keywords == nullptr)
      throw py::type_error(text(kind_, ": expected keyword arguments only"));
    values_ = py::reinterpret_borrow<py::dict>(keywords);
  }

  bool has(const char* name) const { return values_.contains(name); }

  template <class T>
  void read(const char* name, T& member) {
    if (!has(name)) return;
    member = value_of<T>(values_[name], name);
    ++count_;
  }

  void read(kernel_expressions::CommonSpec& common) {
    common.kind = kind_;
    read("name", common.name);
    read("preamble", common.preamble);
    read("options", common.options);
  }

  /// Throws TypeError if there are others than those that were read.
  void finish() const {
    if (count_ != values_.size())
      throw py::type_error(text(kind_, ": unexpected keyword arguments among ",
                                std::string(py::str(py::list(values_)))));
  }

 private:
  const char* kind_;
  py::dict values_;
  std::size_t count_ = 0;
};

template <class Kernel>
PyObject* new_user_kernel(PyTypeObject* type, PyObject* spec, Ref<Kernel> kernel,
                          vectorcallfunc call, bool returns_tuple = false,
                          bool returns_nothing = false) {
  py::object copy = owned(PyDict_Copy(spec));
  PyObject* object = type->tp_alloc(type, 0);
  if (object == nullptr) throw py::error_already_set();
  auto* self = user_kernel_in<Kernel>(object);
  self->vectorcall = call;
  new (&self->kernel) Ref<Kernel>(std::move(kernel));
  self->returns_tuple = returns_tuple;
  self->returns_nothing = returns_nothing;
  self->spec = copy.release().ptr();
#if PY_VERSION_HEX < 0x030C0000
  // Before CPython 3.12, Python classes inherit the slot but not its flag.
  if (type->tp_call == &PyVectorcall_Call) type->tp_flags |= Py_TPFLAGS_HAVE_VECTORCALL;
#endif
  return object;
}

/// __reduce__: (function, (class, spec)); the function makes the kernel, or returns the one that
/// this process has made from this spec.
template <class Kernel>
py::object reduce_user_kernel(PyObject* object) {
  return py::module_::import("spanwise.kernels._pickle")
      .attr("reduce_user_kernel")(py::type::of(py::handle(object)),
                                  py::handle(user_kernel_in<Kernel>(object)->spec));
}

// A variable of the preamble as an array of bytes, on the default device unless given.
template <class Kernel>
PyObject* global_of_user_kernel(PyObject* object, PyObject* name, PyObject* device) {
  const Kernel& kernel = *user_kernel_in<Kernel>(object)->kernel;
  const Device given_device = given(device) ? device_from(device) : default_device();
  const Device target = runs_on_host(given_device) ? cpu : given_device;
  std::span<const Parameter> parameters;
  if constexpr (requires { kernel.parameters(); }) parameters = kernel.parameters();
  return wrap(kernel_expressions::get_variable(kernel.variables(), kernel.spec().common, parameters,
                                               std::string(text_in(name)), target));
}

/// Makes the type around `Kernel` and adds it to the module as `name`; `full_name` is a literal.
template <class Kernel>
void add_user_kernel_type(py::module_& module, const char* name, const char* full_name,
                          newfunc make) {
  static PyMemberDef members[] = {{"__vectorcalloffset__", T_PYSSIZET,
                                   offsetof(PyUserKernel<Kernel>, vectorcall), READONLY, nullptr},
                                  {nullptr, 0, 0, 0, nullptr}};
  static PyGetSetDef attributes[] = {
      attribute<[](PyObject* object) {
        return py::str(user_kernel_in<Kernel>(object)->kernel->spec().common.name);
      }>("name", "The kernel's name."),
      {}};
  static PyMethodDef own_methods[] = {
      declared<"__reduce__($self)", "", &reduce_user_kernel<Kernel>>(),
      declared<"get_global($self, name, device=None)",
               "The __constant__ or __device__ variable `name` of the preamble as an array of its "
               "bytes.\nWhat is written to it is what all later calls on `device` read, whatever "
               "their dtypes\nand layouts.",
               &global_of_user_kernel<Kernel>>(),
      {}};
  add_type(module, name,
           make_type(full_name, sizeof(PyUserKernel<Kernel>),
                     {slot(Py_tp_new, make),
                      slot(Py_tp_dealloc, &dealloc_user_kernel<Kernel>),
                      slot(Py_tp_call, &PyVectorcall_Call),
                      {Py_tp_members, members},
                      {Py_tp_methods, own_methods},
                      {Py_tp_getset, attributes}},
                     Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_BASETYPE));
}

// ---- ElementwiseKernel ----

PyObject* call_elementwise(PyObject* object, PyObject* const* values, std::size_t flags,
                           PyObject* names) {
  const auto& self = *user_kernel_in<ElementwiseKernel>(object);
  const ElementwiseKernel& kernel = *self.kernel;
  // block_size is a hint for CuPy.
  UserKernelCall call(kernel, {"size", "stream", "out", "block_size"}, values, flags, names);
  std::optional<std::int64_t> size;
  if (given(call.keywords.size)) size = integer_from(call.keywords.size);
  call.run(kernel, size);
  if (kernel.inputs() == call.total || self.returns_nothing) Py_RETURN_NONE;
  return call.outputs.result(self.returns_tuple);
}

PyObject* new_elementwise(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  ElementwiseSpec spec;
  bool returns_tuple = false, returns_nothing = false;
  SpecReader reader("ElementwiseKernel", arguments, keywords);
  reader.read(spec.common);
  if (reader.has("arguments")) spec.style = ParameterStyle::pointers;
  reader.read("arguments", spec.arguments);
  reader.read("in_params", spec.in_params);
  reader.read("out_params", spec.out_params);
  reader.read("operation", spec.operation);
  reader.read("loop_prep", spec.loop_prep);
  reader.read("after_loop", spec.after_loop);
  reader.read("return_tuple", returns_tuple);
  reader.read("no_return", returns_nothing);
  reader.finish();
  return new_user_kernel(type, keywords, make_ref<ElementwiseKernel>(std::move(spec)),
                         guarded<&call_elementwise>, returns_tuple, returns_nothing);
}

// A tuple of name, dtype letter, and dtype or None for each.
py::list described(const std::vector<Parameter>& parameters) {
  py::list all;
  for (const Parameter& parameter : parameters) {
    const py::object dtype =
        parameter.dtype ? py::object(py::str(text(*parameter.dtype))) : py::none();
    all.append(py::make_tuple(parameter.name,
                              parameter.dtype ? std::string() : parameter.type_parameter, dtype));
  }
  return all;
}

// Returns (inputs, outputs, operation).
py::tuple element_parameters(const std::string& label, const std::string& inputs,
                             const std::string& outputs, const std::string& operation,
                             const std::string& preamble) {
  const auto declared =
      kernel_expressions::element_declaration(label, inputs, outputs, operation, preamble);
  return py::make_tuple(described(declared.inputs), described(declared.outputs),
                        declared.operation);
}

// ---- ReductionKernel ----

// Axes refer to the broadcast shape of the inputs.
ReductionAxes reduction_axes(const ReductionKernel& kernel, const KernelCallArguments& arguments,
                             const KernelKeywords& keywords) {
  ReductionAxes axes;
  axes.keepdims = truth_or(keywords.keepdims, false);
  if (!given(keywords.axis)) return axes;
  axes.all = false;
  int rank = 0;
  for (std::size_t i = 0; i < kernel.inputs(); ++i)
    if (const Array* array = arguments.data()[i].array;
        array != nullptr && kernel.parameters()[i].kind == Parameter::Kind::element)
      rank = std::max(rank, array->rank());
  const Layout all = Layout::row_major(Shape(rank, 1));
  const auto add = [&](PyObject* axis) {
    const auto index = static_cast<std::size_t>(all.normalise_axis(integer_from(axis)));
    if (axes.axes[index])
      fail<ArgumentError>(kernel.label(),
                          ": duplicate value in axis: ", std::string(py::repr(keywords.axis)));
    axes.axes.set(index);
  };
  if (!PyTuple_Check(keywords.axis)) {
    add(keywords.axis);
    return axes;
  }
  for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(keywords.axis); ++k)
    add(PyTuple_GET_ITEM(keywords.axis, k));
  return axes;
}

PyObject* call_reduction(PyObject* object, PyObject* const* values, std::size_t flags,
                         PyObject* names) {
  const ReductionKernel& kernel = *user_kernel_in<ReductionKernel>(object)->kernel;
  UserKernelCall call(kernel, {"out", "axis", "keepdims", "stream"}, values, flags, names);
  call.run(kernel, reduction_axes(kernel, call.arguments, call.keywords));
  return call.outputs.result(false);
}

PyObject* new_reduction(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  ReductionSpec spec;
  SpecReader reader("ReductionKernel", arguments, keywords);
  reader.read(spec.common);
  if (reader.has("arguments")) spec.style = ParameterStyle::pointers;
  reader.read("arguments", spec.arguments);
  reader.read("result_type", spec.result_type);
  reader.read("in_params", spec.in_params);
  reader.read("out_params", spec.out_params);
  reader.read("map_expr", spec.map_expr);
  reader.read("reduce_expr", spec.reduce_expr);
  reader.read("post_map_expr", spec.post_map_expr);
  reader.read("identity", spec.identity);
  reader.read("reduce_type", spec.reduce_type);
  reader.finish();
  return new_user_kernel(type, keywords, make_ref<ReductionKernel>(std::move(spec)),
                         guarded<&call_reduction>);
}

// ---- ScanKernel ----

// As in PyCUDA: without an output the scan is in place; output="new" allocates one.
PyObject* run_scan(const ScanKernel& kernel, PyObject* const* values, Py_ssize_t count,
                   PyObject* names) {
  static constexpr CallSignature<5> signature{
      "ScanKernel", {"input", "output", "allocator", "stream", "axis"}, 1, 4};
  const auto [input, output, allocator, stream, axis] = signature.read(values, count, names);
  if (given(allocator))
    fail<ArgumentError>(kernel.label(), ": allocator= is not supported; pass the output instead");
  const bool is_new = given(output) && PyUnicode_Check(output) &&
                      PyUnicode_CompareWithASCIIString(output, "new") == 0;
  const bool is_in_place = !given(output);
  const Array source =
      is_in_place ? OutputArray(input, kernel.label()).array() : import_array(input);
  if (source.rank() != 1 && !given(axis))
    fail<LayoutError>(kernel.label(), ": expected one axis, got ", source,
                      "; give it with axis=, or pass x.reshape(-1)");
  const auto guard = stream_guard(stream, runs_on_host(source.device()) ? cpu : source.device());
  const Array target = is_new        ? empty(source.shape(), source.dtype(), source.device())
                       : is_in_place ? source
                                     : OutputArray(output, kernel.label()).array();
  const int along = static_cast<int>(integer_or(axis, 0));
  without_gil(is_long_call(source.device(), source.nbytes()),
              [&] { kernel(source, target, along); });
  return is_new ? wrap(target) : Py_NewRef(is_in_place ? input : output);
}

PyObject* call_scan(PyObject* object, PyObject* const* values, std::size_t flags, PyObject* names) {
  return run_scan(*user_kernel_in<ScanKernel>(object)->kernel, values, PyVectorcall_NARGS(flags),
                  names);
}

PyObject* new_scan(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  ScanSpec spec;
  SpecReader reader("ScanKernel", arguments, keywords);
  reader.read(spec.common);
  reader.read("type", spec.type);
  reader.read("scan_expr", spec.scan_expr);
  reader.read("neutral", spec.neutral);
  reader.read("exclusive", spec.is_exclusive);
  reader.finish();
  return new_user_kernel(type, keywords, make_ref<ScanKernel>(std::move(spec)),
                         guarded<&call_scan>);
}

}  // namespace

SW_BIND(kernel_expressions) {
  add_user_kernel_type<ElementwiseKernel>(
      module, "_ElementwiseKernel", "spanwise._core._ElementwiseKernel", guarded<&new_elementwise>);
  add_user_kernel_type<ReductionKernel>(module, "_ReductionKernel",
                                        "spanwise._core._ReductionKernel", guarded<&new_reduction>);
  add_user_kernel_type<ScanKernel>(module, "_ScanKernel", "spanwise._core._ScanKernel",
                                   guarded<&new_scan>);
  module.def("_element_parameters", &element_parameters);
}

}  // namespace spanwise::python
